//! `mode: merge`: judges the parts that the jobs of a matrix graded, and says so as one job would have.

use super::inputs::{ActionInputs, inside};
use super::{JobContext, graded};
use crate::app::cli_error::CliError;
use crate::app::merge;
use crate::app::merge::JoinedShards;
use crate::app::run::RunOptions;
use crate::diag::Diagnostic;
use crate::world::World;

/// Joins the parts, judges, and says so on GitHub.
///
/// # Errors
/// Bad inputs, parts that do not belong together or to this commit, or an outside that failed.
pub fn joining(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let refuse = |what: String, help: &str| Diagnostic::of_file("action input", "bad-parts", what, help);
    if inputs.shard.is_some() {
        let what = "mode \"merge\" joins all parts".to_owned();
        return Err(refuse(what, "leave shard out").into());
    }
    // A part that failed may have left an older attempt's folder behind, so its job's end is asked first.
    if let Some(other) = inputs.part_results.iter().find(|result| *result != "success") {
        let what = format!("the job of a part ended with {other:?}");
        return Err(refuse(what, "look at that job; a part that was not graded gives no verdict").into());
    }
    let place = JobContext::open(world, inputs)?;
    let folders = merge::folders(&inside(&place.workspace, &inputs.parts))?;
    let joined = JoinedShards::read(&folders, &inside(&place.workspace, &inputs.config))?;
    let job = RunOptions { commit: place.commit(), base: place.event.base.clone(), ..joined.job.clone() };
    for (what, parts, here) in
        [("commit", &joined.job.commit, &job.commit), ("base commit", &joined.job.base, &job.base)]
    {
        if parts != here {
            let name = |commit: &Option<String>| commit.clone().unwrap_or_else(|| "none".to_owned());
            let what = format!("the parts have the {what} {}, and this job has {}", name(parts), name(here));
            return Err(refuse(what, "merge in the workflow run that graded the parts").into());
        }
    }
    graded(&place, &job, &|done| joined.complete(done))
}
