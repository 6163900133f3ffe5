//! The output to the runner: log, annotations and step outputs.

use std::collections::BTreeMap;
use std::path::Path;

use super::inputs::{ActionInputs, ActionMode};
use crate::app::cli_error::CliError;
use crate::app::pipeline::show;
use crate::files::sha256_hex;
use crate::model::{Report, Tag};
use crate::publish;
use crate::render::{Detail, TABLE, annotations, inline, line};
use crate::world::{World, append};

/// Prints the table and the annotations. Workflow commands are stopped around the table, so that no text of an agent is executed
/// as one.
pub fn say(world: &World, report: &Report) {
    let table = show::render_report(report, &TABLE, Detail::Changes, world);
    let token =
        sha256_hex(format!("{table}{}{}", std::process::id(), world.clock.now()).as_bytes());
    world.command(&format!(
        "::group::goldgate\n::stop-commands::{token}\n{table}::{token}::\n::endgroup::\n"
    ));
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

/// Returns the artifact name under which an approval finds the run's results. GitHub lists runs of the trusted gate under the base
/// branch's commit, so its artifact names the head. A result that nobody can approve has another name: names of artifacts are unique
/// within a run, and the newest one with the name is the one that is approved.
fn artifact(inputs: &ActionInputs, report: &Report) -> String {
    let key = inputs.key(report);
    match (inputs.mode, &report.commit) {
        (ActionMode::Trusted, Some(head)) => key.artifact_of_head(head),
        (ActionMode::Run | ActionMode::Merge, _) if !inputs.is_compared() => {
            key.artifact_of_models()
        }
        _ => key.artifact(),
    }
}

/// Writes the step's outputs.
///
/// # Errors
/// The runner's output file cannot be written.
pub fn outputs(
    world: &World,
    inputs: &ActionInputs,
    report: &Report,
    url: Option<&str>,
) -> anyhow::Result<()> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else {
        return Ok(());
    };
    let counts = report.agents().fold(BTreeMap::new(), |mut counts, agent| {
        agent
            .taxonomy()
            .into_iter()
            .for_each(|(tag, count)| *counts.entry(tag).or_insert(0) += count);
        counts
    });
    let taxonomy: Vec<String> = Tag::ALL
        .into_iter()
        .map(|tag| (tag, counts.get(&tag).copied().unwrap_or(0)))
        .filter(|(tag, count)| tag.is_stated(*count))
        .map(|(tag, count)| format!("\"{}\":{count}", tag.as_str()))
        .collect();
    let regressions = publish::regressions(report);
    let lines = [
        ("verdict", report.verdict.as_str().to_owned()),
        ("exit-code", report.exit_code().to_string()),
        ("report", format!("{}/report.json", inputs.out)),
        (
            "proposed-baseline",
            format!("{}/proposed-baseline.json", inputs.out),
        ),
        ("regressions", regressions.to_string()),
        ("taxonomy", format!("{{{}}}", taxonomy.join(","))),
        // Six digits: a floating point sum has a long tail that breaks comparisons in a shell.
        (
            "cost-usd",
            report
                .usage
                .cost_usd
                .map_or(String::new(), |cost| format!("{cost:.6}")),
        ),
        ("comment-url", url.unwrap_or_default().to_owned()),
        ("artifact", artifact(inputs, report)),
        ("approved", report.approval.is_some().to_string()),
    ];
    // Every value is on one line, so no value can add another output.
    let text: String = lines
        .iter()
        .map(|(name, value)| format!("{name}={}\n", value.replace(['\r', '\n'], " ")))
        .collect();
    append(Path::new(file), &text)?;
    Ok(())
}
