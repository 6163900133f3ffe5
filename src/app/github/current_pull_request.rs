//! The current state of the pull request. A payload is as old as its event: a restarted run still has the base and head of that
//! time, and GitHub freezes `base.sha` even earlier.

use std::thread;
use std::time::Duration;

use super::environment::payload;
use super::pull_request_context::needs;
use crate::app::cli_error::CliError;
use crate::format::event::Event;
use crate::format::event_action;
use crate::model::{BranchOrigin, PullRequest, PullRequestDetails};
use crate::world::{Env, GitHub, MergeState};

/// The permissions that reading a pull request needs.
const PERMISSION: &str = "pull-requests: read` and `contents: read";
/// How often to poll for a test merge that GitHub may still be creating.
const LOOKS: u32 = 6;
/// The pause between two polls.
const PAUSE: Duration = Duration::from_secs(2);

/// The commits of the test merge that GitHub keeps for a pull request.
pub struct TestMerge {
    /// The commit that the head is merged into: the tip of the current base branch.
    pub base: String,
    /// The merge commit.
    pub merge: String,
}

/// Returns the event of a job that grades its checkout, with the current base commit.
///
/// # Errors
/// The current pull request cannot be judged by this run, or a request failed.
pub fn checked_out(env: &Env, event: Event, github: Option<&GitHub>) -> Result<Event, CliError> {
    let Some(github) = github else { return Ok(event) };
    let Some(pull_request) = event.pull_request.clone() else { return dispatched(env, event, github) };
    let pull = current(github, &event, &pull_request)?;
    // Another base branch has other rules. GitHub starts a new run for it only on `edited`.
    if event.into.as_deref().is_some_and(|into| into != pull.into) {
        let into = event.into.as_deref().unwrap_or_default();
        return Err(no_verdict(&format!(
            "this run is for the merge into {into}, but the base branch of pull request {} is now {}; wait for the run that this change \
             started, or push a commit, or close and reopen the pull request",
            pull.number, pull.into
        )));
    }
    let parents = match env.get("GITHUB_SHA") {
        Some(commit) => github.parents(commit).map_err(needs(UNREAD, "contents: read"))?,
        None => Vec::new(),
    };
    let base = match parents.as_slice() {
        [base, head] if *head == pull.head => base.clone(),
        // The workflow does not run on GitHub's merge commit, so the head itself is graded.
        _ => merge_base(github, &pull)?,
    };
    Ok(with_base(event, pull_request, base))
}

const UNREAD: &str = "the commit of this run cannot be read";

/// Returns the commits of the current test merge of an event's pull request.
///
/// # Errors
/// A missing test merge of the current base and head, or a failed request.
pub fn test_merge(github: &GitHub, event: &Event, pull_request: &PullRequest) -> Result<TestMerge, CliError> {
    let mut why = String::new();
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(PAUSE);
        }
        let pull = current(github, event, pull_request)?;
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
            MergeState::Unknown => "GitHub has not created the test merge yet".clone_into(&mut why),
            MergeState::Made(merge) => {
                let parents =
                    github.parents(&merge).map_err(needs("the test merge cannot be read", "contents: read"))?;
                match parents.as_slice() {
                    [base, head] if *head == pull.head && tip.as_ref() == Some(base) => {
                        return Ok(TestMerge { base: base.clone(), merge });
                    }
                    _ => why = format!("GitHub's test merge does not match the current {} and head", pull.into),
                }
            }
        }
    }
    Err(no_verdict(&format!("{why}; run this job again")))
}

/// Returns the current pull request, if its head is still the one that the event names.
fn current(github: &GitHub, event: &Event, pull_request: &PullRequest) -> Result<PullRequestDetails, CliError> {
    let unread = "the pull request's current base cannot be read";
    let pull = github.pull(pull_request.number).map_err(needs(unread, PERMISSION))?;
    let seen = event.head.as_deref().unwrap_or(&pull_request.head);
    if pull.head != seen {
        return Err(no_verdict(&format!(
            "the head of pull request {} moved from {} to {}; wait for the run on the new head",
            pull.number,
            short(seen),
            short(&pull.head)
        )));
    }
    refuse_shared_head(github, &pull)?;
    Ok(pull)
}

/// Refuses a head that several pull requests share. A check belongs to a commit, so a pass for one base branch would count for all
/// of them.
fn refuse_shared_head(github: &GitHub, pull: &PullRequestDetails) -> Result<(), CliError> {
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
        Some(other) => Err(shared_head(&pull.head, [pull.number, *other])),
    }
}

fn shared_head(head: &str, [one, other]: [u64; 2]) -> CliError {
    no_verdict(&format!(
        "{} is the head of the pull requests {} and {}: a check belongs to a commit, so the result for one base branch would count \
         for the other; close one of them, or add a commit",
        short(head),
        one.min(other),
        one.max(other)
    ))
}

/// A run that was started by hand on a branch, or by `bump`, grades the pull request of that branch. It is compared with the merge
/// base, never with the branch's own baseline.
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
    let pulls = pulls.map_err(needs("the branch's pull request cannot be searched", "pull-requests: write"))?;
    let here: Vec<u64> = pulls
        .into_iter()
        .filter(|pull| pull.base_repository.eq_ignore_ascii_case(github.repository()))
        .map(|pull| pull.number)
        .collect();
    let number = match here.as_slice() {
        [] => return Ok(event),
        [number] => *number,
        [one, other, ..] => return Err(shared_head(env.get("GITHUB_SHA").unwrap_or_default(), [*one, *other])),
    };
    let pull = github.pull(number).map_err(needs("the branch's pull request cannot be read", PERMISSION))?;
    let head = env.get("GITHUB_SHA").map_or(pull.head.clone(), str::to_owned);
    let pull = PullRequestDetails { head: head.clone(), ..pull };
    let base = merge_base(github, &pull)?;
    let pull_request = PullRequest { number, head: head.clone(), base: base.clone(), origin: BranchOrigin::Same };
    Ok(Event { head: Some(head), into: Some(pull.into), ..with_base(event, pull_request, base) })
}

/// Returns the merge base of the head and the current base branch.
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
