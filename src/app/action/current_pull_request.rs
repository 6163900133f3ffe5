//! The pull request as it is now. A payload is as old as its event: a run that is started again still has the base and the head of
//! then, and GitHub freezes `base.sha` long before that.

use std::thread;
use std::time::Duration;

use super::payload;
use super::pull_request_context::needs;
use crate::app::cli_error::CliError;
use crate::format::event::Event;
use crate::format::event_action;
use crate::model::{BranchOrigin, PullRequest, PullRequestDetails};
use crate::world::{Env, GitHub, MergeState};

/// What may be read of a pull request, and what that takes.
const PERMISSION: &str = "pull-requests: read` and `contents: read";
/// Looks at a test merge that GitHub may still be making.
const LOOKS: u32 = 6;
/// The pause between two of them.
const PAUSE: Duration = Duration::from_secs(2);

/// The pull request of an event, and the commits of the test merge that GitHub keeps of it.
pub struct TestMerge {
    /// The commit that the head is merged into: the tip of the present base branch.
    pub base: String,
    /// The merge.
    pub merge: String,
}

/// The event of a job that grades what is checked out, with the commits that it is about now.
///
/// # Errors
/// That nothing can be said about the present pull request, or why GitHub did not answer.
pub fn checked_out(env: &Env, event: Event, github: Option<&GitHub>) -> Result<Event, CliError> {
    let Some(github) = github else { return Ok(event) };
    let Some(pull_request) = event.pull_request.clone() else { return dispatched(env, event, github) };
    let pull = now(github, &event, &pull_request)?;
    // A merge into another branch was built for other rules. GitHub starts no second run for it but on `edited`.
    if event.into.as_deref().is_some_and(|into| into != pull.into) {
        let into = event.into.as_deref().unwrap_or_default();
        return Err(no_verdict(&format!(
            "this run is of the merge into {into}, and pull request {} is for {} now; the run that the change of the base started \
             judges it, else push a commit, or close the pull request and open it again",
            pull.number, pull.into
        )));
    }
    let parents = match env.get("GITHUB_SHA") {
        Some(commit) => github.parents(commit).map_err(needs(UNREAD, "contents: read"))?,
        None => Vec::new(),
    };
    let base = match parents.as_slice() {
        [base, head] if *head == pull.head => base.clone(),
        // The workflow is not on GitHub's merge commit, so the head stands alone.
        _ => merge_base(github, &pull)?,
    };
    Ok(with_base(event, pull_request, base))
}

const UNREAD: &str = "the commit of this run cannot be read";

/// The commits of the test merge of an event's pull request, as it is now.
///
/// # Errors
/// That there is no merge of the present base and head, or why GitHub did not answer.
pub fn test_merge(github: &GitHub, event: &Event, pull_request: &PullRequest) -> Result<TestMerge, CliError> {
    let mut why = String::new();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let pull = now(github, event, pull_request)?;
        let tip = github.branch(&pull.into).map_err(needs("the base branch cannot be read", "contents: read"))?;
        let state = github.merge_state(pull.number).map_err(needs("the test merge cannot be read", PERMISSION))?;
        match state {
            MergeState::Conflict => {
                let into = &pull.into;
                return Err(no_verdict(&format!(
                    "pull request {} conflicts with {into}: merge {into} into it",
                    pull.number
                )));
            }
            MergeState::Unknown => "GitHub has not made the test merge yet".clone_into(&mut why),
            MergeState::Made(merge) => {
                let parents =
                    github.parents(&merge).map_err(needs("the test merge cannot be read", "contents: read"))?;
                match parents.as_slice() {
                    [base, head] if *head == pull.head && tip.as_ref() == Some(base) => {
                        return Ok(TestMerge { base: base.clone(), merge });
                    }
                    _ => why = format!("GitHub's test merge is not of the present {} and head", pull.into),
                }
            }
        }
    }
    Err(no_verdict(&format!("{why}; run this job again")))
}

/// The pull request now, with the head that the event names.
fn now(github: &GitHub, event: &Event, pull_request: &PullRequest) -> Result<PullRequestDetails, CliError> {
    let unread = "the pull request's present base cannot be read";
    let pull = github.pull(pull_request.number).map_err(needs(unread, PERMISSION))?;
    let seen = event.head.as_deref().unwrap_or(&pull_request.head);
    if pull.head != seen {
        return Err(no_verdict(&format!(
            "pull request {} has moved on from {} to {}; the run on the new head judges it",
            pull.number,
            short(seen),
            short(&pull.head)
        )));
    }
    alone(github, &pull)?;
    Ok(pull)
}

/// A check belongs to a commit: what is green for one base branch would be green for every other pull request with this head.
fn alone(github: &GitHub, pull: &PullRequestDetails) -> Result<(), CliError> {
    let Some((owner, branch)) = pull.label.as_deref().and_then(|label| label.split_once(':')) else { return Ok(()) };
    let open =
        github.open_pulls(owner, branch).map_err(needs("the branch's pull requests cannot be read", PERMISSION))?;
    let here = |base: &str| base.eq_ignore_ascii_case(github.repository());
    let mut others: Vec<u64> = open
        .iter()
        .filter(|other| other.number != pull.number && other.head == pull.head && here(&other.base_repository))
        .map(|other| other.number)
        .collect();
    others.sort_unstable();
    match others.first() {
        None => Ok(()),
        Some(other) => Err(several(&pull.head, [pull.number, *other])),
    }
}

fn several(head: &str, [one, other]: [u64; 2]) -> CliError {
    no_verdict(&format!(
        "{} is the head of the pull requests {} and {}, and a check belongs to a commit: what holds for one base branch would \
         count for the other; close one of them, or add a commit",
        short(head),
        one.min(other),
        one.max(other)
    ))
}

/// A run that was started by hand on a branch, or by a bump, grades that branch's pull request: it is compared with the commit that
/// the branch left its base at, never with the branch's own baseline.
fn dispatched(env: &Env, event: Event, github: &GitHub) -> Result<Event, CliError> {
    let (Some("workflow_dispatch"), Some(source)) = (env.get("GITHUB_EVENT_NAME"), payload(env)?) else {
        return Ok(event);
    };
    let act = event_action::read_event_action(&source)?;
    let Some(branch) = act.branch.filter(|branch| Some(branch) != act.default_branch.as_ref()) else {
        return Ok(event);
    };
    let owner = github.repository().split('/').next().unwrap_or_default();
    let pulls = github.open_pulls(owner, &branch);
    let pulls = pulls.map_err(needs("the branch's pull request cannot be looked for", "pull-requests: write"))?;
    let here: Vec<u64> = pulls
        .into_iter()
        .filter(|pull| pull.base_repository.eq_ignore_ascii_case(github.repository()))
        .map(|pull| pull.number)
        .collect();
    let number = match here.as_slice() {
        [] => return Ok(event),
        [number] => *number,
        [one, other, ..] => return Err(several(env.get("GITHUB_SHA").unwrap_or_default(), [*one, *other])),
    };
    let pull = github.pull(number).map_err(needs("the branch's pull request cannot be read", PERMISSION))?;
    let head = env.get("GITHUB_SHA").map_or(pull.head.clone(), str::to_owned);
    let pull = PullRequestDetails { head: head.clone(), ..pull };
    let base = merge_base(github, &pull)?;
    let pull_request = PullRequest { number, head: head.clone(), base: base.clone(), origin: BranchOrigin::Same };
    Ok(Event { head: Some(head), into: Some(pull.into), ..with_base(event, pull_request, base) })
}

/// Where the head left the present base branch.
fn merge_base(github: &GitHub, pull: &PullRequestDetails) -> Result<String, CliError> {
    github.merge_base(&pull.into, &pull.head).map_err(needs("the merge base cannot be read", "contents: read"))
}

fn with_base(event: Event, pull_request: PullRequest, base: String) -> Event {
    Event { pull_request: Some(PullRequest { base: base.clone(), ..pull_request }), base: Some(base), ..event }
}

fn no_verdict(why: &str) -> CliError {
    anyhow::anyhow!("no verdict: {why}").into()
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
