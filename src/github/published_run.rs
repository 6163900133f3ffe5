//! Publishes the result of a run.

use std::path::Path;

use super::approval::RefusedLabel;
use super::approval_label::{LabelPurpose, ensure_label};
use super::comment::CommentInput;
use super::configs::JudgedConfig;
use super::inputs::{ActionInputs, inside};
use super::links::links;
use super::{check_run, comment, job_output};
use crate::format::event::Event;
use crate::github::client::GitHub;
use crate::model::{PullRequestDetails, Report, Tier};
use crate::publish;
use crate::publish::ConfigResult;
use crate::render::markdown::Links;
use crate::render::{CliError, inline, line};
use crate::workspace::shard_part::write_part;
use crate::workspace::show;
use crate::world::{Disk, World};

/// Where results are published.
pub(super) struct PublishPlace<'a> {
    /// The event of the job.
    pub(super) event: &'a Event,
    /// The client; `None` without a token.
    pub(super) github: Option<&'a GitHub>,
    /// The pull request, as GitHub has it now.
    pub(super) pull: Option<&'a PullRequestDetails>,
}

/// Publishes the results on GitHub and returns the exit code: the worst counts. A failed comment or check run never changes the verdict.
pub(super) fn publish_results(
    world: &World,
    inputs: &ActionInputs,
    place: &PublishPlace<'_>,
    judged: &[JudgedConfig],
) -> Result<u8, CliError> {
    let PublishPlace {
        event,
        github,
        pull,
    } = *place;
    let description = pull.map_or("", |pull| pull.description.as_str());
    let all_links: Vec<Links> = judged
        .iter()
        .map(|JudgedConfig { done, .. }| {
            links(&world.env, &done.policy.label, &done.report, description)
        })
        .collect();
    let results: Vec<ConfigResult<'_>> = judged
        .iter()
        .zip(&all_links)
        .map(|(judged, links)| ConfigResult {
            report: &judged.done.report,
            links,
        })
        .collect();
    for (config, result) in judged.iter().zip(&results) {
        publish_files(world, config, result)?;
    }
    match (&event.pull_request, inputs.comment) {
        (Some(_), true) if inputs.shard.is_some() => {
            world.command("::notice title=goldgate::this job grades one shard of the cases, so it writes no comment\n");
        }
        (Some(pull_request), true) => {
            let label = all_links.iter().find_map(Links::label);
            if let (Some(github), Some(label)) = (github, label) {
                ensure_label(world, github, LabelPurpose::Approve, label);
            }
            let input = CommentInput {
                results: &results,
                run: comment::this_run(world),
            };
            comment::comment(world, inputs, pull_request, github, &input);
        }
        (None, true) => {
            world.command("::notice title=goldgate::this event has no pull request, so no comment is written\n");
        }
        (_, false) => {}
    }
    for (config, ConfigResult { report, links }) in judged.iter().zip(&results) {
        // On the default branch, the numbers of the deterministic tier are measured for the baseline's pull request.
        if event.pull_request.is_some() || report.tiers.contains(&Tier::Model) {
            check_run::check_run(world, github, &config.inputs.key(report), report, links);
        }
    }
    let reports: Vec<&Report> = judged.iter().map(|config| &config.done.report).collect();
    let written = job_output::outputs(world, inputs, &reports);
    warn_of_failure(world, "the outputs", written);
    let codes = reports.iter().map(|report| report.exit_code());
    // Nothing judged is never green.
    Ok(codes.max().unwrap_or(3))
}

/// Writes the files of a result, its log and its part of the job summary.
fn publish_files(
    world: &World,
    judged: &JudgedConfig,
    ConfigResult { report, links }: &ConfigResult<'_>,
) -> Result<(), CliError> {
    let JudgedConfig {
        inputs,
        job,
        done,
        decision,
    } = judged;
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    let folder = Disk::create(Path::new(&inside(workspace, &inputs.out)))?;
    show::write_all(&folder, report, &done.proposed())?;
    write_part(&folder, job, done)?;
    let config = (inputs.configs > 1).then_some(inputs.config.as_str());
    job_output::say(world, report, links, config);
    if let Some(RefusedLabel { label, why }) = &decision.refused {
        let text = format!("the label {label} does not count: {why}");
        world.command(&format!("::warning title=goldgate::{}\n", line(&text, 500)));
    }
    let heading = config.map_or_else(String::new, |config| {
        format!("## {}\n\n", inline(config, 200))
    });
    let summary = format!("{heading}{}", publish::summary(report, links));
    warn_of_failure(
        world,
        "the summary",
        job_output::add_to_summary(world, &summary),
    );
    Ok(())
}

/// Warns that a file of the runner cannot be written. The verdict does not change.
fn warn_of_failure(world: &World, subject: &str, written: anyhow::Result<()>) {
    if let Err(error) = written {
        world.command(&format!(
            "::warning title=goldgate::{subject} of this step could not be written: {}\n",
            line(&format!("{error:#}"), 300)
        ));
    }
}
