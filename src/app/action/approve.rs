//! `mode: approve`: judges the label that accepts a baseline.

use super::desk::{Desk, log, needs, outputs};
use super::evidence::{Query, evidence};
use super::inputs::Inputs;
use crate::app::trouble::Trouble;
use crate::model::{LabelChange, LabelEvent, Permission, StatusState};
use crate::publish::approval::{Asked, Happened, NoResult, Plan, Refusal};
use crate::publish::{About, approval};
use crate::render::inline;
use crate::world::World;
use crate::{publish, report, world};

/// Reads, plans, acts, reads back.
///
/// # Errors
/// Bad input, or an outside that failed.
pub fn approve(world: &World, inputs: &Inputs) -> Result<u8, Trouble> {
    let Some(desk) = Desk::open(world, inputs)? else { return Ok(0) };
    let plan = planned(&desk)?;
    log(world, &format!("{plan:?}"));
    act(&desk, &plan)?;
    let approved = desk.standing(&desk.pull.head)?.is_some();
    outputs(world, &[("approved", if approved { "true" } else { "false" })])?;
    Ok(0)
}

fn planned(desk: &Desk<'_>) -> Result<Plan, Trouble> {
    let approving = &desk.inputs.approving;
    let happened = happened(desk);
    let standing = desk.standing(&desk.pull.head)?;
    let events = desk.github.label_events(desk.pull.number);
    let events = events.map_err(needs("the timeline cannot be read", "pull-requests: write"))?;
    let last = events.iter().rev().find(|event| approval::is_label(&event.label, &approving.label));
    let given = last.filter(|event| event.change == LabelChange::Added);
    let removed = last.filter(|event| event.change == LabelChange::Removed);
    let given = given.filter(|_| approval::asks(happened, &approving.label, &desk.pull, standing.as_ref()));
    let allowed = match given.map(|given| given.by.as_str()).filter(|by| !by.is_empty()) {
        Some(giver) => {
            let allowed = desk.github.permission_of(giver);
            allowed.map_err(needs("what the label's giver may do cannot be read", "contents: read"))?
        }
        None => Permission::None,
    };
    // Nothing is fetched for somebody who may not approve.
    let (digest, pusher) = match given.filter(|_| allowed >= approving.floor) {
        Some(given) => (result(desk, given)?, pusher(desk)?),
        None => (Err(NoResult::Missing), None),
    };
    Ok(approval::plan(&Asked {
        happened,
        giver: given.map(|given| given.by.as_str()),
        remover: removed.map(|removed| removed.by.as_str()),
        pusher: pusher.as_deref(),
        head: &desk.seen.head,
        label: &approving.label,
        floor: approving.floor,
        allowed,
        by_author: approving.by_author,
        pull: &desk.pull,
        standing: standing.as_ref(),
        result: digest.as_deref().map_err(Clone::clone),
    }))
}

fn happened<'a>(desk: &'a Desk<'_>) -> Happened<'a> {
    match (desk.act.action.as_deref(), desk.act.label.as_deref()) {
        (Some("labeled"), Some(label)) => Happened::Labeled(label),
        (Some("unlabeled"), Some(label)) => Happened::Unlabeled(label),
        (Some("synchronize"), _) => Happened::Pushed,
        (Some("opened" | "reopened"), _) => Happened::Opened,
        _ => Happened::Other,
    }
}

/// The digest of the head's result, if it is older than the label and the comment shows it. A label that was set a moment before a
/// push was given for what its giver saw, and not for what stands there when this job begins.
fn result(desk: &Desk<'_>, given: &LabelEvent) -> Result<Result<String, NoResult>, Trouble> {
    let file = desk.baseline_file()?;
    let head = desk.pull.head.as_str();
    let look = |before| {
        let found = evidence(&desk.github, &Query { before, ..desk.query(head) });
        found.map_err(needs("the run's artifact cannot be read", "actions: read"))
    };
    let newest = match look(None)? {
        Ok(newest) => newest,
        Err(why) => return Ok(Err(why)),
    };
    let digest = |report| report::result_digest(report, Some(&file));
    let found = digest(&newest.report);
    if newest.at.as_ref().is_none_or(|at| *at >= given.at) {
        // A run that was started again since may have come to what stood there before.
        match look(Some(&given.at))? {
            Ok(older) if digest(&older.report) == found => {}
            Ok(_) | Err(_) => return Ok(Err(NoResult::Younger)),
        }
    }
    let comments = desk.github.comments(desk.pull.number);
    let comments = comments.map_err(needs("the comment cannot be read", "pull-requests: write"))?;
    let shown = publish::shown(&comments, desk.key.as_str(), &desk.identity, head);
    Ok(match shown {
        Some(shown) if shown.result != publish::shown_digest(&newest.report) => Err(NoResult::NotShown),
        None => Err(NoResult::NotShown),
        Some(shown) if shown.hidden > 0 => Err(NoResult::Hidden(shown.hidden)),
        Some(_) => Ok(found),
    })
}

/// Who pushed the head: by the activity of its repository, else by the first run that the push started.
fn pusher(desk: &Desk<'_>) -> Result<Option<String>, Trouble> {
    let pull = &desk.pull;
    let known = match &pull.head_repository {
        Some(repository) => desk.github.pusher_of(repository, &pull.branch, &pull.head),
        None => Ok(None),
    };
    match known {
        Ok(Some(pusher)) => return Ok(Some(pusher)),
        // An older Enterprise Server has no such list, and a private fork shows it to nobody.
        Ok(None) | Err(world::Refusal::Missing | world::Refusal::Forbidden) => {}
        Err(world::Refusal::Failed(error)) => return Err(error.into()),
    }
    let runs = desk.github.runs_on(&pull.head, "pull_request");
    let runs = runs.map_err(needs("the runs on the head cannot be read", "actions: read"))?;
    let own = runs.into_iter().filter(|run| run.head == pull.head && run.event == "pull_request");
    Ok(own.min_by_key(|run| run.id).and_then(|run| run.actor))
}

fn act(desk: &Desk<'_>, plan: &Plan) -> Result<(), Trouble> {
    let short = desk.pull.head.get(..7).unwrap_or(&desk.pull.head);
    match plan {
        Plan::Nothing(why) => {
            log(desk.world, &format!("nothing to do: {why}"));
            Ok(())
        }
        Plan::Grant { head, description, by } => {
            desk.keep(head, StatusState::Success, description)?;
            // Somebody may have pushed, or taken the label away, while this was written. A push leaves the status behind on its
            // own commit; a label that is gone takes the status with it.
            let now = desk.github.pull(desk.pull.number);
            let now = now.map_err(needs("the pull request cannot be read", "pull-requests: write"))?;
            if !now.labels.iter().any(|label| approval::is_label(label, &desk.inputs.approving.label)) {
                desk.keep(head, StatusState::Failure, "withdrawn: the label was removed")?;
                log(desk.world, "the label was removed meanwhile, so the approval is withdrawn");
                return Ok(());
            }
            let by = inline(by, 60);
            let text = format!(
                "### Approval\n\n**Approved** on `{short}` by {by}: the golden changes and moved numbers of this result count \
                 as accepted. Gates with thresholds of their own still hold, and a later push needs a new approval."
            );
            desk.note(About::Approval, "TIP", "The result of this commit is approved.", &text);
            Ok(())
        }
        Plan::Withdraw { head, description } => {
            desk.keep(head, StatusState::Failure, description)?;
            let text = format!("### Approval\n\n**Withdrawn** on `{short}`: {}.", inline(description, 200));
            desk.note(About::Approval, "NOTE", "The approval of this commit is withdrawn.", &text);
            Ok(())
        }
        Plan::Refuse(why) => refused(desk, why),
    }
}

fn refused(desk: &Desk<'_>, why: &Refusal) -> Result<(), Trouble> {
    let label = &desk.inputs.approving.label;
    let standing = desk.pull.labels.iter().find(|one| approval::is_label(one, label)).unwrap_or(label);
    let removed = desk.github.remove_label(desk.pull.number, standing);
    let sentence = inline(&why.to_string(), 400);
    let text =
        format!("### Approval\n\n**Not approved**: the label {} was removed, because {sentence}.", inline(label, 60));
    log(desk.world, &format!("not approved: {why}"));
    desk.note(About::Approval, "WARNING", "The approval does not count.", &text);
    removed.map_err(needs("the label cannot be removed", "pull-requests: write"))
}
