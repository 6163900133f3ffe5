//! `mode: bump`: commits an approved baseline to the branch of the pull request.

use super::desk::{Desk, baseline_of, log, needs, outputs};
use super::evidence::{Evidence, evidence};
use super::inputs::Inputs;
use crate::app::baseline;
use crate::app::trouble::Trouble;
use crate::format::baseline_v1;
use crate::model::{Baseline, RepoPath, StatusState};
use crate::publish::approval::NoResult;
use crate::publish::bump::{Asked, Measured, Plan, Refusal};
use crate::publish::{About, approval, bump};
use crate::render::inline;
use crate::suites::sha256_hex;
use crate::world::{NotCommitted, OneFile, World};
use crate::{publish, report};

/// What the result comes to, computed here.
struct Computed {
    digest: String,
    proposed: Baseline,
    written: Baseline,
    moves: Vec<publish::Move>,
}

/// Reads, plans, acts, reads back.
///
/// # Errors
/// Bad input, or an outside that failed.
pub fn bump(world: &World, inputs: &Inputs) -> Result<u8, Trouble> {
    let Some(desk) = Desk::open(world, inputs)? else { return Ok(0) };
    let file = desk.baseline_file()?;
    let standing = desk.standing(&desk.pull.head)?;
    let found = match standing {
        Some(_) => evidence(&desk.github, &desk.query(&desk.pull.head))
            .map_err(needs("the run's artifact cannot be read", "actions: read"))?,
        // Without an approval there is nothing to look at.
        None => Err(NoResult::Missing),
    };
    let before = desk.file(&file, &desk.base)?;
    let committed = desk.file(&file, &desk.pull.head)?;
    let (base, committed) = (baseline_of(&file, before.as_ref())?, head_baseline(&file, committed.as_ref()));
    let workflow = found.as_ref().ok().map(|found| found.run.workflow.clone());
    let computed = found.map(|found| computed(&file, base.as_ref(), found));
    let result = computed.as_ref().map_err(Clone::clone).map(|computed| Measured {
        digest: &computed.digest,
        proposed: &computed.proposed,
        written: &computed.written,
        moves: &computed.moves,
    });
    let plan = bump::plan(&Asked {
        pull: &desk.pull,
        head: &desk.seen.head,
        standing: standing.as_ref(),
        result,
        before: base.as_ref(),
        before_sha256: before.as_ref().map(|bytes| sha256_hex(bytes)),
        committed: committed.as_ref(),
        reason: publish::reason(&desk.pull.description),
    });
    let commit = act(&desk, &file, workflow.as_deref(), &plan)?;
    outputs(world, &[("commit", commit.as_deref().unwrap_or_default())])?;
    Ok(0)
}

/// What is committed at the head; a file there that is no baseline has no numbers of its own, and is replaced.
fn head_baseline(file: &RepoPath, bytes: Option<&Vec<u8>>) -> Option<Baseline> {
    baseline_of(file, bytes).ok().flatten()
}

fn computed(file: &RepoPath, base: Option<&Baseline>, found: Evidence) -> Computed {
    let Evidence { report, written, run: _, at: _ } = found;
    Computed {
        digest: report::result_digest(&report, Some(file)),
        proposed: baseline::proposed(base, &report),
        written,
        moves: publish::moves(base, &report),
    }
}

fn act(desk: &Desk<'_>, file: &RepoPath, workflow: Option<&str>, plan: &Plan) -> Result<Option<String>, Trouble> {
    match plan {
        Plan::Nothing(why) => {
            log(desk.world, &format!("nothing to commit: {why}"));
            Ok(None)
        }
        Plan::Refuse(why) => {
            refused(desk, why);
            Ok(None)
        }
        Plan::Commit { branch, head, baseline, by, digest } => {
            let text = baseline_v1::written(baseline);
            let what = OneFile { file, text: &text, headline: "Accept the moved baseline" };
            let commit = match desk.github.commit_on(branch, head, &what) {
                Ok(commit) => commit,
                Err(NotCommitted::Moved) => {
                    refused(desk, &Refusal::Moved);
                    return Ok(None);
                }
                Err(NotCommitted::Refused(why)) => {
                    return Err(needs("the baseline cannot be committed", "contents: write")(why));
                }
            };
            log(desk.world, &format!("committed {file} as {commit}"));
            // The commit has the same result: it writes nothing but the approved numbers.
            desk.keep(&commit, StatusState::Success, &approval::description(by, digest))?;
            let next = started(desk, workflow, branch);
            committed(desk, file, &commit, by, &next);
            Ok(Some(commit))
        }
    }
}

/// Starts the gate again, for a push by a workflow's own token starts none. Gives what is left to do.
fn started(desk: &Desk<'_>, workflow: Option<&str>, branch: &str) -> String {
    let by_hand = "start the gate on the new commit by hand: close this pull request and open it again";
    let Some(name) = workflow.and_then(|path| path.rsplit('/').next()) else { return by_hand.to_owned() };
    match desk.github.start(name, branch) {
        Ok(()) => "the gate was started again on the new commit".to_owned(),
        Err(why) => {
            let said = needs("the gate cannot be started again", "actions: write")(why).to_string();
            let said = said.trim_start_matches("error: ");
            format!(
                "{by_hand}, or press \"Run workflow\" of {} for this branch where it has `workflow_dispatch` ({})",
                inline(name, 80),
                inline(said, 200)
            )
        }
    }
}

fn committed(desk: &Desk<'_>, file: &RepoPath, commit: &str, by: &str, next: &str) {
    let text = format!(
        "### Baseline\n\nThe numbers that {} approved are committed as `{}` to {}; {next}.",
        inline(by, 60),
        commit.get(..7).unwrap_or(commit),
        inline(file.as_str(), 200)
    );
    desk.note_on(commit, About::Bump, "TIP", "The approved baseline is committed.", &text);
}

fn refused(desk: &Desk<'_>, why: &Refusal) {
    log(desk.world, &format!("not committed: {why}"));
    let shown = match why {
        // Its code spans are our own words; of the others every character is made harmless.
        Refusal::Fork | Refusal::Moved | Refusal::OtherResult | Refusal::NotAsMeasured => why.to_string(),
        Refusal::NoReason(worse) => Refusal::NoReason(worse.iter().map(|name| inline(name, 100)).collect()).to_string(),
        Refusal::NoResult(_) => inline(&why.to_string(), 600),
    };
    let text = format!("### Baseline\n\nThe approved baseline is **not committed**: {shown}.");
    desk.note(About::Bump, "NOTE", "The approved baseline is not committed.", &text);
}
