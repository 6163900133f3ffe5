//! The frozen format `goldgate.report/1`. A change needs a new version.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::{DifferenceForm, ReportEvidenceForm};
use super::judges::{JudgedForm, ReportJudgeForm};

/// The report file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "goldgate report, version 1")]
pub struct ReportFile {
    /// `goldgate.report/1`.
    pub schema: String,
    /// The program that wrote it.
    pub tool: ReportToolForm,
    /// The path of the config from the root of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The commit that was graded.
    pub commit: Option<String>,
    /// The commit whose baseline was used.
    pub base: Option<String>,
    /// `deterministic`, `model` or `all`.
    pub tier: String,
    /// The largest number of planned samples of a pair.
    pub samples: u32,
    /// Start time in UTC.
    pub started_at: String,
    /// End time in UTC.
    pub finished_at: String,
    /// `pass`, `inconclusive`, `fail`, or `skipped` if no gate was evaluated.
    pub verdict: String,
    /// Why no gate was evaluated.
    pub reason: Option<String>,
    /// Whether a failed gate blocks.
    pub blocking: bool,
    /// The exit code of the run.
    pub exit_code: u8,
    /// The suites.
    pub suites: Vec<ReportSuiteForm>,
    /// Every failed check.
    pub failures: Vec<FailureForm>,
    /// Failed checks by tag.
    pub taxonomy: BTreeMap<String, u32>,
    /// Samples without a result to grade.
    pub infra: u64,
    /// Golden changes since the base commit.
    pub golden_changes: Vec<ChangeForm>,
    /// Who approved the golden changes and the moved numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalForm>,
    /// Why no verdict is possible.
    pub not_gateable: Vec<String>,
    /// Why the run was interrupted: `sigint`, `sigterm`, `sighup`, `max_minutes`, `max_cost_usd` or `max_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_off: Option<String>,
    /// Notes for readers, in addition to the verdict.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Calls, tokens and cost of the run.
    pub usage: UsageForm,
}

/// A change of the golden set, the gates, the baseline or a recording.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ChangeForm {
    /// Description of the change.
    pub what: String,
    /// Whether it needs an approval.
    pub needs_approval: bool,
    /// The file that changed, if it is a file.
    #[serde(default)]
    pub file: Option<String>,
    /// The kind of change, most dangerous first: `base_rules`, `config`, `removed`, `expectation`, `material`, `recording`, `added`.
    #[serde(default = "config_class")]
    pub class: String,
}

fn config_class() -> String {
    "config".to_owned()
}

/// The approval of golden changes and moved numbers.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ApprovalForm {
    /// The login of the approver.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The approved commit.
    pub head: String,
    /// The digest of the approved result.
    pub digest: String,
}

/// The program that wrote a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportToolForm {
    /// `goldgate`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Calls, tokens and cost of a run.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct UsageForm {
    /// Calls made.
    pub calls: u64,
    /// Of these, the retries.
    pub retries: u64,
    /// Answers from the cache.
    pub cached: u64,
    /// Calls that were skipped, because no answer could change a verdict.
    #[serde(default)]
    pub saved: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// Wall time of this program, in milliseconds.
    pub wall_ms: u64,
}

/// One suite.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportSuiteForm {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Its tier.
    pub tier: String,
    /// The worst verdict of its agents.
    pub verdict: String,
    /// Why no gate was evaluated.
    pub reason: Option<String>,
    /// Its agents.
    pub agents: Vec<ReportAgentForm>,
}

/// One agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportAgentForm {
    /// Its name.
    pub agent: String,
    /// The worst verdict of its gates.
    pub verdict: String,
    /// Why no gate was evaluated.
    pub reason: Option<String>,
    /// What the numbers were measured with.
    pub identity: ReportIdentityForm,
    /// The names of its metrics in display order.
    pub metric_order: Vec<String>,
    /// Its metrics by name.
    pub metrics: BTreeMap<String, MetricForm>,
    /// Results of LLM judges; no gate and no verdict uses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<ReportJudgeForm>,
    /// How many of its cases pass by majority, and how many in every sample.
    #[serde(default)]
    pub reliability: Option<ReliabilityForm>,
    /// Its cases.
    pub cases: Vec<ReportCaseForm>,
    /// Cases that are listed but not run.
    pub retired: BTreeMap<String, String>,
    /// Cases that exist only in the baseline.
    pub removed: Vec<String>,
    /// Notes on the comparison.
    pub notes: Vec<String>,
    /// Completed samples by parse method.
    #[serde(default)]
    pub read_layers: BTreeMap<String, u32>,
    /// The baseline's failed checks by tag.
    pub taxonomy_before: Option<BTreeMap<String, u32>>,
    /// The baseline's number of samples without a result, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_before: Option<u32>,
}

/// How many cases pass.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReliabilityForm {
    /// Cases that pass in more than half of their completed samples.
    pub majority: PassingForm,
    /// Cases that pass in every sample (pass^N); absent if no case has more than one sample.
    pub every_sample: Option<PassingForm>,
    /// Cases with an unknown result: every completed sample passed, and at least one was lost.
    pub untold: u32,
}

/// How many of the counted cases passed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PassingForm {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that were counted.
    pub of: u32,
    /// A 95 % interval of the share (Wilson), if the cases are independent.
    pub ci95: Option<(f64, f64)>,
}

/// What a number was measured with.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportIdentityForm {
    /// The digest of case ids and expectations.
    pub suite_digest: Option<String>,
    /// The scorer and its revision.
    pub scorer: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The digest of the prompt package.
    pub prompt_sha256: Option<String>,
    /// The model of the judge.
    pub judge: Option<String>,
    /// Planned samples per pair.
    pub samples: Option<u32>,
    /// The tier.
    pub tier: Option<String>,
}

/// One metric of an agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MetricForm {
    /// The agent's value.
    pub value: Option<f64>,
    /// A 95 % interval of the value (Wilson), if it is a share of independent cases.
    #[serde(default)]
    pub value_ci95: Option<(f64, f64)>,
    /// The baseline's value.
    pub baseline: Option<f64>,
    /// The difference, on the cases that both runs have.
    pub delta: Option<f64>,
    /// A 95 % interval of the difference.
    pub ci95: Option<(f64, f64)>,
    /// Whether the interval of the difference includes zero: `within`, `beyond`, or `untold` without an interval.
    #[serde(default)]
    pub noise: Option<String>,
    /// The smallest change that these cases can distinguish from noise, at 95 % confidence and 80 % power.
    #[serde(default)]
    pub detectable: Option<f64>,
    /// `worst`, `mean`, `sum`, `rate` or `harmonic`.
    pub aggregate: String,
    /// `higher`, `lower` or `neither`.
    pub better: String,
    /// `share`, `count`, `points` or `spread`.
    pub unit: String,
    /// Its gates.
    pub gates: Vec<ReportGateForm>,
    /// The worst verdict of its gates.
    pub verdict: String,
    /// Why no gate was evaluated.
    pub reason: Option<String>,
    /// The cases that moved it, worst first; only if it fails, is inconclusive or is worse than the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<ReportEvidenceForm>,
    /// Number of further cases that moved it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_evidence: u32,
}

/// One gate.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportGateForm {
    /// `min`, `max`, `max_drop` or `max_rise`.
    pub gate: String,
    /// The threshold or tolerance.
    pub threshold: Option<f64>,
    /// Whether the threshold comes from the baseline.
    pub from_baseline: bool,
    /// The width of the inconclusive band.
    pub zone: f64,
    /// Whether the gate has no inconclusive band.
    pub hard: bool,
    /// The verdict of the gate.
    pub verdict: String,
    /// Why it was skipped.
    pub reason: Option<String>,
}

/// One case of an agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportCaseForm {
    /// Its id.
    pub case: String,
    /// The verdict of its own values against the same thresholds.
    pub verdict: String,
    /// Why it has no verdict.
    pub reason: Option<String>,
    /// Its golden file.
    pub golden: String,
    /// Planned samples.
    pub samples_planned: u32,
    /// Completed samples.
    pub samples_completed: u32,
    /// Passed samples.
    #[serde(default)]
    pub samples_passed: Option<u32>,
    /// Whether it is excluded from every metric.
    pub excluded: bool,
    /// Its quarantine, during which it does not gate.
    #[serde(default)]
    pub quarantine: Option<ReportQuarantineForm>,
    /// Samples without a result to grade.
    pub inconclusive: Vec<LostForm>,
    /// Samples that were skipped, because no answer could change a verdict.
    #[serde(default, skip_serializing_if = "is_none")]
    pub samples_spared: u32,
    /// How its samples passed: `passes`, `passes_flaky`, `fails_flaky`, `fails`.
    pub passed: String,
    /// Its metrics by name.
    pub metrics: BTreeMap<String, ValueForm>,
    /// Its checks.
    pub checks: Vec<CheckForm>,
    /// Shortfalls in metrics that no check covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<DifferenceForm>,
    /// Results of LLM judges on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedForm>,
    /// How each completed sample was parsed: 0 structured, 1 strict, 2 repaired, 3 salvaged, 4 unreadable.
    pub read_layer: Vec<u8>,
    /// Its state compared with the baseline.
    pub baseline_state: String,
    /// Whether samples disagree.
    pub flaky: bool,
}

/// The quarantine of a case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportQuarantineForm {
    /// Who fixes the case.
    pub owner: String,
    /// Why it is in quarantine.
    pub reason: String,
    /// Its last day.
    pub expires: String,
}

/// A sample without a result to grade.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct LostForm {
    /// The sample, from 0.
    pub sample: u32,
    /// How it ended; absent without a recording.
    pub status: Option<String>,
    /// Its error message.
    pub error: Option<String>,
}

/// One metric of a case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ValueForm {
    /// The aggregated value.
    pub value: Option<f64>,
    /// The value of each completed sample.
    pub samples: Vec<Option<f64>>,
    /// The standard deviation of two or more samples.
    #[serde(default)]
    pub spread: Option<f64>,
}

/// One check of a case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CheckForm {
    /// Its name.
    pub name: String,
    /// Whether it passes in more than half of the samples.
    pub passed: bool,
    /// Whether samples disagree.
    pub flaky: bool,
    /// The kind of failure, if a sample failed.
    pub tag: Option<String>,
    /// The expected result, if a sample failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The evidence.
    pub detail: Option<String>,
    /// The next step for an engineer.
    pub next_action: Option<String>,
    /// Its position in the golden file.
    pub location: Option<LocationForm>,
}

/// A position in a golden file.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct LocationForm {
    /// The file, from the repository's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// One failed check.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct FailureForm {
    /// The suite.
    pub suite: String,
    /// The agent.
    pub agent: String,
    /// The case.
    pub case: String,
    /// The check.
    pub check: String,
    /// The kind of failure.
    pub tag: String,
    /// The expected result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The evidence.
    pub detail: String,
    /// How to fix this kind of failure.
    pub fix_strategy: String,
    /// The next step for an engineer.
    pub next_action: String,
    /// Its position in the golden file.
    pub location: Option<LocationForm>,
}

/// Whether the count is zero; such a field is omitted.
fn is_none(count: &u32) -> bool {
    *count == 0
}
