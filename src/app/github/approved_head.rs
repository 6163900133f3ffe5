//! What follows an approval of a pull request's head: its result, the gate's run, and the note in the comment.

use super::measured_run::{MeasuredRun, RunQuery, evidence};
use super::pull_request_context::{PullRequestContext, needs};
use super::rerun::GateRun;
use crate::app::cli_error::CliError;
use crate::model::{Approval, CommitStatus, StatusState};
use crate::publish;
use crate::publish::approval::NoResult;
use crate::publish::{NoteSubject, approval};
use crate::render::inline;
use crate::text::short_commit;

/// Whether a reason for worse numbers is still missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonState {
    /// No number is worse, or the description gives a reason.
    Given,
    /// A number is worse, and the description gives no reason.
    Missing,
}

/// Returns the newest result on the head, or the newest before a time.
///
/// # Errors
/// A failed request.
pub fn measured(
    context: &PullRequestContext<'_>,
    before: Option<&str>,
) -> Result<Result<MeasuredRun, NoResult>, CliError> {
    let found = evidence(
        &context.github,
        &RunQuery {
            before,
            ..context.query(&context.pull.head)
        },
    );
    found.map_err(needs("the run's artifact cannot be read", "actions: read"))
}

/// Says in the comment that the head is approved, what starts the check again, and whether a reason is missing.
pub fn note_approval(context: &PullRequestContext<'_>, by: &str, next: &str, reason: ReasonState) {
    let ask = match reason {
        ReasonState::Given => String::new(),
        ReasonState::Missing => format!(
            "\n\nA worse number needs a reason. Before the merge, copy this line into the description, and complete it:\n\n    {}",
            publish::reason_example()
        ),
    };
    let text = format!(
        "### Approval\n\n**Approved** on `{}` by {}: the golden changes and moved numbers of this result are accepted. Gates with \
         fixed thresholds still apply, and a later push needs a new approval.\n\n{next}{ask}",
        short_commit(&context.pull.head),
        inline(by, 60)
    );
    context.note(
        NoteSubject::Approval,
        "TIP",
        "The result of this commit is approved.",
        text.trim_end(),
    );
}

/// Says in the comment that the approval of the head is withdrawn, and what starts the check again. `description` is that of the status.
pub fn note_withdrawal(context: &PullRequestContext<'_>, description: &str, next: &str) {
    let why = approval::reason_of_withdrawal(description).unwrap_or(description);
    let head = short_commit(&context.pull.head);
    let text = format!(
        "### Approval\n\n**Withdrawn** on `{head}`: {}.\n\n{next}",
        inline(why, 200)
    );
    context.note(
        NoteSubject::Approval,
        "NOTE",
        "The approval of this commit is withdrawn.",
        &text,
    );
}

/// Starts the run of a result again whose approval was withdrawn after it passed: the job that withdrew it may have been stopped before
/// it did so.
///
/// # Errors
/// A failed request.
pub fn catch_up_withdrawal(context: &PullRequestContext<'_>) -> Result<(), CliError> {
    let statuses = context.statuses(&context.pull.head)?;
    let identity = context.github.identity().unwrap_or_default();
    let own = |status: &&CommitStatus| {
        let is_own = status.context == context.key.status() && status.creator == identity;
        is_own && approval::is_about(status, context.pull.number)
    };
    let Some(newest) = statuses.iter().find(own) else {
        return Ok(());
    };
    if newest.state != StatusState::Failure
        || approval::reason_of_withdrawal(&newest.description).is_none()
    {
        return Ok(());
    }
    let Ok(measured) = measured(context, None)? else {
        return Ok(());
    };
    let gate = GateRun::of(&measured);
    if gate.has_passed_before(&newest.at) {
        let next = gate.after_withdrawal(context, &newest.description)?;
        note_withdrawal(context, &newest.description, &next);
    }
    Ok(())
}

/// Starts the run of an approved result again if it failed before the approval: the job that approved it may have been stopped, or
/// may have found the run in progress.
///
/// # Errors
/// A failed request.
pub fn catch_up(
    context: &PullRequestContext<'_>,
    standing: Option<&Approval>,
) -> Result<(), CliError> {
    let Some(standing) = standing else {
        return Ok(());
    };
    let Ok(measured) = measured(context, None)? else {
        return Ok(());
    };
    let gate = GateRun::of(&measured);
    if gate.is_older_than(standing) {
        let next = gate.after_approval(context);
        note_approval(context, &standing.by, &next, ReasonState::Given);
    }
    Ok(())
}
