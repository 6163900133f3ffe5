//! GraphQL: who the token belongs to, and the one mutation that writes a commit (GraphQL, "Mutations", `createCommitOnBranch`:
//! `expectedHeadOid` is "the git commit oid expected at the head of the branch prior to the commit"; errors come with the status 200).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::account::GraphQlAccess;
use super::{Answer, Request, Standin, State, ok, status};

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

/// The hour's points are used up (docs, "Rate limits and query limits for the GraphQL API": "the response status will still be 200, but you
/// will receive an error message").
pub fn used_up() -> Answer {
    ok(json!({ "data": null, "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded" }] }))
}

/// `POST /graphql`.
pub fn answer(request: &Request, state: &mut State) -> Answer {
    let query = request.body["query"].as_str().unwrap_or_default();
    match state.account.graphql {
        GraphQlAccess::Blocked => return status(403, json!({ "message": "blocked by the proxy" })),
        GraphQlAccess::Error => return used_up(),
        GraphQlAccess::Answers => {}
    }
    // GraphQL, "Queries": `viewer` is the authenticated user, also that of an installation token (cli/cli shows it as
    // "github-actions[bot]").
    if query.contains("viewer { login }") {
        return ok(json!({ "data": { "viewer": { "login": state.account.login } } }));
    }
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
    let changes = &input["fileChanges"];
    let paths = |key: &str| changes[key].as_array().cloned().unwrap_or_default();
    let path = |file: &Value| file["path"].as_str().unwrap().to_owned();
    let bytes = |file: &Value| STANDARD.decode(file["contents"].as_str().unwrap()).unwrap();
    let additions: Vec<(String, Vec<u8>)> = paths("additions").iter().map(|file| (path(file), bytes(file))).collect();
    let deletions: Vec<String> = paths("deletions").iter().map(path).collect();
    // GraphQL, "FileChanges": a path belongs either to the additions or to the deletions.
    assert!(additions.iter().all(|(path, _)| !deletions.contains(path)), "{changes}");
    state.contents.inherit(&expected, &oid);
    for (path, bytes) in &additions {
        state.contents.put(&oid, path, bytes.clone());
    }
    state.commits.inherit(&expected, &oid, &additions, &deletions);
    state.pulls.grow(&expected, &oid);
    state.pulls.push(&branch, &oid);
    state.graphql.inputs.push(input.clone());
    ok(json!({ "data": { "createCommitOnBranch": { "commit": { "oid": oid } } } }))
}
