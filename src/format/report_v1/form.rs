//! The frozen form of `goldgate.report/1`. To change it, add the next version.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::{DifferenceForm, ReportEvidenceForm};
use super::judges::{JudgedForm, ReportJudgeForm};

/// The whole file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "goldgate report, version 1")]
pub struct ReportFile {
    /// `goldgate.report/1`.
    pub schema: String,
    /// What wrote it.
    pub tool: ReportToolForm,
    /// The config that it is of, from the root of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The commit that was graded.
    pub commit: Option<String>,
    /// The commit whose baseline was compared with.
    pub base: Option<String>,
    /// `deterministic`, `model` or `all`.
    pub tier: String,
    /// The most samples that any pair planned.
    pub samples: u32,
    /// In UTC.
    pub started_at: String,
    /// In UTC.
    pub finished_at: String,
    /// `pass`, `inconclusive`, `fail`, or `skipped` where no gate was judged.
    pub verdict: String,
    /// Why no gate was judged.
    pub reason: Option<String>,
    /// Whether a failed gate blocks.
    pub blocking: bool,
    /// The exit code of the run.
    pub exit_code: u8,
    /// By suite.
    pub suites: Vec<ReportSuiteForm>,
    /// Every failed check.
    pub failures: Vec<FailureForm>,
    /// Failed checks by tag.
    pub taxonomy: BTreeMap<String, u32>,
    /// Samples that gave nothing to grade.
    pub infra: u64,
    /// Changes of what is measured with against the base commit.
    pub golden_changes: Vec<ChangeForm>,
    /// Who approved them and the moved numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalForm>,
    /// Why no verdict can be given.
    pub not_gateable: Vec<String>,
    /// Why the run ended before all its samples were made: `sigint`, `sigterm`, `sighup`, `max_minutes`, `max_cost_usd` or `max_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_off: Option<String>,
    /// What people should know beside the verdict.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the run cost.
    pub usage: UsageForm,
}

/// A change of the golden set, the gates, the baseline or a recording.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ChangeForm {
    /// What changed, in words.
    pub what: String,
    /// Whether it needs an approval.
    pub needs_approval: bool,
    /// The file that changed, where it is one.
    #[serde(default)]
    pub file: Option<String>,
    /// What kind of change it is, the most dangerous first: `base_rules`, `config`, `removed`, `expectation`, `material`,
    /// `recording`, `added`.
    #[serde(default = "config_class")]
    pub class: String,
}

fn config_class() -> String {
    "config".to_owned()
}

/// Somebody's consent to golden changes and moved numbers.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ApprovalForm {
    /// The person.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The commit that was approved.
    pub head: String,
    /// The digest of the result that was approved.
    pub digest: String,
}

/// What wrote a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportToolForm {
    /// `goldgate`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a run cost.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct UsageForm {
    /// Calls made.
    pub calls: u64,
    /// Of these, repeated ones.
    pub retries: u64,
    /// Answers from a cache.
    pub cached: u64,
    /// Calls that were not made, since no answer could have changed a verdict.
    #[serde(default)]
    pub saved: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
    /// Milliseconds of this program.
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
    /// The worst of its agents.
    pub verdict: String,
    /// Why no gate was judged.
    pub reason: Option<String>,
    /// By agent.
    pub agents: Vec<ReportAgentForm>,
}

/// One agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportAgentForm {
    /// Its name.
    pub agent: String,
    /// The worst of its gates.
    pub verdict: String,
    /// Why no gate was judged.
    pub reason: Option<String>,
    /// What it was measured with.
    pub identity: ReportIdentityForm,
    /// The names of its metrics, in the order in which they are shown.
    pub metric_order: Vec<String>,
    /// By metric.
    pub metrics: BTreeMap<String, MetricForm>,
    /// What judges say of it; no gate and no verdict looks at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<ReportJudgeForm>,
    /// How many of its cases pass by majority, and in each of their samples.
    #[serde(default)]
    pub reliability: Option<ReliabilityForm>,
    /// By case.
    pub cases: Vec<ReportCaseForm>,
    /// Cases that are listed and not run.
    pub retired: BTreeMap<String, String>,
    /// Cases that only the baseline has.
    pub removed: Vec<String>,
    /// How the comparison has to be read.
    pub notes: Vec<String>,
    /// Completed samples by how they were read.
    #[serde(default)]
    pub read_layers: BTreeMap<String, u32>,
    /// The baseline's failed checks by tag.
    pub taxonomy_before: Option<BTreeMap<String, u32>>,
    /// The baseline's samples that gave nothing to grade, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_before: Option<u32>,
}

/// How many cases pass.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReliabilityForm {
    /// Cases that pass in more than half of their completed samples.
    pub majority: PassingForm,
    /// Cases that pass in each of their samples (pass^N); absent where no case has more than one sample.
    pub every_sample: Option<PassingForm>,
    /// Cases of which this cannot be told: every completed sample passed, and at least one was lost.
    pub untold: u32,
}

/// Cases that passed out of those that were counted.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PassingForm {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that were counted.
    pub of: u32,
    /// A 95 % interval of the share (Wilson), where the cases are independent of each other.
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
    /// The model that judged.
    pub judge: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// The tier.
    pub tier: Option<String>,
}

/// One metric of an agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MetricForm {
    /// The agent's value.
    pub value: Option<f64>,
    /// A 95 % interval of the value (Wilson), where it is a share of independent cases.
    #[serde(default)]
    pub value_ci95: Option<(f64, f64)>,
    /// The baseline's value.
    pub baseline: Option<f64>,
    /// The difference, on the cases that both have.
    pub delta: Option<f64>,
    /// A 95 % interval of the difference.
    pub ci95: Option<(f64, f64)>,
    /// Whether the interval of the difference holds zero: `within`, `beyond`, or `untold` without an interval.
    #[serde(default)]
    pub noise: Option<String>,
    /// The smallest change that these cases can tell from noise, at 95 % confidence and 80 % power.
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
    /// The worst of its gates.
    pub verdict: String,
    /// Why no gate was judged.
    pub reason: Option<String>,
    /// The cases that moved it, worst first; only where it fails, is inconclusive or is worse than the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<ReportEvidenceForm>,
    /// Cases that moved it and are not listed.
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
    /// Whether it was taken from the baseline.
    pub from_baseline: bool,
    /// The width of the inconclusive band.
    pub zone: f64,
    /// Whether there is no band.
    pub hard: bool,
    /// The ruling.
    pub verdict: String,
    /// Why it was skipped.
    pub reason: Option<String>,
}

/// One case of an agent.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportCaseForm {
    /// Its id.
    pub case: String,
    /// Its own values against the same thresholds.
    pub verdict: String,
    /// Why nothing was judged.
    pub reason: Option<String>,
    /// Its golden file.
    pub golden: String,
    /// Samples planned.
    pub samples_planned: u32,
    /// Samples completed.
    pub samples_completed: u32,
    /// Samples that passed.
    #[serde(default)]
    pub samples_passed: Option<u32>,
    /// Whether it is left out of every aggregate.
    pub excluded: bool,
    /// Why it does not gate for a while.
    #[serde(default)]
    pub quarantine: Option<ReportQuarantineForm>,
    /// Samples that gave nothing to grade.
    pub inconclusive: Vec<LostForm>,
    /// Samples that were not made, since no answer could have changed a verdict.
    #[serde(default, skip_serializing_if = "is_none")]
    pub samples_spared: u32,
    /// How the samples passed: `passes`, `passes_flaky`, `fails_flaky`, `fails`.
    pub passed: String,
    /// By metric.
    pub metrics: BTreeMap<String, ValueForm>,
    /// Its checks.
    pub checks: Vec<CheckForm>,
    /// What costs the metrics that no check looks at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<DifferenceForm>,
    /// What judges say of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedForm>,
    /// How each completed sample was read: 0 a structure, 1 strict, 2 repaired, 3 salvaged, 4 unreadable.
    pub read_layer: Vec<u8>,
    /// Against the baseline.
    pub baseline_state: String,
    /// Whether samples disagree.
    pub flaky: bool,
}

/// Why a case does not gate for a while.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportQuarantineForm {
    /// Who mends it.
    pub owner: String,
    /// What is known of it.
    pub reason: String,
    /// The last day.
    pub expires: String,
}

/// A sample that gave nothing to grade.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct LostForm {
    /// Which sample, from 0.
    pub sample: u32,
    /// How it ended; absent where there is no recording.
    pub status: Option<String>,
    /// What it said.
    pub error: Option<String>,
}

/// One metric of a case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ValueForm {
    /// The folded value.
    pub value: Option<f64>,
    /// The completed samples' values.
    pub samples: Vec<Option<f64>>,
    /// Their sample standard deviation, of two or more.
    #[serde(default)]
    pub spread: Option<f64>,
}

/// One check of a case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct CheckForm {
    /// Its name.
    pub name: String,
    /// Whether more than half of the samples pass.
    pub passed: bool,
    /// Whether samples disagree.
    pub flaky: bool,
    /// The kind of failure, where any sample failed.
    pub tag: Option<String>,
    /// What would be right, where any sample failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The evidence.
    pub detail: Option<String>,
    /// What an engineer does next.
    pub next_action: Option<String>,
    /// The place of the golden file.
    pub location: Option<LocationForm>,
}

/// A place of a golden file.
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
    /// What would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The evidence.
    pub detail: String,
    /// How such a failure is mended.
    pub fix_strategy: String,
    /// What an engineer does next.
    pub next_action: String,
    /// The place of the golden file.
    pub location: Option<LocationForm>,
}

/// Whether there are none to tell of.
fn is_none(count: &u32) -> bool {
    *count == 0
}
