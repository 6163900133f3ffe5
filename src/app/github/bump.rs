//! `mode: bump`: commits an approved baseline to the branch of the pull request.

use super::approved_head::catch_up;
use super::bumped_commit::{BaselineFiles, carry_on, recover_approval};
use super::inputs::ActionInputs;
use super::measured_run::{MeasuredRun, evidence};
use super::pull_request_context::{PullRequestContext, log, needs, outputs};
use crate::app::cli_error::CliError;
use crate::format::baseline_v1;
use crate::model::RepoPath;
use crate::publish::approval::NoResult;
use crate::publish::bump::{BumpPlan, BumpRefusal, BumpSkip};
use crate::publish::{NoteSubject, approval};
use crate::render::inline;
use crate::text::short_commit;
use crate::world::{FileCommit, NotCommitted, World};

/// Reads the pull request and its result, plans, acts, and writes the output `commit`. Returns the exit code.
///
/// # Errors
/// Bad input, or a failed request.
pub fn bump(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let Some(context) = PullRequestContext::open(world, inputs)? else {
        return Ok(0);
    };
    recover_approval(&context)?;
    let standing = context.current_approval(&context.pull.head)?;
    let found = match standing {
        Some(_) => result(&context)?,
        // Without an approval nothing is committed, so the result is not fetched.
        None => Err(NoResult::Missing),
    };
    let workflow = found.as_ref().ok().map(|found| found.run.workflow.clone());
    let Some(files) = BaselineFiles::read(&context, &context.pull.head)? else {
        log(world, "nothing to commit: the config names no baseline");
        catch_up(&context, standing.as_ref())?;
        outputs(world, &[("commit", "")])?;
        return Ok(0);
    };
    let plan = files.plan(&context, &context.pull, standing.as_ref(), found);
    let commit = act(&context, &files.file, workflow.as_deref(), &plan)?;
    if starts_gate(&plan) {
        catch_up(&context, standing.as_ref())?;
    }
    outputs(world, &[("commit", commit.as_deref().unwrap_or_default())])?;
    Ok(0)
}

/// Returns the result on the head. An earlier step may have committed the baseline of another config: then it is the result on the commit
/// of the event, whose approval moved on to that commit.
fn result(context: &PullRequestContext<'_>) -> Result<Result<MeasuredRun, NoResult>, CliError> {
    let on = |commit: &str| {
        let found = evidence(&context.github, &context.query(commit));
        found.map_err(needs("the run's artifact cannot be read", "actions: read"))
    };
    match on(&context.pull.head)? {
        Err(NoResult::Missing) if context.seen.head != context.pull.head => on(&context.seen.head),
        found => Ok(found),
    }
}

/// Whether an approval needs no commit, so that the gate's own run has to show it.
fn starts_gate(plan: &BumpPlan) -> bool {
    match plan {
        BumpPlan::Nothing(BumpSkip::Committed | BumpSkip::Carried | BumpSkip::Same)
        | BumpPlan::Refuse(BumpRefusal::Fork) => true,
        BumpPlan::Commit { .. }
        | BumpPlan::Nothing(BumpSkip::Closed | BumpSkip::NotApproved)
        | BumpPlan::Refuse(
            BumpRefusal::Moved
            | BumpRefusal::NoResult(_)
            | BumpRefusal::OtherResult
            | BumpRefusal::NotAsMeasured
            | BumpRefusal::NoReason(_),
        ) => false,
    }
}

fn act(
    context: &PullRequestContext<'_>,
    file: &RepoPath,
    workflow: Option<&str>,
    plan: &BumpPlan,
) -> Result<Option<String>, CliError> {
    match plan {
        BumpPlan::Nothing(why) => {
            log(context.world, &format!("nothing to commit: {why}"));
            Ok(None)
        }
        BumpPlan::Refuse(why) => {
            refused(context, why);
            Ok(None)
        }
        BumpPlan::Commit {
            branch,
            head,
            baseline,
            by,
            digest,
        } => {
            let text = baseline_v1::written(baseline);
            let what = FileCommit {
                file,
                text: &text,
                headline: "Accept the moved baseline",
            };
            let commit = match context.github.commit_on(branch, head, &what) {
                Ok(commit) => commit,
                Err(NotCommitted::Moved) => {
                    refused(context, &BumpRefusal::Moved);
                    return Ok(None);
                }
                Err(NotCommitted::Refused(why)) => {
                    return Err(needs("the baseline cannot be committed", "contents: write")(why));
                }
            };
            log(context.world, &format!("committed {file} as {commit}"));
            // The commit has the same result: it only writes the approved numbers.
            carry_on(
                context,
                head,
                &commit,
                &approval::description(by, digest, context.pull.number),
            )?;
            let next = started(context, workflow, branch);
            committed(context, file, &commit, by, &next);
            Ok(Some(commit))
        }
    }
}

/// Restarts the gate, because a push with a workflow's own token starts no run. Returns a text that says what is left to do.
fn started(context: &PullRequestContext<'_>, workflow: Option<&str>, branch: &str) -> String {
    let by_hand = "start the gate on the new commit by hand: close and reopen this pull request";
    let Some(name) = workflow.and_then(|path| path.rsplit('/').next()) else {
        return by_hand.to_owned();
    };
    match context.github.start(name, branch, context.pull.number) {
        Ok(()) => {
            format!(
                "the gate was restarted on the new commit; if its check is required, GitHub does not count that run, so {by_hand}"
            )
        }
        Err(why) => {
            let failure = needs("the gate cannot be restarted", "actions: write")(why)
                .messages()
                .join("\n");
            format!(
                "{by_hand}, or press \"Run workflow\" of {} for this branch if it has `workflow_dispatch` ({})",
                inline(name, 80),
                inline(&failure, 200)
            )
        }
    }
}

fn committed(
    context: &PullRequestContext<'_>,
    file: &RepoPath,
    commit: &str,
    by: &str,
    next: &str,
) {
    let text = format!(
        "### Baseline\n\nThe numbers that {} approved are committed as `{}` to {}; {next}.",
        inline(by, 60),
        short_commit(commit),
        inline(file.as_str(), 200)
    );
    context.note_on(
        commit,
        NoteSubject::Bump,
        "TIP",
        "The approved baseline is committed.",
        &text,
    );
}

fn refused(context: &PullRequestContext<'_>, why: &BumpRefusal) {
    log(context.world, &format!("not committed: {why}"));
    let reason = match why {
        // These texts are goldgate's own and keep their code spans; the others are escaped.
        BumpRefusal::Fork
        | BumpRefusal::Moved
        | BumpRefusal::OtherResult
        | BumpRefusal::NotAsMeasured => why.to_string(),
        BumpRefusal::NoReason(worse) => {
            BumpRefusal::NoReason(worse.iter().map(|name| inline(name, 100)).collect()).to_string()
        }
        BumpRefusal::NoResult(_) => inline(&why.to_string(), 600),
    };
    let text = format!("### Baseline\n\nThe approved baseline is **not committed**: {reason}.");
    context.note(
        NoteSubject::Bump,
        "NOTE",
        "The approved baseline is not committed.",
        &text,
    );
}
