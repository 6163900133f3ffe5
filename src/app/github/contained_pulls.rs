//! The pull requests whose changes a push or a merge group contains.

use std::thread;

use super::pull_request_context::{LOOKS, PAUSE};
use crate::format::event::{Event, PushEvent, queued_pull};
use crate::world::{CommitComparison, GitHub, GitHubError};

/// Maximum number of pull requests whose approvals are read, one or two requests for each. A merge queue merges at most 100 at once (docs,
/// "Managing a merge queue": "Maximum group size").
const MOST: usize = 100;

/// A pull request whose changes are part of what is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainedPull {
    /// Its number.
    pub number: u64,
    /// Its head commit.
    pub head: String,
}

/// Returns the pull requests that the event's commits contain, newest first: on a push the merged ones, in a merge group the queued ones.
///
/// # Errors
/// A failed request.
pub fn contained_pulls(github: &GitHub, event: &Event) -> Result<Vec<ContainedPull>, GitHubError> {
    let (Some(base), Some(head), Some(into)) = (&event.base, &event.head, &event.into) else {
        return Ok(Vec::new());
    };
    let between = github.compare(base, head)?;
    match (&event.push, &event.pull_request) {
        (Some(push), _) => merged(github, push, &between),
        (None, Some(_)) => Ok(Vec::new()),
        (None, None) => queued(github, event, into, &own_commits(github, &between, head)?),
    }
}

/// The commits since the merge base that the branch itself had as its tip, newest first. GitHub lists only the oldest ones of a long
/// comparison, so the parents of others are asked for.
fn own_commits(
    github: &GitHub,
    between: &CommitComparison,
    head: &str,
) -> Result<Vec<String>, GitHubError> {
    let (mut found, mut asked) = (Vec::new(), 0);
    let mut next = Some(head.to_owned());
    while let Some(commit) =
        next.filter(|commit| *commit != between.merge_base && !found.contains(commit))
    {
        next = match between.first_parent(&commit) {
            Some(parent) => parent.map(str::to_owned),
            None if between.is_whole() || asked == MOST => break,
            None => {
                asked += 1;
                github.parents(&commit)?.into_iter().next()
            }
        };
        found.push(commit);
    }
    Ok(found)
}

/// The pull requests that GitHub merged into the branch with this push. One push of a merge queue can be of several.
fn merged(
    github: &GitHub,
    push: &PushEvent,
    between: &CommitComparison,
) -> Result<Vec<ContainedPull>, GitHubError> {
    let own = own_commits(github, between, &push.after)?;
    // GitHub may list a merge a moment later.
    for _ in 1..LOOKS {
        let found = merged_now(github, push, between, &own)?;
        if !found.is_empty() {
            return Ok(found);
        }
        thread::sleep(PAUSE);
    }
    merged_now(github, push, between, &own)
}

/// Those that GitHub lists now.
fn merged_now(
    github: &GitHub,
    push: &PushEvent,
    between: &CommitComparison,
    own: &[String],
) -> Result<Vec<ContainedPull>, GitHubError> {
    let mut found = github.merged_pulls_of(&push.after)?;
    // An older server names merged pull requests only for commits of the default branch.
    let has_own = found.iter().any(|pull| pull.into == push.branch);
    if own.len() > 1 || !has_own {
        found.extend(github.merged_pulls(&push.branch)?);
    }
    let mut pulls: Vec<ContainedPull> = Vec::new();
    for pull in found.into_iter().filter(|pull| pull.into == push.branch) {
        let is_here =
            pull.commit.is_some_and(|commit| own.contains(&commit)) || between.has(&pull.head);
        if is_here && pulls.iter().all(|known| known.number != pull.number) {
            pulls.push(ContainedPull {
                number: pull.number,
                head: pull.head,
            });
        }
    }
    pulls.truncate(MOST);
    Ok(pulls)
}

/// The pull requests of a merge queue up to this group. Only GitHub can push the branches of a queue, and their names have the numbers.
fn queued(
    github: &GitHub,
    event: &Event,
    into: &str,
    commits: &[String],
) -> Result<Vec<ContainedPull>, GitHubError> {
    let mut numbers: Vec<u64> = event.queued.into_iter().collect();
    if commits.len() > 1 {
        let branches = github.queue_branches(into)?;
        let below = commits
            .iter()
            .filter_map(|commit| queued_pull(branches.get(commit)?));
        numbers.extend(below.filter(|number| Some(*number) != event.queued));
    }
    numbers.truncate(MOST);
    let pull = |number| {
        Ok(ContainedPull {
            number,
            head: github.pull(number)?.head,
        })
    };
    numbers.into_iter().map(pull).collect()
}
