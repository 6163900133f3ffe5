//! The one value that holds the verdict; everything shown is derived from it.

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
    /// The config that it is of, from the root of the repository; older reports do not say it.
    pub config: Option<RepoPath>,
    /// The commit that was graded, where known.
    pub commit: Option<String>,
    /// The commit whose baseline was compared with, where known.
    pub base: Option<String>,
    /// What was asked for.
    pub tiers: Vec<Tier>,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// The most samples that any pair planned.
    pub samples: u32,
    /// When the run began, in UTC.
    pub started_at: String,
    /// When it ended, in UTC.
    pub finished_at: String,
    /// The suites, in the order of the config; with two tiers the deterministic one first.
    pub suites: Vec<SuiteReport>,
    /// The verdict over the suites that decide.
    pub verdict: Ruling,
    /// Why no verdict can be given; empty where one can.
    pub not_gateable: Vec<NotGateable>,
    /// Why the run ended before all its samples were made, where it did.
    pub called_off: Option<Interruption>,
    /// Changes of the golden set, the gates or the baseline against the base commit; those that need approval first.
    pub golden_changes: Vec<GoldenChange>,
    /// Who approved them and the moved numbers, where somebody did.
    pub approval: Option<Approval>,
    /// What people should know beside the verdict.
    pub notes: Vec<String>,
    /// What the run cost.
    pub usage: RunUsage,
}

/// Whether a failed gate stops a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// It does.
    Blocking,
    /// It is shown only.
    Advisory,
}

/// A reason why no verdict can be given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotGateable(
    /// One line for people.
    pub String,
);

/// What a run cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunUsage {
    /// Calls made.
    pub calls: u64,
    /// Of these, repeated ones.
    pub retries: u64,
    /// Answers taken from a cache.
    pub cached: u64,
    /// Calls that were not made, since no answer could have changed a verdict.
    pub saved: u64,
    /// Tokens read, as the records say.
    pub input_tokens: u64,
    /// Tokens written, as the records say.
    pub output_tokens: u64,
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
    /// Milliseconds of this program.
    pub wall_ms: u64,
}

impl RunUsage {
    /// Both together; what has no price leaves the sum without one.
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
    /// The tier that it ran in.
    pub tier: Tier,
    /// The worst of its agents.
    pub verdict: Ruling,
    /// Its agents, by name.
    pub agents: Vec<AgentReport>,
}

/// One agent of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentReport {
    /// Its name.
    pub agent: AgentName,
    /// The worst of its gates.
    pub verdict: Ruling,
    /// What it was measured with.
    pub identity: Identity,
    /// Its metrics, in the order of the kind's table.
    pub metrics: Vec<MetricReport>,
    /// What judges say of it; no gate ever looks at it.
    pub judges: Vec<JudgeReport>,
    /// How many of its cases pass; `None` where none counts.
    pub reliability: Option<Reliability>,
    /// Its cases, by id.
    pub cases: Vec<CaseReport>,
    /// Cases that are listed and not run, each with its reason.
    pub retired: Vec<(CaseId, String)>,
    /// Cases that only the baseline has.
    pub removed: Vec<CaseId>,
    /// How the comparison with the baseline has to be read.
    pub notes: Vec<String>,
    /// The baseline's failed checks by tag, where it has them.
    pub taxonomy_before: Option<BTreeMap<Tag, u32>>,
    /// The baseline's samples that gave nothing to grade, where it says.
    pub infra_before: Option<u32>,
}

/// One metric of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricReport {
    /// Its name.
    pub name: String,
    /// The agent's value; `None` is "nothing to measure".
    pub value: Option<f64>,
    /// A 95 % interval of the value, where it is a share of independent cases.
    pub ci95: Option<(f64, f64)>,
    /// In which direction it is good.
    pub better: Better,
    /// What it counts.
    pub unit: Unit,
    /// The word of its aggregate.
    pub aggregate: String,
    /// Against the baseline.
    pub comparison: Comparison,
    /// Its gates, each with its ruling.
    pub gates: Vec<GateRuling>,
    /// The worst of its gates.
    pub verdict: Ruling,
    /// The cases that moved it; only where it fails, cannot be told or is worse than the baseline.
    pub evidence: MetricEvidence,
}

impl MetricReport {
    /// Whether there is nothing to show: no value, none in the baseline, and no gate with a limit of its own that asks for one.
    pub fn is_silent(&self) -> bool {
        let only_compares = self.gates.iter().all(|gate| gate.from_baseline);
        self.value.is_none() && self.comparison.baseline.is_none() && only_compares && self.verdict.verdict().is_none()
    }

    /// How much worse it is than in the baseline; see [`Better::loss`].
    pub fn loss(&self) -> Option<f64> {
        self.comparison.delta.map(|delta| self.better.loss(0.0, delta))
    }

    /// The value over the cases that were compared with the baseline, where they are not all.
    pub fn compared(&self) -> Option<f64> {
        let compared = self.comparison.baseline? + self.comparison.delta?;
        self.value.filter(|value| (value - compared).abs() > 1e-6).map(|_| compared)
    }
}

/// A value beside the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Comparison {
    /// The baseline's value, on the cases that both have.
    pub baseline: Option<f64>,
    /// This run's value less the baseline's, on the cases that both have.
    pub delta: Option<f64>,
    /// A 95 % interval of the delta, where there is something to pair.
    pub ci95: Option<(f64, f64)>,
    /// The smallest change that these cases can tell from noise, where the metric is an average.
    pub detectable: Option<f64>,
}

/// Whether a difference stands out of its noise. It informs; the gates decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Its interval holds zero.
    Within,
    /// Its interval does not.
    Beyond,
    /// It has no interval: too few cases to pair, or no average.
    Untold,
}

impl Noise {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Beyond => "beyond",
            Self::Untold => "untold",
        }
    }
}

impl Comparison {
    /// Whether the difference stands out of its noise; `None` where there is no difference to speak of.
    pub fn noise(&self) -> Option<Noise> {
        self.delta?;
        Some(match self.ci95 {
            Some((low, high)) if low <= 0.0 && 0.0 <= high => Noise::Within,
            Some(_) => Noise::Beyond,
            None => Noise::Untold,
        })
    }
}

/// One gate and how it was ruled.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRuling {
    /// What it limits.
    pub gate: GateKind,
    /// Whether it decides.
    pub state: GateState,
    /// The threshold, or for a change the tolerance; `None` where the baseline would have to give it.
    pub threshold: Option<f64>,
    /// Whether the threshold was taken from the baseline.
    pub from_baseline: bool,
    /// The width of the inconclusive band.
    pub zone: f64,
    /// Whether there is no band.
    pub hard: bool,
    /// The ruling.
    pub ruling: Ruling,
}

/// How the reason of a gate that is switched off begins, in reports and on the screen.
pub const SWITCHED_OFF: &str = "switched off: ";

/// Whether a gate decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// It is applied.
    On,
    /// The config switches it off, with a reason that the ruling gives.
    Off,
}

impl GateState {
    /// The state that a stored ruling states by its reason.
    pub fn of(ruling: &Ruling) -> Self {
        match ruling.reason().is_some_and(|reason| reason.starts_with(SWITCHED_OFF)) {
            true => Self::Off,
            false => Self::On,
        }
    }
}

impl GateRuling {
    /// Whether the config switches it off.
    pub fn is_off(&self) -> bool {
        self.state == GateState::Off
    }
}

/// One case of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseReport {
    /// What its samples came to.
    pub pair: PairResult,
    /// Its own values against the same thresholds, for the reader.
    pub verdict: Ruling,
    /// Against the baseline.
    pub trend: CaseTrend,
}

impl CaseReport {
    /// Whether any check's samples disagree.
    pub fn is_flaky(&self) -> bool {
        self.pair.checks.iter().any(|check| check.standing.is_flaky())
    }
}

/// How a case stands against the baseline (grading.md 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseTrend {
    /// It failed before and fails now.
    StillFailing,
    /// It passed before.
    NewlyFailing,
    /// It failed before.
    NewlyPassing,
    /// It passed before and passes now.
    StillPassing,
    /// The baseline does not have it.
    New,
    /// There is nothing to compare with.
    Unknown,
}

impl CaseTrend {
    /// The word used in reports.
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

/// One failed check, with where it belongs.
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
    /// The process's exit code (formats.md): a run that was called off has its own in every tier; a failed gate or an
    /// unapproved golden change comes before a missing verdict, and a tier that does not block always ends at 0.
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

    /// Every failed check of every counted pair, in the order of the report.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.suites.iter().flat_map(SuiteReport::failures)
    }

    /// Golden changes that need an approval and have none.
    pub fn unapproved(&self) -> impl Iterator<Item = &GoldenChange> {
        let open = self.approval.is_none();
        self.golden_changes.iter().filter(move |change| open && change.weight == Weight::NeedsApproval)
    }

    /// Whether an unapproved golden change fails this run: it blocks, in whatever tier.
    pub fn is_held_by_changes(&self) -> bool {
        self.authority == Authority::Blocking && self.unapproved().next().is_some()
    }

    /// Samples that gave nothing to grade.
    pub fn lost_samples(&self) -> usize {
        let agents = self.suites.iter().flat_map(|suite| &suite.agents);
        agents.map(|agent| agent.lost_samples() as usize).sum()
    }
}

impl SuiteReport {
    /// Every failed check of every counted pair, in the order of the report.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.agents.iter().flat_map(move |agent| {
            agent.failures().map(move |(case, check)| FailureLine { suite: self, agent, case, check })
        })
    }
}

impl AgentReport {
    /// Every failed check of every counted pair.
    pub fn failures(&self) -> impl Iterator<Item = (&CaseReport, &PairCheck)> {
        let counted = self.cases.iter().filter(|case| case.pair.exclusion == Exclusion::Counted);
        counted.flat_map(|case| {
            let failed = case.pair.checks.iter().filter(|check| !check.standing.passes());
            failed.map(move |check| (case, check))
        })
    }

    /// Samples that gave nothing to grade.
    pub fn lost_samples(&self) -> u32 {
        let lost = self.cases.iter().map(|case| case.pair.lost.len());
        u32::try_from(lost.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Completed samples by how they were read.
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
