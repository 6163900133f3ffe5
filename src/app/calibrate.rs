//! `goldgate calibrate`: tolerances out of repeated runs of an unchanged agent.

use std::path::Path;

use super::cli::CalibrateArgs;
use super::cli_error::CliError;
use super::plan::Selection;
use super::run;
use super::run::located;
use crate::diag::{Diagnostic, Diagnostics};
use crate::fold;
use crate::format::report_v1;
use crate::gate::calibration::{CalibratedGate, CalibrationFinding, calibrated};
use crate::model::{AgentReport, COVERAGE, MetricSpec, NEWLY_FAILING, PairResult, Report, SuiteReport, Tier};
use crate::render::calibration::{Calibration, RunsAre, calibration};
use crate::suites::{Files, kind};
use crate::world::World;

/// Proposes tolerances and writes nothing.
///
/// # Errors
/// Reports or recordings that cannot be read, or that are of different agents.
pub fn calibrate(args: &CalibrateArgs, world: &World) -> Result<u8, CliError> {
    let reports = match args.reports.is_empty() {
        true => vec![graded(args, world)?],
        false => stored(&args.reports)?,
    };
    let rate = args.false_alarms / 100.0;
    let (mut gates, mut left_out) = (Vec::new(), Vec::new());
    for (suite, agent) in agents(&reports[0]).filter(|(suite, agent)| wanted(args, suite, agent)) {
        let (values, incomplete) = match reports.as_slice() {
            [_] => single_samples(suite, agent)?,
            several => (whole_runs(&args.reports, several, suite, agent)?, 0),
        };
        if incomplete > 0 {
            left_out.push((format!("{}/{}", suite.id, agent.agent), incomplete));
        }
        // Those are numbers of a whole run: one sample has none of them.
        let of_a_run = [COVERAGE, NEWLY_FAILING];
        let metrics = agent.metrics.iter().enumerate();
        for (index, metric) in metrics.filter(|(_, metric)| !of_a_run.contains(&metric.name.as_str())) {
            let values: Vec<f64> = values.iter().filter_map(|run| run[index]).collect();
            gates.extend(calibrated(metric, &values, rate).into_iter().map(|(gate, finding)| CalibratedGate {
                suite: suite.id.clone(),
                agent: agent.agent.clone(),
                metric: metric.clone(),
                values: values.clone(),
                gate,
                finding,
            }));
        }
    }
    if gates.is_empty() {
        let what = "the filters choose no metric of any agent";
        return Err(Diagnostic::of_file("command line", "nothing-selected", what, "loosen --suite or --agent").into());
    }
    let runs_are = match reports.as_slice() {
        [one] => RunsAre::Samples { of: one.samples },
        several => RunsAre::Reports { count: several.len(), samples: several[0].samples },
    };
    let told = gates.iter().any(|one| one.finding != CalibrationFinding::NoSpread);
    world.say(&calibration(&Calibration { gates, left_out, runs_are, rate }, world.columns()));
    // Nothing that was measured twice is no calibration.
    Ok(if told { 0 } else { 3 })
}

fn wanted(args: &CalibrateArgs, suite: &SuiteReport, agent: &AgentReport) -> bool {
    let named = |names: &[String], name: &str| names.is_empty() || names.iter().any(|one| one == name);
    named(&args.suite, suite.id.as_str()) && named(&args.agent, agent.agent.as_str())
}

/// The agents of a report; of one with both tiers those of the model tier, where runs differ.
fn agents(report: &Report) -> impl Iterator<Item = (&SuiteReport, &AgentReport)> {
    let tier = report.tiers.last().copied();
    let suites = report.suites.iter().filter(move |suite| Some(suite.tier) == tier);
    suites.flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)))
}

/// The recordings, graded.
fn graded(args: &CalibrateArgs, world: &World) -> Result<Report, CliError> {
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        ..Selection::default()
    };
    run::as_recorded(&args.config, wanted, world)
}

fn stored(folders: &[String]) -> Result<Vec<Report>, CliError> {
    let (mut problems, mut reports) = (Diagnostics::default(), Vec::new());
    for folder in folders {
        let path = Path::new(folder).join("report.json");
        let (disk, file) = located(&path.to_string_lossy())?;
        let read = disk.text(&file).and_then(|source| report_v1::read_report(&source));
        reports.extend(problems.keep(read));
    }
    Ok(problems.or(reports)?)
}

/// A row of values a run.
type RunValues = Vec<Vec<Option<f64>>>;

/// Each sample number of the agent's cases as a run, and how many of them are left out.
fn single_samples(suite: &SuiteReport, agent: &AgentReport) -> Result<(RunValues, usize), Diagnostic> {
    let refuse = |what: String| {
        Diagnostic::of_file("report.json", "unknown-metric", what, "calibrate with the goldgate that wrote the report")
    };
    let kind = kind(&suite.kind).ok_or_else(|| refuse(format!("the kind \"{}\" is unknown", suite.kind)))?;
    let specs: Option<Vec<MetricSpec>> =
        agent.metrics.iter().map(|metric| kind.metrics.iter().find(|spec| spec.name == metric.name).copied()).collect();
    let specs = specs.ok_or_else(|| refuse(format!("the kind \"{}\" has other metrics", suite.kind)))?;
    let pairs: Vec<&PairResult> = agent.cases.iter().map(|case| &case.pair).collect();
    let taken = fold::apart(&specs, &pairs);
    Ok((taken.runs, taken.incomplete))
}

/// The agent's values in each report. They have to be of one and the same agent on the same cases.
fn whole_runs(
    folders: &[String],
    reports: &[Report],
    suite: &SuiteReport,
    agent: &AgentReport,
) -> Result<RunValues, Diagnostics> {
    let (mut problems, mut rows) = (Diagnostics::default(), Vec::new());
    let who = format!("{}/{}", suite.id, agent.agent);
    for (folder, report) in folders.iter().zip(reports) {
        let found = agents(report)
            .find(|(one, other)| one.id == suite.id && one.tier == suite.tier && other.agent == agent.agent)
            .map(|(_, other)| other);
        let names = |agent: &AgentReport| agent.metrics.iter().map(|metric| metric.name.clone()).collect::<Vec<_>>();
        let what = match found {
            None => format!("{who} is in the report of {} and not here", folders[0]),
            Some(other) if other.identity != agent.identity || names(other) != names(agent) => {
                format!("{who} was measured otherwise than in {}: agent, cases, scorer or samples differ", folders[0])
            }
            Some(other) => {
                rows.push(other.metrics.iter().map(|metric| metric.value).collect());
                continue;
            }
        };
        let help = "give reports of one unchanged agent on unchanged cases";
        problems.push(Diagnostic::of_file(folder, "different-runs", what, help));
    }
    problems.or(rows)
}
