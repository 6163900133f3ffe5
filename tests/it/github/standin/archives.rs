//! The storage of archives: a download redirects to a host of its own ("Download a repository archive (tar)": `Location`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, Body, Request, Standin, State, forbidden, ok, status};

/// What is stored, and which requests carried the token.
#[derive(Default)]
pub struct Archives {
    stored: BTreeMap<String, Vec<u8>>,
    /// Artifacts: the run and the number of each.
    uploaded: Vec<(u64, u64)>,
    /// GitHub has thrown these away (REST, "Download an artifact": 410).
    expired: Vec<u64>,
    with_token: Vec<String>,
}

impl Standin {
    /// A run uploads an artifact.
    pub fn upload(&self, run: u64, bytes: Vec<u8>) {
        self.change(|state| {
            let id = 500 + state.archives.uploaded.len() as u64;
            state.archives.uploaded.push((run, id));
            state
                .archives
                .stored
                .insert(format!("artifact-{id}"), bytes);
        });
    }

    /// GitHub throws all artifacts away.
    pub fn expire(&self) {
        self.change(|state| {
            let all = state.archives.uploaded.iter().map(|(_, id)| *id);
            state.archives.expired = all.collect();
        });
    }

    /// Requests to the storage that carried the token.
    pub fn leaks(&self) -> Vec<String> {
        self.change(|state| state.archives.with_token.clone())
    }
}

impl Archives {
    /// Puts bytes into the storage and gives the answer that leads there, to another host than the API's.
    pub fn redirect(&mut self, port: u16, name: &str, bytes: Option<Vec<u8>>) -> Answer {
        self.stored
            .extend(bytes.map(|bytes| (name.to_owned(), bytes)));
        let address = format!("http://localhost:{port}/_stored/{name}?signature=of-the-storage");
        Answer {
            headers: format!("location: {address}\r\n"),
            ..status(302, Value::Null)
        }
    }
}

/// `actions/runs/ID/artifacts`, `actions/artifacts/ID/zip`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let is_expired = |id: &u64| state.archives.expired.contains(id);
    match (request.method.as_str(), segments) {
        ("GET", ["actions", "runs", _, "artifacts"] | ["actions", "artifacts", _, "zip"])
            if !state.allows("actions: read") =>
        {
            Some(forbidden("actions=read"))
        }
        ("GET", ["actions", "runs", run, "artifacts"]) => {
            let own = state.archives.uploaded.iter();
            let found: Vec<u64> = own
                .filter(|(of, _)| run.parse() == Ok(*of))
                .map(|(_, id)| *id)
                .collect();
            let shown = |id: &u64| json!({ "id": id, "name": "goldgate-recordings", "expired": is_expired(id) });
            let listed = request.slice(&found, shown);
            Some(ok(
                json!({ "total_count": found.len(), "artifacts": listed }),
            ))
        }
        ("GET", ["actions", "artifacts", id, "zip"]) => {
            let id: u64 = id.parse().ok()?;
            Some(match is_expired(&id) {
                true => status(410, json!({ "message": "Artifact has expired" })),
                false => {
                    let name = format!("artifact-{id}");
                    state.archives.redirect(state.port, &name, None)
                }
            })
        }
        _ => None,
    }
}

/// The storage behind the redirect of a download: it stands outside of the API and takes no token.
pub fn stored(request: &Request, state: &mut State) -> Option<Answer> {
    let name = request.path.strip_prefix("/_stored/")?;
    if request.has_token {
        state.archives.with_token.push(name.to_owned());
    }
    if name == "round" {
        return Some(state.archives.redirect(state.port, "round", None));
    }
    let bytes = state.archives.stored.get(name)?;
    Some(Answer {
        status: 200,
        headers: String::new(),
        body: Body::Bytes(bytes.clone()),
    })
}
