//! The report of a run; all outputs derive from it.

use std::collections::BTreeMap;

use super::approval::{Approval, GoldenChange, Weight};
use super::baseline::Identity;
use super::config::Tier;
use super::evidence::MetricEvidence;
use super::gate::GateKind;
use super::grade::{Layer, Tag};
use super::ids::{AgentName, CaseId, SuiteId};
use super::interruption::Interruption;
use super::judge::JudgeReport;
use super::metric::{Better, Unit};
use super::pair::{Exclusion, PairCheck, PairResult};
use super::path::RepoPath;
use super::reliability::Reliability;
use super::verdict::{Ruling, Verdict};

/// The result of a run (formats.md "Report").
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The version of goldgate that graded.
    pub tool_version: String,
    /// The path of the config from the root of the repository; `None` in older reports.
    pub config: Option<RepoPath>,
    /// The commit that was graded, if known.
    pub commit: Option<String>,
    /// The commit whose baseline was used, if known.
    pub base: Option<String>,
    /// The tiers that ran.
    pub tiers: Vec<Tier>,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// The largest number of planned samples of a pair.
    pub samples: u32,
    /// Start time in UTC.
    pub started_at: String,
    /// End time in UTC.
    pub finished_at: String,
    /// The suites in config order; with two tiers the deterministic one first.
    pub suites: Vec<SuiteReport>,
    /// The verdict over the suites that count.
    pub verdict: Ruling,
    /// Why no verdict is possible; empty if one is.
    pub not_gateable: Vec<NotGateable>,
    /// Why the run was interrupted, if it was.
    pub called_off: Option<Interruption>,
    /// Golden changes since the base commit; those that need an approval first.
    pub golden_changes: Vec<GoldenChange>,
    /// The approval of the golden changes and the moved numbers, if any.
    pub approval: Option<Approval>,
    /// Notes for readers, in addition to the verdict.
    pub notes: Vec<String>,
    /// Calls, tokens and cost of the run.
    pub usage: RunUsage,
}

/// Whether a failed gate blocks a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// It blocks.
    Blocking,
    /// It is only reported.
    Advisory,
}

/// A reason why no verdict is possible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotGateable(
    /// One line for people.
    pub String,
);

/// Calls, tokens and cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunUsage {
    /// Calls made.
    pub calls: u64,
    /// Of these, the retries.
    pub retries: u64,
    /// Answers taken from a cache.
    pub cached: u64,
    /// Calls that were skipped, because no answer could change a verdict.
    pub saved: u64,
    /// Input tokens, as recorded.
    pub input_tokens: u64,
    /// Output tokens, as recorded.
    pub output_tokens: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// Wall time of this program, in milliseconds.
    pub wall_ms: u64,
}

impl RunUsage {
    /// The sum of both; an unknown cost makes the sum unknown.
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            retries: self.retries + other.retries,
            cached: self.cached + other.cached,
            saved: self.saved + other.saved,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cost_usd: match (self.calls, other.calls) {
                (_, 0) => self.cost_usd,
                (0, _) => other.cost_usd,
                _ => self.cost_usd.zip(other.cost_usd).map(|(one, two)| one + two),
            },
            wall_ms: self.wall_ms.max(other.wall_ms),
        }
    }
}

/// One suite of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteReport {
    /// Its id.
    pub id: SuiteId,
    /// Its kind.
    pub kind: String,
    /// Its tier.
    pub tier: Tier,
    /// The worst verdict of its agents.
    pub verdict: Ruling,
    /// Its agents, by name.
    pub agents: Vec<AgentReport>,
}

/// One agent of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentReport {
    /// Its name.
    pub agent: AgentName,
    /// The worst verdict of its gates.
    pub verdict: Ruling,
    /// What the numbers were measured with.
    pub identity: Identity,
    /// Its metrics, in the order of the kind's table.
    pub metrics: Vec<MetricReport>,
    /// Results of LLM judges; no gate uses them.
    pub judges: Vec<JudgeReport>,
    /// How many of its cases pass; `None` if no case counts.
    pub reliability: Option<Reliability>,
    /// Its cases, by id.
    pub cases: Vec<CaseReport>,
    /// Cases that are listed but not run, with the reason.
    pub retired: Vec<(CaseId, String)>,
    /// Cases that exist only in the baseline.
    pub removed: Vec<CaseId>,
    /// Notes on the comparison with the baseline.
    pub notes: Vec<String>,
    /// The baseline's failed checks by tag, if known.
    pub taxonomy_before: Option<BTreeMap<Tag, u32>>,
    /// The baseline's number of samples without a result, if known.
    pub infra_before: Option<u32>,
}

/// One metric of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricReport {
    /// Its name.
    pub name: String,
    /// The agent's value; `None` means that there was nothing to measure.
    pub value: Option<f64>,
    /// A 95 % interval of the value, if it is a share of independent cases.
    pub ci95: Option<(f64, f64)>,
    /// Its better direction.
    pub better: Better,
    /// Its unit.
    pub unit: Unit,
    /// The name of its aggregate.
    pub aggregate: String,
    /// The comparison with the baseline.
    pub comparison: Comparison,
    /// Its gates with their results.
    pub gates: Vec<GateRuling>,
    /// The worst verdict of its gates.
    pub verdict: Ruling,
    /// The cases that moved it; only if it fails, is inconclusive or is worse than the baseline.
    pub evidence: MetricEvidence,
}

impl MetricReport {
    /// Whether there is nothing to show: no value, none in the baseline, and no gate with its own limit.
    pub fn is_silent(&self) -> bool {
        let only_compares = self.gates.iter().all(|gate| gate.from_baseline);
        self.value.is_none() && self.comparison.baseline.is_none() && only_compares && self.verdict.verdict().is_none()
    }

    /// How much worse it is than the baseline; see [`Better::loss`].
    pub fn loss(&self) -> Option<f64> {
        self.comparison.delta.map(|delta| self.better.loss(0.0, delta))
    }

    /// The value over the compared cases, if these are not all.
    pub fn compared(&self) -> Option<f64> {
        let compared = self.comparison.baseline? + self.comparison.delta?;
        self.value.filter(|value| (value - compared).abs() > 1e-6).map(|_| compared)
    }
}

/// A value compared with the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Comparison {
    /// The baseline's value, on the cases that both have.
    pub baseline: Option<f64>,
    /// This run's value minus the baseline's, on the cases that both have.
    pub delta: Option<f64>,
    /// A 95 % interval of the delta, if there are pairs of values.
    pub ci95: Option<(f64, f64)>,
    /// The smallest change that these cases can distinguish from noise, if the metric is an average.
    pub detectable: Option<f64>,
}

/// Whether a difference exceeds its noise. Informational; the gates decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Its interval includes zero.
    Within,
    /// Its interval excludes zero.
    Beyond,
    /// It has no interval: too few cases, or not an average.
    Untold,
}

impl Noise {
    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Beyond => "beyond",
            Self::Untold => "untold",
        }
    }
}

impl Comparison {
    /// Whether the difference exceeds its noise; `None` without a difference.
    pub fn noise(&self) -> Option<Noise> {
        self.delta?;
        Some(match self.ci95 {
            Some((low, high)) if low <= 0.0 && 0.0 <= high => Noise::Within,
            Some(_) => Noise::Beyond,
            None => Noise::Untold,
        })
    }
}

/// One gate with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRuling {
    /// The kind of limit.
    pub gate: GateKind,
    /// The threshold, or the tolerance of a change; `None` if it comes from a missing baseline.
    pub threshold: Option<f64>,
    /// Whether the threshold comes from the baseline.
    pub from_baseline: bool,
    /// The width of the inconclusive band.
    pub zone: f64,
    /// Whether the gate has no inconclusive band.
    pub hard: bool,
    /// The result.
    pub ruling: Ruling,
}

impl GateRuling {
    /// Whether the config disables it.
    pub fn is_off(&self) -> bool {
        matches!(self.ruling, Ruling::Off(_))
    }
}

/// One case of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseReport {
    /// The result over its samples.
    pub pair: PairResult,
    /// The verdict of its own values against the same thresholds, for information.
    pub verdict: Ruling,
    /// The comparison with the baseline.
    pub trend: CaseTrend,
}

impl CaseReport {
    /// Whether samples disagree on any check.
    pub fn is_flaky(&self) -> bool {
        self.pair.checks.iter().any(|check| check.standing.is_flaky())
    }
}

/// The state of a case compared with the baseline (grading.md 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseTrend {
    /// Failed before, fails now.
    StillFailing,
    /// Passed before, fails now.
    NewlyFailing,
    /// Failed before, passes now.
    NewlyPassing,
    /// Passed before, passes now.
    StillPassing,
    /// Not in the baseline.
    New,
    /// There is nothing to compare with.
    Unknown,
}

impl CaseTrend {
    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StillFailing => "still_failing",
            Self::NewlyFailing => "newly_failing",
            Self::NewlyPassing => "newly_passing",
            Self::StillPassing => "still_passing",
            Self::New => "new",
            Self::Unknown => "unknown",
        }
    }
}

/// A failed check with its suite, agent and case.
#[derive(Debug, Clone, Copy)]
pub struct FailureLine<'a> {
    /// The suite.
    pub suite: &'a SuiteReport,
    /// The agent.
    pub agent: &'a AgentReport,
    /// The case.
    pub case: &'a CaseReport,
    /// The check.
    pub check: &'a PairCheck,
}

impl Report {
    /// The process's exit code (formats.md). An interrupted run has its own code in every tier. A failed gate or an unapproved golden
    /// change takes precedence over a missing verdict. A tier that does not block always exits with 0.
    pub fn exit_code(&self) -> u8 {
        if let Some(interruption) = self.called_off {
            return interruption.exit_code();
        }
        match (self.authority, self.verdict.verdict(), self.not_gateable.is_empty()) {
            (Authority::Advisory, _, _) => 0,
            (Authority::Blocking, _, _) if self.is_held_by_changes() => 1,
            (Authority::Blocking, Some(Verdict::Fail), _) => 1,
            (Authority::Blocking, _, false) => 3,
            (Authority::Blocking, _, true) => 0,
        }
    }

    /// All failed checks of counted pairs, in report order.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.suites.iter().flat_map(SuiteReport::failures)
    }

    /// Golden changes that need an approval and have none.
    pub fn unapproved(&self) -> impl Iterator<Item = &GoldenChange> {
        let open = self.approval.is_none();
        self.golden_changes.iter().filter(move |change| open && change.weight == Weight::NeedsApproval)
    }

    /// Whether an unapproved golden change fails this run: it blocks in every tier.
    pub fn is_held_by_changes(&self) -> bool {
        self.authority == Authority::Blocking && self.unapproved().next().is_some()
    }

    /// Number of samples without a result.
    pub fn lost_samples(&self) -> usize {
        let agents = self.suites.iter().flat_map(|suite| &suite.agents);
        agents.map(|agent| agent.lost_samples() as usize).sum()
    }
}

impl SuiteReport {
    /// All failed checks of counted pairs, in report order.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.agents.iter().flat_map(move |agent| {
            agent.failures().map(move |(case, check)| FailureLine { suite: self, agent, case, check })
        })
    }
}

impl AgentReport {
    /// All failed checks of counted pairs.
    pub fn failures(&self) -> impl Iterator<Item = (&CaseReport, &PairCheck)> {
        let counted = self.cases.iter().filter(|case| case.pair.exclusion == Exclusion::Counted);
        counted.flat_map(|case| {
            let failed = case.pair.checks.iter().filter(|check| !check.standing.passes());
            failed.map(move |check| (case, check))
        })
    }

    /// Number of samples without a result.
    pub fn lost_samples(&self) -> u32 {
        let lost = self.cases.iter().map(|case| case.pair.lost.len());
        u32::try_from(lost.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Completed samples by parse method.
    pub fn layers(&self) -> BTreeMap<Layer, u32> {
        let mut counts = BTreeMap::new();
        for layer in self.cases.iter().flat_map(|case| &case.pair.layers) {
            *counts.entry(*layer).or_default() += 1;
        }
        counts
    }

    /// Failed checks by tag.
    pub fn taxonomy(&self) -> BTreeMap<Tag, u32> {
        let mut counts: BTreeMap<Tag, u32> = Tag::ALL.into_iter().map(|tag| (tag, 0)).collect();
        for failure in self.failures().filter_map(|(_, check)| check.failure.as_ref()) {
            *counts.entry(failure.tag).or_default() += 1;
        }
        counts
    }
}
