//! What differs between the base commit and this one, apart from the numbers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::CaseId;
use super::words::words;

/// What differs for one agent between the base commit and this one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SinceBase {
    /// What changed in the agent: paragraphs of its files, and the model of its recordings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<ChangedText>,
    /// What made its runs.
    #[serde(default, skip_serializing_if = "AgentRuns::are_recorded")]
    pub runs: AgentRuns,
    /// What a sample uses, where it moved by a tenth or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<MovedUse>,
    /// The values that differ in the outputs of a case; only of cases that failed or moved a number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<CaseId, Vec<ChangedText>>,
}

/// What made the runs of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentRuns {
    /// They are recorded.
    #[default]
    Recorded,
    /// The agent's code ran, with the recorded answers of its model.
    Code,
}

impl AgentRuns {
    fn are_recorded(&self) -> bool {
        *self == Self::Recorded
    }
}

impl SinceBase {
    /// Whether nothing differs, or no base commit is known.
    pub fn is_empty(&self) -> bool {
        let Self {
            agent,
            runs: _,
            uses,
            outputs,
        } = self;
        agent.is_empty() && uses.is_empty() && outputs.is_empty()
    }

    /// The values that differ in the outputs of a case.
    pub fn outputs_of(&self, case: &CaseId) -> &[ChangedText] {
        self.outputs
            .get(case)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// A text that differs: a paragraph of a file, or a value of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedText {
    /// Where: the path of a file, or the path of a value, such as `findings[0].severity`.
    pub name: String,
    /// The text at the base commit, cut to what differs; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text now, cut to what differs; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The number of samples in which a value differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
}

words! {
    /// What a sample uses.
    pub enum SampleUse {
        /// Input and output tokens.
        Tokens = "tokens",
        /// Milliseconds.
        Latency = "latency_ms",
        /// US dollars.
        Cost = "cost_usd",
    }
}

/// What a sample uses: the medians of all samples of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MovedUse {
    /// What is used.
    pub what: SampleUse,
    /// The median at the base commit.
    pub before: f64,
    /// The median now.
    pub now: f64,
}
