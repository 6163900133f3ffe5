//! The files of the base commit.

use super::Files;
use super::read_log::OtherCommit;
use crate::model::RepoPath;

pub trait BaseFiles: Files + OtherCommit {
    /// The path of a file with one of these names in any folder; `None` if there is none.
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String>;

    /// Whether the base commit's file `base_file` and the head's file `head_file` have the same content.
    fn likeness(&self, base_file: &RepoPath, head_file: &RepoPath) -> FileMatch;

    /// The links of the base commit that were met so far, and that the head does not have. A link counts as missing here.
    fn links_gone(&self) -> Vec<RepoPath>;
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
