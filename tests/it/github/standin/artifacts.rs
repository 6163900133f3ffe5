//! Artifacts of workflow runs (REST, "Artifacts"): a list by name for the repository and for a run, and a download that redirects to
//! a storage of its own ("Look for `Location:` in the response header"), 410 after an artifact has expired. A name is unique in one
//! attempt of a run (actions/upload-artifact, "Breaking Changes" of version 4), so a re-run adds a second one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, Body, Request, Standin, State, forbidden, missing, ok, status};

/// What runs have uploaded, and where the downloads lead.
#[derive(Default)]
pub struct Artifacts {
    uploaded: Vec<Uploaded>,
    stored: BTreeMap<String, Vec<u8>>,
    elsewhere: Option<String>,
    is_down: bool,
    with_token: Vec<String>,
}

struct Uploaded {
    id: u64,
    run: u64,
    name: String,
    expired: bool,
    at: String,
}

impl Standin {
    /// An artifact that a run has uploaded; the answer is its number.
    pub fn artifact(&self, run: u64, name: &str, bytes: Vec<u8>) -> u64 {
        self.change(|state| {
            let (id, at) = (500 + state.artifacts.uploaded.len() as u64, state.tick());
            state.artifacts.uploaded.push(Uploaded {
                id,
                run,
                name: name.to_owned(),
                expired: false,
                at,
            });
            state
                .artifacts
                .stored
                .insert(format!("artifact-{id}"), bytes);
            id
        })
    }

    /// GitHub has thrown all artifacts away.
    pub fn expire(&self) {
        self.change(|state| {
            state
                .artifacts
                .uploaded
                .iter_mut()
                .for_each(|one| one.expired = true)
        });
    }

    /// Every download is sent to this address.
    pub fn send_elsewhere(&self, address: &str) {
        self.change(|state| state.artifacts.elsewhere = Some(address.to_owned()));
    }

    /// The storage of the artifacts is down, or up again.
    pub fn break_storage(&self, broken: bool) {
        self.change(|state| state.artifacts.is_down = broken);
    }

    /// Requests to the storage that carried the token.
    pub fn leaks(&self) -> Vec<String> {
        self.change(|state| state.artifacts.with_token.clone())
    }
}

impl Artifacts {
    /// Puts bytes into the storage and gives the answer that leads there, to another host than the API's.
    pub fn redirect(&mut self, port: u16, name: &str, bytes: Option<Vec<u8>>) -> Answer {
        self.stored
            .extend(bytes.map(|bytes| (name.to_owned(), bytes)));
        let address = self.elsewhere.clone().unwrap_or_else(|| {
            format!("http://localhost:{port}/_stored/{name}?signature=of-the-storage")
        });
        Answer {
            headers: format!("location: {address}\r\n"),
            ..status(302, Value::Null)
        }
    }
}

/// The storage behind the redirect of a download: it stands outside of the API and takes no token.
pub fn stored(request: &Request, state: &mut State) -> Option<Answer> {
    let name = request.path.strip_prefix("/_stored/")?;
    if request.has_token {
        state.artifacts.with_token.push(name.to_owned());
    }
    if name == "round" {
        return Some(state.artifacts.redirect(state.port, "round", None));
    }
    if state.artifacts.is_down {
        return Some(status(502, Value::Null));
    }
    let bytes = state.artifacts.stored.get(name)?;
    Some(Answer {
        status: 200,
        headers: String::new(),
        body: Body::Bytes(bytes.clone()),
    })
}

/// `actions/…`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let ("GET", ["actions", rest @ ..]) = (request.method.as_str(), segments) else {
        return None;
    };
    if !state.allows("actions: read") {
        return Some(forbidden("actions=read"));
    }
    let kept = &mut state.artifacts;
    let runs = &state.runs;
    // REST, "List artifacts for a repository": `workflow_run` has the `head_sha`. Observed: the newest one comes first.
    let shown = |one: &&Uploaded| {
        let run = json!({ "id": one.run, "head_sha": runs.head_of(one.run) });
        json!({ "id": one.id, "name": one.name, "expired": one.expired, "created_at": one.at, "workflow_run": run })
    };
    Some(match rest {
        ["artifacts"] => {
            let named = |one: &&Uploaded| request.asked("name").is_none_or(|name| one.name == name);
            let found: Vec<&Uploaded> = kept.uploaded.iter().rev().filter(named).collect();
            ok(json!({ "total_count": found.len(), "artifacts": request.slice(&found, shown) }))
        }
        ["runs", id, "artifacts"] => {
            let found: Vec<&Uploaded> = kept
                .uploaded
                .iter()
                .filter(|one| {
                    one.run.to_string() == *id
                        && request.asked("name").is_none_or(|name| one.name == name)
                })
                .collect();
            ok(json!({ "total_count": found.len(), "artifacts": request.slice(&found, shown) }))
        }
        ["artifacts", id, "zip"] if request.has_token => {
            match kept.uploaded.iter().find(|one| one.id.to_string() == *id) {
                Some(one) if one.expired => {
                    status(410, json!({ "message": "Artifact has expired" }))
                }
                Some(_) => kept.redirect(state.port, &format!("artifact-{id}"), None),
                None => missing(),
            }
        }
        _ => missing(),
    })
}
