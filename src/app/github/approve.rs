//! `mode: approve`: checks the label that accepts a baseline, and records or withdraws the approval.

use std::thread;

use super::approval_label::{LabelPurpose, ensure_label};
use super::approved_head::{
    ReasonState, catch_up, catch_up_withdrawal, measured, note_approval, note_withdrawal,
};
use super::edited_comment::edit;
use super::inputs::ActionInputs;
use super::pull_request_context::{
    LOOKS, PAUSE, PullRequestContext, baseline_of, log, needs, outputs,
};
use super::rerun::GateRun;
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic};
use crate::model::{Approval, Comment, LabelChange, LabelEvent, PullState, StatusState};
use crate::publish::approval::{
    ApprovalInput, ApprovalPlan, ApprovalRefusal, ApprovalSkip, NoResult, PullRequestEvent,
};
use crate::publish::{NoteSubject, approval};
use crate::render::inline;
use crate::render::plain::with_code;
use crate::text::line_with_end;
use crate::world::World;
use crate::{publish, report};

/// A plan and what acting on it needs.
struct PlannedApproval {
    plan: ApprovalPlan,
    /// The approval of the present head.
    standing: Option<Approval>,
    /// The run that made the result, if it was looked at.
    gate: Option<GateRun>,
    /// Whether a worse number has no reason yet.
    reason: ReasonState,
}

/// Reads the pull request, plans, acts, and reports in the outputs whether the head is approved. Returns the exit code.
///
/// # Errors
/// Bad input, or a failed request.
pub fn approve(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let Some(context) = PullRequestContext::open(world, inputs)? else {
        return Ok(0);
    };
    if context.pull.state == PullState::Open && context.set_label(&inputs.approving.label).is_none()
    {
        ensure_label(
            world,
            &context.github,
            LabelPurpose::Approve,
            &inputs.approving.label,
        );
    }
    if is_removed(&context)? {
        log(world, "nothing to do: the pull request removes this config");
        return outputs(world, &[("approved", "false")]).map(|()| 0);
    }
    let planned = planned(&context)?;
    log(world, &planned.plan.to_string());
    act(&context, &planned)?;
    let approved = context.current_approval(&context.pull.head)?.is_some();
    outputs(
        world,
        &[("approved", if approved { "true" } else { "false" })],
    )?;
    Ok(0)
}

/// Whether a pull request with the label removes the config. Then it has no result, and the label is about other configs.
fn is_removed(context: &PullRequestContext<'_>) -> Result<bool, CliError> {
    let config = &context.config;
    let is_asked = context.pull.state == PullState::Open
        && context.set_label(&context.inputs.approving.label).is_some();
    if !is_asked || context.file(config, &context.pull.head)?.is_some() {
        return Ok(false);
    }
    match context.file(config, &context.base)? {
        Some(_) => Ok(true),
        None => {
            let what = "the config does not exist, neither on the base branch nor at the head, or the token may not read it";
            let help = "correct the input config, or give the job contents: read";
            Err(Diagnostic::of_file(config, Code::BAD_INPUT, what, help).into())
        }
    }
}

fn planned(context: &PullRequestContext<'_>) -> Result<PlannedApproval, CliError> {
    let approving = &context.inputs.approving;
    let event = context.event();
    let standing = context.current_approval(&context.pull.head)?;
    let events = present_events(context)?;
    let since = approval::label_since(&events, &approving.label, standing.as_ref());
    let (presence, added) = approval::label_presence(&events, &approving.label, &context.pull);
    let given = added.filter(|_| {
        let counting = approval::unwithdrawn(standing.as_ref(), since);
        approval::asks(event, &approving.label, presence, &context.pull, counting)
    });
    let permission = context.permission_of(given)?;
    // Nothing is fetched if whoever set the label may not approve.
    let counting = approval::unwithdrawn(standing.as_ref(), since);
    let (found, pushers) = match given.filter(|_| permission >= approving.floor) {
        Some(given) => (result(context, given, counting)?, pushers(context)?),
        None => (FoundResult::none(NoResult::Missing), Vec::new()),
    };
    let plan = approval::plan(&ApprovalInput {
        event,
        presence,
        giver: given.map(|given| given.by.as_str()),
        since,
        pushers: &pushers,
        head: &context.seen.head,
        label: &approving.label,
        required: approving.floor,
        permission,
        by_author: approving.by_author,
        pull: &context.pull,
        standing: standing.as_ref(),
        result: found.digest.as_deref().map_err(Clone::clone),
    });
    Ok(PlannedApproval {
        plan,
        standing,
        gate: found.gate,
        reason: found.reason,
    })
}

/// Returns the changes of the label. GitHub may list a change a moment after it has started this run for it.
fn present_events(context: &PullRequestContext<'_>) -> Result<Vec<LabelEvent>, CliError> {
    let label = &context.inputs.approving.label;
    let mut events = context.label_events(label)?;
    let is_set = context.set_label(label).is_some();
    let is_expected = match context.event() {
        PullRequestEvent::Labeled(one) => is_set && approval::is_label(one, label),
        PullRequestEvent::Unlabeled(one) => !is_set && approval::is_label(one, label),
        PullRequestEvent::Pushed | PullRequestEvent::Opened | PullRequestEvent::Other => false,
    };
    for _ in 1..LOOKS {
        let last = events
            .iter()
            .rfind(|event| approval::is_label(&event.label, label));
        if !is_expected || last.is_some_and(|last| (last.change == LabelChange::Added) == is_set) {
            break;
        }
        thread::sleep(PAUSE);
        events = context.label_events(label)?;
    }
    Ok(events)
}

/// The result on the head that a label is about.
struct FoundResult {
    /// Its digest, if the label can be about it.
    digest: Result<String, NoResult>,
    /// The run that made it.
    gate: Option<GateRun>,
    reason: ReasonState,
}

impl FoundResult {
    fn none(why: NoResult) -> Self {
        Self {
            digest: Err(why),
            gate: None,
            reason: ReasonState::Given,
        }
    }
}

/// Finds the result on the head, which has to be older than the label and shown in the comment. A label that was set a moment before
/// a push approves what its giver saw, not the result that exists when this job begins.
fn result(
    context: &PullRequestContext<'_>,
    given: &LabelEvent,
    standing: Option<&Approval>,
) -> Result<FoundResult, CliError> {
    let file = context.baseline_file()?;
    let file = file.as_ref();
    let newest = match measured(context, None)? {
        Ok(newest) => newest,
        Err(why) => return Ok(FoundResult::none(why)),
    };
    let digest = |report| report::result_digest(report, file);
    let found = digest(&newest.report);
    let standing = standing.filter(|approval| approval.digest == found);
    let gate = Some(GateRun::of(&newest));
    let none = |why, gate| FoundResult {
        gate,
        ..FoundResult::none(why)
    };
    let is_older = newest.at.as_ref().is_some_and(|at| *at < given.at);
    // A run that was restarted since then may have the same result as before.
    let before = if is_older {
        None
    } else {
        Some(measured(context, Some(&given.at))?)
    };
    let seen = match &before {
        None => &newest,
        Some(Ok(older)) if digest(&older.report) == found => older,
        Some(Ok(_) | Err(_)) => return Ok(none(NoResult::Younger, gate)),
    };
    context.learn_identity();
    let comments = context.github.comments(context.pull.number);
    let comments = comments.map_err(needs("the comment cannot be read", "pull-requests: write"))?;
    let head = context.pull.head.as_str();
    match publish::shown_report(
        &comments,
        context.key.as_str(),
        context.github.identity(),
        head,
    ) {
        Some(shown) if shown.result != publish::shown_digest(&newest.report) => {
            Ok(none(NoResult::NotShown, gate))
        }
        None => Ok(none(not_shown(context, &comments), gate)),
        // All these times are in one format in UTC, so they compare as texts.
        Some(shown) if shown.since.as_ref().is_some_and(|since| *since > given.at) => {
            Ok(none(NoResult::ShownLater, gate))
        }
        Some(shown) if shown.hidden > 0 => Ok(none(NoResult::Hidden(shown.hidden), gate)),
        Some(shown)
            if let Some(why) = edit(context, &shown.comment, [seen, &newest], given, standing)? =>
        {
            Ok(none(why, gate))
        }
        Some(_) if !newest.report.lasting.is_empty() => {
            let why = newest
                .report
                .lasting
                .first()
                .map(|why| why.0.clone())
                .unwrap_or_default();
            Ok(none(NoResult::Lasting(why), gate))
        }
        Some(_) => {
            let before = match file {
                Some(file) => baseline_of(file, context.file(file, &context.base)?.as_ref())?,
                None => None,
            };
            let moves = publish::moves(before.as_ref(), &newest.report);
            let is_worse = moves.iter().any(publish::is_worse);
            let is_given = !is_worse || publish::reason(&context.pull.description).is_some();
            let reason = if is_given {
                ReasonState::Given
            } else {
                ReasonState::Missing
            };
            Ok(FoundResult {
                digest: Ok(found),
                gate,
                reason,
            })
        }
    }
}

/// Returns who pushed the head; empty if that is unknown. A bot, such as the account that records or commits a baseline, acts for somebody
/// else: then whoever pushed before it counts as well.
fn pushers(context: &PullRequestContext<'_>) -> Result<Vec<String>, CliError> {
    let pull = &context.pull;
    let is_bot = |login: &str| login.ends_with("[bot]") || Some(login) == context.github.identity();
    let pushes = match &pull.head_repository {
        Some(repository) => context.github.pushes_to(repository, &pull.branch),
        None => Ok(Vec::new()),
    };
    let pushes = match pushes {
        Ok(pushes) => pushes,
        // An older Enterprise Server has no activity list, and a private fork does not show it.
        Err(error) if error.is_denied() => Vec::new(),
        Err(error) => {
            return Err(needs(
                "the user who pushed the head cannot be read",
                "contents: read",
            )(error));
        }
    };
    match approval::pushers(&pushes, &pull.head, &is_bot) {
        Some(known) => Ok(known),
        None => pushers_by_runs(context, &is_bot),
    }
}

/// Maximum number of commits of bots below which the last push of a person is looked for.
const BOT_COMMITS: usize = 10;

/// The same from the first run that each push started.
fn pushers_by_runs(
    context: &PullRequestContext<'_>,
    is_bot: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, CliError> {
    let mut pushers = Vec::new();
    let mut commit = context.pull.head.clone();
    let commits = context.github.compare(&context.base, &commit);
    let commits = commits.map_err(needs(
        "the commits of the pull request cannot be read",
        "contents: read",
    ))?;
    for _ in 0..BOT_COMMITS {
        let runs = context.github.runs_on(&commit, "pull_request");
        let runs = runs.map_err(needs(
            "the runs on the head cannot be read",
            "actions: read",
        ))?;
        let own = runs
            .into_iter()
            .filter(|run| run.head == commit && run.event == "pull_request");
        let Some(pusher) = own.min_by_key(|run| run.id).and_then(|run| run.actor) else {
            // A commit of the base branch is below the first push of the branch, which was a bot's.
            return Ok(if is_of_base(context, &commit)? {
                pushers
            } else {
                Vec::new()
            });
        };
        let is_person = !is_bot(&pusher);
        pushers.push(pusher);
        // A run of an opened pull request has whoever opened it as its actor.
        pushers.extend_from_slice(commits.people_of(&commit));
        if is_person {
            return Ok(pushers);
        }
        let parents = context.github.parents(&commit);
        let parents = parents.map_err(needs(
            "the commit below the head cannot be read",
            "contents: read",
        ))?;
        // The first parent of a merge is what the branch had before it.
        let Some(parent) = parents.first() else {
            return Ok(pushers);
        };
        commit.clone_from(parent);
    }
    Ok(Vec::new())
}

/// Why the comment shows no result: goldgate's comment may be one of another bot.
fn not_shown(context: &PullRequestContext<'_>, comments: &[Comment]) -> NoResult {
    let author = publish::author_of(comments, context.key.as_str())
        .filter(|author| author.ends_with("[bot]"));
    match (author, context.github.identity()) {
        (Some(comment), Some(job)) if comment != job => NoResult::OtherAccount {
            comment: comment.to_owned(),
            job: job.to_owned(),
        },
        (Some(_) | None, _) => NoResult::NotShown,
    }
}

/// Whether a commit is one of the base branch.
fn is_of_base(context: &PullRequestContext<'_>, commit: &str) -> Result<bool, CliError> {
    match context.github.has_commit(&context.base, commit) {
        Err(error) if error.is_denied() => Ok(false),
        known => known.map_err(needs("the commits cannot be compared", "contents: read")),
    }
}

fn act(context: &PullRequestContext<'_>, planned: &PlannedApproval) -> Result<(), CliError> {
    match &planned.plan {
        ApprovalPlan::Nothing(ApprovalSkip::Already) => {
            catch_up(context, planned.standing.as_ref())
        }
        ApprovalPlan::Nothing(
            ApprovalSkip::OtherEvent
            | ApprovalSkip::OtherLabel
            | ApprovalSkip::Gone
            | ApprovalSkip::NothingToWithdraw
            | ApprovalSkip::NoLabel,
        ) => catch_up_withdrawal(context),
        ApprovalPlan::Nothing(
            ApprovalSkip::Closed
            | ApprovalSkip::Back
            | ApprovalSkip::RemovedByGoldgate
            | ApprovalSkip::NeverLabeled,
        ) => Ok(()),
        ApprovalPlan::Grant {
            head,
            description,
            by,
        } => granted(context, planned, head, description, by),
        ApprovalPlan::Withdraw { head, description } => withdrawn(context, head, description),
        ApprovalPlan::Wait(why) => {
            let text = format!(
                "### Approval\n\n**Not approved yet**: {why}. The label stays, but it does not count for a result that comes after it."
            );
            let title = match why {
                ApprovalRefusal::NoGiver => "GitHub does not list yet who added the label.",
                _ => "This commit has no result to approve yet.",
            };
            context.note(NoteSubject::Approval, "NOTE", title, &text);
            Ok(())
        }
        ApprovalPlan::Refuse { why, withdrawn } => {
            refused(context, why)?;
            if let Some(description) = withdrawn {
                context.record(&context.pull.head, StatusState::Failure, description)?;
                // The check is still green by the withdrawn approval, also where the label's result was not looked for.
                return run_after_withdrawal(
                    context,
                    &approval::withdrawal(None, context.pull.number),
                )
                .map(|_| ());
            }
            match &planned.gate {
                Some(gate) => gate.after_refusal(context),
                None => Ok(()),
            }
        }
    }
}

fn granted(
    context: &PullRequestContext<'_>,
    planned: &PlannedApproval,
    head: &str,
    description: &str,
    by: &str,
) -> Result<(), CliError> {
    context.record(head, StatusState::Success, description)?;
    // Somebody may have pushed or removed the label while this was written. After a push the status stays on the old commit; without
    // the label the status is withdrawn.
    let now = context.github.pull(context.pull.number);
    let now = now.map_err(needs(
        "the pull request cannot be read",
        "pull-requests: write",
    ))?;
    let has_label = |labels: &[String]| {
        labels
            .iter()
            .any(|label| approval::is_label(label, &context.inputs.approving.label))
    };
    if has_label(&context.pull.labels) && !has_label(&now.labels) {
        context.record(
            head,
            StatusState::Failure,
            &approval::withdrawal(None, now.number),
        )?;
        log(
            context.world,
            "the label was removed meanwhile, so the approval is withdrawn",
        );
        return Ok(());
    }
    if now.head != head {
        log(
            context.world,
            "commits were pushed meanwhile, so the approval is for an older commit",
        );
        return Ok(());
    }
    let gate = planned.gate.as_ref();
    let next = gate.map_or(String::new(), |gate| gate.after_approval(context));
    note_approval(context, by, &next, planned.reason);
    Ok(())
}

fn withdrawn(
    context: &PullRequestContext<'_>,
    head: &str,
    description: &str,
) -> Result<(), CliError> {
    context.record(head, StatusState::Failure, description)?;
    let next = run_after_withdrawal(context, description)?;
    note_withdrawal(context, description, &next);
    Ok(())
}

/// Starts the gate's run again. Returns what happens next, in Markdown.
fn run_after_withdrawal(
    context: &PullRequestContext<'_>,
    description: &str,
) -> Result<String, CliError> {
    match measured(context, None)? {
        Ok(measured) => GateRun::of(&measured).after_withdrawal(context, description),
        Err(_) => Ok(
            "Press **Re-run all jobs** in the run of the gate, so that its check fails.".to_owned(),
        ),
    }
}

fn refused(context: &PullRequestContext<'_>, why: &ApprovalRefusal) -> Result<(), CliError> {
    let label = &context.inputs.approving.label;
    let removed = context.remove_label(label);
    let sentence = with_code(&inline(&line_with_end(&why.to_string(), 600), 600));
    let text = format!(
        "### Approval\n\n**Not approved**: the label {} was removed, because {sentence}.",
        inline(label, 60)
    );
    context.note(
        NoteSubject::Approval,
        "WARNING",
        "The approval does not count.",
        &text,
    );
    removed
}
