//! `mode: approve`: judges the label that accepts a baseline.

use super::desk::Desk;
use super::desk::log;
use super::desk::needs;
use super::desk::outputs;
use super::evidence::evidence;
use super::inputs::Inputs;
use crate::app::trouble::Trouble;
use crate::model::Permission;
use crate::model::StatusState;
use crate::publish::About;
use crate::publish::approval;
use crate::publish::approval::Asked;
use crate::publish::approval::Happened;
use crate::publish::approval::NoResult;
use crate::publish::approval::Plan;
use crate::publish::approval::Refusal;
use crate::render::inline;
use crate::report;
use crate::world::World;

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
    let actor = desk.act.sender.as_deref().unwrap_or_default();
    let standing = desk.standing(&desk.pull.head)?;
    // Only the label itself asks for somebody's right and for a result.
    let asks = happened == Happened::Labeled(&approving.label);
    let allowed = match asks && !actor.is_empty() {
        true => {
            let allowed = desk.github.permission_of(actor);
            allowed.map_err(needs("what the label's giver may do cannot be read", "contents: read"))?
        }
        false => Permission::None,
    };
    // Nothing is fetched for somebody who may not approve.
    let digest = match asks && allowed >= approving.floor {
        true => digest(desk)?,
        false => Err(NoResult::Missing),
    };
    Ok(approval::plan(&Asked {
        happened,
        actor,
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

fn digest(desk: &Desk<'_>) -> Result<Result<String, NoResult>, Trouble> {
    let file = desk.baseline_file()?;
    let found = evidence(&desk.github, &desk.seen.head);
    let found = found.map_err(needs("the run's artifact cannot be read", "actions: read"))?;
    Ok(found.map(|found| report::result_digest(&found.report, Some(&file))))
}

fn act(desk: &Desk<'_>, plan: &Plan) -> Result<(), Trouble> {
    let short = desk.pull.head.get(..7).unwrap_or(&desk.pull.head);
    match plan {
        Plan::Nothing(why) => {
            log(desk.world, &format!("nothing to do: {why}"));
            Ok(())
        }
        Plan::Grant { head, description } => {
            desk.keep(head, StatusState::Success, description)?;
            // Somebody may have pushed, or taken the label away, while this was written. A push leaves the status behind on its
            // own commit; a label that is gone takes the status with it.
            let now = desk.github.pull(desk.pull.number);
            let now = now.map_err(needs("the pull request cannot be read", "pull-requests: write"))?;
            if !now.labels.contains(&desk.inputs.approving.label) {
                desk.keep(head, StatusState::Failure, "withdrawn: the label was removed")?;
                log(desk.world, "the label was removed meanwhile, so the approval is withdrawn");
                return Ok(());
            }
            let by = inline(desk.act.sender.as_deref().unwrap_or_default(), 60);
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
    let removed = desk.github.remove_label(desk.pull.number, label);
    let sentence = inline(&why.to_string(), 400);
    let text =
        format!("### Approval\n\n**Not approved**: the label {} was removed, because {sentence}.", inline(label, 60));
    log(desk.world, &format!("not approved: {why}"));
    desk.note(About::Approval, "WARNING", "The approval does not count.", &text);
    removed.map_err(needs("the label cannot be removed", "pull-requests: write"))
}
