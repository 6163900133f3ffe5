//! What an approval needs: labels, who set them, permissions, pushes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::pulls::NUMBER;
use super::{Answer, Request, Standin, State, decoded, forbidden, missing, ok};

/// The labels of pull requests, what people may do, and every status that was set.
#[derive(Default)]
pub struct Approvals {
    /// By the number of the pull request.
    labels: BTreeMap<u64, Vec<String>>,
    /// How many of the next timelines lack the newest change of a label.
    late: u32,
    roles: BTreeMap<String, &'static str>,
    /// What happened to each pull request, as `issues/N/timeline` tells it.
    timelines: BTreeMap<u64, Vec<Value>>,
    /// Who pushed which commit when, as the repository's activity tells it; newest first.
    pushes: Vec<[String; 3]>,
    /// Whether somebody takes every label away when the runs are listed next.
    unlabels: bool,
    /// A commit that somebody pushes when the runs are listed next.
    pushes_next: Option<String>,
    /// The run that a new label starts after the next list of runs.
    relabels: Option<u64>,
}

impl Approvals {
    /// GitHub tells labels apart without letter case, and adds none twice.
    pub fn add_label(&mut self, number: u64, [by, name, at]: [&str; 3]) {
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

    /// Somebody pushes.
    pub fn push(&mut self, by: &str, commit: &str, at: &str) {
        self.pushes.insert(0, [by, commit, at].map(str::to_owned));
    }

    /// Trudy takes every label away.
    pub fn unlabel_all(&mut self, at: &str) {
        for label in self.labels_of(NUMBER) {
            self.remove_label(NUMBER, ["trudy", &label, at]);
        }
    }

    /// What happens right after the runs were listed.
    pub fn happens_meanwhile(&mut self) -> (bool, Option<String>, Option<u64>) {
        let unlabels = std::mem::take(&mut self.unlabels);
        (unlabels, self.pushes_next.take(), self.relabels.take())
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

impl Standin {
    /// Somebody adds a label to the pull request of the payloads.
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

    /// Who pushed a commit to the pull request's branch, before anything else happened. The newest one is named first.
    pub fn pushed_by(&self, actor: &str, commit: &str) {
        let push = [actor, commit, BEGINNING].map(str::to_owned);
        self.change(|state| state.approval.pushes.push(push));
    }

    /// Somebody pushes to the branch of the pull request now.
    pub fn push_by(&self, actor: &str, commit: &str) {
        self.change(|state| {
            let at = state.tick();
            state.approval.push(actor, commit, &at);
            state.pulls.keep_merge();
            state.pulls.push("changes", commit);
            state.pulls.renew("6", commit);
        });
    }

    pub fn labels(&self) -> Vec<String> {
        self.change(|state| state.approval.labels_of(NUMBER))
    }

    /// Somebody takes every label away right after the runs are listed next.
    pub fn unlabel_meanwhile(&self) {
        self.change(|state| state.approval.unlabels = true);
    }

    /// Mallory takes the label away and sets it again right after the runs are listed next, which starts this run.
    pub fn relabel_meanwhile(&self, run: u64) {
        self.change(|state| state.approval.relabels = Some(run));
    }

    /// Somebody pushes right after the runs are listed next.
    pub fn push_meanwhile(&self, commit: &str) {
        self.change(|state| state.approval.pushes_next = Some(commit.to_owned()));
    }

    /// GitHub answers so many of the next timelines without the newest change of a label.
    pub fn lists_labels_late(&self, lists: u32) {
        self.change(|state| state.approval.late = lists);
    }

    /// What somebody may do, as a role's name.
    pub fn role(&self, login: &str, role: &'static str) {
        self.change(|state| state.approval.roles.insert(login.to_owned(), role));
    }
}

/// Before anything happened.
const BEGINNING: &str = "2026-11-21T00:00:00Z";

/// `issues/N/labels`, `issues/N/timeline`, `activity`, `collaborators/LOGIN/permission`.
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
            if state.approval.late > 0 {
                state.approval.late -= 1;
                all.pop();
            }
            request.page(&all, Value::clone)
        }
        // REST, "List repository activities". The author pushed what nobody else did.
        ("GET", ["activity"]) => {
            let branch = request.asked("ref").unwrap_or_default();
            let branch = branch.trim_start_matches("refs/heads/");
            let mut pushes = match branch {
                "changes" => state.approval.pushes.clone(),
                _ => Vec::new(),
            };
            for commit in state.pulls.heads_of(branch) {
                if pushes.iter().all(|push| push[1] != commit) {
                    pushes.push(["Codertocat".to_owned(), commit, BEGINNING.to_owned()]);
                }
            }
            request.page(&pushes, |[by, commit, at]| {
                json!({ "id": 1, "before": "0".repeat(40), "after": commit, "ref": request.asked("ref"), "activity_type": "push",
                    "timestamp": at, "actor": { "login": by } })
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
        _ => return None,
    })
}
