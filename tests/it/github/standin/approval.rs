//! What an approval needs: labels, permissions, commit statuses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::pulls::NUMBER;
use super::{Answer, Request, Standin, State, decoded, forbidden, invalid, missing, ok, status};

/// The labels of pull requests, what people may do, and every status that was set.
#[derive(Default)]
pub struct Approvals {
    /// By the number of the pull request.
    labels: BTreeMap<u64, Vec<String>>,
    roles: BTreeMap<String, &'static str>,
    statuses: Vec<Set>,
    unlabels: bool,
    /// A commit that somebody pushes right after the next status is set.
    pushes_next: Option<String>,
    /// What happened to each pull request, as `issues/N/timeline` tells it.
    timelines: BTreeMap<u64, Vec<Value>>,
    /// Who pushed which commit, as the repository's activity tells it.
    pushes: Vec<(String, String)>,
}

impl Approvals {
    /// GitHub tells labels apart without letter case, and adds none twice.
    fn add_label(&mut self, number: u64, [by, name, at]: [&str; 3]) {
        let labels = self.labels.entry(number).or_default();
        if !labels.iter().any(|label| label.eq_ignore_ascii_case(name)) {
            labels.push(name.to_owned());
            self.timelines
                .entry(number)
                .or_default()
                .push(happened("labeled", by, name, at));
        }
    }

    /// The labels of a pull request.
    pub fn labels_of(&self, number: u64) -> Vec<String> {
        self.labels.get(&number).cloned().unwrap_or_default()
    }

    /// The contexts of all statuses, the oldest first.
    pub fn all_contexts(&self) -> Vec<String> {
        self.statuses
            .iter()
            .map(|set| set.context.clone())
            .collect()
    }

    fn remove_label(&mut self, number: u64, [by, name, at]: [&str; 3]) {
        let labels = self.labels.entry(number).or_default();
        if labels.iter().any(|label| label.eq_ignore_ascii_case(name)) {
            labels.retain(|label| !label.eq_ignore_ascii_case(name));
            self.timelines
                .entry(number)
                .or_default()
                .push(happened("unlabeled", by, name, at));
        }
    }
}

/// An entry of the timeline (REST, "Timeline events for issues"; docs, "Issue event types").
fn happened(event: &str, by: &str, label: &str, at: &str) -> Value {
    json!({ "id": 1, "event": event, "actor": { "login": by }, "created_at": at, "label": { "name": label, "color": "ededed" } })
}

#[derive(Clone)]
struct Set {
    commit: String,
    context: String,
    state: String,
    description: String,
    creator: String,
    at: String,
}

impl Standin {
    /// Alice adds a label.
    pub fn label(&self, name: &str) {
        self.label_by("alice", name);
    }

    pub fn label_by(&self, actor: &str, name: &str) {
        self.label_on(NUMBER, actor, name);
    }

    /// Somebody adds a label to a pull request.
    pub fn label_on(&self, number: u64, actor: &str, name: &str) {
        self.change(|state| {
            let at = state.tick();
            // Whoever adds a label by hand has created it before, or does so on the way.
            state.labels.add(name);
            state.approval.add_label(number, [actor, name, &at]);
        });
    }

    /// Trudy takes a label away.
    pub fn unlabel(&self, name: &str) {
        self.unlabel_on(NUMBER, name);
    }

    /// Trudy takes a label of a pull request away.
    pub fn unlabel_on(&self, number: u64, name: &str) {
        self.unlabel_by("trudy", number, name);
    }

    /// Somebody takes a label of a pull request away.
    pub fn unlabel_by(&self, actor: &str, number: u64, name: &str) {
        self.change(|state| {
            let at = state.tick();
            state.approval.remove_label(number, [actor, name, &at]);
        });
    }

    /// Who pushed a commit to the pull request's branch.
    pub fn pushed_by(&self, actor: &str, commit: &str) {
        self.change(|state| {
            state
                .approval
                .pushes
                .push((actor.to_owned(), commit.to_owned()))
        });
    }

    pub fn labels(&self) -> Vec<String> {
        self.change(|state| state.approval.labels_of(NUMBER))
    }

    /// Somebody takes every label away right after the next status is set.
    pub fn unlabel_meanwhile(&self) {
        self.change(|state| state.approval.unlabels = true);
    }

    /// Somebody pushes right after the next status is set.
    pub fn push_meanwhile(&self, commit: &str) {
        self.change(|state| state.approval.pushes_next = Some(commit.to_owned()));
    }

    /// What somebody may do, as a role's name.
    pub fn role(&self, login: &str, role: &'static str) {
        self.change(|state| state.approval.roles.insert(login.to_owned(), role));
    }

    /// Somebody sets a status.
    pub fn status(&self, creator: &str, commit: &str, state: &str, description: &str) {
        self.status_of(creator, commit, "goldgate/baseline", [state, description]);
    }

    /// Somebody sets a status of some context: whoever may push may set any (REST, "Create a commit status": "Users with push access
    /// in a repository can create commit statuses for a given SHA"), but not as another account.
    pub fn status_of(
        &self,
        creator: &str,
        commit: &str,
        context: &str,
        [state, description]: [&str; 2],
    ) {
        let set = Set {
            commit: commit.to_owned(),
            context: context.to_owned(),
            state: state.to_owned(),
            description: description.to_owned(),
            creator: creator.to_owned(),
            at: String::new(),
        };
        self.change(|state| {
            let at = state.tick();
            state.approval.statuses.push(Set { at, ..set });
        });
    }

    /// The contexts of a commit's statuses, the oldest first, without pending ones and those of [`Self::removals`].
    pub fn contexts(&self, commit: &str) -> Vec<String> {
        self.change(|state| {
            let is_meant = |set: &&Set| {
                set.commit == commit && set.context != REMOVAL && set.state != "pending"
            };
            let of_commit = state.approval.statuses.iter().filter(is_meant);
            of_commit.map(|set| set.context.clone()).collect()
        })
    }

    /// The statuses of a commit as `state description`, the oldest first, without those of [`Self::removals`].
    pub fn statuses(&self, commit: &str) -> Vec<String> {
        self.described(|set| set.commit == commit && set.context != REMOVAL)
    }

    /// The statuses of a commit that say that goldgate removes a label.
    pub fn removals(&self, commit: &str) -> Vec<String> {
        self.described(|set| set.commit == commit && set.context == REMOVAL)
    }

    fn described(&self, is_meant: impl Fn(&Set) -> bool) -> Vec<String> {
        self.change(|state| {
            let meant = state.approval.statuses.iter().filter(|set| is_meant(set));
            meant
                .map(|set| format!("{} {}", set.state, set.description))
                .collect()
        })
    }
}

/// The context of the status that goldgate sets before it removes a label.
const REMOVAL: &str = "goldgate/label";

fn shown(set: &Set) -> Value {
    json!({
        "state": set.state, "context": set.context, "description": set.description, "creator": { "login": set.creator },
        "created_at": set.at,
    })
}

/// `issues/N/labels`, `collaborators/LOGIN/permission`, `statuses/SHA`, `commits/SHA/statuses`.
#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let allowed = |state: &State, permission| state.allows(permission);
    Some(match (request.method.as_str(), segments) {
        ("DELETE", ["issues", _, "labels", _]) if !allowed(state, "pull-requests: write") => {
            forbidden("issues=write; pull_requests=write")
        }
        ("DELETE", ["issues", number, "labels", name]) => {
            let (number, name) = (number.parse().unwrap(), decoded(name));
            if !state
                .approval
                .labels_of(number)
                .iter()
                .any(|label| label.eq_ignore_ascii_case(&name))
            {
                return Some(missing());
            }
            let at = state.tick();
            let login = state.account.login.clone();
            state.approval.remove_label(number, [&login, &name, &at]);
            ok(json!([]))
        }
        ("GET", ["issues", number, "timeline"]) => {
            // Commits stand there as well, with neither an actor nor a time of GitHub's.
            let mut all = vec![
                json!({ "event": "committed", "sha": "c".repeat(40), "author": { "name": "x" } }),
            ];
            let own = number
                .parse()
                .ok()
                .and_then(|number: u64| state.approval.timelines.get(&number));
            all.extend(own.into_iter().flatten().cloned());
            request.page(&all, Value::clone)
        }
        // REST, "List repository activities". The author pushed what nobody else did.
        ("GET", ["activity"]) => {
            let mut pushes = state.approval.pushes.clone();
            pushes.extend(
                state
                    .pulls
                    .tips()
                    .into_iter()
                    .map(|commit| ("Codertocat".to_owned(), commit)),
            );
            // Newest first; the oldest one that somebody pushed made the branch.
            let below = |commit: &str| {
                let own = &state.approval.pushes;
                let at = own.iter().position(|(_, other)| other == commit)?;
                Some(own.get(at + 1)?.1.clone())
            };
            request.page(&pushes, |(by, commit)| {
                let before = below(commit).unwrap_or_else(|| "0".repeat(40));
                json!({ "id": 1, "before": before, "after": commit, "ref": request.asked("ref"), "activity_type": "push",
                    "timestamp": "2026-11-21T06:13:20Z", "actor": { "login": by } })
            })
        }
        ("GET", ["collaborators", login, "permission"]) => {
            let role = state
                .approval
                .roles
                .get(&decoded(login))
                .copied()
                .unwrap_or("read");
            // GitHub folds the finer roles into the older four.
            let permission = match role {
                "maintain" => "write",
                "triage" => "read",
                other => other,
            };
            ok(
                json!({ "permission": permission, "role_name": role, "user": { "login": decoded(login) } }),
            )
        }
        ("GET", ["commits", _, "statuses"]) if !allowed(state, "statuses: read") => {
            forbidden("statuses=read")
        }
        ("GET", ["commits", commit, "statuses"]) => {
            let newest: Vec<Set> = state
                .approval
                .statuses
                .iter()
                .rev()
                .filter(|set| set.commit == *commit)
                .cloned()
                .collect();
            request.page(&newest, shown)
        }
        ("POST", ["statuses", _]) if !allowed(state, "statuses: write") => {
            forbidden("statuses=write")
        }
        ("POST", ["statuses", commit]) => {
            let text = |name: &str| request.body[name].as_str().unwrap_or_default().to_owned();
            let known =
                ["success", "failure", "pending", "error"].contains(&text("state").as_str());
            if !known || text("description").chars().count() > 140 {
                return Some(invalid());
            }
            let set = Set {
                commit: (*commit).to_owned(),
                context: text("context"),
                state: text("state"),
                description: text("description"),
                creator: state.account.login.clone(),
                at: state.tick(),
            };
            state.approval.statuses.push(set.clone());
            if let Some(commit) = state.approval.pushes_next.take() {
                state.pulls.push("changes", &commit);
            }
            if std::mem::take(&mut state.approval.unlabels) {
                let at = state.tick();
                for label in state.approval.labels_of(NUMBER) {
                    state.approval.remove_label(NUMBER, ["trudy", &label, &at]);
                }
            }
            status(201, shown(&set))
        }
        _ => return None,
    })
}
