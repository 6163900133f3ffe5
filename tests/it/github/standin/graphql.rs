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
    ok(
        json!({ "data": { "createCommitOnBranch": null }, "errors": [{ "type": kind, "message": message }] }),
    )
}

/// The hour's points are used up (docs, "Rate limits and query limits for the GraphQL API": "the response status will still be 200, but you
/// will receive an error message").
pub fn used_up() -> Answer {
    ok(
        json!({ "data": null, "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded" }] }),
    )
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
    // GraphQL, "Objects", `MergeQueueConfiguration`: null for a branch without a queue.
    if query.contains("mergeQueue(branch: $branch)") {
        let strategy = state.settings.queue_strategy();
        let queue = strategy.map(|name| json!({ "configuration": { "mergingStrategy": name } }));
        return ok(json!({ "data": { "repository": { "mergeQueue": queue } } }));
    }
    if query.contains("object(oid: ") {
        return texts(request, state);
    }
    if query.contains("... on IssueComment") {
        let node = request.body["variables"]["id"].as_str().unwrap();
        return ok(json!({ "data": { "node": state.comments.edits(node) } }));
    }
    assert!(
        query.contains("createCommitOnBranch(input: $input)"),
        "{query}"
    );
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
            let message = format!(
                "Expected branch to point to \"{expected}\" but it did not. Pull and try again."
            );
            return error("STALE_DATA", &message);
        }
        Some(_) => {}
    }
    let oid = state.pulls.fresh();
    let changes = &input["fileChanges"];
    let paths = |key: &str| changes[key].as_array().cloned().unwrap_or_default();
    let path = |file: &Value| file["path"].as_str().unwrap().to_owned();
    let bytes = |file: &Value| STANDARD.decode(file["contents"].as_str().unwrap()).unwrap();
    let additions: Vec<(String, Vec<u8>)> = paths("additions")
        .iter()
        .map(|file| (path(file), bytes(file)))
        .collect();
    let deletions: Vec<String> = paths("deletions").iter().map(path).collect();
    // GraphQL, "FileChanges": a path belongs either to the additions or to the deletions.
    assert!(
        additions.iter().all(|(path, _)| !deletions.contains(path)),
        "{changes}"
    );
    state.contents.inherit(&expected, &oid);
    for (path, bytes) in &additions {
        state.contents.put(&oid, path, bytes.clone());
    }
    state
        .commits
        .inherit(&expected, &oid, &additions, &deletions);
    state.pulls.grow(&expected, &oid);
    state.pulls.push(&branch, &oid);
    state.graphql.inputs.push(input.clone());
    ok(json!({ "data": { "createCommitOnBranch": { "commit": { "oid": oid } } } }))
}

/// The longest text that GitHub gives whole.
const WHOLE: usize = 512_000;

/// GraphQL, "Blob": `text` is "UTF8 text data or null if the Blob is binary", and `isTruncated` says "whether the contents is truncated".
/// An object that does not exist is null.
fn texts(request: &Request, state: &State) -> Answer {
    let variables = &request.body["variables"];
    assert_eq!(
        (&variables["owner"], &variables["name"]),
        (&json!("acme"), &json!("agents"))
    );
    if !state.allows("contents: read") {
        return ok(
            json!({ "data": { "repository": null }, "errors": [{ "type": "NOT_FOUND", "message": "no such repository" }] }),
        );
    }
    let mut found = serde_json::Map::new();
    let query = request.body["query"].as_str().unwrap();
    for line in query.lines().filter(|line| line.contains("object(oid: ")) {
        let (name, rest) = line.split_once(": object(oid: \"").unwrap();
        let id = rest.split('"').next().unwrap();
        let file = state.blob(id).map(|bytes| match String::from_utf8(bytes) {
            Ok(text) if text.contains('\0') => json!({ "text": null }),
            Ok(text) => json!({ "text": text.chars().take(WHOLE).collect::<String>() }),
            Err(bytes) => json!({ "text": String::from_utf8_lossy(bytes.as_bytes()) }),
        });
        found.insert(name.trim().to_owned(), json!(file));
    }
    assert!(found.len() <= 100, "one request for {} files", found.len());
    ok(json!({ "data": { "repository": found } }))
}
