//! How two commits differ, and the branches of a merge queue.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::account::AccountForm;
use super::forms::ShaForm;
use super::{GitHub, GitHubError};
use crate::text::encoded_segment;

/// The number of files at which GitHub stops listing them (REST, "Compare two commits").
const MOST_FILES: usize = 300;

/// The number of commits that GitHub lists on the first page, the oldest ones (REST, "Compare two commits").
const MOST_COMMITS: usize = 250;

/// The committer of what is merged or edited on GitHub's pages.
const WEB_FLOW: &str = "web-flow";

/// How a commit differs from its merge base with another one.
#[derive(Debug, Clone)]
pub struct CommitComparison {
    /// The commit that both began at.
    pub merge_base: String,
    /// The first parent of each commit since the merge base; GitHub lists at most [`MOST_COMMITS`].
    parents: BTreeMap<String, Option<String>>,
    /// The accounts of the author and the committer of each of these commits, as far as GitHub knows them, without GitHub's own.
    people: BTreeMap<String, Vec<String>>,
    /// The changed files; `None` if GitHub does not list all of them.
    pub files: Option<Vec<ComparedFile>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
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

    /// The first parent of a listed commit; the outer `None` if it is not listed.
    pub fn first_parent(&self, commit: &str) -> Option<Option<&str>> {
        self.parents.get(commit).map(Option::as_deref)
    }

    /// The accounts of a listed commit's author and committer.
    pub fn people_of(&self, commit: &str) -> &[String] {
        self.people
            .get(commit)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether all commits since the merge base are listed.
    pub fn is_whole(&self) -> bool {
        self.parents.len() < MOST_COMMITS
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
        let ComparisonForm {
            merge_base_commit,
            commits,
            files,
        } = self.get(&path, "while comparing two commits")?;
        let (mut first_parents, mut people) = (BTreeMap::new(), BTreeMap::new());
        for ComparedCommitForm {
            sha,
            parents,
            author,
            committer,
        } in commits
        {
            first_parents.insert(
                sha.clone(),
                parents.into_iter().next().map(|parent| parent.sha),
            );
            let all = [author, committer]
                .into_iter()
                .flatten()
                .map(AccountForm::login);
            people.insert(
                sha,
                all.filter(|login| !login.is_empty() && login != WEB_FLOW)
                    .collect(),
            );
        }
        let is_whole = files.len() < MOST_FILES;
        let files = files.into_iter().map(ComparedFile::from).collect();
        let (merge_base, files) = (merge_base_commit.sha, is_whole.then_some(files));
        Ok(CommitComparison {
            merge_base,
            parents: first_parents,
            people,
            files,
        })
    }

    /// The branches of a merge queue: their full names by the commit of the group.
    pub fn queue_branches(&self, into: &str) -> Result<BTreeMap<String, String>, GitHubError> {
        let name = encoded_segment(&format!("heads/gh-readonly-queue/{into}/"));
        let path = self.path(&format!("/git/matching-refs/{name}"));
        let refs: Vec<QueueRefForm> = self.get(&path, "while listing the merge queue")?;
        Ok(refs
            .into_iter()
            .map(|one| (one.object.sha, one.name))
            .collect())
    }
}

#[derive(Deserialize)]
struct ComparisonForm {
    merge_base_commit: ShaForm,
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
    author: Option<AccountForm>,
    committer: Option<AccountForm>,
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
    object: ShaForm,
}

impl From<ComparedFileForm> for ComparedFile {
    fn from(form: ComparedFileForm) -> Self {
        let ComparedFileForm {
            filename,
            sha,
            status,
            previous_filename,
        } = form;
        Self {
            path: filename,
            blob: sha.filter(|_| status != "removed"),
            previous: previous_filename,
        }
    }
}
