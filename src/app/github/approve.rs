//! `mode: approve`: checks the label that accepts a baseline, and records or withdraws the approval.

use super::inputs::ActionInputs;
use super::measured_run::{RunQuery, evidence};
use super::pull_request_context::{PullRequestContext, log, needs, outputs};
use crate::app::cli_error::CliError;
use crate::model::{LabelChange, LabelEvent, Permission, StatusState};
use crate::publish::approval::{ApprovalInput, ApprovalPlan, ApprovalRefusal, NoResult, PullRequestEvent};
use crate::publish::{NoteSubject, approval};
use crate::render::inline;
use crate::world::World;
use crate::{publish, report, world};

/// Reads the pull request, plans, acts, and reports in the outputs whether the head is approved. Returns the exit code.
///
/// # Errors
/// Bad input, or a failed request.
pub fn approve(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let Some(context) = PullRequestContext::open(world, inputs)? else { return Ok(0) };
    let plan = planned(&context)?;
    log(world, &format!("{plan:?}"));
    act(&context, &plan)?;
    let approved = context.current_approval(&context.pull.head)?.is_some();
    outputs(world, &[("approved", if approved { "true" } else { "false" })])?;
    Ok(0)
}

fn planned(context: &PullRequestContext<'_>) -> Result<ApprovalPlan, CliError> {
    let approving = &context.inputs.approving;
    let happened = happened(context);
    let standing = context.current_approval(&context.pull.head)?;
    let events = context.github.label_events(context.pull.number);
    let events = events.map_err(needs("the timeline cannot be read", "pull-requests: write"))?;
    let last = events.iter().rev().find(|event| approval::is_label(&event.label, &approving.label));
    let given = last.filter(|event| event.change == LabelChange::Added);
    let removed = last.filter(|event| event.change == LabelChange::Removed);
    let given = given.filter(|_| approval::asks(happened, &approving.label, &context.pull, standing.as_ref()));
    let allowed = match given.map(|given| given.by.as_str()).filter(|by| !by.is_empty()) {
        Some(giver) => {
            let allowed = context.github.permission_of(giver);
            allowed.map_err(needs("the permission of whoever set the label cannot be read", "contents: read"))?
        }
        None => Permission::None,
    };
    // Nothing is fetched if whoever set the label may not approve.
    let (digest, pusher) = match given.filter(|_| allowed >= approving.floor) {
        Some(given) => (result(context, given)?, pusher(context)?),
        None => (Err(NoResult::Missing), None),
    };
    Ok(approval::plan(&ApprovalInput {
        happened,
        giver: given.map(|given| given.by.as_str()),
        remover: removed.map(|removed| removed.by.as_str()),
        pusher: pusher.as_deref(),
        head: &context.seen.head,
        label: &approving.label,
        floor: approving.floor,
        allowed,
        by_author: approving.by_author,
        pull: &context.pull,
        standing: standing.as_ref(),
        result: digest.as_deref().map_err(Clone::clone),
    }))
}

fn happened<'a>(context: &'a PullRequestContext<'_>) -> PullRequestEvent<'a> {
    match (context.act.action.as_deref(), context.act.label.as_deref()) {
        (Some("labeled"), Some(label)) => PullRequestEvent::Labeled(label),
        (Some("unlabeled"), Some(label)) => PullRequestEvent::Unlabeled(label),
        (Some("synchronize"), _) => PullRequestEvent::Pushed,
        (Some("opened" | "reopened"), _) => PullRequestEvent::Opened,
        _ => PullRequestEvent::Other,
    }
}

/// Returns the digest of the head's result if it is older than the label and shown in the comment. A label that was set a moment
/// before a push approves what its giver saw, not the result that exists when this job begins.
fn result(context: &PullRequestContext<'_>, given: &LabelEvent) -> Result<Result<String, NoResult>, CliError> {
    let file = context.baseline_file()?;
    let head = context.pull.head.as_str();
    let look = |before| {
        let found = evidence(&context.github, &RunQuery { before, ..context.query(head) });
        found.map_err(needs("the run's artifact cannot be read", "actions: read"))
    };
    let newest = match look(None)? {
        Ok(newest) => newest,
        Err(why) => return Ok(Err(why)),
    };
    let digest = |report| report::result_digest(report, Some(&file));
    let found = digest(&newest.report);
    if newest.at.as_ref().is_none_or(|at| *at >= given.at) {
        // A run that was restarted since then may have the same result as before.
        match look(Some(&given.at))? {
            Ok(older) if digest(&older.report) == found => {}
            Ok(_) | Err(_) => return Ok(Err(NoResult::Younger)),
        }
    }
    let comments = context.github.comments(context.pull.number);
    let comments = comments.map_err(needs("the comment cannot be read", "pull-requests: write"))?;
    let shown = publish::shown_report(&comments, context.key.as_str(), &context.identity, head);
    Ok(match shown {
        Some(shown) if shown.result != publish::shown_digest(&newest.report) => Err(NoResult::NotShown),
        None => Err(NoResult::NotShown),
        Some(shown) if shown.hidden > 0 => Err(NoResult::Hidden(shown.hidden)),
        Some(_) => Ok(found),
    })
}

/// Returns who pushed the head: from the activity of its repository, else from the first run that the push started.
fn pusher(context: &PullRequestContext<'_>) -> Result<Option<String>, CliError> {
    let pull = &context.pull;
    let known = match &pull.head_repository {
        Some(repository) => context.github.pusher_of(repository, &pull.branch, &pull.head),
        None => Ok(None),
    };
    match known {
        Ok(Some(pusher)) => return Ok(Some(pusher)),
        // An older Enterprise Server has no activity list, and a private fork does not show it.
        Ok(None) | Err(world::GitHubError::Missing | world::GitHubError::Forbidden) => {}
        Err(world::GitHubError::Failed(error)) => return Err(error.into()),
    }
    let runs = context.github.runs_on(&pull.head, "pull_request");
    let runs = runs.map_err(needs("the runs on the head cannot be read", "actions: read"))?;
    let own = runs.into_iter().filter(|run| run.head == pull.head && run.event == "pull_request");
    Ok(own.min_by_key(|run| run.id).and_then(|run| run.actor))
}

fn act(context: &PullRequestContext<'_>, plan: &ApprovalPlan) -> Result<(), CliError> {
    let short = context.pull.head.get(..7).unwrap_or(&context.pull.head);
    match plan {
        ApprovalPlan::Nothing(why) => {
            log(context.world, &format!("nothing to do: {why}"));
            Ok(())
        }
        ApprovalPlan::Grant { head, description, by } => {
            context.record(head, StatusState::Success, description)?;
            // Somebody may have pushed or removed the label while this was written. After a push the status stays on the old
            // commit; without the label the status is withdrawn.
            let now = context.github.pull(context.pull.number);
            let now = now.map_err(needs("the pull request cannot be read", "pull-requests: write"))?;
            if !now.labels.iter().any(|label| approval::is_label(label, &context.inputs.approving.label)) {
                context.record(head, StatusState::Failure, "withdrawn: the label was removed")?;
                log(context.world, "the label was removed meanwhile, so the approval is withdrawn");
                return Ok(());
            }
            let by = inline(by, 60);
            let text = format!(
                "### Approval\n\n**Approved** on `{short}` by {by}: the golden changes and moved numbers of this result are \
                 accepted. Gates with fixed thresholds still apply, and a later push needs a new approval."
            );
            context.note(NoteSubject::Approval, "TIP", "The result of this commit is approved.", &text);
            Ok(())
        }
        ApprovalPlan::Withdraw { head, description } => {
            context.record(head, StatusState::Failure, description)?;
            let text = format!("### Approval\n\n**Withdrawn** on `{short}`: {}.", inline(description, 200));
            context.note(NoteSubject::Approval, "NOTE", "The approval of this commit is withdrawn.", &text);
            Ok(())
        }
        ApprovalPlan::Refuse(why) => refused(context, why),
    }
}

fn refused(context: &PullRequestContext<'_>, why: &ApprovalRefusal) -> Result<(), CliError> {
    let label = &context.inputs.approving.label;
    let standing = context.pull.labels.iter().find(|one| approval::is_label(one, label)).unwrap_or(label);
    let removed = context.github.remove_label(context.pull.number, standing);
    let sentence = inline(&why.to_string(), 400);
    let text =
        format!("### Approval\n\n**Not approved**: the label {} was removed, because {sentence}.", inline(label, 60));
    log(context.world, &format!("not approved: {why}"));
    context.note(NoteSubject::Approval, "WARNING", "The approval does not count.", &text);
    removed.map_err(needs("the label cannot be removed", "pull-requests: write"))
}
