//! Pull requests, merges and the history of commits.

use http::Method;
use serde::Deserialize;

use super::forms::{NamedForm, ShaForm, origin_of};
use super::{GitHub, GitHubError, PAGE, parsed};
use crate::model::{BranchOrigin, PullRequestDetails};
use crate::text::encoded_segment;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPull {
    pub number: u64,
    pub head: String,
    pub base: String,
    pub into: String,
    /// The id of the repository that contains its branch; `None` if it was deleted.
    pub head_repository: Option<u64>,
    /// Where its branch is.
    pub origin: BranchOrigin,
}

impl GitHub {
    /// The open pull requests from `owner:branch`. The event of a fork's run does not name them.
    pub fn open_pulls(&self, owner: &str, branch: &str) -> Result<Vec<OpenPull>, GitHubError> {
        let head = encoded_segment(&format!("{owner}:{branch}"));
        let path = self.path(&format!("/pulls?state=open&head={head}&per_page={PAGE}"));
        Ok(open(self.get(&path, "while looking for the pull request")?))
    }

    /// The open pull requests from a branch of this repository. GitHub finds those of a fork of the same owner as well.
    pub fn own_open_pulls(&self, branch: &str) -> Result<Vec<OpenPull>, GitHubError> {
        let pulls = self.open_pulls(self.owner(), branch)?;
        Ok(pulls
            .into_iter()
            .filter(|pull| pull.origin == BranchOrigin::Same)
            .collect())
    }

    /// All open pull requests. For a commit GitHub lists none that only a fork has (TooTallNate/nx.js#410), and perhaps none of forks at all.
    pub fn every_open_pull(&self) -> Result<Vec<OpenPull>, GitHubError> {
        Ok(open(self.entries(
            &self.path("/pulls"),
            "while listing the open pull requests",
        )?))
    }
}

fn open(forms: Vec<PullForm>) -> Vec<OpenPull> {
    forms
        .into_iter()
        .filter(|form| form.state == "open")
        .map(OpenPull::from)
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPull {
    pub number: u64,
    pub head: String,
    pub description: String,
    pub is_merged: bool,
}

impl GitHub {
    /// The newest closed pull request from a branch of this repository into another one, of the newest [`PAGE`] of its owner.
    pub fn newest_closed_pull(
        &self,
        branch: &str,
        into: &str,
    ) -> Result<Option<ClosedPull>, GitHubError> {
        let head = encoded_segment(&format!("{}:{branch}", self.owner()));
        let into = encoded_segment(into);
        let path = self
            .path(&format!("/pulls?state=closed&head={head}&base={into}&sort=created&direction=desc&per_page={PAGE}"));
        let forms: Vec<MergedPullForm> =
            self.get(&path, "while looking for a closed pull request")?;
        let newest = forms
            .into_iter()
            .find(|form| origin(&form.head, &form.base) == BranchOrigin::Same);
        Ok(newest.map(
            |MergedPullForm {
                 number,
                 head,
                 merged_at,
                 body,
                 ..
             }| ClosedPull {
                number,
                head: head.sha,
                description: body.unwrap_or_default(),
                is_merged: merged_at.is_some(),
            },
        ))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPull {
    pub number: u64,
    /// When it was merged, in GitHub's format.
    pub at: String,
    pub labels: Vec<String>,
    /// The branch that it was merged into.
    pub into: String,
    /// The commit of that branch that the merge made: a merge commit, a squashed commit, or the last commit of a rebase.
    pub commit: Option<String>,
}

impl GitHub {
    /// The pull requests that were merged into a branch, those that changed last first: one page.
    pub fn merged_pulls(&self, into: &str) -> Result<Vec<MergedPull>, GitHubError> {
        let into = encoded_segment(into);
        let path = self.path(&format!(
            "/pulls?state=closed&base={into}&sort=updated&direction=desc&per_page={PAGE}"
        ));
        let forms: Vec<MergedPullForm> =
            self.get(&path, "while looking for merged pull requests")?;
        Ok(forms
            .into_iter()
            .filter_map(MergedPullForm::merged)
            .collect())
    }

    /// The merged pull requests of a commit.
    pub fn merged_pulls_of(&self, commit: &str) -> Result<Vec<MergedPull>, GitHubError> {
        let path = self.path(&format!(
            "/commits/{}/pulls?per_page={PAGE}",
            encoded_segment(commit)
        ));
        let forms: Vec<MergedPullForm> =
            self.get(&path, "while looking for the commit's pull requests")?;
        Ok(forms
            .into_iter()
            .filter_map(MergedPullForm::merged)
            .collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeState {
    Made(String),
    /// The head conflicts with the base branch.
    Conflict,
    /// GitHub has not created it yet.
    Unknown,
}

impl GitHub {
    /// A pull request with its test merge. This request makes GitHub create it.
    pub fn pull_and_merge(
        &self,
        number: u64,
    ) -> Result<(PullRequestDetails, MergeState), GitHubError> {
        let path = self.path(&format!("/pulls/{number}"));
        let answer = self.ask(&Method::GET, &path, None, "while reading the test merge")?;
        let MergeForm {
            mergeable,
            merge_commit_sha,
        } = parsed(&answer, &path)?;
        let state = match (mergeable, merge_commit_sha) {
            (Some(false), _) => MergeState::Conflict,
            (Some(true), Some(merge)) => MergeState::Made(merge),
            (Some(true) | None, _) => MergeState::Unknown,
        };
        Ok((self.details_of(parsed(&answer, &path)?), state))
    }

    /// The parents of a commit, in order.
    pub fn parents(&self, commit: &str) -> Result<Vec<String>, GitHubError> {
        let path = self.path(&format!("/git/commits/{}", encoded_segment(commit)));
        Ok(self
            .get::<ParentsForm>(&path, "while reading the parents of a commit")?
            .parents
            .into_iter()
            .map(|parent| parent.sha)
            .collect())
    }

    /// The merge base of a branch of this repository and a head commit.
    pub fn merge_base(&self, branch: &str, head: &str) -> Result<String, GitHubError> {
        // By its name, a tag may be found instead.
        let tip = self.branch(branch)?.ok_or(GitHubError::Missing)?;
        self.common_commit(&tip, head)
    }

    /// Whether a branch has a commit in its history.
    pub fn branch_has(&self, branch: &str, commit: &str) -> Result<bool, GitHubError> {
        self.merge_base(branch, commit)
            .map(|common| common == commit)
    }

    /// Whether a commit has another one in its history, or is that commit.
    pub fn has_commit(&self, newer: &str, commit: &str) -> Result<bool, GitHubError> {
        self.common_commit(newer, commit)
            .map(|common| common == commit)
    }

    /// The merge base of two commits.
    pub fn common_commit(&self, left: &str, right: &str) -> Result<String, GitHubError> {
        let path = self.path(&format!(
            "/compare/{}...{}?per_page=1",
            encoded_segment(left),
            encoded_segment(right)
        ));
        Ok(self
            .get::<CompareForm>(&path, "while reading the merge base")?
            .merge_base_commit
            .sha)
    }
}

#[derive(Deserialize)]
struct MergedPullForm {
    number: u64,
    head: BranchForm,
    base: BranchForm,
    merged_at: Option<String>,
    merge_commit_sha: Option<String>,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<NamedForm>,
}

impl MergedPullForm {
    /// `None` if the pull request is not merged.
    fn merged(self) -> Option<MergedPull> {
        Some(MergedPull {
            number: self.number,
            at: self.merged_at?,
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            into: self.base.name,
            commit: self.merge_commit_sha,
        })
    }
}

#[derive(Deserialize)]
struct MergeForm {
    mergeable: Option<bool>,
    merge_commit_sha: Option<String>,
}

#[derive(Deserialize)]
struct ParentsForm {
    #[serde(default)]
    parents: Vec<ShaForm>,
}

#[derive(Deserialize)]
struct CompareForm {
    merge_base_commit: ShaForm,
}

#[derive(Deserialize)]
struct PullForm {
    number: u64,
    state: String,
    head: BranchForm,
    base: BranchForm,
}

#[derive(Deserialize)]
struct BranchForm {
    #[serde(default)]
    sha: String,
    #[serde(default, rename = "ref")]
    name: String,
    repo: Option<RepositoryForm>,
}

impl BranchForm {
    fn repository_id(&self) -> Option<u64> {
        self.repo.as_ref().map(|repo| repo.id)
    }
}

#[derive(Deserialize)]
struct RepositoryForm {
    id: u64,
}

fn origin(head: &BranchForm, base: &BranchForm) -> BranchOrigin {
    origin_of(head.repository_id(), base.repository_id())
}

impl From<PullForm> for OpenPull {
    fn from(form: PullForm) -> Self {
        Self {
            origin: origin(&form.head, &form.base),
            number: form.number,
            head: form.head.sha,
            base: form.base.sha,
            into: form.base.name,
            head_repository: form.head.repo.map(|repo| repo.id),
        }
    }
}
