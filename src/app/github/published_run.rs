//! Publishes the result of a run.

use std::path::Path;

use super::approval::RefusedLabel;
use super::approval_label::{LabelPurpose, ensure_label};
use super::comment::CommentInput;
use super::inputs::{ActionInputs, inside};
use super::links::links;
use super::{check_run, comment, job_output};
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::app::pipeline::run_options::RunOptions;
use crate::app::pipeline::shard_part::write_part;
use crate::app::pipeline::show;
use crate::format::event::Event;
use crate::model::{PullRequestDetails, Tier};
use crate::publish;
use crate::render::line;
use crate::world::{Disk, GitHub, World};

/// Where a result is published.
pub(super) struct PublishPlace<'a> {
    /// The event of the job.
    pub(super) event: &'a Event,
    /// The client; `None` without a token.
    pub(super) github: Option<&'a GitHub>,
    /// The pull request, as GitHub has it now.
    pub(super) pull: Option<&'a PullRequestDetails>,
    /// The label that does not count, if there is one.
    pub(super) refused: Option<&'a RefusedLabel>,
}

/// Publishes the result on GitHub and returns the exit code. A failed comment or check run never changes the verdict.
pub(super) fn publish_result(
    world: &World,
    inputs: &ActionInputs,
    place: &PublishPlace<'_>,
    job: &RunOptions,
    done: &GradedRun,
) -> Result<u8, CliError> {
    let PublishPlace {
        event,
        github,
        pull,
        refused,
    } = *place;
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    let report = &done.report;
    let description = pull.map_or("", |pull| pull.description.as_str());
    let links = links(&world.env, &done.policy.label, report, description);
    let out = inside(workspace, &inputs.out);
    let folder = Disk::create(Path::new(&out))?;
    show::write_all(&folder, report, &done.proposed())?;
    write_part(&folder, job, done)?;
    job_output::say(world, report);
    if let Some(RefusedLabel { label, why }) = refused {
        let text = format!("the label {label} does not count: {why}");
        world.command(&format!("::warning title=goldgate::{}\n", line(&text, 500)));
    }
    warn_of_failure(
        world,
        "the summary",
        job_output::add_to_summary(world, &publish::summary(report, &links)),
    );
    match (&event.pull_request, inputs.comment) {
        (Some(_), true) if inputs.shard.is_some() => {
            world.command("::notice title=goldgate::this job grades one shard of the cases, so it writes no comment\n");
        }
        (Some(pull_request), true) => {
            if let (Some(github), Some(label)) = (github, links.label()) {
                ensure_label(world, github, LabelPurpose::Approve, label);
            }
            let input = CommentInput {
                report,
                links: &links,
                run: comment::this_run(world),
            };
            comment::comment(world, inputs, pull_request, github, &input);
        }
        (None, true) => {
            world.command("::notice title=goldgate::this event has no pull request, so no comment is written\n");
        }
        (_, false) => {}
    }
    // On the default branch, the numbers of the deterministic tier are measured for the baseline's pull request.
    if event.pull_request.is_some() || report.tiers.contains(&Tier::Model) {
        check_run::check_run(world, github, &inputs.key(report), report, &links);
    }
    let written = job_output::outputs(world, inputs, report);
    warn_of_failure(world, "the outputs", written);
    Ok(report.exit_code())
}

/// Warns that a file of the runner cannot be written. The verdict does not change.
fn warn_of_failure(world: &World, what: &str, written: anyhow::Result<()>) {
    if let Err(error) = written {
        world.command(&format!(
            "::warning title=goldgate::{what} of this step could not be written: {}\n",
            line(&format!("{error:#}"), 300)
        ));
    }
}
