//! `goldgate check`: everything that can be known without grading a run.

use std::collections::BTreeMap;

use super::baseline;
use super::cli::CheckArgs;
use super::cli_error::CliError;
use super::freshness::{FreshnessInputs, FreshnessVerdict, freshness_verdict};
use super::plan::{Plan, Selection, plan};
use super::replay::{LiveLayout, Replay, RunReader, SampleCount};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{AgentName, CaseId, Freshness, Tier};
use crate::render::plural;
use crate::world::{Disk, World};

/// Reads everything, and says what is there.
///
/// # Errors
/// Every problem that was found.
pub fn check(args: &CheckArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let plan = plan(&disk, &file, Selection::default(), &world.clock)?;
    let mut problems = Diagnostics::default();
    let mut notes = Vec::new();
    recordings(&plan, &disk, &mut problems, &mut notes);
    for opened in &plan.suites {
        let found = opened.suite.audit(&disk);
        problems.extend(found.problems);
        notes.extend(found.notes);
    }
    notes.sort();
    let configured = plan.config.baseline.as_ref();
    let baseline = match baseline::here(None, &disk, configured) {
        Ok(baseline) => baseline,
        Err(CliError::Input(found)) => {
            problems.extend(found);
            None
        }
        Err(other) => return Err(other),
    };
    let lines: Vec<String> = plan
        .suites
        .iter()
        .map(|opened| {
            let pairs = opened.suite.pairs();
            format!(
                "{}: kind {}, {}",
                opened.config.id,
                opened.kind.name,
                plural(pairs.len(), "pair of agent and case", "pairs of agent and case")
            )
        })
        .collect();
    problems.or(())?;
    let known = if baseline.is_some() { "read" } else { "none yet" };
    let retired = plan.suites.iter().flat_map(|opened| {
        let listed = opened.suite.retired().iter();
        listed.map(move |(case, why)| format!("retired: {}/{case} ({why})\n", opened.config.id))
    });
    let retired: String = retired.collect();
    let noted: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    world.say(&format!("{}\nbaseline: {known}\n{retired}{noted}no problem found\n", lines.join("\n")));
    Ok(0)
}

/// Every recording of the deterministic tier is read, none is left over, and none is older than its agent.
fn recordings(plan: &Plan, disk: &Disk, problems: &mut Diagnostics, notes: &mut Vec<Diagnostic>) {
    let layout = LiveLayout::default();
    let Some(runs) = problems.keep_all(Replay::open(disk, plan, Tier::Deterministic, &layout)) else { return };
    problems.extend(runs.foreign(plan));
    for opened in &plan.suites {
        let inputs = FreshnessInputs::open(plan, opened, Tier::Deterministic, disk);
        let Some(inputs) = problems.keep_all(inputs) else { continue };
        let mut recorded: BTreeMap<&AgentName, Vec<(&CaseId, Freshness)>> = BTreeMap::new();
        for (index, pair) in opened.suite.pairs().iter().enumerate().filter(|(_, pair)| runs.has(pair)) {
            let samples = problems.keep_all(runs.samples(pair, SampleCount::AtLeast(0))).unwrap_or_default();
            recorded.entry(&pair.agent).or_default().push((&pair.case, inputs.of_samples(index, &samples)));
        }
        for (agent, ages) in recorded {
            let said = |words: String, help: &str| {
                let what = format!("{}/{agent}: {words}", opened.config.id);
                Diagnostic::of_file(&plan.config.file, "stale-recording", what, help)
            };
            let again = "a recording that is made again keeps its digests";
            let softer = "`stale: warn` of the agent makes this a note";
            let FreshnessVerdict { notes: noted, refused } = freshness_verdict(&inputs, agent, ages.into_iter());
            notes.extend(noted.into_iter().map(|words| said(words, again)));
            refused.into_iter().for_each(|words| problems.push(said(words, softer)));
        }
    }
}
