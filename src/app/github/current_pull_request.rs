//! The current state of the pull request. A payload is as old as its event: a restarted run still has the base and head of that
//! time, and GitHub freezes `base.sha` even earlier.

use std::thread;
use std::time::Duration;

use super::base_branch::known_default;
use super::environment::payload;
use super::pull_request_context::{needs, no_merge_base};
use super::pushed_commits::base_of_group;
use crate::app::cli_error::CliError;
use crate::format::event::Event;
use crate::format::event_action;
use crate::model::{BranchOrigin, PullRequest, PullRequestDetails, PullState};
use crate::text::short_commit;
use crate::world::{Env, GitHub, GitHubError, GitHubRefusal, MergeState, OpenPull};

/// The permissions that reading a pull request needs.
const PERMISSION: &str = "pull-requests: read` and `contents: read";
/// How often to poll for a test merge that GitHub may still be creating.
const LOOKS: u32 = 6;
/// The pause between two polls.
const PAUSE: Duration = Duration::from_secs(2);

/// The commits of a merge that is judged.
pub struct TestMerge {
    /// The commit that the head is merged into: the tip of the current base branch.
    pub base: String,
    /// The merge commit.
    pub merge: String,
}

/// What a job that grades its checkout is about.
pub enum CheckoutMerge {
    /// The event with the current base commit.
    Current(Box<Event>),
    /// The checkout is a merge into something else than the current base branch. GitHub starts the run of a new base branch before it
    /// has made the new test merge (actions/checkout#919, jenkinsci/github-branch-source-plugin#1534).
    Outdated(OutdatedMerge),
}

/// A pull request whose checkout is an outdated merge.
pub struct OutdatedMerge {
    number: u64,
    head: String,
    into: String,
    origin: BranchOrigin,
}

impl OutdatedMerge {
    /// Returns the pull request as an event, and its current test merge.
    ///
    /// # Errors
    /// No test merge of the current base and head, or a failed request.
    pub fn current(&self, github: &GitHub) -> Result<(Event, TestMerge), CliError> {
        merge_only(github, self.number, &self.head, self.origin)
    }

    /// Returns why the checkout gives no verdict.
    pub fn refusal(&self) -> CliError {
        let Self { number, into, .. } = self;
        no_verdict(&format!(
            "the checkout merges pull request {number} into a commit that is not on the current {into}, or is older than the one of \
             this event: push a commit, or close and reopen the pull request"
        ))
    }
}

/// Returns what a job that grades its checkout is about. `here` is the commit that is checked out, if it is known.
///
/// # Errors
/// The current pull request cannot be judged by this run, or a request failed.
pub fn checked_out(
    env: &Env,
    event: Event,
    github: &GitHub,
    here: Option<&str>,
) -> Result<CheckoutMerge, CliError> {
    let Some(pull_request) = event.pull_request.clone() else {
        let event = if event.base.is_some() {
            base_of_group(event, github)
        } else {
            dispatched(env, event, github)
        };
        return event.map(|event| CheckoutMerge::Current(Box::new(event)));
    };
    let seen = event.head.as_deref().unwrap_or(&pull_request.head);
    let pull = current(github, pull_request.number, seen)?;
    // Another base branch has other rules. GitHub starts a new run for it only on `edited`.
    if event.into.as_deref().is_some_and(|into| into != pull.into) {
        let into = event.into.as_deref().unwrap_or_default();
        return Err(no_verdict(&format!(
            "this run is for the merge into {into}, but the base branch of pull request {} is now {}; wait for the run that this change \
             started, or push a commit, or close and reopen the pull request",
            pull.number, pull.into
        )));
    }
    let tip = graded_merge(env, github, &pull, here)?;
    let base = match &tip {
        Some(tip) if !is_of_base(github, &pull.into, tip, &pull_request.base)? => {
            let (number, head, origin) = (pull.number, pull.head, pull_request.origin);
            return Ok(CheckoutMerge::Outdated(OutdatedMerge {
                number,
                head,
                into: pull.into,
                origin,
            }));
        }
        Some(tip) => tip.clone(),
        // The workflow does not run on GitHub's merge commit, so the head itself is graded.
        None => merge_base(github, &pull)?,
    };
    Ok(CheckoutMerge::Current(Box::new(Event {
        tip,
        ..with_base(event, pull_request, base)
    })))
}

/// Whether the head was merged into a commit of the current base branch: its tip, or one between `seen` and the tip, where `seen` is
/// the base commit in the event. GitHub sets `seen` when the pull request is opened, gets commits or gets another base branch, and makes
/// the test merge later. An older commit would bring the rules of another base branch that began there.
fn is_of_base(github: &GitHub, into: &str, commit: &str, seen: &str) -> Result<bool, CliError> {
    let tip = github
        .branch(into)
        .map_err(needs("the base branch cannot be read", "contents: read"))?;
    let Some(tip) = tip else { return Ok(false) };
    if tip == commit {
        return Ok(true);
    }
    let has = |newer: &str, older: &str| match github.has_commit(newer, older) {
        // The commit is not in the repository.
        Err(GitHubError::Missing) => Ok(false),
        known => known.map_err(needs(
            "the base branch cannot be compared",
            "contents: read",
        )),
    };
    Ok(has(&tip, commit)? && (seen == commit || has(commit, seen)?))
}

const UNREAD: &str = "the commit of this run cannot be read";

/// Returns the tip of the base branch that the graded commit merges the head into; `None` if it is not such a merge, so that the head
/// itself is graded. The checkout of a workflow can be another commit than that of the event: with a `ref`, or on `pull_request_target`,
/// where it is the default branch and has nothing of the pull request.
fn graded_merge(
    env: &Env,
    github: &GitHub,
    pull: &PullRequestDetails,
    here: Option<&str>,
) -> Result<Option<String>, CliError> {
    let of_event = env.get("GITHUB_SHA");
    let merge_of_head = |commit: &str| -> Result<Option<String>, GitHubError> {
        Ok(tip_of_test_merge(github.parents(commit)?, &pull.head))
    };
    let is_event_of_base = env.get("GITHUB_EVENT_NAME") == Some("pull_request_target");
    let other = here.filter(|here| is_event_of_base || Some(*here) != of_event);
    if other == Some(pull.head.as_str()) {
        return Ok(None);
    }
    let merge = match other {
        Some(here) => match merge_of_head(here) {
            // A commit that the job made is not on GitHub.
            Ok(None) | Err(GitHubError::Missing) => return Err(other_checkout(pull, here)),
            found => found,
        },
        None => of_event.map_or(Ok(None), merge_of_head),
    };
    merge.map_err(needs(UNREAD, "contents: read"))
}

/// The tip of the base branch that GitHub's test merge of this head was made on: its first parent. `None` if the commit with these parents
/// is not such a merge.
fn tip_of_test_merge(parents: Vec<String>, head: &str) -> Option<String> {
    let [tip, merged] = <[String; 2]>::try_from(parents).ok()?;
    (merged == head).then_some(tip)
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

/// Returns the event of a job that reads its commits as data, and the merge to judge: that of the merge group, or the test merge of
/// the pull request. `None` if the event has neither.
///
/// # Errors
/// No test merge of the current base and head, or a failed request.
pub fn merged(
    env: &Env,
    event: Event,
    github: &GitHub,
) -> Result<Option<(Event, TestMerge)>, CliError> {
    let (number, head, origin) = match (&event.pull_request, &event.base, &event.head) {
        (None, Some(_), Some(head)) => {
            let merge = head.clone();
            let event = base_of_group(event, github)?;
            let base = event.base.clone().unwrap_or_default();
            return Ok(Some((event, TestMerge { base, merge })));
        }
        (None, _, _) => return dispatched_merge(env, github),
        (Some(pull_request), _, head) => {
            let head = head.clone().unwrap_or_else(|| pull_request.head.clone());
            (pull_request.number, head, pull_request.origin)
        }
    };
    merge_only(github, number, &head, origin).map(Some)
}

/// Returns the test merge of the pull request that a run started by hand is about; `None` if the run is about no pull request.
///
/// # Errors
/// A moved head, no test merge of the current base and head, or a failed request.
pub fn dispatched_merge(
    env: &Env,
    github: &GitHub,
) -> Result<Option<(Event, TestMerge)>, CliError> {
    let Some((pull, head)) = dispatched_pull(env, github)? else {
        return Ok(None);
    };
    merge_only(github, pull.number, &head, BranchOrigin::Same).map(Some)
}

/// Returns the test merge. A conflict gives no verdict.
fn merge_only(
    github: &GitHub,
    number: u64,
    head: &str,
    origin: BranchOrigin,
) -> Result<(Event, TestMerge), CliError> {
    match merge_of(github, number, head, origin)? {
        PresentMerge::Made(event, merge) => Ok((*event, merge)),
        PresentMerge::Conflict(into) => Err(no_verdict(&format!(
            "pull request {number} conflicts with {into}: merge {into} into it"
        ))),
    }
}

/// The present merge of a pull request.
pub enum PresentMerge {
    /// GitHub's test merge, with the pull request as an event.
    Made(Box<Event>, TestMerge),
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
        PresentMerge::Made(event, merge) => return Ok((*event, merge)),
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
    let pull_request = PullRequest {
        number,
        head: head.to_owned(),
        base: base.clone(),
        origin,
    };
    let event = Event {
        head: Some(head.to_owned()),
        into: Some(into.to_owned()),
        ..Event::NONE
    };
    Ok((
        with_base(event, pull_request, base.clone()),
        TestMerge {
            base,
            merge: head.to_owned(),
        },
    ))
}

/// Returns a pull request as an event, and its current test merge, or the branch that it conflicts with.
///
/// # Errors
/// A moved head, no test merge of the current base and head, or a failed request.
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
        let into = pull.into;
        let tip = github
            .branch(&into)
            .map_err(needs("the base branch cannot be read", "contents: read"))?;
        match state {
            MergeState::Conflict => return Ok(PresentMerge::Conflict(into)),
            MergeState::Unknown | MergeState::Made(_) if tip.is_none() => {
                why = format!(
                    "pull request {number} goes into the branch {into}, which does not exist, or which the token may not read (`contents: read`)"
                );
            }
            MergeState::Unknown => {
                "GitHub has not created the test merge yet; run this job again".clone_into(&mut why)
            }
            MergeState::Made(merge) => {
                let parents = github
                    .parents(&merge)
                    .map_err(needs("the test merge cannot be read", "contents: read"))?;
                let merged = tip_of_test_merge(parents, head);
                match merged.filter(|merged| tip.as_ref() == Some(merged)) {
                    Some(base) => {
                        let pull_request = PullRequest {
                            number,
                            head: head.to_owned(),
                            base: base.clone(),
                            origin,
                        };
                        let event = Event {
                            pull_request: Some(pull_request),
                            base: Some(base.clone()),
                            head: Some(head.to_owned()),
                            into: Some(into),
                            tip: Some(base.clone()),
                            ..Event::NONE
                        };
                        return Ok(PresentMerge::Made(
                            Box::new(event),
                            TestMerge { base, merge },
                        ));
                    }
                    None => {
                        why = format!(
                            "GitHub's test merge does not match the current {into} and head; run this job again"
                        );
                    }
                }
            }
        }
    }
    Err(no_verdict(&why))
}

/// Returns the current pull request, if its head is still this one.
fn current(github: &GitHub, number: u64, seen: &str) -> Result<PullRequestDetails, CliError> {
    let unread = "the pull request's current base cannot be read";
    let pull = github.pull(number).map_err(needs(unread, PERMISSION))?;
    has_head(&pull, seen)?;
    Ok(pull)
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

/// The open pull requests with the head of an event's pull request.
#[derive(Default)]
pub struct OtherPulls {
    /// The current head of the event's own pull request, if GitHub listed it.
    pub own_head: Option<String>,
    /// The others.
    pub others: Vec<OpenPull>,
}

/// Returns the other open pull requests with the head of an event's pull request, one for each other base branch: those into the same
/// branch have the same result. A check belongs to a commit, so a pass for one base branch would count for all of them. After a push
/// these are all pull requests with the pushed commit as their head: each of them judges its merge, and the push does not. Without the
/// right to list them, a push adds a note to `notes`.
///
/// # Errors
/// A failed request.
pub fn others(
    github: &GitHub,
    event: &Event,
    notes: &mut Vec<String>,
) -> Result<OtherPulls, CliError> {
    let Some(head) = event
        .head
        .as_ref()
        .filter(|_| event.pull_request.is_some() || event.push.is_some())
    else {
        return Ok(OtherPulls::default());
    };
    let number = event
        .pull_request
        .as_ref()
        .map(|pull_request| pull_request.number);
    let open = match (github.every_open_pull(), number) {
        (Ok(open), _) => with_those_of_branch(github, event, open)?,
        // An older Enterprise Server may not list a commit's pull requests: then those of the same branch are compared.
        (
            Err(GitHubError::Missing | GitHubError::Refused(GitHubRefusal::Permission(_))),
            Some(number),
        ) => of_branch(github, number)?,
        (Err(error), None) if error.is_denied() => {
            notes.push(
                error
                    .explained(UNREAD_PULLS, "pull-requests: read")
                    .to_string(),
            );
            return Ok(OtherPulls::default());
        }
        (Err(error), _) => return Err(needs(UNREAD_PULLS, PERMISSION)(error)),
    };
    let into = event.into.as_deref().filter(|_| number.is_some());
    let own_head = open
        .iter()
        .find(|own| Some(own.number) == number)
        .map(|own| own.head.clone());
    let mut others: Vec<OpenPull> = open
        .into_iter()
        .filter(|other| Some(other.number) != number && other.head == *head)
        .filter(|other| into != Some(other.into.as_str()))
        .collect();
    others.sort_by(|one, other| (&one.into, one.number).cmp(&(&other.into, other.number)));
    others.dedup_by(|later, first| later.into == first.into);
    others.sort_by_key(|other| other.number);
    Ok(OtherPulls { own_head, others })
}

/// Adds the open pull requests of the event's branch: for a commit of the default branch GitHub lists only the merged ones (GitHub docs,
/// "List pull requests associated with a commit").
fn with_those_of_branch(
    github: &GitHub,
    event: &Event,
    mut open: Vec<OpenPull>,
) -> Result<Vec<OpenPull>, CliError> {
    match (&event.pull_request, &event.push) {
        (Some(own), _) if open.iter().all(|other| other.number != own.number) => {
            open.extend(of_branch(github, own.number)?)
        }
        (None, Some(push)) => {
            let of_branch = github.own_open_pulls(&push.branch);
            open.extend(of_branch.map_err(needs(
                "the branch's pull requests cannot be read",
                PERMISSION,
            ))?);
        }
        (Some(_) | None, _) => {}
    }
    Ok(open)
}

const UNREAD_PULLS: &str = "the commit's pull requests cannot be read";

/// Returns the open pull requests from the branch of this one.
fn of_branch(github: &GitHub, number: u64) -> Result<Vec<OpenPull>, CliError> {
    let unread = "the branch's pull requests cannot be read";
    let pull = github.pull(number).map_err(needs(unread, PERMISSION))?;
    match pull
        .label
        .as_deref()
        .and_then(|label| label.split_once(':'))
    {
        Some((owner, branch)) => github
            .open_pulls(owner, branch)
            .map_err(needs(unread, PERMISSION)),
        None => Ok(Vec::new()),
    }
}

/// A run that was started by hand on a branch is about the pull request of that branch. Of several pull requests it is
/// the one with the lowest number; [`others`] returns the rest. Returns it with the commit of the run.
fn dispatched_pull(
    env: &Env,
    github: &GitHub,
) -> Result<Option<(PullRequestDetails, String)>, CliError> {
    let (Some("workflow_dispatch"), Some(source)) = (env.get("GITHUB_EVENT_NAME"), payload(env)?)
    else {
        return Ok(None);
    };
    let act = event_action::read_event_action(&source)?;
    let Some(branch) = act.branch else {
        return Ok(None);
    };
    if branch == known_default(github)? {
        return Ok(None);
    }
    let pulls = github.own_open_pulls(&branch);
    let pulls = pulls.map_err(needs(
        "the branch's pull request cannot be searched",
        "pull-requests: write",
    ))?;
    let Some(number) = pulls.iter().map(|pull| pull.number).min() else {
        return Ok(None);
    };
    let pull = github.pull(number).map_err(needs(
        "the branch's pull request cannot be read",
        PERMISSION,
    ))?;
    let head = env
        .get("GITHUB_SHA")
        .map_or(pull.head.clone(), str::to_owned);
    Ok(Some((pull, head)))
}

/// The model tier where it does not block grades the checkout of a run that was started by hand: the head of the pull request, compared
/// with the merge base.
fn dispatched(env: &Env, event: Event, github: &GitHub) -> Result<Event, CliError> {
    let Some((pull, head)) = dispatched_pull(env, github)? else {
        return Ok(event);
    };
    let pull = PullRequestDetails {
        head: head.clone(),
        ..pull
    };
    let base = merge_base(github, &pull)?;
    let (number, origin) = (pull.number, BranchOrigin::Same);
    let pull_request = PullRequest {
        number,
        head: head.clone(),
        base: base.clone(),
        origin,
    };
    Ok(Event {
        head: Some(head),
        into: Some(pull.into),
        ..with_base(event, pull_request, base)
    })
}

/// Returns the merge base of the head and the current base branch.
fn merge_base(github: &GitHub, pull: &PullRequestDetails) -> Result<String, CliError> {
    github
        .merge_base(&pull.into, &pull.head)
        .map_err(no_merge_base)
}

fn with_base(event: Event, pull_request: PullRequest, base: String) -> Event {
    Event {
        pull_request: Some(PullRequest {
            base: base.clone(),
            ..pull_request
        }),
        base: Some(base),
        ..event
    }
}

fn no_verdict(why: &str) -> CliError {
    anyhow::anyhow!("no verdict: {why}").into()
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
