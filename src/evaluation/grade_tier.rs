//! Grades one tier, and assembles the report from the results of all tiers.

use super::live_runs::LiveRuns;
use crate::diag::Diagnostics;
use crate::evaluation::base_runs::BaseRecordings;
use crate::evaluation::evaluate::{Evaluated, ResultSources, ShardResults};
use crate::evaluation::plan::Plan;
use crate::evaluation::policies::{Evaluation, OtherAgents};
use crate::evaluation::read_runs::ReadRuns;
use crate::evaluation::recorded_agents::RecordedAgents;
use crate::evaluation::replay::Replay;
use crate::evaluation::run_options::{AgentScope, RunOptions};
use crate::files::{Files, OtherCommit};
use crate::model::{
    Baseline, BaselineUse, NotGateable, Report, ReportTool, Ruling, RunUsage, SuiteReport, Tier,
};
use crate::report;
/// The source of the runs of one tier.
#[derive(Clone, Copy)]
pub struct RunsFrom<'a> {
    pub made: &'a LiveRuns,
    /// Results that other machines graded.
    pub parts: Option<&'a ShardResults>,
    /// The commit to compare the read files with.
    pub other: Option<&'a dyn OtherCommit>,
    /// The base commit's own recordings, if the runs are compared with it.
    pub base: Option<&'a BaseRecordings<'a>>,
    /// What the recordings mean for the verdict.
    pub recordings: &'a RecordedAgents,
    /// Keeps the runs that are read, for the judgement by the base's rules.
    pub read: Option<&'a ReadRuns>,
}

/// Grades the suites of one tier.
pub fn grade_tier(
    plan: &Plan,
    tier: Tier,
    below: &dyn Files,
    from: RunsFrom<'_>,
    baseline: Option<&Baseline>,
) -> Result<Evaluated, Diagnostics> {
    let RunsFrom {
        made,
        parts,
        other: other_commit,
        base,
        read,
        recordings,
    } = from;
    let overlay = made.overlay(below);
    // Without live runs the overlay is empty and is not used.
    let files: &dyn Files = if made.records.is_empty() {
        below
    } else {
        &overlay
    };
    let runs = Replay::open(files, plan, tier, &made.layout)?
        .measured_in(baseline)
        .read_in_both(read);
    let origin = ResultSources {
        runs: &runs,
        parts,
        other: other_commit,
        base,
        recordings: Some(recordings),
    };
    let (foreign, evaluated) = rayon::join(
        || runs.foreign(plan),
        || {
            let evaluation = Evaluation {
                plan,
                tier,
                origin,
                files: below,
                baseline,
                others: &OtherAgents::default(),
            };
            evaluation.with_policies()
        },
    );
    let mut problems = foreign;
    problems.extend(runs.unmapped(plan));
    if problems.is_empty() {
        return evaluated;
    }
    if let Err(others) = evaluated {
        problems.extend(others);
    }
    Err(problems)
}

/// Whether the targets of all selected agents could be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallableAgents {
    All,
    /// Some could not, for example without a key.
    Some,
}

/// When a run started and ended, in UTC, and how long it took.
pub struct RunTimes {
    pub started_at: String,
    pub finished_at: String,
    pub wall_ms: u64,
}

/// Assembles the report, without golden changes.
pub fn assemble_report(
    job: &RunOptions,
    times: RunTimes,
    evaluated: Evaluated,
    notes: Vec<String>,
    callable: CallableAgents,
) -> Report {
    let Evaluated {
        suites,
        mut not_gateable,
    } = evaluated;
    let deciding: Vec<&SuiteReport> = suites
        .iter()
        .filter(|suite| job.decides(suite.tier))
        .collect();
    let verdict = if deciding.is_empty() {
        let why = match (job.scope, callable) {
            (AgentScope::Affected, CallableAgents::All) => {
                "this change affects no selected agent, so none ran"
            }
            (AgentScope::Affected, CallableAgents::Some) => {
                "the agents that this change affects did not run"
            }
            (AgentScope::All, _) => "no suite ran",
        };
        not_gateable.push(NotGateable::new(why));
        Ruling::Skipped(why.to_owned())
    } else {
        let verdict = Ruling::of_all(deciding.iter().map(|suite| &suite.verdict));
        // An agent without a judged gate is shown as skipped, but a whole run without any judged gate does not pass.
        if let Some(why) = verdict.reason() {
            not_gateable.push(NotGateable::new(format!("no gate could be judged: {why}")));
        }
        verdict
    };
    let pairs = suites
        .iter()
        .flat_map(|suite| &suite.agents)
        .flat_map(|agent| &agent.cases);
    let mut report = Report {
        tool: ReportTool::goldgate(env!("CARGO_PKG_VERSION")),
        config: None,
        commit: job.commit.clone(),
        base: job.base.clone(),
        base_branch: job.base.as_ref().and(job.base_branch.clone()),
        others: Vec::new(),
        tiers: job.wanted.tiers.clone(),
        authority: job.authority,
        choice: job.wanted.choice(),
        samples: pairs.map(|case| case.planned).max().unwrap_or(0),
        started_at: times.started_at,
        finished_at: times.finished_at,
        suites,
        verdict,
        not_gateable: Vec::new(),
        called_off: None,
        golden_changes: Vec::new(),
        approval: None,
        notes,
        usage: RunUsage {
            wall_ms: times.wall_ms,
            ..RunUsage::default()
        },
        baseline_use: BaselineUse::Compared,
    };
    report::refuse(&mut report, not_gateable);
    report
}
