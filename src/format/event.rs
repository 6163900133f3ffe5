//! Reads the parts of GitHub event payloads that a run needs.

use serde::Deserialize;

use super::json;
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::model::{BranchOrigin, PullRequest};

/// The relevant parts of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The pull request that it belongs to.
    pub pull_request: Option<PullRequest>,
    /// The base commit of a pull request or merge group.
    pub base: Option<String>,
    /// The commit to grade, if it differs from the workflow's.
    pub head: Option<String>,
    /// The commit whose files are judged, once it is known: the merge of a pull request, else the same as `head`.
    pub judged: Option<String>,
    /// The target branch of the pull request or merge group at the time of the event.
    pub into: Option<String>,
    /// The pull request that a merge group tests.
    pub queued: Option<u64>,
    /// The tip of the base branch that the graded merge was made on, if it is known. No payload states it.
    pub tip: Option<String>,
    /// The push that started the run.
    pub push: Option<PushEvent>,
}

/// A push to a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushEvent {
    /// The branch.
    pub branch: String,
    /// Its tip before the push; `None` if the push created the branch.
    pub before: Option<String>,
    /// Its tip after the push.
    pub after: String,
}

#[derive(Deserialize)]
struct EventPayload {
    pull_request: Option<PullRequestForm>,
    merge_group: Option<MergeGroupForm>,
    repository: Option<EventRepositoryForm>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Deserialize)]
struct PullRequestForm {
    number: u64,
    head: EventBranchForm,
    base: EventBranchForm,
}

#[derive(Deserialize)]
struct EventBranchForm {
    sha: String,
    #[serde(rename = "ref")]
    branch: Option<String>,
    repo: Option<EventRepositoryForm>,
}

#[derive(Deserialize)]
struct EventRepositoryForm {
    id: u64,
}

#[derive(Deserialize)]
struct MergeGroupForm {
    head_sha: String,
    base_sha: String,
    base_ref: Option<String>,
    head_ref: Option<String>,
}

/// Reads the payload of any event.
pub fn read_event(source: &SourceText) -> Result<Event, Diagnostic> {
    let payload: EventPayload = json::whole(source)?;
    let here = payload.repository.as_ref().map(|repository| repository.id);
    if let Some(form) = payload.pull_request {
        // The head of a deleted fork has no repository; it is still a fork.
        let origin = match (form.head.repo.map(|repository| repository.id), here) {
            (Some(head), Some(here)) if head == here => BranchOrigin::Same,
            _ => BranchOrigin::Fork,
        };
        let into = form.base.branch.clone();
        let base = form.base.sha.clone();
        let head = form.head.sha.clone();
        let pull_request = PullRequest {
            number: form.number,
            head: form.head.sha,
            base: form.base.sha,
            origin,
        };
        let (pull_request, base, head) = (Some(pull_request), Some(base), Some(head));
        return Ok(Event {
            pull_request,
            base,
            head,
            into,
            ..Event::NONE
        });
    }
    let Some(MergeGroupForm {
        head_sha,
        base_sha,
        base_ref,
        head_ref,
    }) = payload.merge_group
    else {
        let push = payload
            .reference
            .as_deref()
            .zip(payload.after)
            .and_then(|(name, after)| {
                // A tag is not a branch, and has no tip before.
                let branch = name.strip_prefix("refs/heads/")?.to_owned();
                // Without a word about the tip before, the commit is compared like one that no push is known of.
                let before = Some(payload.before?).filter(|before| is_commit(before));
                // A push that deletes the branch has no tip after. GitHub runs it on the tip of the default branch, and that is judged.
                is_commit(&after).then_some(PushEvent {
                    branch,
                    before,
                    after,
                })
            });
        return Ok(Event {
            push,
            ..Event::NONE
        });
    };
    let into = base_ref.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
    let queued = head_ref.as_deref().and_then(queued_pull);
    Ok(Event {
        base: Some(base_sha),
        head: Some(head_sha),
        into,
        queued,
        ..Event::NONE
    })
}

/// Whether an id in the payload of a push is one of a commit. It is all zeros where there is none.
fn is_commit(id: &str) -> bool {
    id.bytes().any(|byte| byte != b'0')
}

impl Event {
    /// An event without a pull request and without commits of its own.
    pub const NONE: Self = Self {
        pull_request: None,
        base: None,
        head: None,
        judged: None,
        into: None,
        queued: None,
        tip: None,
        push: None,
    };

    /// The branch of the base commit.
    pub fn base_branch(&self) -> Option<String> {
        self.base.as_ref().and(self.into.clone())
    }
}

/// The pull request number in the name of a merge queue branch: `gh-readonly-queue/BASE/pr-NUMBER-SHA`. Only GitHub can push such a branch.
pub fn queued_pull(reference: &str) -> Option<u64> {
    let (base, last) = reference
        .strip_prefix("refs/heads/gh-readonly-queue/")?
        .rsplit_once('/')?;
    let (number, commit) = last.strip_prefix("pr-")?.split_once('-')?;
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number
        .parse()
        .ok()
        .filter(|_| !base.is_empty() && is_commit && is_number)
}

#[cfg(test)]
mod tests {
    use super::queued_pull;

    #[test]
    fn the_branch_of_a_merge_queue_names_its_pull_request() {
        let commit = "929f8209d40f77f4abc622a499c93a83babdbe64";
        for (reference, expected) in [
            (
                format!("refs/heads/gh-readonly-queue/main/pr-104-{commit}"),
                Some(104),
            ),
            (
                format!("refs/heads/gh-readonly-queue/release/1.x/pr-7-{commit}"),
                Some(7),
            ),
            (
                format!("refs/heads/gh-readonly-queue/pr-104-{commit}"),
                None,
            ),
            (
                format!("refs/heads/gh-readonly-queue//pr-104-{commit}"),
                None,
            ),
            (format!("refs/heads/other/main/pr-104-{commit}"), None),
            (
                format!("refs/heads/gh-readonly-queue/main/pr-+4-{commit}"),
                None,
            ),
            (
                format!("refs/heads/gh-readonly-queue/main/pr--{commit}"),
                None,
            ),
            (
                "refs/heads/gh-readonly-queue/main/pr-104-main".to_owned(),
                None,
            ),
            ("refs/heads/main".to_owned(), None),
        ] {
            assert_eq!(queued_pull(&reference), expected, "{reference}");
        }
    }
}
