//! How two commits differ, and the branches of a merge queue.

use std::collections::BTreeMap;

use http::Method;
use serde::Deserialize;

use super::{GitHub, GitHubError, parsed};
use crate::text::encoded_segment;

/// The number of files at which GitHub stops listing them (REST, "Compare two commits").
const MOST_FILES: usize = 300;

/// How a commit differs from its merge base with another one.
#[derive(Debug, Clone)]
pub struct CommitComparison {
    /// The first parent of each commit since the merge base; GitHub lists at most 250 commits.
    parents: BTreeMap<String, Option<String>>,
    /// The changed files; `None` if GitHub does not list all of them.
    pub files: Option<Vec<ComparedFile>>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
    /// Its path.
    pub path: String,
    /// Its blob id; `None` if it was removed.
    pub blob: Option<String>,
    /// Its path before, if it was renamed.
    pub previous: Option<String>,
}

impl CommitComparison {
    /// Whether a commit is among those since the merge base.
    pub fn has(&self, commit: &str) -> bool {
        self.parents.contains_key(commit)
    }

    /// The commits since the merge base that the branch itself had as its tip: the first parents of `head`, newest first.
    pub fn first_parents(&self, head: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut next = Some(head.to_owned());
        while let Some(commit) = next.filter(|commit| !found.contains(commit)) {
            let Some(parent) = self.parents.get(&commit) else { break };
            next = parent.clone();
            found.push(commit);
        }
        found
    }
}

impl GitHub {
    /// Compares a commit with its merge base with another commit.
    ///
    /// # Errors
    /// GitHub did not answer.
    pub fn compare(&self, base: &str, head: &str) -> Result<CommitComparison, GitHubError> {
        let path = self.path(&format!("/compare/{}...{}", encoded_segment(base), encoded_segment(head)));
        let answer = self.ask(&Method::GET, &path, None, "while comparing two commits")?;
        let ComparisonForm { commits, files } = parsed(&answer, &path)?;
        let parents = commits.into_iter().map(|ComparedCommitForm { sha, parents }| {
            let first = parents.into_iter().next();
            (sha, first.map(|parent| parent.sha))
        });
        let parents = parents.collect();
        let is_whole = files.len() < MOST_FILES;
        let files = files.into_iter().map(ComparedFile::from).collect();
        Ok(CommitComparison { parents, files: is_whole.then_some(files) })
    }

    /// The branches of a merge queue: their full names by the commit of the group.
    ///
    /// # Errors
    /// GitHub did not answer.
    pub fn queue_branches(&self, into: &str) -> Result<BTreeMap<String, String>, GitHubError> {
        let name = encoded_segment(&format!("heads/gh-readonly-queue/{into}/"));
        let path = self.path(&format!("/git/matching-refs/{name}"));
        let answer = self.ask(&Method::GET, &path, None, "while listing the merge queue")?;
        let refs: Vec<QueueRefForm> = parsed(&answer, &path)?;
        Ok(refs.into_iter().map(|one| (one.object.sha, one.name)).collect())
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
    parents: Vec<ComparedShaForm>,
}

#[derive(Deserialize)]
struct ComparedShaForm {
    sha: String,
}

#[derive(Deserialize)]
struct ComparedFileForm {
    filename: String,
    sha: Option<String>,
    status: String,
    previous_filename: Option<String>,
}

#[derive(Deserialize)]
struct QueueRefForm {
    #[serde(rename = "ref")]
    name: String,
    object: ComparedShaForm,
}

impl From<ComparedFileForm> for ComparedFile {
    fn from(form: ComparedFileForm) -> Self {
        let ComparedFileForm { filename, sha, status, previous_filename } = form;
        Self { path: filename, blob: sha.filter(|_| status != "removed"), previous: previous_filename }
    }
}
