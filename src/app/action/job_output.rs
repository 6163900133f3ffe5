//! What the runner is told: the log, the annotations, the outputs.

use std::collections::BTreeMap;
use std::path::Path;

use super::inputs::{ActionInputs, ActionMode};
use crate::app::cli::FormatArg;
use crate::app::cli_error::CliError;
use crate::app::show;
use crate::model::{Report, Tag};
use crate::publish;
use crate::render::annotations;
use crate::suites::sha256_hex;
use crate::world::{World, append};

/// The table and the annotations. Between the stop and start commands the runner takes no line for a command, whatever an agent
/// wrote into it.
pub fn say(world: &World, report: &Report) {
    let table = show::render_report(report, FormatArg::Table, world);
    let token = sha256_hex(format!("{table}{}{}", std::process::id(), world.clock.now()).as_bytes());
    world.say(&format!("::group::goldgate\n::stop-commands::{token}\n{table}::{token}::\n::endgroup::\n"));
    world.say(&annotations::annotations(report));
}

/// The name under which an approval looks for what the run wrote. The trusted gate's runs stand under the base branch's commit, so
/// its artifact names the head.
fn artifact(inputs: &ActionInputs, report: &Report) -> String {
    let key = inputs.key(report);
    match (inputs.mode, &report.commit) {
        (ActionMode::Trusted, Some(head)) => key.artifact_of_head(head),
        _ => key.artifact(),
    }
}

/// Writes the step's outputs.
///
/// # Errors
/// Why the runner's file could not be written.
pub fn outputs(world: &World, inputs: &ActionInputs, report: &Report, url: Option<&str>) -> Result<(), CliError> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else { return Ok(()) };
    let counts = report.suites.iter().flat_map(|suite| &suite.agents).fold(BTreeMap::new(), |mut counts, agent| {
        agent.taxonomy().into_iter().for_each(|(tag, count)| *counts.entry(tag).or_insert(0) += count);
        counts
    });
    let taxonomy: Vec<String> = Tag::ALL
        .into_iter()
        .map(|tag| format!("\"{}\":{}", tag.as_str(), counts.get(&tag).copied().unwrap_or(0)))
        .collect();
    let regressions = publish::regressions(report);
    let lines = [
        ("verdict", report.verdict.as_str().to_owned()),
        ("exit-code", report.exit_code().to_string()),
        ("report", format!("{}/report.json", inputs.out)),
        ("proposed-baseline", format!("{}/proposed-baseline.json", inputs.out)),
        ("regressions", regressions.to_string()),
        ("taxonomy", format!("{{{}}}", taxonomy.join(","))),
        // Whole digits: a sum of floating numbers has a tail that nobody wants in a shell's comparison.
        ("cost-usd", report.usage.cost_usd.map_or(String::new(), |cost| format!("{cost:.6}"))),
        ("comment-url", url.unwrap_or_default().to_owned()),
        ("artifact", artifact(inputs, report)),
        ("approved", report.approval.is_some().to_string()),
    ];
    // Every value is one line, so the plain form cannot be broken out of.
    let text: String =
        lines.iter().map(|(name, value)| format!("{name}={}\n", value.replace(['\r', '\n'], " "))).collect();
    append(Path::new(file), &text)?;
    Ok(())
}
