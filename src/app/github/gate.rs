//! The gate: what the event is about is graded, decided and published.

use super::approval::decide;
use super::environment::github;
use super::evaluate::evaluate;
use super::gained_cases::name_gained_cases;
use super::inputs::ActionInputs;
use super::other_pull_requests::judge_others;
use super::published_run::{PublishPlace, publish_result};
use super::red_runs::start_older_red_runs;
use super::resolve::resolve;
use crate::app::cli_error::CliError;
use crate::world::World;

/// Judges what the event is about, and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, no verdict, or a failed request.
pub fn gate(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let github = github(&world.env)?;
    let context = resolve(world, inputs, github.as_ref())?;
    let (job, mut done) = evaluate(world, inputs, github.as_ref(), &context)?;
    done.report.notes.extend(context.remark.map(str::to_owned));
    let event = &context.event;
    let mut refused = None;
    if let Some(github) = &github {
        if job.is_compared() && job.wanted.shard.is_none() {
            let about = (event, context.pull.as_ref());
            refused = decide(world, inputs, github, about, &mut done)?;
        }
        name_gained_cases(github, event, &mut done);
        judge_others(world, inputs, github, event, &mut done)?;
        if done.report.exit_code() == 0 {
            start_older_red_runs(world, github, context.pull.as_ref(), &mut done.report);
        }
    }
    let place = PublishPlace {
        event,
        github: github.as_ref(),
        pull: context.pull.as_ref(),
        refused: refused.as_ref(),
    };
    let code = publish_result(world, inputs, &place, &job, &done);
    world.keep(done);
    code
}
