//! The committed numbers to compare with.

use std::collections::BTreeMap;

use super::grade::{Layer, Tag};
use super::ids::{AgentName, CaseId, JudgeName, SuiteId};
use super::judge::JudgeEntry;

/// A committed measurement of all suites (formats.md "Baseline").
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    /// The commit it was captured at.
    pub commit: Option<String>,
    /// When it was captured, in UTC.
    pub captured_at: Option<String>,
    /// The version of goldgate that wrote it.
    pub tool_version: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// One entry for each suite and agent.
    pub suites: BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>>,
    /// Who accepted changed numbers, and why; oldest first.
    pub accepted: Vec<Acceptance>,
}

impl Baseline {
    /// The entry of one agent.
    pub fn entry(&self, suite: &SuiteId, agent: &AgentName) -> Option<&BaselineEntry> {
        self.suites.get(suite)?.get(agent)
    }
}

/// The numbers of one agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BaselineEntry {
    /// The agent's metrics by name; a metric that was null is absent.
    pub metrics: BTreeMap<String, f64>,
    /// What they were measured with; `None` if unknown.
    pub identity: Option<Identity>,
    /// The value of each sample, by case and metric; an excluded pair has none.
    pub cases: BTreeMap<CaseId, CaseValues>,
    /// Verdicts of LLM judges by judge name.
    pub judges: BTreeMap<JudgeName, JudgeEntry>,
    /// Failed checks by tag.
    pub taxonomy: BTreeMap<Tag, u32>,
    /// Number of samples without a result; `None` if the baseline does not contain it.
    pub infra: Option<u32>,
    /// Completed samples by parse method; empty if the baseline does not contain them.
    pub layers: BTreeMap<Layer, u32>,
}

/// Rounds a number to the precision of baselines: six decimal places, no negative zero.
pub fn six_places(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// The key, in a case's values, for the share of completed samples in which all checks pass.
pub const PASSED: &str = "passed";

/// The values of a case's samples by metric; [`PASSED`] contains the share of samples that passed.
pub type CaseValues = BTreeMap<String, Vec<Option<f64>>>;

/// What a number was measured with (grading.md 13).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// A digest of the agent's case ids and expectations.
    pub suite_digest: Option<String>,
    /// The kind's scorer and its revision, such as `findings/1`.
    pub scorer: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The digest of the prompt package.
    pub prompt_sha256: Option<String>,
    /// The model of the judge, if there is one.
    pub judge: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// `deterministic` or `model`.
    pub tier: Option<String>,
}

/// Who accepted changed numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The login of the person.
    pub by: String,
    /// Time in UTC.
    pub at: String,
    /// The pull request.
    pub pull_request: Option<u64>,
    /// The reason.
    pub reason: Option<String>,
    /// The SHA-256 of the previous baseline.
    pub previous_sha256: Option<String>,
}
