//! `mode: merge`: joins the shards that the jobs of a matrix graded, and reports like one job.

use super::graded_job::{JobContext, grade_and_publish};
use super::inputs::{ActionInputs, inside};
use crate::app::cli_error::CliError;
use crate::app::pipeline::joined_shards::{JoinedShards, folders};
use crate::app::pipeline::run_options::RunOptions;
use crate::diag::{Code, Diagnostic};
use crate::world::World;

/// Joins the shards, judges, and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs, shards that do not belong together or to this commit, or a failed request.
pub fn merge_shards(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let refuse =
        |what: String, help: &str| Diagnostic::of_file("action input", Code::BAD_PARTS, what, help);
    if inputs.shard.is_some() {
        let what = "mode \"merge\" joins all shards".to_owned();
        return Err(refuse(what, "leave shard out").into());
    }
    // A failed job may have left the folder of an older attempt, so the job results are checked first.
    if let Some(other) = inputs
        .part_results
        .iter()
        .find(|result| *result != "success")
    {
        let what = format!("the job of a shard ended with {other:?}");
        return Err(refuse(what, "look at that job; a verdict needs all shards").into());
    }
    let context = JobContext::open(world, inputs)?;
    let folders = folders(&inside(&context.workspace, &inputs.parts))?;
    let joined = JoinedShards::read(&folders, &inside(&context.workspace, &inputs.config))?;
    let context = context.with_base_of_shards(joined.job.base.as_deref())?;
    let job = RunOptions {
        commit: context.commit(),
        base: context.event.base.clone(),
        base_branch: context.event.base_branch(),
        ..joined.job.clone()
    };
    for (what, parts, here) in [
        ("commit", &joined.job.commit, &job.commit),
        ("base commit", &joined.job.base, &job.base),
    ] {
        if parts != here {
            let name =
                |commit: &Option<String>| commit.clone().unwrap_or_else(|| "none".to_owned());
            let what = format!(
                "the shards have the {what} {}, but this job has {}",
                name(parts),
                name(here)
            );
            return Err(refuse(what, "merge in the workflow run that graded the shards").into());
        }
    }
    grade_and_publish(&context, &job, &|done| joined.complete(done))
}
