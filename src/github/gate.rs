//! The gate: what the event is about is graded, decided and published.

use super::approval::{Decision, decide};
use super::configs::{JudgedConfig, has_one_policy, judged_configs};
use super::environment::github;
use super::evaluate::evaluate;
use super::gained_cases::name_gained_cases;
use super::inputs::ActionInputs;
use super::other_pull_requests::{OtherPulls, judge_others};
use super::published_run::{PublishPlace, publish_results};
use super::red_runs::start_older_red_runs;
use super::resolve::{Context, resolve};
use crate::github::client::GitHub;
use crate::render::CliError;
use crate::world::World;

/// Judges what the event is about, and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, no verdict, or a failed request.
pub fn gate(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let github = github(&world.env)?;
    let context = resolve(world, inputs, github.as_ref())?;
    let others = match &github {
        Some(github) => OtherPulls::listed(inputs, github, &context.event)?,
        None => OtherPulls::default(),
    };
    let mut judged = Vec::new();
    for inputs in judged_configs(world, inputs, github.as_ref(), &context)? {
        let (job, mut done) = evaluate(world, &inputs, github.as_ref(), &context)
            .map_err(|error| of_config(&inputs, error))?;
        done.report.notes.extend(context.remark.map(str::to_owned));
        judged.push(JudgedConfig {
            inputs,
            job,
            done,
            decision: Decision::default(),
        });
    }
    has_one_policy(&judged)?;
    if let Some(github) = &github {
        for result in &mut judged {
            decided(world, github, &context, &others, result)
                .map_err(|error| of_config(&result.inputs, error))?;
        }
        let is_green = judged
            .iter()
            .all(|result| result.done.report.exit_code() == 0);
        if let (true, Some(pull)) = (is_green, &context.pull) {
            start_older_red_runs(world, github, pull, &mut judged);
        }
    }
    let place = PublishPlace {
        event: &context.event,
        github: github.as_ref(),
        pull: context.pull.as_ref(),
    };
    let code = publish_results(world, inputs, &place, &judged);
    for result in judged {
        world.keep(result.done);
    }
    code
}

fn decided(
    world: &World,
    github: &GitHub,
    context: &Context,
    others: &OtherPulls,
    result: &mut JudgedConfig,
) -> Result<(), CliError> {
    let JudgedConfig {
        inputs,
        job,
        done,
        decision,
    } = result;
    let event = &context.event;
    if job.is_compared() && job.wanted.shard.is_none() {
        let about = (event, context.pull.as_ref());
        *decision = decide(world, inputs, github, about, done)?;
    }
    name_gained_cases(github, event, done);
    judge_others(world, inputs, github, event, others, done)
}

/// Names the config of an error, where a step judges several.
fn of_config(inputs: &ActionInputs, error: CliError) -> CliError {
    match error {
        CliError::Work(cause) if inputs.configs > 1 => {
            CliError::Work(cause.context(inputs.config.clone()))
        }
        error => error,
    }
}
