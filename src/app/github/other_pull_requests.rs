//! Other open pull requests with the same head commit. A check belongs to the commit, so the worst of their verdicts counts.

use super::comment::CommentInput;
use super::graded_data::grade_as_data;
use super::inputs::ActionInputs;
use super::published_run::links;
use super::{comment, current_pull_request};
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::format::event::Event;
use crate::model::{Authority, BranchOrigin, OtherOutcome, OtherPullRequest, Report, Tier};
use crate::publish::ReportOrigin;
use crate::render::words;
use crate::world::{GitHub, World};

/// Maximum number of other pull requests that are judged.
const MOST: usize = 4;

/// Judges the other open pull requests with the head of this event's pull request, each by its own base commit, and adds their
/// verdicts to the report. Their files are read as data, so only recordings can be judged.
///
/// # Errors
/// Too many of them, or a failed request.
pub fn judge_others(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    done: &mut GradedRun,
) -> Result<(), CliError> {
    let decides = inputs.authority == Authority::Blocking && inputs.tiers.contains(&Tier::Deterministic);
    if !decides || inputs.shard.is_some() || event.pull_request.is_none() {
        return Ok(());
    }
    let others = current_pull_request::others(github, event)?;
    if others.len() > MOST {
        let what =
            format!("no verdict: more than {} open pull requests have this head commit; close some of them", MOST + 1);
        return Err(anyhow::anyhow!(what).into());
    }
    for number in others {
        let (other, why) = match judged(world, inputs, github, event, number) {
            Ok((into, report)) => {
                let outcome = match report.exit_code() {
                    0 => OtherOutcome::Passes,
                    1 => OtherOutcome::Fails,
                    _ => OtherOutcome::NoVerdict,
                };
                (OtherPullRequest { number, into, outcome }, words::headline(&report))
            }
            Err(error) => {
                let into = github.pull(number).map_or_else(|_| "its base branch".to_owned(), |pull| pull.into);
                (OtherPullRequest { number, into, outcome: OtherOutcome::NoVerdict }, error.messages().join("; "))
            }
        };
        let outcome = words::other_outcome(other.outcome);
        let note = format!("pull request {number} into {} has the same head commit and {outcome}: {why}", other.into);
        done.report.notes.push(note);
        done.report.others.push(other);
    }
    Ok(())
}

/// Judges one pull request, and returns its base branch with the report.
fn judged(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    number: u64,
) -> Result<(String, Report), CliError> {
    let head = event.head.as_deref().unwrap_or_default();
    let origin = event.pull_request.as_ref().map_or(BranchOrigin::Fork, |pull_request| pull_request.origin);
    let (own, merged) = current_pull_request::merge_of(github, number, head, origin)?;
    let (_, done) = grade_as_data(world, inputs, github, &own, &merged, &|_| ())?;
    let (report, into) = (done.report, own.into.clone().unwrap_or_default());
    // A run that was started by hand is the only one of all pull requests of its branch.
    let is_only_run = world.env.get("GITHUB_EVENT_NAME") == Some("workflow_dispatch");
    if let Some(pull_request) = own.pull_request.as_ref().filter(|_| is_only_run && inputs.comment) {
        let links = links(&world.env, inputs, &report);
        let input =
            CommentInput { report: &report, links: &links, run: comment::this_run(world), witness: ReportOrigin::Own };
        comment::comment(world, inputs, pull_request, Some(github), &input);
    }
    Ok((into, report))
}
