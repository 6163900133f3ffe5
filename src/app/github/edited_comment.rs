//! Whether somebody else edited the comment that whoever set the label looked at.

use super::inputs::DEFAULT_LABEL;
use super::links::links_of_run;
use super::pull_request_context::{PullRequestContext, log, needs};
use crate::app::cli_error::CliError;
use crate::app::github::measured_run::MeasuredRun;
use crate::model::{Approval, Comment, CommentEdit, LabelEvent, Report, RunNumber};
use crate::publish;
use crate::publish::approval::NoResult;
use crate::world::LISTED_EDITS;

/// Why a label is not about what the comment shows: somebody edited it between the run that measured its result and the label. `None` if
/// nobody did. The run wrote its section again, so earlier edits are gone. The two runs have the same result: the one that the label is about, and
/// the newest one. `standing` is an approval of it.
///
/// # Errors
/// GitHub did not answer.
pub(super) fn edit(
    context: &PullRequestContext<'_>,
    comment: &Comment,
    [seen, newest]: [&MeasuredRun; 2],
    given: &LabelEvent,
    standing: Option<&Approval>,
) -> Result<Option<NoResult>, CliError> {
    let edits = match context.github.edits_of(comment) {
        Ok(edits) => edits,
        // The run that was started again after the approval has written the comment again.
        Err(error) if error.is_denied() && standing.is_some() => return Ok(None),
        Err(error) if error.is_denied() => {
            log(
                context.world,
                "who edited the comment is unknown without GraphQL; its text is compared with the report",
            );
            return Ok(
                (!is_unaltered(context, comment, [newest, seen])).then_some(NoResult::NotShown)
            );
        }
        Err(error) => {
            return Err(needs(
                "who edited the comment cannot be read",
                "pull-requests: write",
            )(error));
        }
    };
    // All these times are in one format in UTC, so they compare as texts.
    // A run that was started again since has the time of its newest attempt. Then the section is only known to be newer than the whole run.
    let is_of_attempt = |started: &&String| seen.at.as_ref().is_some_and(|at| *started <= at);
    let from = seen
        .run
        .started_at
        .as_ref()
        .filter(is_of_attempt)
        .or(seen.run.created_at.as_ref());
    let from = from.map(String::as_str).unwrap_or_default();
    if edits.len() >= LISTED_EDITS && edits.iter().all(|edit| edit.at.as_str() >= from) {
        return Ok(Some(NoResult::EditedOften));
    }
    let is_between = |edit: &&CommentEdit| edit.at.as_str() >= from && edit.at <= given.at;
    let is_other = |edit: &&CommentEdit| {
        edit.by
            .as_ref()
            .is_none_or(|by| !by.eq_ignore_ascii_case(&comment.author))
    };
    let edit = edits.iter().filter(is_between).find(is_other);
    Ok(edit.map(|edit| {
        NoResult::Edited(
            edit.by
                .clone()
                .unwrap_or_else(|| "a deleted account".to_owned()),
        )
    }))
}

/// Whether the comment shows one of two results that are the same, with the label of this job or the default one: the workflow of the gate
/// may not name it.
fn is_unaltered(
    context: &PullRequestContext<'_>,
    comment: &Comment,
    results: [&MeasuredRun; 2],
) -> bool {
    let env = &context.world.env;
    let is_shown = |report: &Report, label: &str| {
        let links = |report: &Report, run: RunNumber| {
            links_of_run(env, label, report, Some(&run.run.to_string()))
        };
        publish::is_unaltered(comment, context.key.as_str(), report, &links)
    };
    let labels = [context.inputs.approving.label.as_str(), DEFAULT_LABEL];
    results
        .iter()
        .any(|result| labels.iter().any(|label| is_shown(&result.report, label)))
}
