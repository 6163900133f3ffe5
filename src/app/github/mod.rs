//! `goldgate action`: the container's entry point on GitHub.

mod approval_label;
mod approval_query;
mod approve;
mod approved_head;
mod approved_results;
mod base_branch;
mod baseline_pr;
mod changed_files;
mod check_run;
mod comment;
mod commit_files;
mod contained_pulls;
mod current_pull_request;
mod edited_comment;
mod environment;
mod gained_cases;
mod given_reasons;
mod graded_data;
mod graded_job;
mod inputs;
mod job_output;
mod joint_approval;
mod links;
mod measured_run;
mod merged_approvals;
mod merged_shards;
mod missing_verdict;
mod other_pull_requests;
mod published_run;
mod pull_request_context;
mod pushed_commits;
mod read_paths;
#[cfg(feature = "models")]
mod record;
mod recorded_approval;
mod rerun;
mod setup;
mod trusted;

use std::path::Path;

use self::graded_job::{JobContext, grade_and_publish};
use self::inputs::{ActionInputs, ActionMode, inside};
pub use self::setup::check_setup;
use super::cli_error::CliError;
use super::live;
use super::pipeline::run_options::{RunOptions, UncommittedFiles};
use super::pipeline::selection::Selection;
use crate::world::{Loudness, World, give_to_owner};

/// Runs the mode that the input `mode` selects. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn action(world: &World) -> Result<u8, CliError> {
    let outcome = ActionInputs::read(&world.env).and_then(|inputs| {
        let outcome = run_selected(world, &inputs);
        if let Err(error) = &outcome {
            missing_verdict::replace_older_verdict(world, &inputs, error);
        }
        let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
        give_to_owner(
            Path::new(workspace),
            &[
                Path::new(".goldgate"),
                Path::new(&inside(workspace, &inputs.out)),
            ],
        );
        outcome
    });
    outcome.inspect_err(|error| job_output::say_error(world, "error", error))
}

fn run_selected(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    match inputs.mode {
        ActionMode::Run => run_mode(world, inputs),
        ActionMode::Merge => merged_shards::merge_shards(world, inputs),
        ActionMode::Trusted => trusted::trusted(world, inputs),
        ActionMode::Approve => pull_request_context::warned(world, approve::approve(world, inputs)),
        ActionMode::Record => pull_request_context::warned(world, record_mode(world, inputs)),
        ActionMode::BaselinePr => {
            pull_request_context::warned(world, baseline_pr::baseline_pr(world, inputs))
        }
    }
}

/// Records a pull request.
#[cfg(feature = "models")]
fn record_mode(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    record::record(world, inputs)
}

/// Refuses to record: this program was built without live targets.
#[cfg(not(feature = "models"))]
fn record_mode(_: &World, _: &ActionInputs) -> Result<u8, CliError> {
    Err(anyhow::anyhow!("this program was built without live targets, so it cannot record").into())
}

/// Grades the checkout and publishes the result.
fn run_mode(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let context = JobContext::open(world, inputs)?;
    if let (Some(merge), Some(github)) = (&context.merge, &context.github) {
        return trusted::grade_merge(world, inputs, &context.event, merge, github)
            .map(|(code, _)| code);
    }
    let job = RunOptions {
        config: inside(&context.workspace, &inputs.config),
        wanted: Selection {
            tiers: inputs.tiers.clone(),
            suites: inputs.suites.clone(),
            samples: inputs.samples,
            shard: inputs.shard,
            target: world.env.get("GOLDGATE_TARGET").map(str::to_owned),
            ..Selection::default()
        },
        scope: inputs.scope,
        authority: inputs.authority,
        deciding: inputs.deciding,
        commit: context.commit(),
        base: context.event.base.clone(),
        base_branch: context.event.base_branch(),
        uncommitted: UncommittedFiles::Refused,
        live: live::LiveOptions {
            caching: live::Caching::Off,
            loudness: Loudness::Usual,
            max_cost_usd: inputs.max_cost_usd,
            sparing: if inputs.shard.is_some() {
                live::EarlyStopping::Off
            } else {
                live::EarlyStopping::Exact
            },
            ..live::LiveOptions::NONE
        },
        parts: None,
    };
    grade_and_publish(&context, &job, &|_| Ok(()))
}
