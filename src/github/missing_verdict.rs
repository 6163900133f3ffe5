//! A run that ends without a verdict takes the place of the older result in the comment, which may be green.

use super::comment::{CommentNote, write_note};
use super::environment::{event_of, github};
use super::inputs::{ActionInputs, ActionMode};
use super::job_output::redacted_messages;
use super::requests::needs;
use crate::model::{PullRequest, PullState, Tier};
use crate::publish;
use crate::publish::NoteSubject;
use crate::render::{CliError, inline};
use crate::world::World;

/// The longest message, in characters.
const MESSAGE: usize = 500;

/// Says in the section of the run's tier why the run has no verdict. Whether the token may write is tried; a failed request changes
/// nothing, because the run has failed already.
pub fn replace_older_verdict(world: &World, inputs: &ActionInputs, error: &CliError) {
    let is_shown =
        inputs.comment && inputs.shard.is_none() && !matches!(error, CliError::CalledOff(_));
    let pull_request = event_of(&world.env)
        .ok()
        .and_then(|event| Some((event.pull_request?, event.into)));
    if let (true, ActionMode::Run, Some(about), Some(tier)) =
        (is_shown, inputs.mode, pull_request, inputs.tiers.first())
    {
        // The first error is the one that matters.
        let _ = replaced(world, inputs, (&about.0, about.1.as_deref()), *tier, error);
    }
}

fn replaced(
    world: &World,
    inputs: &ActionInputs,
    (seen, into): (&PullRequest, Option<&str>),
    tier: Tier,
    error: &CliError,
) -> Result<(), CliError> {
    let Some(github) = github(&world.env)? else {
        return Ok(());
    };
    let unread = needs("the comments cannot be read", "pull-requests: write");
    let pull = github.pull(seen.number).map_err(&unread)?;
    // A newer head and another base branch have runs of their own.
    let is_retargeted = into.is_some_and(|into| *into != pull.into);
    if pull.state != PullState::Open || pull.head != seen.head || is_retargeted {
        return Ok(());
    }
    let key = inputs.key_of_step()?;
    let comments = github.comments(pull.number).map_err(&unread)?;
    if !publish::may_exist(key.as_str(), &comments) || github.identity().is_none() {
        return Ok(());
    }
    let messages = redacted_messages(world, error);
    // The words say it already.
    let first = messages.first().map(String::as_str).unwrap_or_default();
    let first = first.strip_prefix("no verdict: ").unwrap_or(first);
    let headline = format!("No verdict on this commit: {first}");
    let listed: String = messages
        .iter()
        .map(|message| format!("- {}\n", inline(message, MESSAGE)))
        .collect();
    let text = format!("### No verdict\n\nThis run ended without a result:\n\n{listed}");
    let note = CommentNote {
        about: NoteSubject::Verdict(tier),
        alert: "WARNING",
        headline: &headline,
        text: &text,
    };
    write_note(world, &github, (pull.number, &pull.head, &key), &note);
    Ok(())
}
