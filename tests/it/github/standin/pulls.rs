//! Pull requests and the branches of the repository.

use serde_json::json;

use super::Answer;
use super::Request;
use super::State;
use super::ok;

/// The pull request that an event is about.
#[derive(Default)]
pub struct Pulls {
    head: String,
}

impl Pulls {
    /// Opens the pull request of the tests at a head commit.
    pub fn open(&mut self, head: &str) {
        head.clone_into(&mut self.head);
    }
}

/// `pulls/N`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    match (request.method.as_str(), segments) {
        ("GET", ["pulls", _]) => Some(ok(json!({ "head": { "sha": state.pulls.head } }))),
        _ => None,
    }
}
