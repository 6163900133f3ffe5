//! `mode: trusted`: grades a pull request whose files are only read as data, by the rules of the base branch and by its own.
//!
//! The workflow comes from the base branch (`pull_request_target`), nothing is checked out, and no symbolic link is followed.

use super::base_branch::{has_check_of_its_own, known_default, rules};
use super::check_run::VerdictCheck;
use super::current_pull_request;
use super::current_pull_request::TestMerge;
use super::environment::{event_of, github};
use super::gained_cases::name_gained_cases;
use super::graded_data::grade_as_data;
use super::inputs::{ActionInputs, bad_input};
use super::links::links;
use super::other_pull_requests::judge_others;
use super::published_run::{PublishPlace, learn_identity, publish_result};
use crate::app::cli_error::CliError;
use crate::format::event::Event;
use crate::model::{NoVerdict, Report, Tier};
use crate::report;
use crate::world::{GitHub, World};

/// Grades the event's pull request and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a request that failed before the verdict.
pub fn trusted(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let event = event_of(&world.env)?;
    if inputs.tiers != [Tier::Deterministic] {
        return Err(bad_input(
            "mode \"trusted\" only grades recordings",
            "write tier: deterministic",
        )
        .into());
    }
    if inputs.shard.is_some() {
        return Err(bad_input(
            "mode \"trusted\" grades all cases in one job",
            "leave shard out",
        )
        .into());
    }
    let Some(github) = github(&world.env)? else {
        return Err(bad_input("mode \"trusted\" needs a token", "set the input token").into());
    };
    let head = event
        .head
        .clone()
        .or_else(|| dispatched_commit(world))
        .filter(|_| inputs.verdict_check);
    let check = match head {
        Some(head) => {
            let name = inputs
                .key_of(&inputs.config_file()?)
                .check(&judged_for(&github, &event)?);
            Some(VerdictCheck::start(&github, name, head)?)
        }
        None => None,
    };
    let outcome = judged(world, inputs, event, &github);
    if let Some(check) = check {
        check.finish(&outcome, &|report| links(&world.env, inputs, report))?;
    }
    outcome.map(|(code, _)| code)
}

/// What the check run says in its name. A check belongs to the commit, not to the pull request: one name for all base branches would let
/// the verdict by another branch's rules count on the default branch, where a pull request gets another base branch and back.
fn judged_for(github: &GitHub, event: &Event) -> Result<String, CliError> {
    let Some(into) = &event.into else {
        return Ok("trusted".to_owned());
    };
    Ok(match *into == known_default(github)? {
        true => "trusted".to_owned(),
        false => format!("trusted: {into}"),
    })
}

/// The commit of a run that was started by hand.
fn dispatched_commit(world: &World) -> Option<String> {
    let is_dispatched = world.env.get("GITHUB_EVENT_NAME") == Some("workflow_dispatch");
    world
        .env
        .get("GITHUB_SHA")
        .filter(|_| is_dispatched)
        .map(str::to_owned)
}

/// Judges the event's merge and publishes the result. Returns the exit code and the report.
fn judged(
    world: &World,
    inputs: &ActionInputs,
    event: Event,
    github: &GitHub,
) -> Result<(u8, Report), CliError> {
    let Some((event, merged)) = current_pull_request::merged(&world.env, event, github)? else {
        let help = "start the workflow with on: pull_request_target or merge_group";
        return Err(bad_input("mode \"trusted\" needs an event with a pull request", help).into());
    };
    grade_merge(world, inputs, &event, &merged, github)
}

/// Grades a merge as data and publishes the result. Returns the exit code and the report.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn grade_merge(
    world: &World,
    inputs: &ActionInputs,
    event: &Event,
    merge: &TestMerge,
    github: &GitHub,
) -> Result<(u8, Report), CliError> {
    let learn = |report: &Report| learn_identity(world, inputs, event, github, report);
    let (job, mut done) = grade_as_data(world, inputs, github, event, merge, &learn)?;
    name_gained_cases(github, event, &mut done);
    let current_head = judge_others(world, inputs, github, event, &mut done)?;
    let moved = moved_base(world, inputs, github, event)?.filter(|_| done.report.exit_code() == 0);
    report::refuse(&mut done.report, moved.into_iter().collect());
    let place = PublishPlace {
        event,
        github: Some(github),
        current_head: current_head.as_deref(),
    };
    let code = publish_result(world, inputs, &place, &job, &done)?;
    Ok((code, done.report))
}

/// Why a pass does not count: the run was started for another base branch, and its check has a name for that one. GitHub shows the check
/// on the commit, so it would count there.
fn moved_base(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
) -> Result<Option<NoVerdict>, CliError> {
    let started_for = match event_of(&world.env)?.into {
        None if inputs.verdict_check => Some(known_default(github)?),
        into => into,
    };
    let (Some(then), Some(now)) = (started_for, &event.into) else {
        return Ok(None);
    };
    if then == *now {
        return Ok(None);
    }
    let is_named_for = |branch: &str| -> Result<bool, CliError> {
        Ok(rules(github, branch)?.is_some_and(|rules| has_check_of_its_own(branch, &rules)))
    };
    if !inputs.verdict_check && !is_named_for(&then)? && !is_named_for(now)? {
        return Ok(None);
    }
    Ok(Some(NoVerdict::lasting(format!(
        "this run was started for {then}, but the base branch is {now}: wait for the run that this change started, or push a commit, or \
         close and reopen the pull request"
    ))))
}
