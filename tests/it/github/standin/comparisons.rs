//! What two commits have in common, and how they differ.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::commits::blob_id;
use super::{Answer, Request, Standin, State, decoded, ok, status};

/// The commit and all before it, as far as they are known; itself first.
fn ancestors(state: &State, commit: &str) -> Vec<String> {
    let mut all = vec![commit.to_owned()];
    let mut next = 0;
    while let Some(commit) = all.get(next).cloned() {
        for parent in state.pulls.parents(&commit) {
            if !all.contains(&parent) {
                all.push(parent);
            }
        }
        next += 1;
    }
    all
}

impl Standin {
    /// A commit has no commit in common with any other branch.
    pub fn unrelated(&self, commit: &str) {
        self.change(|state| state.pulls.unrelated.insert(commit.to_owned()));
    }
}

/// `compare/BASE...HEAD` (REST, "Compare two commits"): the merge base, at most 250 commits since it, the oldest first, each with its
/// parents, and at most 300 changed files with their blobs. A branch can stand for its tip.
pub fn answer(_: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let [_, two] = segments else { return None };
    let two = decoded(two);
    let (base, head) = two.split_once("...").unwrap();
    let base = state.pulls.head_of(base).unwrap_or_else(|| base.to_owned());
    let (of_base, of_head) = (ancestors(state, &base), ancestors(state, head));
    // A branch whose commits nobody described left its base when the pull request was opened.
    let known = of_head
        .iter()
        .find(|commit| of_base.contains(commit))
        .cloned();
    // REST, "Compare two commits": 404 "No common ancestor between main and head."
    if state.pulls.unrelated.contains(head) {
        let message = format!("No common ancestor between {base} and {head}.");
        return Some(status(404, json!({ "message": message })));
    }
    let common = state
        .pulls
        .merge_bases
        .get(head)
        .cloned()
        .or(known)
        .unwrap_or_else(|| state.pulls.opened_at());
    let before = ancestors(state, &common);
    let mut since: Vec<&String> = of_head
        .iter()
        .filter(|commit| !before.contains(commit))
        .collect();
    since.reverse();
    let shown = |commit: &&String| {
        let parents: Vec<Value> = state
            .pulls
            .parents(commit)
            .iter()
            .map(|sha| json!({ "sha": sha }))
            .collect();
        // The account of an author that GitHub does not know is `null`, or an empty object (XAMPPRocky/octocrab#677).
        json!({ "sha": commit, "parents": parents, "author": {}, "committer": null })
    };
    let commits: Vec<Value> = since.iter().take(250).map(shown).collect();
    let files = changed(&blobs(state, &common), &blobs(state, head));
    Some(ok(
        json!({ "merge_base_commit": { "sha": common }, "commits": commits, "files": files }),
    ))
}

/// The ids of a commit's files.
fn blobs(state: &State, commit: &str) -> BTreeMap<String, String> {
    state.commits.blobs(commit).unwrap_or_else(|| {
        let files = state.contents.of_commit(commit);
        files
            .into_iter()
            .map(|(path, bytes)| (path, blob_id(&bytes)))
            .collect()
    })
}

/// The changed files; a removed one keeps the id that it had.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Value> {
    let mut files = Vec::new();
    for (path, id) in after {
        match before.get(path) {
            None => files.push(json!({ "filename": path, "sha": id, "status": "added" })),
            Some(old) if old != id => {
                files.push(json!({ "filename": path, "sha": id, "status": "modified" }))
            }
            Some(_) => {}
        }
    }
    let removed = before.iter().filter(|(path, _)| !after.contains_key(*path));
    files.extend(
        removed.map(|(path, id)| json!({ "filename": path, "sha": id, "status": "removed" })),
    );
    files.truncate(300);
    files
}
