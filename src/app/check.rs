//! `goldgate check`: everything that can be known without grading a run.

use super::baseline;
use super::cli::CheckArgs;
use super::plan::Plan;
use super::plan::Wanted;
use super::plan::plan;
use super::replay::Laid;
use super::replay::Replay;
use super::replay::Runs;
use super::run;
use super::trouble::Trouble;
use crate::diag::Diagnostics;
use crate::model::Tier;
use crate::render::plural;
use crate::world::Disk;
use crate::world::World;

/// Reads everything, and says what is there.
///
/// # Errors
/// Every problem that was found.
pub fn check(args: &CheckArgs, world: &World) -> Result<u8, Trouble> {
    let (disk, file) = run::located(&args.config)?;
    let plan = plan(&disk, &file, Wanted::default(), &world.clock)?;
    let mut problems = Diagnostics::default();
    recordings(&plan, &disk, &mut problems);
    let mut notes = Vec::new();
    for opened in &plan.suites {
        let found = opened.suite.audit(&disk);
        problems.extend(found.problems);
        notes.extend(found.notes);
    }
    notes.sort();
    let configured = plan.config.baseline.as_ref();
    let baseline = match baseline::here(None, &disk, configured) {
        Ok(baseline) => baseline,
        Err(Trouble::Input(found)) => {
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

/// Every recording of the deterministic tier is read, and none is left over.
fn recordings(plan: &Plan, disk: &Disk, problems: &mut Diagnostics) {
    let laid = Laid::default();
    let Some(runs) = problems.keep_all(Replay::open(disk, plan, Tier::Deterministic, &laid)) else { return };
    problems.extend(runs.foreign(plan));
    for pair in plan.suites.iter().flat_map(|opened| opened.suite.pairs()).filter(|pair| runs.has(pair)) {
        problems.keep_all(runs.samples(pair, None));
    }
}
