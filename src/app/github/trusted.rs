//! `mode: trusted`: grades a pull request whose files are only read as data, by the rules of the base branch and by its own.
//!
//! The workflow comes from the base branch (`pull_request_target`), nothing is checked out, and no symbolic link is followed.

use super::current_pull_request;
use super::environment::{event_of, github};
use super::gained_cases::name_gained_cases;
use super::graded_data::grade_as_data;
use super::inputs::ActionInputs;
use super::other_pull_requests::judge_others;
use super::published_run::{learn_identity, publish_result};
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic};
use crate::model::{Report, Tier};
use crate::world::World;

/// Grades the event's pull request and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a request that failed before the verdict.
pub fn trusted(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let event = event_of(&world.env)?;
    let bad = |what: &str, help: &str| CliError::from(Diagnostic::of_file("action input", Code::BAD_INPUT, what, help));
    if inputs.tiers != [Tier::Deterministic] {
        return Err(bad("mode \"trusted\" only grades recordings", "write tier: deterministic"));
    }
    if inputs.shard.is_some() {
        return Err(bad("mode \"trusted\" grades all cases in one job", "leave shard out"));
    }
    let Some(github) = github(&world.env)? else {
        return Err(bad("mode \"trusted\" needs a token", "set the input token"));
    };
    let Some((event, merged)) = current_pull_request::merged(&world.env, event, &github)? else {
        let help = "start the workflow with on: pull_request_target or merge_group";
        return Err(bad("mode \"trusted\" needs an event with a pull request", help));
    };
    let learn = |report: &Report| learn_identity(world, inputs, &event, &github, report);
    let (job, mut done) = grade_as_data(world, inputs, &github, &event, &merged, &learn)?;
    name_gained_cases(&github, &event, &mut done);
    judge_others(world, inputs, &github, &event, &mut done)?;
    publish_result(world, inputs, &event, Some(&github), &job, &done)
}
