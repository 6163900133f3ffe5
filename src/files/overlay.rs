//! Presents live records like recordings, so that the same bytes are graded now and replayed later.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, EntryKind, Files};
use crate::diag::Diagnostic;
use crate::model::RepoPath;

/// Files in memory that hide the folders below them.
pub struct OverlayFiles<'a> {
    below: &'a dyn Files,
    files: BTreeMap<RepoPath, &'a str>,
    folders: BTreeSet<RepoPath>,
}

impl<'a> OverlayFiles<'a> {
    /// Creates an empty overlay over other files.
    pub fn over(below: &'a dyn Files) -> Self {
        Self {
            below,
            files: BTreeMap::new(),
            folders: BTreeSet::new(),
        }
    }

    /// Adds a folder, which may stay empty.
    pub fn folder(&mut self, folder: RepoPath) {
        self.folders.insert(folder);
    }

    /// Adds a record and its parent folders.
    pub fn put(&mut self, file: RepoPath, text: &'a str) {
        let mut folder = file.parent();
        while self.folders.insert(folder.clone()) && !folder.as_str().is_empty() {
            folder = folder.parent();
        }
        self.files.insert(file, text);
    }
}

impl Files for OverlayFiles<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        if !self.folders.contains(folder) {
            return self.below.list_all(folder);
        }
        let files = self.files.keys().map(|path| (path, EntryKind::File));
        let folders = self.folders.iter().map(|path| (path, EntryKind::Folder));
        let mut entries = Vec::new();
        for (path, kind) in files.chain(folders) {
            if !path.as_str().is_empty() && path.parent() == *folder {
                entries.push(Entry {
                    name: path.name().to_owned(),
                    kind,
                });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        match self.files.get(file) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.below.bytes(file),
        }
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        match self.files.get(file) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.below.baseline_bytes(file),
        }
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        !self.files.contains_key(file) && self.below.is_ignored(file)
    }
}
