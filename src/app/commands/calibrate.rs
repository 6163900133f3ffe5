//! `goldgate calibrate`: suggests gate tolerances from repeated runs of an unchanged agent.

use std::path::Path;

use crate::app::cli::CalibrateArgs;
use crate::app::cli_error::CliError;
use crate::app::pipeline::advised_gates::write_gates;
use crate::app::pipeline::graded_run::GradedRun;
use crate::app::pipeline::operating::operating_of;
use crate::app::pipeline::selection::Selection;
use crate::app::worktree::graded_recordings;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::Files;
use crate::fold;
use crate::format::report_v1;
use crate::gate::calibration::{CalibratedGate, CalibrationFinding, calibrated};
use crate::gate::operating::HardGates;
use crate::model::{
    AgentReport, COVERAGE, Exclusion, MetricReport, MetricSpec, NEWLY_FAILING, OwnMetric,
    PairResult, Report, SuiteReport, Tier, interned,
};
use crate::render::calibration::{Calibration, RunsAre, calibration};
use crate::render::operating::operating_table;
use crate::suites::kind;
use crate::text::first_of;
use crate::world::{Disk, World};

/// Prints suggested tolerances, and on demand writes gates with few false alarms into the config. Returns exit code 3 if no metric was
/// measured twice.
///
/// # Errors
/// Reports or recordings that cannot be read, or that belong to different agents.
pub fn calibrate(args: &CalibrateArgs, world: &World) -> Result<u8, CliError> {
    let (reports, suites) = match args.reports.is_empty() {
        true => {
            let GradedRun { report, suites, .. } = graded(args, world)?;
            (vec![report], suites)
        }
        false => (stored(&args.reports)?, Vec::new()),
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
        // These metrics need a whole run: a single sample does not have them.
        let of_a_run = [COVERAGE, NEWLY_FAILING];
        let metrics = agent.metrics.iter().enumerate();
        for (index, metric) in
            metrics.filter(|(_, metric)| !of_a_run.contains(&metric.name.as_str()))
        {
            let values: Vec<f64> = values.iter().filter_map(|run| run[index]).collect();
            gates.extend(
                calibrated(metric, &values, rate)
                    .into_iter()
                    .map(|(gate, finding)| CalibratedGate {
                        suite: suite.id.clone(),
                        agent: agent.agent.clone(),
                        metric: metric.clone(),
                        values: values.clone(),
                        gate,
                        finding,
                    }),
            );
        }
    }
    if gates.is_empty() {
        let what = "no metric to calibrate: no selected agent has a metric with a gate or a value";
        let help = "accept drafts with `goldgate review`, or correct --suite or --agent";
        return Err(Diagnostic::of_command_line(Code::NOTHING_SELECTED, what, help).into());
    }
    let runs_are = match reports.as_slice() {
        [one] => RunsAre::Samples { of: one.samples },
        several => RunsAre::Reports {
            count: several.len(),
            samples: several[0].samples,
        },
    };
    let is_calibrated = gates
        .iter()
        .any(|one| one.finding != CalibrationFinding::NoSpread);
    let operating = operating_of(&reports[0], &suites, &|suite, agent| {
        wanted(args, suite, agent)
    });
    let shown = agents(&reports[0]).filter(|(suite, agent)| wanted(args, suite, agent));
    world.say(
        &shown
            .filter_map(|(suite, agent)| always_wrong(suite, agent))
            .collect::<String>(),
    );
    world.say(&operating_table(&operating, world.columns()));
    world.say(&calibration(
        &Calibration {
            gates,
            left_out,
            runs_are,
            rate,
        },
        world.columns(),
    ));
    if args.write {
        let hard = if args.hard_too {
            HardGates::Change
        } else {
            HardGates::Keep
        };
        world.say(&write_gates(&args.config, &reports[0], &suites, hard)?);
    }
    world.keep(suites);
    // Without repeated measurements the result is inconclusive.
    Ok(if is_calibrated { 0 } else { 3 })
}

/// The cases that fail in all of their samples: that is a failure, and gates that allow it would hide it.
fn always_wrong(suite: &SuiteReport, agent: &AgentReport) -> Option<String> {
    let is_wrong = |case: &&PairResult| {
        case.exclusion == Exclusion::Counted
            && case.completed >= 2
            && case.passing.is_some_and(|passing| passing == 0)
    };
    let cases: Vec<&str> = agent
        .cases
        .iter()
        .filter(is_wrong)
        .map(|case| case.case.as_str())
        .collect();
    (!cases.is_empty()).then(|| {
        format!(
            "{}/{}: not noise, but wrong in every sample: {}. Correct that first; gates that allow it would hide it.\n",
            suite.id,
            agent.agent,
            first_of(&cases)
        )
    })
}

fn wanted(args: &CalibrateArgs, suite: &SuiteReport, agent: &AgentReport) -> bool {
    let named =
        |names: &[String], name: &str| names.is_empty() || names.iter().any(|one| one == name);
    named(&args.agents.suite, suite.id.as_str()) && named(&args.agents.agent, agent.agent.as_str())
}

/// Returns the agents of a report. A report with both tiers gives those of the model tier, because only their runs vary.
fn agents(report: &Report) -> impl Iterator<Item = (&SuiteReport, &AgentReport)> {
    let tier = report.tiers.last().copied();
    let suites = report
        .suites
        .iter()
        .filter(move |suite| Some(suite.tier) == tier);
    suites.flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)))
}

fn graded(args: &CalibrateArgs, world: &World) -> Result<GradedRun, CliError> {
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        suites: args.agents.suite.clone(),
        agents: args.agents.agent.clone(),
        ..Selection::default()
    };
    graded_recordings(&args.config, wanted, world)
}

fn stored(folders: &[String]) -> Result<Vec<Report>, CliError> {
    let (mut problems, mut reports) = (Diagnostics::default(), Vec::new());
    for folder in folders {
        let path = Path::new(folder).join("report.json");
        let (disk, file) = Disk::of_file(&path.to_string_lossy())?;
        let read = disk
            .text(&file)
            .and_then(|source| report_v1::read_report(&source));
        reports.extend(problems.keep(read));
    }
    Ok(problems.or(reports)?)
}

/// A metric that the suite states itself, as the report describes it; `None` if no suite can state one that is aggregated so.
fn own_spec(metric: &MetricReport) -> Option<MetricSpec> {
    let aggregate = OwnMetric::AGGREGATES
        .into_iter()
        .find(|aggregate| aggregate.as_str() == metric.aggregate)?;
    let (name, better, unit) = (interned(&metric.name), metric.better, metric.unit);
    Some(MetricSpec {
        name,
        better,
        unit,
        aggregate,
        ..MetricSpec::PLAIN
    })
}

/// One row of metric values per run.
type RunValues = Vec<Vec<Option<f64>>>;

/// Returns each sample number of the agent's cases as a run, and how many incomplete ones are left out.
fn single_samples(
    suite: &SuiteReport,
    agent: &AgentReport,
) -> Result<(RunValues, usize), Diagnostic> {
    let refuse = |what: String| {
        Diagnostic::of_file(
            "report.json",
            Code::UNKNOWN_METRIC,
            what,
            "use the goldgate version that wrote the report",
        )
    };
    let kind =
        kind(&suite.kind).ok_or_else(|| refuse(format!("unknown kind \"{}\"", suite.kind)))?;
    let spec = |metric: &MetricReport| kind.metric_named(&metric.name).or_else(|| own_spec(metric));
    let specs: Option<Vec<MetricSpec>> = agent.metrics.iter().map(spec).collect();
    let specs = specs
        .ok_or_else(|| refuse(format!("the metrics of the kind \"{}\" differ", suite.kind)))?;
    let pairs: Vec<&PairResult> = agent.cases.iter().collect();
    let samples = fold::apart(&specs, &pairs);
    Ok((samples.runs, samples.incomplete))
}

/// Returns the agent's values in each report. All reports must be of the same agent on the same cases.
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
            .find(|(one, other)| {
                one.id == suite.id && one.tier == suite.tier && other.agent == agent.agent
            })
            .map(|(_, other)| other);
        let names = |agent: &AgentReport| {
            agent
                .metrics
                .iter()
                .map(|metric| metric.name.clone())
                .collect::<Vec<_>>()
        };
        let what = match found {
            None => format!(
                "{who} is in the report of {} but not in this one",
                folders[0]
            ),
            Some(other) if other.identity != agent.identity || names(other) != names(agent) => {
                format!(
                    "{who} was measured differently in {}: agent, cases, scorer or samples differ",
                    folders[0]
                )
            }
            Some(other) => {
                rows.push(other.metrics.iter().map(|metric| metric.value).collect());
                continue;
            }
        };
        let help = "use reports of one unchanged agent on unchanged cases";
        problems.push(Diagnostic::of_file(
            folder,
            Code::DIFFERENT_RUNS,
            what,
            help,
        ));
    }
    problems.or(rows)
}
