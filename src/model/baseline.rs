//! The committed numbers to compare with.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::config::Config;
use super::file_form::{by_word, is_false, known_counts};
use super::grade::Layer;
use super::ids::{AgentName, CaseId, JudgeName, SuiteId};
use super::judge::JudgeEntry;
use super::policy::NeverClass;
use super::tag::Tag;

/// A committed measurement of all suites.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
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
    #[serde(
        default,
        serialize_with = "write_suites",
        deserialize_with = "read_suites"
    )]
    #[schemars(with = "BTreeMap<String, BaselineSuite>")]
    pub suites: BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>>,
    /// Who accepted changed numbers, and why; oldest first.
    #[serde(default)]
    pub accepted: Vec<Acceptance>,
}

impl Baseline {
    pub fn entry(&self, suite: &SuiteId, agent: &AgentName) -> Option<&BaselineEntry> {
        self.suites.get(suite)?.get(agent)
    }

    /// The same numbers under the names of a config: entries of what a suite or an agent was (`was:`), where there are none of what it
    /// is.
    #[must_use]
    pub fn renamed(mut self, config: &Config) -> Self {
        for suite in &config.suites {
            let was = suite.was.as_ref();
            if let Some(was) = was.filter(|_| !self.suites.contains_key(&suite.id))
                && let Some(entries) = self.suites.remove(was)
            {
                self.suites.insert(suite.id.clone(), entries);
            }
            let Some(entries) = self.suites.get_mut(&suite.id) else {
                continue;
            };
            for (name, agent) in &suite.agents {
                let was = agent.was.as_ref().filter(|_| !entries.contains_key(name));
                if let Some(entry) = was.and_then(|was| entries.remove(was)) {
                    entries.insert(name.clone(), entry);
                }
            }
        }
        self
    }
}

/// The baseline of one suite in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct BaselineSuite {
    /// By agent.
    #[serde(default)]
    agents: BaselineAgents,
}

type BaselineAgents = BTreeMap<AgentName, BaselineEntry>;

/// Writes suites with their agents: in files each suite is an object.
fn write_suites<S: Serializer>(
    suites: &BTreeMap<SuiteId, BaselineAgents>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        suites
            .iter()
            .map(|(id, agents)| (id, BTreeMap::from([("agents", agents)]))),
    )
}

fn read_suites<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<SuiteId, BaselineAgents>, D::Error> {
    let suites = BTreeMap::<SuiteId, BaselineSuite>::deserialize(deserializer)?;
    Ok(suites
        .into_iter()
        .map(|(id, suite)| (id, suite.agents))
        .collect())
}

/// The numbers of one agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BaselineEntry {
    /// The number of findings, as files keep it: a metric after reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding_count: Option<f64>,
    /// The agent's metrics by name; a metric that was null is absent.
    #[serde(default, serialize_with = "rounded", deserialize_with = "measured")]
    #[schemars(with = "BTreeMap<String, Option<f64>>")]
    pub metrics: BTreeMap<String, f64>,
    /// What they were measured with; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The value of each sample, by case and metric; an excluded pair has none.
    #[serde(default, serialize_with = "rounded_cases")]
    #[schemars(with = "BTreeMap<String, CaseValues>")]
    pub cases: BTreeMap<CaseId, CaseValues>,
    /// The samples of each case as the policy `regression` compares them, and what they were graded by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, SampledCase>")]
    pub samples: BTreeMap<CaseId, SampledCase>,
    /// Whether a cache most likely gave its answers: every sample of a case is the same. Then only the first one counts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// The last values of the pairs that were excluded, as those in quarantine. The metrics do not contain them.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        serialize_with = "rounded_cases"
    )]
    #[schemars(with = "BTreeMap<String, CaseValues>")]
    pub earlier: BTreeMap<CaseId, CaseValues>,
    /// Verdicts of LLM judges by judge name; no gate uses them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, JudgeEntry>")]
    pub judges: BTreeMap<JudgeName, JudgeEntry>,
    /// Failed checks by tag.
    #[serde(default, serialize_with = "counted", deserialize_with = "known_counts")]
    #[schemars(with = "BTreeMap<String, u32>")]
    pub taxonomy: BTreeMap<Tag, u32>,
    /// Samples without a result, such as timeouts; absent if the baseline does not contain the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infra: Option<u32>,
    /// Completed samples by parse method: `structured`, `strict`, `repaired`, `salvaged`, `unreadable`; empty if the baseline does not
    /// contain them.
    #[serde(
        rename = "read_layers",
        default,
        serialize_with = "by_word",
        deserialize_with = "known_counts"
    )]
    #[schemars(with = "BTreeMap<String, u32>")]
    pub layers: BTreeMap<Layer, u32>,
}

/// The samples of a case in a baseline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SampledCase {
    /// The score of each completed sample, 0 to 1.
    pub scores: Vec<f64>,
    /// Which of them pass all checks.
    pub passed: Vec<bool>,
    /// The classes of what an agent never does that a sample breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<NeverClass>,
    /// The digest of what the agent was asked; absent if that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<String>,
    /// The digest of what the samples were graded by: expectation, documents, scorer.
    pub graded_by: String,
}

impl BaselineEntry {
    /// Returns the values of a case that the metrics contain; `None` for an excluded or unknown one.
    pub fn measured(&self, case: &CaseId) -> Option<&CaseValues> {
        self.cases.get(case).filter(|values| !values.is_empty())
    }

    /// Returns the last values of a case, measured this time or before.
    pub fn last_values(&self, case: &CaseId) -> Option<&CaseValues> {
        self.measured(case).or_else(|| self.earlier.get(case))
    }
}

fn rounded<S: Serializer>(
    values: &BTreeMap<String, f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        values
            .iter()
            .map(|(name, value)| (name, six_places(*value))),
    )
}

fn measured<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let values = BTreeMap::<String, Option<f64>>::deserialize(deserializer)?;
    Ok(values
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect())
}

fn rounded_cases<S: Serializer>(
    cases: &BTreeMap<CaseId, CaseValues>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut rounded: BTreeMap<&CaseId, CaseValues> = BTreeMap::new();
    for (id, metrics) in cases {
        let mut case = CaseValues::new();
        for (name, samples) in metrics {
            let samples = samples.iter().map(|value| value.map(six_places)).collect();
            case.insert(name.clone(), samples);
        }
        rounded.insert(id, case);
    }
    serializer.collect_map(rounded)
}

/// Writes the tags that occur.
fn counted<S: Serializer>(taxonomy: &BTreeMap<Tag, u32>, serializer: S) -> Result<S::Ok, S::Error> {
    by_word(
        &taxonomy
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(tag, count)| (*tag, *count))
            .collect(),
        serializer,
    )
}

/// Rounds a number to the precision of baselines: six decimal places, no negative zero.
pub fn six_places(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// The key, in a case's values, for the share of completed samples in which all checks pass.
pub const PASSED: &str = "passed";

/// The values of a case's samples by metric; [`PASSED`] contains the share of samples that passed.
pub type CaseValues = BTreeMap<String, Vec<Option<f64>>>;

/// What a number was measured with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// A digest of the agent's case ids and expectations.
    pub suite_digest: Option<String>,
    /// The kind's scorer and its revision, such as `findings/1`.
    pub scorer: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The digest of the agent's files.
    pub agent_sha256: Option<String>,
    /// The model of the judge, if there is one.
    pub judge: Option<String>,
    /// Samples planned per pair.
    pub samples: Option<u32>,
    /// `deterministic` or `model`.
    pub tier: Option<String>,
}

/// Who accepted changed numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
