//! Open pull requests by their heads (REST, "List pull requests": `head` is `user:ref-name`). A fork's run names no pull request: its
//! `pull_requests` is empty (docs, "Events that trigger workflows", `workflow_run`).

use serde_json::Value;

use super::{Answer, Request, Standin, State};

/// Pull requests with the `owner:branch` that they are from.
#[derive(Default)]
pub struct Forks(Vec<(String, Value)>);

impl Standin {
    /// A pull request from `owner:branch`, as GitHub tells it.
    pub fn pull_from(&self, head: &str, pull: Value) {
        self.change(|state| state.forks.0.push((head.to_owned(), pull)));
    }
}

/// `pulls?head=…`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let ("GET", ["pulls"], Some(head)) = (request.method.as_str(), segments, request.asked("head"))
    else {
        return None;
    };
    let open: Vec<&Value> = state
        .forks
        .0
        .iter()
        .filter(|(from, pull)| {
            *from == head
                && request
                    .asked("state")
                    .is_none_or(|wanted| pull["state"] == wanted.as_str())
        })
        .map(|(_, pull)| pull)
        .collect();
    (!state.forks.0.is_empty()).then(|| request.page(&open, |pull| (*pull).clone()))
}
