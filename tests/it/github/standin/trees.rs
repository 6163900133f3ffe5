//! The stand-in's trees and blobs: the base commit's files under the ids that git gives them (REST, "Get a tree": `recursive=1` lists
//! all, and `truncated` says that "the number of items in the tree array exceeded our maximum limit"; "Get a blob").

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::commits::Commit;
use super::{Answer, Request, Standin, State, missing, ok};
use crate::repository::Repository;

/// What is special about the base commit's tree.
#[derive(Default)]
pub struct Trees {
    /// Files that are links; their text is where they lead.
    links: BTreeSet<String>,
    /// Whether a whole tree is too large for one answer.
    truncated: bool,
    /// Whether nothing gives all files at once.
    pub has_no_archive: bool,
    /// The folder that archives leave out, by `export-ignore`.
    pub hidden: Option<String>,
    /// Files that git's API says are this large.
    sizes: BTreeMap<String, u64>,
    /// The commit that a job has checked out and that nobody described, with its files.
    pub checkout: Option<(String, Commit)>,
}

impl Standin {
    /// A job has checked out this commit: its files are all of the folder, unless somebody described them.
    pub fn check_out(&self, commit: &str, repository: &Repository) {
        let files = Commit::of_all(repository);
        self.change(|state| state.trees.checkout = Some((commit.to_owned(), files)));
    }

    /// The base commit's tree is answered in parts.
    pub fn truncate(&self) {
        self.change(|state| state.trees.truncated = true);
    }

    /// The base commit's files are given one by one alone.
    pub fn without_archive(&self) {
        self.change(|state| state.trees.has_no_archive = true);
    }

    /// Archives leave a folder out.
    pub fn hide_from_archives(&self, folder: &str) {
        self.change(|state| state.trees.hidden = Some(format!("{folder}/")));
    }

    /// The base commit has a link.
    pub fn link(&self, path: &str, leads: &str) {
        self.file(path, leads);
        self.change(|state| state.trees.links.insert(path.to_owned()));
    }

    /// The base commit has a file of this many bytes.
    pub fn large(&self, path: &str, size: u64) {
        self.file(path, "large");
        self.change(|state| state.trees.sizes.insert(path.to_owned(), size));
    }
}

fn id(kind: &str, bytes: &[u8]) -> String {
    let hash = Sha1::new()
        .chain_update(format!("{kind} {}\0", bytes.len()))
        .chain_update(bytes)
        .finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A folder's id: any that is the folder's own.
fn folder_id(path: &str) -> String {
    id("tree", path.as_bytes())
}

/// `git/trees/{id}` and `git/blobs/{id}` of the files that every commit has.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let files = state.contents.all();
    match (request.method.as_str(), segments) {
        ("GET", ["git", "trees", id]) => Some(ok(tree(&files, &state.trees, id, &request.query))),
        ("GET", ["git", "blobs", id]) if request.raw => {
            Some(blob(files.values().chain(state.commits.all_bytes()), id).map_or_else(missing, ok))
        }
        _ => None,
    }
}

/// A folder's id, or any other for the commit.
fn tree(files: &BTreeMap<String, Vec<u8>>, shape: &Trees, asked: &str, query: &str) -> Value {
    let mut entries: BTreeMap<String, Value> = BTreeMap::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (path, bytes) in files {
        folders.extend(
            path.match_indices('/')
                .map(|(end, _)| path[..end].to_owned()),
        );
        let mode = if shape.links.contains(path) {
            "120000"
        } else {
            "100644"
        };
        let size = shape.sizes.get(path).copied().unwrap_or(bytes.len() as u64);
        let blob = json!({ "path": path, "mode": mode, "type": "blob", "sha": id("blob", bytes), "size": size });
        entries.insert(path.clone(), blob);
    }
    for folder in &folders {
        let shown =
            json!({ "path": folder, "mode": "040000", "type": "tree", "sha": folder_id(folder) });
        entries.insert(folder.clone(), shown);
    }
    if query.contains("recursive=1") {
        let shown: Vec<&Value> = entries
            .values()
            .take(if shape.truncated { 1 } else { usize::MAX })
            .collect();
        return json!({ "sha": asked, "tree": shown, "truncated": shape.truncated });
    }
    let root = folders
        .iter()
        .find(|folder| folder_id(folder) == asked)
        .map(|folder| format!("{folder}/"));
    let root = root.unwrap_or_default();
    let own = entries.iter().filter_map(|(path, entry)| {
        let name = path
            .strip_prefix(&root)
            .filter(|name| !name.contains('/'))?;
        let mut entry = entry.clone();
        entry["path"] = name.into();
        Some(entry)
    });
    json!({ "sha": asked, "tree": own.collect::<Vec<_>>(), "truncated": false })
}

impl State {
    /// The file with this id.
    pub fn blob(&self, asked: &str) -> Option<Vec<u8>> {
        let files = self.contents.all();
        files
            .values()
            .chain(self.commits.all_bytes())
            .find(|bytes| id("blob", bytes) == asked)
            .cloned()
    }
}

fn blob<'a>(mut files: impl Iterator<Item = &'a Vec<u8>>, asked: &str) -> Option<Value> {
    let bytes = files.find(|bytes| id("blob", bytes) == asked)?;
    Some(Value::from(std::str::from_utf8(bytes).unwrap()))
}
