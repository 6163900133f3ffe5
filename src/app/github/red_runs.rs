//! The older red runs of this workflow on a head that is green now. Which of several runs counts is not documented, so they are started
//! again.

use super::approval::runs_of_workflow;
use crate::model::{PullRequestDetails, Report};
use crate::world::{GitHub, World};

/// Maximum number of runs that are started again.
const MOST: usize = 5;

/// Starts the older red runs of this workflow on the head again; where the token may not, the report names them.
pub fn start_older_red_runs(
    world: &World,
    github: &GitHub,
    pull: Option<&PullRequestDetails>,
    report: &mut Report,
) {
    let Some(pull) = pull else {
        return;
    };
    let own: Option<u64> = world
        .env
        .get("GITHUB_RUN_ID")
        .and_then(|run| run.parse().ok());
    let runs = runs_of_workflow(github, &world.env, pull, &[]).ok();
    let Some((own, runs)) = own.zip(runs) else {
        return;
    };
    let is_old = |run: &u64| *run < own;
    let red: Vec<u64> = runs
        .iter()
        .filter(|run| run.is_red && run.head == pull.head)
        .map(|run| run.id)
        .filter(is_old)
        .take(MOST)
        .collect();
    let left: Vec<String> = red
        .into_iter()
        .filter(|run| github.rerun_failed_jobs(*run).is_err())
        .map(|run| run.to_string())
        .collect();
    if !left.is_empty() {
        report.notes.push(format!(
            "older red runs of this commit were not started again ({}): press \"Re-run failed jobs\" there, or give the job the permission actions: write",
            left.join(", ")
        ));
    }
}
