//! How two commits differ.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::forms::ShaForm;
use super::{GitHub, GitHubError};
use crate::text::encoded_segment;

/// The number of files at which GitHub stops listing them (REST, "Compare two commits").
const MOST_FILES: usize = 300;

/// How a commit differs from its merge base with another one.
#[derive(Debug, Clone)]
pub struct CommitComparison {
    /// The first parent of each commit since the merge base; GitHub lists at most 250, the oldest ones.
    parents: BTreeMap<String, Option<String>>,
    /// The paths of the changed files; `None` if GitHub does not list all of them.
    pub files: Option<Vec<String>>,
}

impl CommitComparison {
    /// The first parent of a listed commit; the outer `None` if it is not listed.
    pub fn first_parent(&self, commit: &str) -> Option<Option<&str>> {
        self.parents.get(commit).map(Option::as_deref)
    }
}

impl GitHub {
    /// Compares a commit with its merge base with another commit.
    pub fn compare(&self, base: &str, head: &str) -> Result<CommitComparison, GitHubError> {
        let path = self.path(&format!(
            "/compare/{}...{}",
            encoded_segment(base),
            encoded_segment(head)
        ));
        let form: ComparisonForm = self.get(&path, "while comparing two commits")?;
        let is_whole = form.files.len() < MOST_FILES;
        let files = form.files.into_iter().map(|file| file.filename).collect();
        let mut parents = BTreeMap::new();
        for commit in form.commits {
            let first = commit.parents.into_iter().next().map(|parent| parent.sha);
            parents.insert(commit.sha, first);
        }
        Ok(CommitComparison {
            parents,
            files: is_whole.then_some(files),
        })
    }
}

#[derive(Deserialize)]
struct ComparisonForm {
    #[serde(default)]
    commits: Vec<ComparedCommitForm>,
    #[serde(default)]
    files: Vec<ComparedFileForm>,
}

#[derive(Deserialize)]
struct ComparedCommitForm {
    sha: String,
    #[serde(default)]
    parents: Vec<ShaForm>,
}

#[derive(Deserialize)]
struct ComparedFileForm {
    filename: String,
}
