//! GitHub's event payloads, as far as a run needs them.

use serde::Deserialize;

use super::json;
use super::source::SourceText;
use crate::diag::Diagnostic;
use crate::model::Origin;
use crate::model::PullRequest;

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The pull request that it is about.
    pub pull_request: Option<PullRequest>,
    /// The commit that is compared with, where the event names one: a pull request's or a merge group's base.
    pub base: Option<String>,
    /// The commit that is graded, where the event names another than the workflow's.
    pub head: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    pull_request: Option<PullRequestForm>,
    merge_group: Option<MergeGroupForm>,
    repository: Option<RepositoryForm>,
}

#[derive(Deserialize)]
struct PullRequestForm {
    number: u64,
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
}

#[derive(Deserialize)]
struct MergeGroupForm {
    head_sha: String,
    base_sha: String,
}

/// Reads a payload of any event.
///
/// # Errors
/// What in it cannot be.
pub fn read(source: &SourceText) -> Result<Event, Diagnostic> {
    let payload: Payload = json::whole(source)?;
    let here = payload.repository.as_ref().map(|repository| repository.id);
    if let Some(form) = payload.pull_request {
        // A fork that was deleted has no repository any more; it is foreign all the same.
        let origin = match (form.head.repo.map(|repository| repository.id), here) {
            (Some(head), Some(here)) if head == here => Origin::Same,
            _ => Origin::Fork,
        };
        let base = form.base.sha.clone();
        let head = form.head.sha.clone();
        let pull_request = PullRequest { number: form.number, head: form.head.sha, base: form.base.sha, origin };
        return Ok(Event { pull_request: Some(pull_request), base: Some(base), head: Some(head) });
    }
    let (base, head) = payload.merge_group.map_or((None, None), |group| (Some(group.base_sha), Some(group.head_sha)));
    Ok(Event { pull_request: None, base, head })
}
