//! The report of a run; all outputs derive from it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval::{Approval, GoldenChange, Weight};
use super::baseline::Identity;
use super::case_choice::CaseChoice;
use super::config::Tier;
use super::evidence::{Difference, MetricEvidence};
use super::file_form::{Named, by_word, by_word_if_any, known_counts, read_by_name, write_by_name};
use super::gate_ruling::GateRuling;
use super::grade::Layer;
use super::ids::{AgentName, CaseId, SuiteId};
use super::interruption::Interruption;
use super::judge::JudgeReport;
use super::metric::{Better, Unit};
use super::no_verdict::NotGateable;
use super::one_or_all;
use super::other_pull_request::{OtherOutcome, OtherPullRequest};
use super::pair::{Exclusion, PairCheck, PairResult};
use super::path::RepoPath;
use super::policy::PolicyReport;
use super::recording_row::{Effect, RecordingRow};
use super::reliability::Reliability;
use super::run_usage::RunUsage;
use super::since_base::SinceBase;
use super::tag::Tag;
use super::verdict::{Ruling, Verdict};
use super::words::words;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Report {
    /// The program that graded.
    pub tool: ReportTool,
    /// The path of the config from the root of the repository; absent in older reports.
    #[serde(default)]
    pub config: Option<RepoPath>,
    /// The commit that was graded, if known.
    pub commit: Option<String>,
    /// The commit whose baseline was used, if known.
    pub base: Option<String>,
    /// The branch of the base commit, if known.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// The verdicts on other open pull requests with the same head commit: a check belongs to the commit, so the worst one counts.
    #[serde(rename = "other_pull_requests", default)]
    pub others: Vec<OtherPullRequest>,
    /// The tiers that ran: `deterministic`, `model` or `all`.
    #[serde(rename = "tier", deserialize_with = "one_or_all::deserialize")]
    #[schemars(with = "String")]
    pub tiers: Vec<Tier>,
    /// Which of the cases were graded; absent if all were.
    #[serde(rename = "graded_cases", default)]
    pub choice: CaseChoice,
    /// The largest number of planned samples of a pair.
    pub samples: u32,
    /// Start time in UTC.
    pub started_at: String,
    /// End time in UTC.
    pub finished_at: String,
    /// The verdict over the suites that count.
    #[serde(flatten)]
    pub verdict: Ruling,
    /// Whether a failed gate blocks.
    #[serde(rename = "blocking")]
    pub authority: Authority,
    /// The suites in config order; with two tiers the deterministic one first.
    pub suites: Vec<SuiteReport>,
    /// Golden changes since the base commit; those that need an approval first.
    pub golden_changes: Vec<GoldenChange>,
    /// The approval of the golden changes and the moved numbers, if any.
    #[serde(default)]
    pub approval: Option<Approval>,
    /// Why no verdict is possible; empty if one is.
    pub not_gateable: Vec<NotGateable>,
    /// Why the run was interrupted, if it was.
    #[serde(default)]
    pub called_off: Option<Interruption>,
    /// Notes for readers, in addition to the verdict.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Calls, tokens and cost of the run.
    pub usage: RunUsage,
    /// What the run does to the baseline. Only for the screen: a stored report does not know it.
    #[serde(skip)]
    pub baseline_use: BaselineUse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaselineUse {
    /// It compares with it, if there is one.
    #[default]
    Compared,
    /// It compares with one, which may lack these agents.
    Existing,
    /// It writes its numbers into it.
    Written,
    /// It writes the first numbers, which every gate waits for.
    Begun,
    /// The change adds the first one.
    Added,
}

/// Whether a failed gate blocks a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "bool", into = "bool")]
pub enum Authority {
    /// It blocks.
    Blocking,
    /// It is only reported.
    Advisory,
}

impl From<bool> for Authority {
    fn from(blocking: bool) -> Self {
        if blocking {
            Self::Blocking
        } else {
            Self::Advisory
        }
    }
}

impl From<Authority> for bool {
    fn from(authority: Authority) -> Self {
        authority == Authority::Blocking
    }
}

/// The program that wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportTool {
    /// `goldgate`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl ReportTool {
    /// goldgate in this version.
    pub fn goldgate(version: &str) -> Self {
        Self {
            name: "goldgate".to_owned(),
            version: version.to_owned(),
        }
    }
}

/// One suite of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteReport {
    /// Its id.
    pub id: SuiteId,
    /// Its kind.
    pub kind: String,
    /// Its tier.
    pub tier: Tier,
    /// The worst verdict of its agents.
    #[serde(flatten)]
    pub verdict: Ruling,
    /// Its agents, by name.
    pub agents: Vec<AgentReport>,
}

/// One agent of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReport {
    /// Its name.
    pub agent: AgentName,
    /// The worst verdict of its gates.
    #[serde(flatten)]
    pub verdict: Ruling,
    /// What the numbers were measured with.
    pub identity: Identity,
    /// The names of its metrics in display order.
    pub metric_order: Vec<String>,
    /// What its policy says; absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<PolicyReport>>,
    /// Its metrics in this order; in files by name.
    #[serde(serialize_with = "write_by_name", deserialize_with = "read_by_name")]
    #[schemars(with = "BTreeMap<String, MetricReport>")]
    pub metrics: Vec<MetricReport>,
    /// The rows of the table of recordings that hold for the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<RecordingRow>,
    /// Results of LLM judges; no gate and no verdict uses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeReport>,
    /// How many of its cases pass by majority, and how many in every sample; absent if no case counts.
    #[serde(default)]
    pub reliability: Option<Reliability>,
    /// Its cases, by id.
    pub cases: Vec<PairResult>,
    /// Its draft cases, by id. Nothing counts them: they are in no metric, no gate and no baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<PairResult>,
    /// Cases that are listed but not run, with the reason.
    pub retired: BTreeMap<CaseId, String>,
    /// Cases that exist only in the baseline.
    pub removed: Vec<CaseId>,
    /// Notes on the comparison with the baseline.
    pub notes: Vec<String>,
    /// Completed samples by parse method.
    #[serde(default, serialize_with = "by_word", deserialize_with = "known_counts")]
    #[schemars(with = "BTreeMap<String, u32>")]
    pub read_layers: BTreeMap<Layer, u32>,
    /// The baseline's failed checks by tag, if known.
    #[serde(serialize_with = "by_word_if_any")]
    #[schemars(with = "Option<BTreeMap<String, u32>>")]
    pub taxonomy_before: Option<BTreeMap<Tag, u32>>,
    /// The baseline's number of samples without a result, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_before: Option<u32>,
    /// What differs from the base commit, apart from the numbers; absent without a base commit.
    #[serde(default, skip_serializing_if = "SinceBase::is_empty")]
    pub since_base: SinceBase,
}

/// One metric of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricReport {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The agent's value; absent if there was nothing to measure.
    pub value: Option<f64>,
    /// A 95 % interval of the value (Wilson), if it is a share of independent cases.
    #[serde(rename = "value_ci95", default)]
    pub ci95: Option<(f64, f64)>,
    /// The comparison with the baseline.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The name of its aggregate: `worst`, `mean`, `sum`, `rate` or `harmonic`.
    pub aggregate: String,
    /// Its better direction.
    pub better: Better,
    /// Its unit.
    pub unit: Unit,
    /// Its gates with their results.
    pub gates: Vec<GateRuling>,
    /// The worst verdict of its gates.
    #[serde(flatten)]
    pub verdict: Ruling,
    /// The cases that moved it, worst first; only if it fails, is inconclusive or is worse than the baseline.
    #[serde(flatten)]
    pub evidence: MetricEvidence,
    /// Its values in the last committed baselines, oldest first; only if it has a gate and evidence, and git has them.
    #[serde(
        rename = "past_baselines",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub past: Vec<Option<f64>>,
}

impl Named for MetricReport {
    fn name(&self) -> &str {
        &self.name
    }

    fn with_name(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl MetricReport {
    /// Whether there is nothing to show: no value, none in the baseline, and no gate with its own limit.
    pub fn is_silent(&self) -> bool {
        let only_compares = self.gates.iter().all(|gate| gate.from_baseline);
        self.value.is_none()
            && self.comparison.baseline.is_none()
            && only_compares
            && self.verdict.verdict().is_none()
    }

    /// How much worse it is than the baseline; see [`Better::loss`].
    pub fn loss(&self) -> Option<f64> {
        self.comparison
            .delta
            .map(|delta| self.better.loss(0.0, delta))
    }

    /// The value over the compared cases, if these are not all.
    pub fn compared(&self) -> Option<f64> {
        let compared = self.comparison.baseline? + self.comparison.delta?;
        self.value
            .filter(|value| (value - compared).abs() > 1e-6)
            .map(|_| compared)
    }
}

/// A value compared with the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The baseline's value, on the cases that both have.
    pub baseline: Option<f64>,
    /// This run's value minus the baseline's, on the cases that both have.
    pub delta: Option<f64>,
    /// A 95 % interval of the delta, if there are pairs of values.
    pub ci95: Option<(f64, f64)>,
    /// Whether the interval of the difference includes zero; `untold` without an interval.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// The smallest change that these cases can distinguish from noise, at 95 % confidence and 80 % power; only for averages.
    #[serde(default)]
    pub detectable: Option<f64>,
}

words! {
    /// Whether a difference exceeds its noise. Informational; the gates decide.
    pub enum Noise {
        /// Its interval includes zero.
        Within = "within",
        /// Its interval excludes zero.
        Beyond = "beyond",
        /// It has no interval: too few cases, or not an average.
        Untold = "untold",
    }
}

impl Comparison {
    /// The same comparison, which says whether the difference exceeds its noise.
    pub fn with_noise(self) -> Self {
        let noise = self.delta.map(|_| match self.ci95 {
            Some((low, high)) if low <= 0.0 && 0.0 <= high => Noise::Within,
            Some(_) => Noise::Beyond,
            None => Noise::Untold,
        });
        Self { noise, ..self }
    }
}

/// A failed check with its suite, agent and case.
#[derive(Debug, Clone, Copy)]
pub struct FailureLine<'a> {
    pub suite: &'a SuiteReport,
    pub agent: &'a AgentReport,
    pub case: &'a PairResult,
    pub check: &'a PairCheck,
}

impl Report {
    /// The process's exit code. An interrupted run has its own code in every tier. A failed gate takes precedence over a missing verdict,
    /// which takes precedence over an unapproved golden change. A tier that does not block always exits with 0.
    pub fn exit_code(&self) -> u8 {
        if let Some(interruption) = self.called_off {
            return interruption.exit_code();
        }
        match (
            self.authority,
            self.verdict.verdict(),
            self.not_gateable.is_empty(),
        ) {
            (Authority::Advisory, _, _) => 0,
            (Authority::Blocking, Some(Verdict::Fail), _) => 1,
            (Authority::Blocking, _, false) => 3,
            (Authority::Blocking, _, true) if self.is_held_by_changes() => 1,
            (Authority::Blocking, _, true) => 0,
        }
    }

    /// The other pull request with the worst verdict, if it does not pass.
    pub fn worst_other(&self) -> Option<&OtherPullRequest> {
        let bad = self
            .others
            .iter()
            .filter(|pull_request| pull_request.outcome != OtherOutcome::Passes);
        bad.max_by_key(|pull_request| {
            (pull_request.outcome, std::cmp::Reverse(pull_request.number))
        })
    }

    /// All agents, each with its suite, in report order.
    pub fn suite_agents(&self) -> impl Iterator<Item = (&SuiteReport, &AgentReport)> {
        self.suites
            .iter()
            .flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)))
    }

    /// The number of cases that count.
    pub fn counted_cases(&self) -> usize {
        let cases = self.agents().flat_map(|agent| &agent.cases);
        cases
            .filter(|case| case.exclusion == Exclusion::Counted)
            .count()
    }

    /// All agents, in report order.
    pub fn agents(&self) -> impl Iterator<Item = &AgentReport> {
        self.suites.iter().flat_map(|suite| &suite.agents)
    }

    /// All cases, each with its suite and its agent, in report order.
    pub fn suite_cases(&self) -> impl Iterator<Item = (&SuiteReport, &AgentReport, &PairResult)> {
        self.suite_agents()
            .flat_map(|(suite, agent)| agent.cases.iter().map(move |case| (suite, agent, case)))
    }

    /// The metrics of all agents, in report order.
    pub fn metrics(&self) -> impl Iterator<Item = &MetricReport> {
        self.agents().flat_map(|agent| &agent.metrics)
    }

    /// All failed checks of counted pairs, in report order.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.suites.iter().flat_map(SuiteReport::failures)
    }

    /// Golden changes that need an approval and have none.
    pub fn unapproved(&self) -> impl Iterator<Item = &GoldenChange> {
        let open = self.approval.is_none();
        self.golden_changes
            .iter()
            .filter(move |change| open && change.weight == Weight::NeedsApproval)
    }

    /// Whether an unapproved golden change fails this run: it blocks in every tier.
    pub fn is_held_by_changes(&self) -> bool {
        self.authority == Authority::Blocking && self.unapproved().next().is_some()
    }

    /// Number of samples without a result.
    pub fn lost_samples(&self) -> usize {
        self.agents()
            .map(|agent| agent.lost_samples() as usize)
            .sum()
    }
}

impl SuiteReport {
    /// All failed checks of counted pairs, in report order.
    pub fn failures(&self) -> impl Iterator<Item = FailureLine<'_>> {
        self.agents.iter().flat_map(move |agent| {
            agent.failures().map(move |(case, check)| FailureLine {
                suite: self,
                agent,
                case,
                check,
            })
        })
    }
}

impl AgentReport {
    /// Whether its recordings give no verdict.
    pub fn has_refused_recordings(&self) -> bool {
        self.recordings
            .iter()
            .any(|row| row.effect == Effect::NoVerdict)
    }

    /// Its cases, then its drafts.
    pub fn shown(&self) -> impl Iterator<Item = &PairResult> {
        self.cases.iter().chain(&self.drafts)
    }

    /// All failed checks of counted pairs.
    pub fn failures(&self) -> impl Iterator<Item = (&PairResult, &PairCheck)> {
        let counted = self
            .cases
            .iter()
            .filter(|case| case.exclusion == Exclusion::Counted);
        counted.flat_map(|case| {
            let failed = case.failed_checks();
            failed.map(move |check| (case, check))
        })
    }

    /// Number of samples without a result.
    pub fn lost_samples(&self) -> u32 {
        let lost = self.cases.iter().map(|case| case.lost.len());
        u32::try_from(lost.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Sets what follows from the metrics and the cases: their order, the noise of differences, parse methods, and disagreeing samples.
    pub fn complete(&mut self) {
        self.metric_order = self
            .metrics
            .iter()
            .map(|metric| metric.name.clone())
            .collect();
        for metric in &mut self.metrics {
            metric.comparison = metric.comparison.with_noise();
        }
        self.read_layers.clear();
        for case in &mut self.cases {
            case.flaky = case.has_flaky_check();
            for layer in &case.layers {
                *self.read_layers.entry(*layer).or_default() += 1;
            }
        }
    }

    /// What failed gates show and no check covers: each difference of a case once.
    fn unchecked_differences(&self) -> BTreeMap<(&CaseId, &Difference), Tag> {
        let failed = self.metrics.iter().filter(|metric| {
            let mut gates = metric.gates.iter();
            gates.any(|gate| gate.ruling.fails())
        });
        let cases = failed.flat_map(|metric| &metric.evidence.cases);
        let lines = cases.flat_map(|case| case.differences.iter().map(|line| (&case.case, line)));
        lines
            .filter(|(_, line)| !line.is_of_check())
            .filter_map(|(case, line)| Some(((case, &line.difference), line.tag?)))
            .collect()
    }

    /// Failed checks, and differences that fail a gate and that no check covers, by tag.
    pub fn taxonomy(&self) -> BTreeMap<Tag, u32> {
        let mut counts = self.failed_checks_by_tag();
        for tag in self.unchecked_differences().into_values() {
            *counts.entry(tag).or_default() += 1;
        }
        counts
    }

    /// Failed checks by tag. They depend on the runs alone, not on what these are compared with.
    pub fn failed_checks_by_tag(&self) -> BTreeMap<Tag, u32> {
        let mut counts: BTreeMap<Tag, u32> = Tag::ALL.into_iter().map(|tag| (tag, 0)).collect();
        for failure in self
            .failures()
            .filter_map(|(_, check)| check.failure.as_ref())
        {
            *counts.entry(failure.tag).or_default() += 1;
        }
        counts
    }
}
