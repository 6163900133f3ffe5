//! The lists of recordings that one comparison after the other needs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::Sides;
use crate::files::{FilePaths, Files, all_files_below};
use crate::model::RepoPath;

/// The lists of both commits.
pub struct RecordingLists<'a> {
    /// Those of the base commit.
    pub base: FileLists<'a>,
    /// Those of the head.
    pub head: FileLists<'a>,
}

impl<'a> RecordingLists<'a> {
    /// None are known yet.
    pub fn of(sides: &Sides<'a>) -> Self {
        Self {
            base: FileLists::of(sides.base),
            head: FileLists::of(sides.head),
        }
    }
}

/// The lists of one commit, by folder.
pub struct FileLists<'a> {
    files: &'a dyn Files,
    known: RefCell<BTreeMap<RepoPath, FilePaths>>,
}

impl<'a> FileLists<'a> {
    fn of(files: &'a dyn Files) -> Self {
        Self {
            files,
            known: RefCell::default(),
        }
    }

    /// The files of a folder. What is given back with [`Self::keep`] is listed once.
    ///
    /// # Errors
    /// Why they cannot be listed.
    pub fn take(&self, folder: &RepoPath) -> Result<FilePaths, String> {
        match self.known.borrow_mut().remove(folder) {
            Some(known) => Ok(known),
            None => recorded_files(self.files, folder),
        }
    }

    /// Keeps a list for who needs it next.
    pub fn keep(&self, folder: RepoPath, files: FilePaths) {
        self.known.borrow_mut().insert(folder, files);
    }
}

/// The files of an agent's recordings, also those that git ignores: they are graded as well.
///
/// # Errors
/// Why they cannot be listed.
pub fn recorded_files(files: &dyn Files, folder: &RepoPath) -> Result<FilePaths, String> {
    all_files_below(files, folder).map_err(|problem| problem.to_string())
}
