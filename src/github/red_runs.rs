//! The older red runs of this workflow on a head that is green now. Which of several runs counts is not documented, so they are started
//! again.

use super::approval::{own_run, runs_of_workflow};
use super::configs::JudgedConfig;
use crate::github::client::GitHub;
use crate::model::PullRequestDetails;
use crate::world::World;

/// Maximum number of runs that are started again.
const MOST: usize = 5;

/// Starts the older red runs of this workflow on the head again; where the token may not, the report names them.
pub fn start_older_red_runs(
    world: &World,
    github: &GitHub,
    pull: &PullRequestDetails,
    judged: &mut [JudgedConfig],
) {
    let read = judged
        .iter_mut()
        .find_map(|result| result.decision.runs.take());
    let runs = read.or_else(|| runs_of_workflow(github, &world.env, pull, &[]).ok());
    let (Some(this_run), Some(runs), Some(first)) = (own_run(&world.env), runs, judged.first_mut())
    else {
        return;
    };
    let red: Vec<u64> = runs
        .iter()
        .filter(|run| run.is_red && run.head == pull.head && run.id < this_run)
        .map(|run| run.id)
        .take(MOST)
        .collect();
    let left: Vec<String> = red
        .into_iter()
        .filter(|run| github.rerun_failed_jobs(*run).is_err())
        .map(|run| run.to_string())
        .collect();
    if !left.is_empty() {
        first.done.report.notes.push(format!(
            "older red runs of this commit were not started again ({}): press \"Re-run failed jobs\" there, or give the job the permission actions: write",
            left.join(", ")
        ));
    }
}
