//! The pull requests that a push merged.

use std::thread;

use super::requests::{LOOKS, PAUSE};
use crate::format::event::{Event, PushEvent};
use crate::world::{GitHub, GitHubError};

/// Maximum number of commits of one push that are asked for.
const MOST: usize = 100;

/// Returns the numbers of the pull requests that were merged by the commits of a push: for each commit that the branch had as its tip, the
/// one whose merge made it. Commits before it without one belong to it, as after a rebase.
///
/// # Errors
/// A failed request.
pub fn merged_pulls(github: &GitHub, event: &Event) -> Result<Vec<u64>, GitHubError> {
    let (Some(push), Some(base)) = (&event.push, &event.base) else {
        return Ok(Vec::new());
    };
    let own = own_commits(github, base, &push.after)?;
    // GitHub may list a merge a moment later.
    for _ in 1..LOOKS {
        let found = merged_now(github, push, &own)?;
        if !found.is_empty() {
            return Ok(found);
        }
        thread::sleep(PAUSE);
    }
    merged_now(github, push, &own)
}

/// The commits since the base that the branch itself had as its tip, newest first. GitHub lists only the oldest ones of a long comparison.
fn own_commits(github: &GitHub, base: &str, head: &str) -> Result<Vec<String>, GitHubError> {
    let between = github.compare(base, head)?;
    let mut found = Vec::new();
    let mut next = Some(head.to_owned());
    while let Some(commit) = next.filter(|commit| commit != base && found.len() < MOST) {
        next = match between.first_parent(&commit) {
            Some(parent) => parent.map(str::to_owned),
            None => github.parents(&commit)?.into_iter().next(),
        };
        found.push(commit);
    }
    Ok(found)
}

fn merged_now(github: &GitHub, push: &PushEvent, own: &[String]) -> Result<Vec<u64>, GitHubError> {
    let mut found = github.merged_pulls_of(&push.after)?;
    if own.len() > 1 || found.is_empty() {
        found.extend(github.merged_pulls(&push.branch)?);
    }
    let mut numbers: Vec<u64> = Vec::new();
    for pull in found.into_iter().filter(|pull| pull.into == push.branch) {
        let is_here = pull.commit.is_some_and(|commit| own.contains(&commit));
        if is_here && !numbers.contains(&pull.number) {
            numbers.push(pull.number);
        }
    }
    Ok(numbers)
}
