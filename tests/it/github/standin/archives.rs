//! The storage of archives: a download redirects to a host of its own ("Download a repository archive (tar)": `Location`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Answer, Body, Request, Standin, State, status};

/// What is stored, and which requests carried the token.
#[derive(Default)]
pub struct Archives {
    stored: BTreeMap<String, Vec<u8>>,
    with_token: Vec<String>,
}

impl Standin {
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
