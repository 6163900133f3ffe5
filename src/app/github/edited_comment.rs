//! Whether somebody else edited the comment that whoever set the label looked at.

use super::pull_request_context::{PullRequestContext, log};
use crate::app::github::measured_run::MeasuredRun;
use crate::model::{Comment, CommentEdit, LabelEvent};

/// Who edited the comment between the run that measured its result and the label; `None` if nobody did. The run wrote its section again,
/// so earlier edits are gone.
pub(super) fn editor(
    context: &PullRequestContext<'_>,
    comment: &Comment,
    measured: &MeasuredRun,
    given: &LabelEvent,
) -> Option<String> {
    let edits = match context.github.edits_of(comment) {
        Ok(edits) => edits,
        Err(_) => {
            log(context.world, "who edited the comment is unknown: GraphQL did not tell");
            return None;
        }
    };
    // All these times are in one format in UTC, so they compare as texts.
    let from = measured.run.started_at.as_deref().unwrap_or_default();
    let is_between = |edit: &&CommentEdit| edit.at.as_str() >= from && edit.at <= given.at;
    let is_other = |edit: &&CommentEdit| edit.by.as_ref().is_none_or(|by| !by.eq_ignore_ascii_case(&comment.author));
    let edit = edits.iter().filter(is_between).find(is_other)?;
    Some(edit.by.clone().unwrap_or_else(|| "a deleted account".to_owned()))
}
