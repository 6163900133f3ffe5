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

    /// Looks at the last commits up to the head that changed something in these folders, newest first: their ids, and their files to compare with the
    /// head's. Tells how much of the history is here.
    ///
    /// # Errors
    /// Why some of them cannot be read. What was seen before is not reliable then.
    fn past_commits(&self, folders: &[RepoPath], look: PastLook<'_>) -> Result<HistoryExtent, String>;
}

/// What looks at a past commit.
pub type PastLook<'a> = &'a mut dyn FnMut(&str, &dyn BaseFiles);

/// How much of a repository's history is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryExtent {
    /// All of it.
    Whole,
    /// Only the newest commits: a shallow clone.
    Shallow,
}

/// Whether a file of the base commit and one of the head are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMatch {
    /// They have the same content.
    Same,
    /// They differ, or one of them cannot be read.
    Differs,
}
