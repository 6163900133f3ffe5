//! GraphQL: the one mutation that writes a commit.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, ok};

/// Commits that were written.
#[derive(Default)]
pub struct Commits {
    inputs: Vec<Value>,
}

impl Standin {
    /// The inputs of the commits that were written.
    pub fn commits(&self) -> Vec<Value> {
        self.change(|state| state.graphql.inputs.clone())
    }
}

fn error(kind: &str, message: &str) -> Answer {
    ok(json!({ "data": { "createCommitOnBranch": null }, "errors": [{ "type": kind, "message": message }] }))
}

/// `POST /graphql`.
pub fn answer(request: &Request, state: &mut State) -> Answer {
    let query = request.body["query"].as_str().unwrap_or_default();
    assert!(query.contains("createCommitOnBranch(input: $input)"), "{query}");
    if !state.allows("contents: write") {
        return error("FORBIDDEN", "Resource not accessible by integration");
    }
    let input = &request.body["variables"]["input"];
    assert_eq!(input["branch"]["repositoryNameWithOwner"], "acme/agents");
    let branch = input["branch"]["branchName"].as_str().unwrap().to_owned();
    let expected = input["expectedHeadOid"].as_str().unwrap().to_owned();
    state.pulls.meets();
    match state.pulls.head_of(&branch) {
        None => return error("NOT_FOUND", "no such branch"),
        Some(head) if head != expected => {
            let message = format!("Expected branch to point to \"{expected}\" but it did not. Pull and try again.");
            return error("STALE_DATA", &message);
        }
        Some(_) => {}
    }
    let oid = state.pulls.fresh();
    state.contents.inherit(&expected, &oid);
    for file in input["fileChanges"]["additions"].as_array().unwrap() {
        let bytes = STANDARD.decode(file["contents"].as_str().unwrap()).unwrap();
        state.contents.put(&oid, file["path"].as_str().unwrap(), bytes);
    }
    state.pulls.push(&branch, &oid);
    state.graphql.inputs.push(input.clone());
    ok(json!({ "data": { "createCommitOnBranch": { "commit": { "oid": oid } } } }))
}
