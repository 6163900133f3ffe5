//! The output to the runner: log, annotations and step outputs.

use std::path::Path;

use super::inputs::ActionInputs;
use crate::diag::one_line;
use crate::files::sha256_hex;
use crate::model::{Report, Ruling, Verdict};
use crate::publish;
use crate::render::markdown::{Links, acceptance_line};
use crate::render::{CliError, Detail, TABLE, annotations, inline, line, words};
use crate::workspace::show;
use crate::world::{World, append};

/// Prints the table, what to do and the annotations; `config` names the config where a step judges several. Workflow commands are stopped
/// around the table, so that no text of an agent is executed as one.
pub fn say(world: &World, report: &Report, links: &Links, config: Option<&str>) {
    let table = show::render_report(report, &TABLE, Detail::Changes, world);
    let named = config.map_or_else(String::new, |config| format!(" {}", line(config, 200)));
    let token =
        sha256_hex(format!("{table}{}{}", std::process::id(), world.clock.now()).as_bytes());
    world.command(&format!(
        "::group::goldgate{named}\n::stop-commands::{token}\n{table}::{token}::\n::endgroup::\n"
    ));
    world.say(&format!(
        "goldgate{named}: {}\n",
        line(&words::headline(report), 600)
    ));
    if let Some(next) = acceptance_line(report, links) {
        world.say(&format!("goldgate{named}: {}\n", line(&next, 600)));
    }
    world.command(&annotations::annotations(report));
}

/// The most problems of one error that are annotations; the summary has all.
const ANNOTATED: usize = 10;

/// Prints why an action failed, as annotations of a level, and adds it to the job summary.
pub fn say_error(world: &World, level: &str, error: &CliError) {
    let messages = redacted_messages(world, error);
    for message in messages.iter().take(ANNOTATED) {
        world.command(&format!(
            "::{level} title=goldgate::{}\n",
            line(message, 500).replace('%', "%25")
        ));
    }
    let problems: String = messages
        .iter()
        .map(|message| format!("- {}\n", inline(message, 500)))
        .collect();
    if add_to_summary(world, &format!("**goldgate: no result**\n\n{problems}")).is_err() {
        world.command("::warning title=goldgate::the job summary cannot be written\n");
    }
}

/// The problems of an error, without secrets of the environment.
pub fn redacted_messages(world: &World, error: &CliError) -> Vec<String> {
    error
        .messages()
        .iter()
        .map(|message| world.redacted(message))
        .collect()
}

/// Adds a text to the job summary.
///
/// # Errors
/// The runner's summary file cannot be written.
pub fn add_to_summary(world: &World, text: &str) -> anyhow::Result<()> {
    world
        .env
        .get("GITHUB_STEP_SUMMARY")
        .map_or(Ok(()), |file| append(Path::new(file), text))
}

/// Returns the name under which a workflow uploads the results.
fn artifact(inputs: &ActionInputs, reports: &[&Report]) -> String {
    let key = inputs.key_of_results(reports);
    if inputs.is_compared() {
        key.artifact()
    } else {
        key.artifact_of_models()
    }
}

/// Writes the step's outputs.
///
/// # Errors
/// The runner's output file cannot be written.
pub fn outputs(world: &World, inputs: &ActionInputs, reports: &[&Report]) -> anyhow::Result<()> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else {
        return Ok(());
    };
    let worst = reports.iter().max_by_key(|report| {
        (
            report.exit_code(),
            report.verdict != Ruling::Judged(Verdict::Pass),
        )
    });
    let regressions: usize = reports
        .iter()
        .map(|report| publish::regressions(report))
        .sum();
    let lines = [
        (
            "verdict",
            worst
                .map_or("", |report| report.verdict.as_str())
                .to_owned(),
        ),
        ("regressions", regressions.to_string()),
        ("report", inputs.out.clone()),
        ("artifact", artifact(inputs, reports)),
    ];
    // Every value is on one line, so no value can add another output.
    let text: String = lines
        .iter()
        .map(|(name, value)| format!("{name}={}\n", value.replace(['\r', '\n'], " ")))
        .collect();
    append(Path::new(file), &text)?;
    Ok(())
}

/// Reports a failed request as a warning and returns its exit code.
///
/// # Errors
/// Bad input.
pub fn warned(world: &World, outcome: Result<u8, CliError>) -> Result<u8, CliError> {
    match outcome {
        Err(CliError::Work(cause)) => {
            let error = CliError::Work(cause);
            say_error(world, "warning", &error);
            Ok(error.exit_code())
        }
        outcome => outcome,
    }
}

/// Prints a warning annotation.
pub fn warn(world: &World, error: &CliError) {
    let text = error.messages().join("\n");
    world.command(&format!("::warning title=goldgate::{}\n", line(&text, 500)));
}

/// Prints a line to the log, and adds it to the job summary.
pub fn log(world: &World, text: &str) {
    world.say(&format!("goldgate: {}\n", one_line(&line(text, 500))));
    if add_to_summary(world, &format!("- {}\n", inline(text, 500))).is_err() {
        world.command("::warning title=goldgate::the job summary cannot be written\n");
    }
}

/// Writes the step's outputs.
///
/// # Errors
/// The runner's output file cannot be written.
pub fn write_outputs(world: &World, values: &[(&str, &str)]) -> Result<(), CliError> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else {
        return Ok(());
    };
    let text: String = values
        .iter()
        .map(|(name, value)| format!("{name}={}\n", line(value, 500)))
        .collect();
    append(Path::new(file), &text)?;
    Ok(())
}
