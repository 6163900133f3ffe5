//! Files of the repository.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::commits::{Commit, LINK};
use super::{Answer, Request, Standin, State, decoded, missing, ok};
use crate::repository::Repository;

/// Files that every commit has, and files of single commits.
#[derive(Default)]
pub struct Contents {
    everywhere: BTreeMap<String, Vec<u8>>,
    at: BTreeMap<(String, String), Vec<u8>>,
}

impl Standin {
    /// A file on every commit.
    pub fn file(&self, path: &str, text: &str) {
        self.change(|state| {
            state
                .contents
                .everywhere
                .insert(path.to_owned(), text.as_bytes().to_vec())
        });
    }

    /// The files of a repository on the disk, on every commit.
    pub fn files(&self, repository: &Repository) {
        repository.stamp_unless_kept();
        let commit = Commit::of(repository);
        for (path, (mode, bytes)) in commit.entries {
            let text = String::from_utf8(bytes).unwrap();
            if mode == LINK {
                self.link(&path, &text)
            } else {
                self.file(&path, &text)
            }
        }
    }

    /// A file on one commit or branch; it stands before the one that every commit has.
    pub fn file_at(&self, reference: &str, path: &str, text: &str) {
        self.change(|state| {
            state
                .contents
                .put(reference, path, text.as_bytes().to_vec())
        });
    }
}

impl Standin {
    /// The text of a file that every commit has.
    pub fn text(&self, path: &str) -> String {
        self.change(|state| String::from_utf8(state.contents.everywhere[path].clone()).unwrap())
    }

    /// The bytes of a file on one commit.
    pub fn read_at(&self, reference: &str, path: &str) -> Vec<u8> {
        self.change(|state| state.contents.get(reference, path).unwrap().clone())
    }
}

impl Contents {
    pub fn put(&mut self, reference: &str, path: &str, bytes: Vec<u8>) {
        self.at
            .insert((reference.to_owned(), path.to_owned()), bytes);
    }

    pub fn get(&self, reference: &str, path: &str) -> Option<&Vec<u8>> {
        let own = (reference.to_owned(), path.to_owned());
        self.at.get(&own).or_else(|| self.everywhere.get(path))
    }

    /// The files that every commit has.
    pub fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.everywhere.clone()
    }

    /// The files of one commit.
    pub fn of_commit(&self, commit: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.everywhere.clone();
        let own = self
            .at
            .iter()
            .filter(|((reference, _), _)| reference == commit);
        files.extend(own.map(|((_, path), bytes)| (path.clone(), bytes.clone())));
        files
    }

    /// Whether a commit has files of its own.
    pub fn has_commit(&self, commit: &str) -> bool {
        self.at.keys().any(|(reference, _)| reference == commit)
    }

    /// A new commit has what its parent has.
    pub fn inherit(&mut self, parent: &str, commit: &str) {
        let of_parent = self
            .at
            .iter()
            .filter(|((reference, _), _)| reference == parent);
        let copied: Vec<_> = of_parent
            .map(|((_, path), bytes)| ((commit.to_owned(), path.clone()), bytes.clone()))
            .collect();
        self.at.extend(copied);
    }
}

/// `contents/PATH`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let ("GET", ["contents", path]) = (request.method.as_str(), segments) else {
        return None;
    };
    let reference = request.asked("ref").unwrap_or_default();
    Some(match state.contents.get(&reference, &decoded(path)) {
        Some(bytes) if request.raw => ok(Value::from(std::str::from_utf8(bytes).unwrap())),
        // GitHub gives no content of files above 1 MB in this form.
        Some(bytes) if bytes.len() > 1_000_000 => ok(json!({ "encoding": "none", "content": "" })),
        Some(bytes) => ok(json!({ "encoding": "base64", "content": encoded(bytes) })),
        None => missing(),
    })
}

/// Base64 in lines of 60, as GitHub sends it.
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (place, chunk) in bytes.chunks(3).enumerate() {
        let group = chunk
            .iter()
            .fold(0_u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for letter in 0..4 {
            let shown = LETTERS[(group >> (18 - 6 * letter)) as usize & 63];
            out.push(if letter > chunk.len() {
                '='
            } else {
                char::from(shown)
            });
        }
        if place % 15 == 14 {
            out.push('\n');
        }
    }
    out
}
