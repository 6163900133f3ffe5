//! What an approval needs: labels, permissions, commit statuses.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::json;

use super::Answer;
use super::BOT;
use super::Request;
use super::Standin;
use super::State;
use super::decoded;
use super::forbidden;
use super::invalid;
use super::missing;
use super::ok;
use super::status;

/// The pull request's labels, what people may do, and every status that was set.
#[derive(Default)]
pub struct Approvals {
    pub labels: Vec<String>,
    roles: BTreeMap<String, &'static str>,
    statuses: Vec<Set>,
    unlabels: bool,
}

#[derive(Clone)]
struct Set {
    commit: String,
    context: String,
    state: String,
    description: String,
    creator: String,
}

impl Standin {
    pub fn label(&self, name: &str) {
        self.change(|state| state.approval.labels.push(name.to_owned()));
    }

    pub fn unlabel(&self, name: &str) {
        self.change(|state| state.approval.labels.retain(|label| label != name));
    }

    pub fn labels(&self) -> Vec<String> {
        self.change(|state| state.approval.labels.clone())
    }

    /// Somebody takes every label away right after the next status is set.
    pub fn unlabel_meanwhile(&self) {
        self.change(|state| state.approval.unlabels = true);
    }

    /// What somebody may do, as a role's name.
    pub fn role(&self, login: &str, role: &'static str) {
        self.change(|state| state.approval.roles.insert(login.to_owned(), role));
    }

    /// Somebody sets a status.
    pub fn status(&self, creator: &str, commit: &str, state: &str, description: &str) {
        let set = Set {
            commit: commit.to_owned(),
            context: "goldgate/baseline".to_owned(),
            state: state.to_owned(),
            description: description.to_owned(),
            creator: creator.to_owned(),
        };
        self.change(|state| state.approval.statuses.push(set));
    }

    /// The statuses of a commit as `state description`, the oldest first.
    pub fn statuses(&self, commit: &str) -> Vec<String> {
        self.change(|state| {
            let of_commit = state.approval.statuses.iter().filter(|set| set.commit == commit);
            of_commit.map(|set| format!("{} {}", set.state, set.description)).collect()
        })
    }
}

fn shown(set: &Set) -> Value {
    json!({
        "state": set.state, "context": set.context, "description": set.description, "creator": { "login": set.creator },
        "created_at": "2026-11-21T06:13:20Z",
    })
}

/// `issues/N/labels`, `collaborators/LOGIN/permission`, `statuses/SHA`, `commits/SHA/statuses`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let allowed = |state: &State, permission| state.allows(permission);
    Some(match (request.method.as_str(), segments) {
        ("DELETE", ["issues", _, "labels", _]) if !allowed(state, "pull-requests: write") => forbidden(),
        ("DELETE", ["issues", _, "labels", name]) => {
            let (name, labels) = (decoded(name), &mut state.approval.labels);
            if !labels.contains(&name) {
                return Some(missing());
            }
            labels.retain(|label| *label != name);
            ok(json!([]))
        }
        ("GET", ["collaborators", login, "permission"]) => {
            let role = state.approval.roles.get(&decoded(login)).copied().unwrap_or("read");
            // GitHub folds the finer roles into the older four.
            let permission = match role {
                "maintain" => "write",
                "triage" => "read",
                other => other,
            };
            ok(json!({ "permission": permission, "role_name": role, "user": { "login": decoded(login) } }))
        }
        ("GET", ["commits", _, "statuses"]) if !allowed(state, "statuses: read") => forbidden(),
        ("GET", ["commits", commit, "statuses"]) => {
            let newest: Vec<Set> =
                state.approval.statuses.iter().rev().filter(|set| set.commit == *commit).cloned().collect();
            request.page(&newest, shown)
        }
        ("POST", ["statuses", _]) if !allowed(state, "statuses: write") => forbidden(),
        ("POST", ["statuses", commit]) => {
            let text = |name: &str| request.body[name].as_str().unwrap_or_default().to_owned();
            let known = ["success", "failure", "pending", "error"].contains(&text("state").as_str());
            if !known || text("description").chars().count() > 140 {
                return Some(invalid());
            }
            let set = Set {
                commit: (*commit).to_owned(),
                context: text("context"),
                state: text("state"),
                description: text("description"),
                creator: BOT.to_owned(),
            };
            state.approval.statuses.push(set.clone());
            if std::mem::take(&mut state.approval.unlabels) {
                state.approval.labels.clear();
            }
            status(201, shown(&set))
        }
        _ => return None,
    })
}
