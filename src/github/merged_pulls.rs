//! The pull requests that a push merged.

use std::collections::BTreeMap;
use std::thread;

use super::requests::{LOOKS, PAUSE};
use crate::format::event::{Event, PushEvent};
use crate::github::client::{GitHub, GitHubError};

/// Maximum number of commits of one push that are asked for.
const MOST: usize = 100;

/// A part of a push: what one pull request merged, or commits without one on top of all of them.
pub struct PushStep {
    /// The pull request.
    pub number: Option<u64>,
    /// The tip before.
    pub base: String,
    /// The tip after.
    pub commit: String,
}

/// Returns the steps of a push, newest first: for each commit that the branch had as its tip, the pull request whose merge made it.
/// Commits before it without one belong to it, as after a rebase.
///
/// # Errors
/// A failed request.
pub fn push_steps(github: &GitHub, event: &Event) -> Result<Vec<PushStep>, GitHubError> {
    let (Some(push), Some(base)) = (&event.push, &event.base) else {
        return Ok(Vec::new());
    };
    let commits = own_commits(github, base, &push.after)?;
    let mut merges = merged_now(github, push, &commits)?;
    // GitHub may list a merge a moment later.
    for _ in 1..LOOKS {
        if !merges.is_empty() {
            break;
        }
        thread::sleep(PAUSE);
        merges = merged_now(github, push, &commits)?;
    }
    let mut steps: Vec<PushStep> = Vec::new();
    for commit in commits {
        let number = merges.get(&commit).copied();
        if number.is_some() || steps.is_empty() {
            if let Some(newer) = steps.last_mut() {
                newer.base.clone_from(&commit);
            }
            steps.push(PushStep {
                number,
                base: base.clone(),
                commit,
            });
        }
    }
    Ok(steps)
}

/// The commits since the base that the branch itself had as its tip, newest first. GitHub lists only the oldest ones of a long comparison.
fn own_commits(github: &GitHub, base: &str, head: &str) -> Result<Vec<String>, GitHubError> {
    let between = github.compare(base, head)?;
    let mut commits = Vec::new();
    let mut next = Some(head.to_owned());
    while let Some(commit) = next.filter(|commit| commit != base && commits.len() < MOST) {
        next = match between.first_parent(&commit) {
            Some(parent) => parent.map(str::to_owned),
            None => github.parents(&commit)?.into_iter().next(),
        };
        commits.push(commit);
    }
    Ok(commits)
}

/// The pull requests that were merged into the branch, by the commit that each merge made.
fn merged_now(
    github: &GitHub,
    push: &PushEvent,
    commits: &[String],
) -> Result<BTreeMap<String, u64>, GitHubError> {
    let mut pulls = github.merged_pulls_of(&push.after)?;
    if commits.len() > 1 || pulls.is_empty() {
        pulls.extend(github.merged_pulls(&push.branch)?);
    }
    let here = pulls.into_iter().filter(|pull| pull.into == push.branch);
    Ok(here
        .filter_map(|pull| Some((pull.commit?, pull.number)))
        .filter(|(commit, _)| commits.contains(commit))
        .collect())
}
