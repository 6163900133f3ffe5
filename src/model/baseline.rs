//! The numbers that are committed and compared with.

use std::collections::BTreeMap;

use super::grade::{Layer, Tag};
use super::ids::{AgentName, CaseId, JudgeName, SuiteId};
use super::judge::JudgeEntry;

/// A committed measurement of all suites (formats.md "Baseline").
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    /// The commit it was captured at.
    pub commit: Option<String>,
    /// When, in UTC.
    pub captured_at: Option<String>,
    /// The version of goldgate that wrote it.
    pub tool_version: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// One entry for each suite and agent.
    pub suites: BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>>,
    /// Who accepted a moved baseline, and why; oldest first.
    pub accepted: Vec<Acceptance>,
}

impl Baseline {
    /// The entry of one agent.
    pub fn entry(&self, suite: &SuiteId, agent: &AgentName) -> Option<&BaselineEntry> {
        self.suites.get(suite)?.get(agent)
    }
}

/// What one agent measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BaselineEntry {
    /// The agent's aggregates by metric; a metric that was null is absent.
    pub metrics: BTreeMap<String, f64>,
    /// What they were measured with; without it the origin is unknown.
    pub identity: Option<Identity>,
    /// The samples' values by case and metric; an excluded pair has none.
    pub cases: BTreeMap<CaseId, CaseValues>,
    /// What judges said, by their names.
    pub judges: BTreeMap<JudgeName, JudgeEntry>,
    /// Failed checks by tag.
    pub taxonomy: BTreeMap<Tag, u32>,
    /// Samples that gave nothing to grade; `None` where the baseline does not say.
    pub infra: Option<u32>,
    /// Completed samples by how they were read; empty where the baseline does not say.
    pub layers: BTreeMap<Layer, u32>,
}

/// A number as a baseline keeps it: six places, and no negative zero.
pub fn six_places(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// The name under which a case of a baseline keeps the share of its completed samples of which all checks held.
pub const PASSED: &str = "passed";

/// The samples' values of one case, by metric; under [`PASSED`] the share of samples that passed.
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
    /// The model that judged, where one did.
    pub judge: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// `deterministic` or `model`.
    pub tier: Option<String>,
}

/// Who accepted a moved baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The person.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The pull request.
    pub pull_request: Option<u64>,
    /// Why.
    pub reason: Option<String>,
    /// The digest of the baseline before.
    pub previous_sha256: Option<String>,
}
