//! References, trees and commits: `git/…`.

use serde_json::{Value, json};

use super::contents::Contents;
use super::pulls::Pulls;
use super::{Answer, Request, State, decoded, invalid, missing, ok, status};

/// Whether a commit has parents or files, or is the tip of a branch or a pull request.
fn is_known(pulls: &Pulls, contents: &Contents, sha: &str) -> bool {
    !pulls.parents(sha).is_empty() || pulls.is_tip(sha) || contents.has_commit(sha)
}

/// `git/…`, after the permission of the area.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let pulls = &mut state.pulls;
    let text = |name: &str| request.body[name].as_str().map(str::to_owned);
    let shown =
        |name: &str, sha: &str| json!({ "ref": name, "object": { "sha": sha, "type": "commit" } });
    let branch = |name: &str| decoded(name).strip_prefix("heads/").map(str::to_owned);
    Some(match (request.method.as_str(), segments) {
        ("GET", ["git", "ref", name]) => match branch(name).and_then(|name| pulls.head_of(&name)) {
            Some(sha) => ok(shown(&decoded(name), &sha)),
            None => missing(),
        },
        // REST, "List matching references": "all the references that start with" the name.
        ("GET", ["git", "matching-refs", name]) => {
            let below = pulls.branches_below(&branch(name).unwrap_or_default());
            ok(below
                .iter()
                .map(|(name, sha)| shown(&format!("refs/heads/{name}"), sha))
                .collect())
        }
        // REST, "Get a commit object": 404 for a commit that nobody pushed.
        ("GET", ["git", "commits", sha]) if !is_known(pulls, &state.contents, sha) => missing(),
        ("GET", ["git", "commits", sha]) => {
            let parents: Vec<Value> = pulls
                .parents(sha)
                .iter()
                .map(|parent| json!({ "sha": parent }))
                .collect();
            ok(
                json!({ "sha": sha, "tree": { "sha": format!("tree-of-{sha}") }, "parents": parents }),
            )
        }
        ("POST", ["git", "trees"]) => {
            let sha = pulls.fresh();
            pulls.trees.push((sha.clone(), request.body.clone()));
            status(201, json!({ "sha": sha }))
        }
        ("POST", ["git", "commits"]) => {
            let (sha, tree) = (pulls.fresh(), text("tree").unwrap());
            let below = pulls
                .trees
                .iter()
                .find(|(sha, _)| *sha == tree)
                .unwrap()
                .1
                .clone();
            let parent = request.body["parents"][0].as_str().unwrap();
            let known = [format!("tree-of-{parent}"), parent.chars().rev().collect()];
            assert!(known.iter().any(|tree| below["base_tree"] == *tree));
            state.contents.inherit(parent, &sha);
            let mut additions = Vec::new();
            for file in below["tree"].as_array().unwrap() {
                let (path, content) = (
                    file["path"].as_str().unwrap(),
                    file["content"].as_str().unwrap(),
                );
                state.contents.put(&sha, path, content.as_bytes().to_vec());
                additions.push((path.to_owned(), content.as_bytes().to_vec()));
            }
            state.commits.inherit(parent, &sha, &additions, &[]);
            status(201, json!({ "sha": sha }))
        }
        ("POST", ["git", "refs"]) => {
            let name = text("ref")
                .unwrap()
                .strip_prefix("refs/heads/")
                .unwrap()
                .to_owned();
            if pulls.head_of(&name).is_some() {
                return Some(invalid());
            }
            pulls.push(&name, &text("sha").unwrap());
            status(201, shown(&name, &text("sha").unwrap()))
        }
        ("PATCH", ["git", "refs", name]) => {
            let name = branch(name).unwrap();
            if pulls.head_of(&name).is_none() || request.body["force"] != true {
                return Some(invalid());
            }
            pulls.push(&name, &text("sha").unwrap());
            ok(shown(&name, &text("sha").unwrap()))
        }
        _ => return None,
    })
}
