//! The merge of a pull request that is judged.

use std::thread;
use std::time::Duration;

use crate::format::event::Event;
use crate::github::client::{GitHub, GitHubError, MergeState};
use crate::github::requests::{needs, no_merge_base, no_verdict};
use crate::model::{BranchOrigin, PullRequest, PullRequestDetails, PullState};
use crate::render::CliError;
use crate::text::short_commit;

/// The permissions that reading a pull request needs.
const PERMISSION: &str = "pull-requests: read` and `contents: read";
/// How often to poll for a test merge that GitHub may still be creating.
const LOOKS: u32 = 6;
/// The pause between two polls.
const PAUSE: Duration = Duration::from_secs(2);

/// The commits of a merge that is judged.
pub struct TestMerge {
    /// The commit that the head is merged into.
    pub base: String,
    /// The merge commit.
    pub merge: String,
}

/// Returns the event of a job that grades its checkout, `here`: the head, or a merge of it into the base branch.
///
/// # Errors
/// Another checkout, a head that moved, or a failed request.
pub fn checked_out(
    github: &GitHub,
    pull_request: &PullRequest,
    head: &str,
    here: &str,
) -> Result<(Event, PullRequestDetails), CliError> {
    let unread = "the pull request's current base cannot be read";
    let pull = github
        .pull(pull_request.number)
        .map_err(needs(unread, PERMISSION))?;
    has_head(&pull, head)?;
    let PullRequest { number, origin, .. } = *pull_request;
    let tip = if here == head {
        None
    } else {
        match github.parents(here) {
            Ok(parents) => Some(tip_of_test_merge(parents, head)),
            // A commit that the job made is not on GitHub.
            Err(GitHubError::Missing) => Some(None),
            Err(error) => {
                return Err(needs(
                    "the commit of this run cannot be read",
                    "contents: read",
                )(error));
            }
        }
    };
    let (base, tip) = match tip {
        None => {
            let base = github.merge_base(&pull.into, head).map_err(no_merge_base)?;
            (base, None)
        }
        Some(Some(tip)) if is_of_base(github, &pull, &tip)? => (tip.clone(), Some(tip)),
        Some(Some(_)) => {
            return Err(no_verdict(&format!(
                "the checkout merges pull request {number} into a commit that is not on the current {}: push a commit, or close and \
                 reopen the pull request",
                pull.into
            )));
        }
        Some(None) => return Err(other_checkout(&pull, here)),
    };
    let event = event_of_merge(
        (number, head, origin),
        &pull.into,
        (base, here.to_owned()),
        tip,
    );
    Ok((event, pull))
}

/// Refuses a checkout that is neither the head of the pull request nor a merge of it: its result would be that of other files.
fn other_checkout(pull: &PullRequestDetails, here: &str) -> CliError {
    no_verdict(&format!(
        "the checkout is {}, which does not contain the head of pull request {}, {}, or contains more than a merge of it: run this workflow on \
         pull_request, or check out refs/pull/{}/merge",
        short_commit(here),
        pull.number,
        short_commit(&pull.head),
        pull.number
    ))
}

/// Whether a merge is one into a commit of the current base branch: its tip, or one that is not older than the base that GitHub names,
/// which it sets when the pull request is opened, gets commits or gets another base branch. An older commit would bring the rules of
/// another base branch that began there.
fn is_of_base(github: &GitHub, pull: &PullRequestDetails, commit: &str) -> Result<bool, CliError> {
    if pull.base == commit {
        return Ok(true);
    }
    let tip = github
        .branch(&pull.into)
        .map_err(needs("the base branch cannot be read", "contents: read"))?;
    let Some(tip) = tip else { return Ok(false) };
    if tip == commit {
        return Ok(true);
    }
    Ok(has_commit(github, &tip, commit)? && has_commit(github, commit, &pull.base)?)
}

fn has_commit(github: &GitHub, newer: &str, older: &str) -> Result<bool, CliError> {
    match github.has_commit(newer, older) {
        // The commit is not in the repository.
        Err(GitHubError::Missing) => Ok(false),
        known => known.map_err(needs(
            "the base branch cannot be compared",
            "contents: read",
        )),
    }
}

/// The tip of the base branch that GitHub's test merge of this head was made on: its first parent. `None` if the commit with these parents
/// is not such a merge.
fn tip_of_test_merge(parents: Vec<String>, head: &str) -> Option<String> {
    let [tip, merged] = <[String; 2]>::try_from(parents).ok()?;
    (merged == head).then_some(tip)
}

/// Returns the present merge of a pull request. A conflict gives no verdict.
///
/// # Errors
/// A moved head, no test merge of the current base and head, or a failed request.
pub fn merge_only(
    github: &GitHub,
    number: u64,
    head: &str,
    origin: BranchOrigin,
) -> Result<(Event, TestMerge, PullRequestDetails), CliError> {
    match merge_of(github, number, head, origin)? {
        PresentMerge::Made(event, merge, pull) => Ok((*event, merge, *pull)),
        PresentMerge::Conflict(into) => Err(no_verdict(&format!(
            "pull request {number} conflicts with {into}: merge {into} into it"
        ))),
    }
}

/// The present merge of a pull request.
enum PresentMerge {
    /// GitHub's test merge, with the pull request as an event, and as GitHub has it.
    Made(Box<Event>, TestMerge, Box<PullRequestDetails>),
    /// The head conflicts with this base branch.
    Conflict(String),
}

/// Returns a pull request as an event, and what of it is judged for a check of its head: the current test merge. If the head
/// conflicts with the base branch, it is judged itself, against the commit where it began. It cannot be merged now, but GitHub starts
/// no run when the base branch changes and the conflict is gone, and the check of the commit counts then.
///
/// # Errors
/// A moved head, no test merge of the current base and head, or a failed request.
pub fn judged_merge(
    github: &GitHub,
    number: u64,
    head: &str,
    origin: BranchOrigin,
) -> Result<(Event, TestMerge), CliError> {
    let into = match merge_of(github, number, head, origin)? {
        PresentMerge::Made(event, merge, _) => return Ok((*event, merge)),
        PresentMerge::Conflict(into) => into,
    };
    head_against(github, &into, number, head, origin)
}

/// Returns a pull request as an event, and its head, to be judged against the commit where it left a branch.
///
/// # Errors
/// A failed request.
pub fn head_against(
    github: &GitHub,
    into: &str,
    number: u64,
    head: &str,
    origin: BranchOrigin,
) -> Result<(Event, TestMerge), CliError> {
    let base = github.merge_base(into, head).map_err(no_merge_base)?;
    let merge = head.to_owned();
    let event = event_of_merge(
        (number, head, origin),
        into,
        (base.clone(), merge.clone()),
        None,
    );
    Ok((event, TestMerge { base, merge }))
}

fn event_of_merge(
    (number, head, origin): (u64, &str, BranchOrigin),
    into: &str,
    (base, judged): (String, String),
    tip: Option<String>,
) -> Event {
    Event {
        pull_request: Some(PullRequest {
            number,
            head: head.to_owned(),
            base: base.clone(),
            origin,
        }),
        base: Some(base),
        head: Some(head.to_owned()),
        judged: Some(judged),
        into: Some(into.to_owned()),
        tip,
        ..Event::NONE
    }
}

/// Returns a pull request as an event, and its current test merge, or the branch that it conflicts with.
fn merge_of(
    github: &GitHub,
    number: u64,
    head: &str,
    origin: BranchOrigin,
) -> Result<PresentMerge, CliError> {
    let mut why = String::new();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let (pull, state) = github
            .pull_and_merge(number)
            .map_err(needs("the test merge cannot be read", PERMISSION))?;
        if pull.state == PullState::Closed {
            return Err(no_verdict(&format!(
                "pull request {number} is closed, so GitHub makes no test merge of it"
            )));
        }
        has_head(&pull, head)?;
        let into = &pull.into;
        match state {
            MergeState::Conflict => return Ok(PresentMerge::Conflict(pull.into)),
            MergeState::Unknown => {
                "GitHub has not created the test merge yet; run this job again"
                    .clone_into(&mut why);
            }
            MergeState::Made(merge) => {
                let parents = github
                    .parents(&merge)
                    .map_err(needs("the test merge cannot be read", "contents: read"))?;
                let made = match tip_of_test_merge(parents, head) {
                    Some(base) if is_of_base(github, &pull, &base)? => Some(base),
                    Some(_) | None => None,
                };
                if let Some(base) = made {
                    let event = event_of_merge(
                        (number, head, origin),
                        into,
                        (base.clone(), merge.clone()),
                        Some(base.clone()),
                    );
                    return Ok(PresentMerge::Made(
                        Box::new(event),
                        TestMerge { base, merge },
                        Box::new(pull),
                    ));
                }
                why = format!(
                    "GitHub's test merge does not match the current {into} and head; run this job again"
                );
            }
        }
    }
    Err(no_verdict(&why))
}

/// Refuses a pull request whose head moved from this commit.
fn has_head(pull: &PullRequestDetails, seen: &str) -> Result<(), CliError> {
    if pull.head != seen {
        return Err(no_verdict(&format!(
            "the head of pull request {} moved from {} to {}; wait for the run on the new head",
            pull.number,
            short_commit(seen),
            short_commit(&pull.head)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::tip_of_test_merge;

    #[test]
    fn only_a_merge_of_the_head_has_the_tip_as_its_first_parent() {
        for (parents, tip) in [
            (vec!["main", "head"], Some("main")),
            (vec!["main", "other"], None),
            (vec!["head"], None),
            (vec!["main", "other", "head"], None),
            (Vec::new(), None),
        ] {
            let commits = parents.iter().map(|id| (*id).to_owned()).collect();
            let found = tip_of_test_merge(commits, "head");
            assert_eq!(found.as_deref(), tip, "{parents:?}");
        }
    }
}
