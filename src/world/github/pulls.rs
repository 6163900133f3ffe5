//! Pull requests by their heads.

use http::Method;
use serde::Deserialize;

use super::GitHub;
use super::PAGE;
use super::Refusal;
use super::escaped;
use super::parsed;

/// An open pull request of this repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPull {
    /// Its number.
    pub number: u64,
    /// The commit at its head.
    pub head: String,
    /// The commit that it would be merged into.
    pub base: String,
    /// The number of the repository that its branch is in; `None` where that is gone.
    pub head_repository: Option<u64>,
    /// The repository that it would be merged into, as `owner/name`.
    pub base_repository: String,
}

impl GitHub {
    /// The open pull requests from `owner:branch`. An event of a fork's run does not name them.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn open_pulls(&self, owner: &str, branch: &str) -> Result<Vec<OpenPull>, Refusal> {
        let head = escaped(&format!("{owner}:{branch}"));
        let path = self.path(&format!("/pulls?state=open&head={head}&per_page={PAGE}"));
        let answer = self.ask(&Method::GET, &path, None, "while looking for the pull request")?;
        let forms: Vec<PullForm> = parsed(&answer, &path)?;
        Ok(forms.into_iter().filter(|form| form.state == "open").map(OpenPull::from).collect())
    }
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
    sha: String,
    repo: Option<RepositoryForm>,
}

#[derive(Deserialize)]
struct RepositoryForm {
    id: u64,
    full_name: String,
}

impl From<PullForm> for OpenPull {
    fn from(form: PullForm) -> Self {
        Self {
            number: form.number,
            head: form.head.sha,
            base: form.base.sha,
            head_repository: form.head.repo.map(|repo| repo.id),
            base_repository: form.base.repo.map_or(String::new(), |repo| repo.full_name),
        }
    }
}
