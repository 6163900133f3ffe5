//! `mode: bump`: commits an approved baseline to the branch of the pull request.

use super::inputs::ActionInputs;
use super::measured_run::{MeasuredRun, evidence};
use super::pull_request_context::{PullRequestContext, baseline_of, log, needs, outputs};
use crate::app::cli_error::CliError;
use crate::app::pipeline::baseline;
use crate::files::sha256_hex;
use crate::format::baseline_v1;
use crate::model::{Baseline, RepoPath, StatusState};
use crate::publish::approval::NoResult;
use crate::publish::bump::{BumpInput, BumpPlan, BumpRefusal, MeasuredBaseline};
use crate::publish::{NoteSubject, approval, bump};
use crate::render::inline;
use crate::text::short_commit;
use crate::world::{FileCommit, NotCommitted, World};
use crate::{publish, report};

/// The digest, baselines and changes computed from a measured run.
struct ComputedBump {
    digest: String,
    proposed: Baseline,
    written: Baseline,
    moves: Vec<publish::BaselineMove>,
}

/// Reads the pull request and its result, plans, acts, and writes the output `commit`. Returns the exit code.
///
/// # Errors
/// Bad input, or a failed request.
pub fn bump(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let Some(context) = PullRequestContext::open(world, inputs)? else { return Ok(0) };
    let file = context.baseline_file()?;
    let standing = context.current_approval(&context.pull.head)?;
    let found = match standing {
        Some(_) => evidence(&context.github, &context.query(&context.pull.head))
            .map_err(needs("the run's artifact cannot be read", "actions: read"))?,
        // Without an approval nothing is committed, so the result is not fetched.
        None => Err(NoResult::Missing),
    };
    let before = context.file(&file, &context.base)?;
    let committed = context.file(&file, &context.pull.head)?;
    let (base, committed) = (baseline_of(&file, before.as_ref())?, head_baseline(&file, committed.as_ref()));
    let workflow = found.as_ref().ok().map(|found| found.run.workflow.clone());
    let computed = found.map(|found| computed(&file, base.as_ref(), found));
    let result = computed.as_ref().map_err(Clone::clone).map(|computed| MeasuredBaseline {
        digest: &computed.digest,
        proposed: &computed.proposed,
        written: &computed.written,
        moves: &computed.moves,
    });
    let plan = bump::plan(&BumpInput {
        pull: &context.pull,
        head: &context.seen.head,
        standing: standing.as_ref(),
        result,
        before: base.as_ref(),
        before_sha256: before.as_ref().map(|bytes| sha256_hex(bytes)),
        committed: committed.as_ref(),
        reason: publish::reason(&context.pull.description),
    });
    let commit = act(&context, &file, workflow.as_deref(), &plan)?;
    outputs(world, &[("commit", commit.as_deref().unwrap_or_default())])?;
    Ok(0)
}

/// Returns the baseline that is committed at the head. An invalid file counts as missing and is replaced.
fn head_baseline(file: &RepoPath, bytes: Option<&Vec<u8>>) -> Option<Baseline> {
    baseline_of(file, bytes).ok().flatten()
}

fn computed(file: &RepoPath, base: Option<&Baseline>, found: MeasuredRun) -> ComputedBump {
    let MeasuredRun { report, written, run: _, at: _, artifact: _ } = found;
    ComputedBump {
        digest: report::result_digest(&report, Some(file)),
        proposed: baseline::proposed(base, &report),
        written,
        moves: publish::moves(base, &report),
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
        BumpPlan::Commit { branch, head, baseline, by, digest } => {
            let text = baseline_v1::written(baseline);
            let what = FileCommit { file, text: &text, headline: "Accept the moved baseline" };
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
            context.record(&commit, StatusState::Success, &approval::description(by, digest))?;
            let next = started(context, workflow, branch);
            committed(context, file, &commit, by, &next);
            Ok(Some(commit))
        }
    }
}

/// Restarts the gate, because a push with a workflow's own token starts no run. Returns a text that says what is left to do.
fn started(context: &PullRequestContext<'_>, workflow: Option<&str>, branch: &str) -> String {
    let by_hand = "start the gate on the new commit by hand: close and reopen this pull request";
    let Some(name) = workflow.and_then(|path| path.rsplit('/').next()) else { return by_hand.to_owned() };
    match context.github.start(name, branch) {
        Ok(()) => "the gate was restarted on the new commit".to_owned(),
        Err(why) => {
            let failure = needs("the gate cannot be restarted", "actions: write")(why).messages().join("\n");
            format!(
                "{by_hand}, or press \"Run workflow\" of {} for this branch if it has `workflow_dispatch` ({})",
                inline(name, 80),
                inline(&failure, 200)
            )
        }
    }
}

fn committed(context: &PullRequestContext<'_>, file: &RepoPath, commit: &str, by: &str, next: &str) {
    let text = format!(
        "### Baseline\n\nThe numbers that {} approved are committed as `{}` to {}; {next}.",
        inline(by, 60),
        short_commit(commit),
        inline(file.as_str(), 200)
    );
    context.note_on(commit, NoteSubject::Bump, "TIP", "The approved baseline is committed.", &text);
}

fn refused(context: &PullRequestContext<'_>, why: &BumpRefusal) {
    log(context.world, &format!("not committed: {why}"));
    let reason = match why {
        // These texts are goldgate's own and keep their code spans; the others are escaped.
        BumpRefusal::Fork | BumpRefusal::Moved | BumpRefusal::OtherResult | BumpRefusal::NotAsMeasured => {
            why.to_string()
        }
        BumpRefusal::NoReason(worse) => {
            BumpRefusal::NoReason(worse.iter().map(|name| inline(name, 100)).collect()).to_string()
        }
        BumpRefusal::NoResult(_) => inline(&why.to_string(), 600),
    };
    let text = format!("### Baseline\n\nThe approved baseline is **not committed**: {reason}.");
    context.note(NoteSubject::Bump, "NOTE", "The approved baseline is not committed.", &text);
}
