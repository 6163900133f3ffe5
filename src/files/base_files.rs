//! The files of the base commit.

use std::collections::BTreeMap;

use super::Files;
use super::read_log::OtherCommit;
use crate::model::{CommitStatus, RepoPath};

pub trait BaseFiles: Files + OtherCommit {
    /// The path of a file with one of these names in any folder; `None` if there is none.
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String>;

    /// Whether the base commit's file `before` and the head's file `after` have the same content.
    fn likeness(&self, before: &RepoPath, after: &RepoPath) -> FileMatch;

    /// The links of the base commit that were met so far, and that the head does not have. A link counts as missing here.
    fn links_gone(&self) -> Vec<RepoPath>;

    /// The statuses of a commit, newest first, or why they cannot be read; `None` if they are not available, as on a developer's machine.
    fn statuses_of(&self, _commit: &str) -> Option<Result<Vec<CommitStatus>, String>> {
        None
    }

    /// The files of the base commit with the content of this file of the head; none where not all of its files are known.
    fn files_like(&self, after: &RepoPath) -> Vec<RepoPath>;

    /// Whether a file had these bytes in one of the last changes of it up to the base commit. `false` if that is unknown.
    fn had(&self, file: &RepoPath, bytes: &[u8]) -> bool;

    /// The last commits up to the head that changed something in these folders, with the files in them.
    ///
    /// # Errors
    /// Why the history cannot be read.
    fn past_commits(&self, folders: &[RepoPath]) -> Result<PastCommits, String>;

    /// Looks at all files of a past commit, to compare them with the head's.
    ///
    /// # Errors
    /// Why they cannot be read. What was seen is not reliable then.
    fn look_at(&self, commit: &str, look: &mut dyn FnMut(&dyn BaseFiles)) -> Result<(), String>;

    /// The contents with these ids, as far as they can be read.
    fn contents(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>>;

    /// The id of a file of the base commit; `None` without one.
    fn id_of(&self, file: &RepoPath) -> Option<String>;

    /// Whether git stores this file of the head under this id.
    fn is_stored_as(&self, file: &RepoPath, id: &str) -> bool;
}

/// Commits up to the head, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PastCommits {
    pub commits: Vec<CommitRecordings>,
    /// Why commits before some of these are not here.
    pub cut: Option<HistoryCut>,
}

/// A commit, with the ids of the files in some folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecordings {
    pub id: String,
    pub files: BTreeMap<RepoPath, String>,
    pub predecessors: Predecessors,
}

/// Whether the commits before a commit are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessors {
    Known,
    /// They may exist.
    Unknown,
}

/// Why a history is not known as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryCut {
    /// Only the newest commits are here: a shallow clone.
    Shallow,
    /// Only this many commits are looked at.
    Limited(usize),
}

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
