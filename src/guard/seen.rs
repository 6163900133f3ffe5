//! A shelf that remembers what was looked at: a suite may read files that lie outside of its own folder.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::PoisonError;

use super::Sides;
use super::edits::Look;
use super::files::below;
use super::files::difference;
use super::found::Found;
use crate::diag::Diagnostic;
use crate::model::RepoPath;
use crate::model::Suite;
use crate::suites::Entry;
use crate::suites::Shelf;

/// A shelf, and what was looked at.
pub struct Seen<'a> {
    shelf: &'a dyn Shelf,
    paths: Mutex<BTreeSet<RepoPath>>,
}

impl<'a> Seen<'a> {
    /// Nothing was looked at yet.
    pub fn new(shelf: &'a dyn Shelf) -> Self {
        Self { shelf, paths: Mutex::default() }
    }

    fn note(&self, path: &RepoPath) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
    }

    /// The files and folders that were looked at, but for those that are compared elsewhere.
    pub fn but(self, elsewhere: impl Fn(&RepoPath) -> bool) -> Vec<RepoPath> {
        let paths = self.paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        paths.into_iter().filter(|path| !elsewhere(path)).collect()
    }
}

impl Shelf for Seen<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.note(folder);
        self.shelf.list_all(folder)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.note(file);
        self.shelf.bytes(file)
    }
}

/// Compares files that a suite reads from outside of its folder.
pub fn compare(sides: &Sides<'_>, suite: &Suite, paths: &[RepoPath], found: &mut Found) {
    let mut said = BTreeSet::new();
    for path in paths {
        let (old, new) = match (below(sides.base, path, &|_| false), below(sides.head, path, &|_| false)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => {
                found.needs(format!("{path}, which `{}` reads, cannot be compared: {why}", suite.id), Some(path));
                continue;
            }
        };
        for inner in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (file, what) = match (old.get(inner), new.get(inner)) {
                (Some(before), Some(after)) => match difference(sides, before, after, Look::Whole) {
                    Some(what) => (after, format!("edited: {what}")),
                    None => continue,
                },
                (Some(file), None) => (file, "removed".to_owned()),
                (None, Some(file)) => (file, "added".to_owned()),
                (None, None) => continue,
            };
            if said.insert(file.clone()) {
                found.needs(format!("{file}, which `{}` reads, {what}", suite.id), Some(file));
            }
        }
    }
}
