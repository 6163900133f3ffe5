//! A run as it is written down for replay: `goldgate.run/1` as a value, with everything that formats.md lists.

use std::collections::BTreeMap;

use super::ids::{AgentName, CaseId};
use super::run::{Provenance, RunStatus};

/// What takes the place of a secret in a recording.
pub const REDACTED: &str = "[redacted]";

/// One run to be written. What was not measured is `None` or empty, and is written as `null` or empty.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The agent.
    pub agent: AgentName,
    /// The case, or another name that the kind gives a run of it.
    pub case: CaseId,
    /// The sample, from 0.
    pub sample: u32,
    /// How it ended.
    pub status: RunStatus,
    /// What it said when it did not complete.
    pub error: Option<String>,
    /// What it was asked.
    pub inputs: RunInputs,
    /// What it produced: the text of a JSON object.
    pub outputs: Json,
    /// What it did on the way.
    pub intermediate: Steps,
    /// What it looked at.
    pub evidence: RunEvidence,
    /// What it took.
    pub metrics: Measures,
    /// Where it comes from.
    pub provenance: RunProvenance,
}

/// JSON as it was written: an agent's words are kept to the letter. A text that is no JSON is written as a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

/// What a run was asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunInputs {
    /// The prompt.
    pub prompt: Option<String>,
    /// The state of the repository that it saw.
    pub repo_snapshot_id: Option<String>,
    /// Parameters: the text of a JSON object.
    pub options: Json,
}

/// What a run did on the way.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// An agent's own `intermediate` object, kept as it wrote it.
    Told(Json),
    /// What was seen of it from outside.
    Seen {
        /// From node to node of its graph.
        node_transitions: Vec<Json>,
        /// Its tool calls, in their order.
        tool_calls: Vec<ToolCall>,
        /// Everything else.
        events: Vec<Json>,
    },
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Json,
    /// What it returned; `null` where it returned nothing.
    pub result: Json,
    /// Why it failed, where it did.
    pub error: Option<String>,
    /// How long it took, where that was measured.
    pub latency_ms: Option<u64>,
}

/// What a run looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunEvidence {
    /// Files.
    pub file_paths: Vec<String>,
    /// Tests.
    pub test_names: Vec<String>,
    /// Parts of a coverage report.
    pub coverage_refs: Vec<String>,
}

/// What a run took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measures {
    /// Tokens in all.
    pub total_tokens: Option<u64>,
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Milliseconds from request to end.
    pub total_latency_ms: Option<u64>,
    /// Tokens of each node of the agent's graph.
    pub tokens_per_node: BTreeMap<String, u64>,
    /// Milliseconds of each node.
    pub latency_per_node: BTreeMap<String, u64>,
    /// Calls of each tool.
    pub tool_call_counts: BTreeMap<String, u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// Where a recording comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunProvenance {
    /// The target's name in the config, or the format that was imported.
    pub target: Option<String>,
    /// Model, prompt package and its digest, cache.
    pub provenance: Provenance,
    /// When, in UTC.
    pub recorded_at: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
}

impl Json {
    /// JSON's `null`.
    pub fn null() -> Self {
        Self::from("null")
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Default for Json {
    /// An empty object.
    fn default() -> Self {
        Self::from("{}")
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::Seen { node_transitions: Vec::new(), tool_calls: Vec::new(), events: Vec::new() }
    }
}

impl Steps {
    /// The tool calls that were seen; an agent's own telling is not read here.
    pub fn seen_calls(&self) -> &[ToolCall] {
        match self {
            Self::Seen { tool_calls, .. } => tool_calls,
            Self::Told(_) => &[],
        }
    }
}
