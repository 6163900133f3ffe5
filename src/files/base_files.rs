//! The files of the base commit.

use super::Files;
use super::read_log::OtherCommit;
use crate::model::{CommitStatus, RepoPath};

pub trait BaseFiles: Files + OtherCommit {
    /// The path of a file with one of these names in any folder; `None` if there is none.
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String>;

    /// Whether the base commit's file `before` and the head's file `after` have the same content.
    fn likeness(&self, before: &RepoPath, after: &RepoPath) -> FileMatch;

    /// The statuses of a commit, newest first, or why they cannot be read; `None` if they are not available, as on a developer's machine.
    fn statuses_of(&self, _commit: &str) -> Option<Result<Vec<CommitStatus>, String>> {
        None
    }

    /// The files of the base commit with the content of this file of the head; none where not all of its files are known.
    fn files_like(&self, after: &RepoPath) -> Vec<RepoPath>;

    /// Whether a file had these bytes in one of the last changes of it up to the base commit. `false` if that is unknown.
    fn had(&self, file: &RepoPath, bytes: &[u8]) -> bool;
}

/// Whether a file of the base commit and one of the head are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMatch {
    /// They have the same content.
    Same,
    /// They differ, or one of them cannot be read.
    Differs,
}
