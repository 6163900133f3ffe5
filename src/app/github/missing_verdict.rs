//! A run that ends without a verdict takes the place of the older result in the comment, which may be green.

use super::environment::{event_of, read_only_token};
use super::inputs::{ActionInputs, ActionMode};
use super::job_output::redacted_messages;
use super::pull_request_context::{PullRequestContext, needs};
use crate::app::cli_error::CliError;
use crate::format::event::Event;
use crate::model::PullState;
use crate::publish;
use crate::publish::NoteSubject;
use crate::render::inline;
use crate::world::World;

/// The longest message, in characters.
const MESSAGE: usize = 500;

/// Says in the section of the run's tier why the run has no verdict. Without a comment nothing is written, and a failed request
/// changes nothing: the run has failed already.
pub fn replace_older_verdict(world: &World, inputs: &ActionInputs, error: &CliError) {
    let is_gate = matches!(
        inputs.mode,
        ActionMode::Run | ActionMode::Trusted | ActionMode::Merge
    );
    let is_shown =
        inputs.comment && inputs.shard.is_none() && !matches!(error, CliError::CalledOff(_));
    let Ok(event) = event_of(&world.env) else {
        return;
    };
    let can_write = event.pull_request.is_some() && read_only_token(&world.env).is_none();
    if is_gate && is_shown && can_write {
        // The first error is the one that matters.
        let _ = replaced(world, inputs, &event, error);
    }
}

fn replaced(
    world: &World,
    inputs: &ActionInputs,
    event: &Event,
    error: &CliError,
) -> Result<(), CliError> {
    let Some(tier) = inputs.tiers.first() else {
        return Ok(());
    };
    let Some(context) = PullRequestContext::open(world, inputs)? else {
        return Ok(());
    };
    let (pull, head) = (&context.pull, &context.seen.head);
    // A newer head and another base branch have runs of their own.
    let is_retargeted = event.into.as_ref().is_some_and(|into| *into != pull.into);
    if pull.state != PullState::Open || pull.head != *head || is_retargeted {
        return Ok(());
    }
    let comments = context
        .github
        .comments(pull.number)
        .map_err(needs("the comments cannot be read", "pull-requests: write"))?;
    if !publish::may_exist(context.key.as_str(), &comments) || context.github.identity().is_none() {
        return Ok(());
    }
    let messages = redacted_messages(world, error);
    let first = messages.first().map(String::as_str).unwrap_or_default();
    let headline = format!("No verdict on this commit: {first}");
    let listed: String = messages
        .iter()
        .map(|message| format!("- {}\n", inline(message, MESSAGE)))
        .collect();
    let text = format!("### No verdict\n\nThis run ended without a result:\n\n{listed}");
    context.note(NoteSubject::Verdict(*tier), "WARNING", &headline, &text);
    Ok(())
}
