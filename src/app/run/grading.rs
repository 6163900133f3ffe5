//! Grades one tier, and puts what all tiers came to into one report.

use super::RunOptions;
use crate::app::evaluate::{Evaluated, ResultSources, ShardResults, evaluate};
use crate::app::live;
use crate::app::plan::Plan;
use crate::app::replay::Replay;
use crate::diag::Diagnostics;
use crate::golden_changes::OtherCommit;
use crate::model::{Baseline, NotGateable, Report, Ruling, RunUsage, SuiteReport, Tier};
use crate::report;
use crate::suites::Files;
use crate::world::Clock;
/// Where the runs of one tier come from, and what they are compared with.
#[derive(Clone, Copy)]
pub struct RunsFrom<'a> {
    /// The live runs.
    pub made: &'a live::LiveRuns,
    /// What other machines graded already.
    pub parts: Option<&'a ShardResults>,
    /// The commit that what is read is compared with.
    pub other: Option<&'a dyn OtherCommit>,
}

/// Grades one tier's suites.
///
/// # Errors
/// Bad input.
pub fn graded(
    plan: &Plan,
    tier: Tier,
    below: &dyn Files,
    from: RunsFrom<'_>,
    baseline: Option<&Baseline>,
) -> Result<Evaluated, Diagnostics> {
    let RunsFrom { made, parts, other } = from;
    let overlay = made.overlay(below);
    // Without live runs there is nothing in the drawer, and it is not looked into.
    let files: &dyn Files = if made.files.is_empty() { below } else { &overlay };
    let runs = Replay::open(files, plan, tier, &made.layout)?;
    let origin = ResultSources { runs: &runs, parts, other };
    let (foreign, evaluated) = rayon::join(|| runs.foreign(plan), || evaluate(plan, tier, origin, below, baseline));
    match (foreign.is_empty(), evaluated) {
        (true, outcome) => outcome,
        (false, Ok(_)) => Err(foreign),
        (false, Err(mut problems)) => {
            problems.extend(foreign);
            Err(problems)
        }
    }
}

/// Puts the report together, without golden changes.
pub fn assembled(
    job: &RunOptions,
    clock: &Clock,
    started_at: String,
    evaluated: Evaluated,
    notes: Vec<String>,
) -> Report {
    let Evaluated { suites, mut not_gateable } = evaluated;
    let deciding = |suite: &&SuiteReport| job.decides(suite.tier);
    let verdict = match suites.iter().any(|suite| deciding(&suite)) {
        true => {
            let verdict = Ruling::of_all(suites.iter().filter(deciding).map(|suite| &suite.verdict));
            // One agent without a judged gate is shown as skipped; a whole run without any is not green.
            not_gateable.extend(verdict.reason().map(|why| NotGateable(format!("no gate could be judged: {why}"))));
            verdict
        }
        false => {
            not_gateable.push(NotGateable("nothing ran".to_owned()));
            Ruling::Skipped("nothing ran".to_owned())
        }
    };
    let pairs = suites.iter().flat_map(|suite| &suite.agents).flat_map(|agent| &agent.cases);
    let mut report = Report {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        config: None,
        commit: job.commit.clone(),
        base: job.base.clone(),
        tiers: job.wanted.tiers.clone(),
        authority: job.authority,
        samples: pairs.map(|case| case.pair.planned).max().unwrap_or(0),
        started_at,
        finished_at: clock.now(),
        suites,
        verdict,
        not_gateable: Vec::new(),
        called_off: None,
        golden_changes: Vec::new(),
        approval: None,
        notes,
        usage: RunUsage { wall_ms: clock.elapsed_ms(), ..RunUsage::default() },
    };
    report::refuse(&mut report, not_gateable);
    report
}
