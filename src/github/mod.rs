//! GitHub: `goldgate action`, the container's entry point, and the client that it asks (`client`).
//!
//! The action reads, plans and acts: `resolve` says which commits an event is about, `evaluate` grades them, `publish` plans, and
//! what is planned is done here. Nothing that goldgate itself wrote on GitHub counts as evidence.

mod approval;
mod approval_label;
mod base_branch;
mod baseline_pr;
mod check_run;
mod client;
mod comment;
mod commit_files;
mod configs;
mod environment;
mod evaluate;
mod gained_cases;
mod gate;
mod graded_data;
mod inputs;
mod job_output;
mod links;
mod merged_pulls;
mod missing_verdict;
mod other_pull_requests;
mod published_run;
mod read_paths;
#[cfg(feature = "models")]
mod record;
mod recorder_evidence;
mod red_runs;
mod requests;
mod resolve;
mod setup;
mod three_trees;

use std::path::Path;

use self::inputs::{ActionInputs, ActionMode, inside};
pub use self::setup::{check_setup, check_workflows};
use crate::render::CliError;
use crate::world::{World, give_to_owner};

/// Runs the mode that the input `mode` selects. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn action(world: &World) -> Result<u8, CliError> {
    let outcome = action_by_inputs(world);
    if let Err(error) = &outcome {
        job_output::say_error(world, "error", error);
    }
    outcome
}

fn action_by_inputs(world: &World) -> Result<u8, CliError> {
    let inputs = ActionInputs::read(&world.env)?;
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
}

fn run_selected(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    match inputs.mode {
        ActionMode::Run => gate::gate(world, inputs),
        ActionMode::Record => job_output::warned(world, record_mode(world, inputs)),
        ActionMode::BaselinePr => {
            job_output::warned(world, baseline_pr::baseline_pr(world, inputs))
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
