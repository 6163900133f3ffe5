//! The commits of an event that has no pull request: a push, a merge group, or any other.
//!
//! A push is compared with the branch's tip before it, not with the first parent of its last commit: a push can have several commits, and
//! the last one would hide what the ones before it changed. For a merge by GitHub both are the same commit.

use crate::format::event::{Event, PushEvent};
use crate::github::base_branch::{known_default, relies_on_checks};
use crate::github::client::{GitHub, GitHubError, QueueGrouping};
use crate::github::requests::{needs, no_verdict};
use crate::model::PullState;
use crate::render::CliError;
use crate::world::Env;

/// The event of a push with its base commit. The second value is a remark for the report if there is none.
///
/// Only of the default branch, and of a branch that requires checks, the tip before the push is a commit that was judged. Another branch is
/// compared with the commit where it left the default branch, because its check counts for its pull request as well.
///
/// # Errors
/// A failed request.
pub fn pushed(
    event: Event,
    push: &PushEvent,
    github: &GitHub,
) -> Result<(Event, Option<&'static str>), CliError> {
    let default = known_default(github)?;
    if let Some(old_tip) = &push.before
        && relies_on_checks(github, &push.branch)? == Some(true)
    {
        let event = Event {
            base: Some(old_tip.clone()),
            head: Some(push.after.clone()),
            judged: Some(push.after.clone()),
            into: Some(push.branch.clone()),
            tip: Some(old_tip.clone()),
            ..event
        };
        return Ok((event, None));
    }
    if default == push.branch {
        return Ok((event, Some(FIRST)));
    }
    let base = github.merge_base(&default, &push.after);
    let base = base.map_err(needs(
        "the merge base with the default branch cannot be read",
        "contents: read",
    ))?;
    let event = Event {
        base: Some(base),
        head: Some(push.after.clone()),
        judged: Some(push.after.clone()),
        into: Some(default),
        tip: None,
        ..event
    };
    Ok((event, None))
}

/// The event of a job that is about no pull request, group or branch: a tag, a release, a deployment, or a run by hand on a branch without a
/// pull request. Its check belongs to its commit like every other one, so the commit is compared with the one where it left the default
/// branch, and the pull requests that it is the head of are judged as well. A commit of the default branch itself is compared with its first
/// parent, as the push of it was.
///
/// # Errors
/// A failed request.
pub fn unattached(env: &Env, event: Event, github: &GitHub) -> Result<Event, CliError> {
    let Some(commit) = env.get("GITHUB_SHA") else {
        return Ok(event);
    };
    let default = known_default(github)?;
    let base = match github.merge_base(&default, commit) {
        Ok(base) if base == commit => {
            let parents = github
                .parents(commit)
                .map_err(needs("the commit cannot be read", "contents: read"))?;
            let Some(parent) = parents.into_iter().next() else {
                return Ok(event);
            };
            let tip = Some(parent.clone());
            let push = Some(PushEvent {
                branch: default.clone(),
                before: Some(parent.clone()),
                after: commit.to_owned(),
            });
            let (base, head, into) = (Some(parent), Some(commit.to_owned()), Some(default));
            return Ok(Event {
                judged: head.clone(),
                base,
                head,
                into,
                tip,
                push,
                ..event
            });
        }
        Ok(base) => base,
        // A history of its own.
        Err(GitHubError::Missing) => return Ok(event),
        Err(error) => {
            return Err(needs(
                "the merge base with the default branch cannot be read",
                "contents: read",
            )(error));
        }
    };
    let branch = env.get("GITHUB_REF_NAME").unwrap_or_default().to_owned();
    let push = PushEvent {
        branch,
        before: None,
        after: commit.to_owned(),
    };
    let (base, head, into, push) = (
        Some(base),
        Some(commit.to_owned()),
        Some(default),
        Some(push),
    );
    Ok(Event {
        judged: head.clone(),
        base,
        head,
        into,
        push,
        ..event
    })
}

const FIRST: &str = "this is the first push of the branch, so nothing is compared: its gates are judged by its own rules and its own \
                     baseline";

/// The event of a merge group: the one pull request in the name of its branch, judged from the commit that the group was built on. Where
/// the queue merges a failed entry below one that passes, no verdict of a single group would be about what is merged.
///
/// # Errors
/// The group is about no open pull request into its branch, the queue merges failed entries, or a request failed.
pub fn group(event: &Event, github: &GitHub) -> Result<Event, CliError> {
    let (Some(number), Some(into)) = (event.queued, &event.into) else {
        return Err(no_verdict(
            "the branch of this merge group does not name its pull request",
        ));
    };
    let pull = github.pull(number).map_err(needs(
        "the queued pull request cannot be read",
        "pull-requests: read",
    ))?;
    if pull.state == PullState::Closed || pull.into != *into {
        return Err(no_verdict(&format!(
            "pull request {number}, which this merge group is about, is not open on {into}"
        )));
    }
    let unread = needs("the merge queue cannot be read", "metadata: read");
    match github.queue_grouping(into).map_err(unread)? {
        Some(QueueGrouping::Every) => {}
        Some(QueueGrouping::OnlyLast) => {
            return Err(no_verdict(&format!(
                "the merge queue of {into} merges an entry that fails below one that passes (`HEADGREEN`): require all entries to pass"
            )));
        }
        None => {
            return Err(no_verdict(&format!(
                "GitHub does not show whether the merge queue of {into} requires all entries to pass: set it up in a ruleset"
            )));
        }
    }
    Ok(Event {
        judged: event.head.clone(),
        ..event.clone()
    })
}
