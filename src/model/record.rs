//! A run to be recorded: `goldgate.run/1` as a value, with all its fields.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::ids::{AgentName, CaseId};
use super::run::{Provenance, RunStatus};

/// The replacement of a secret in a recording.
pub const REDACTED: &str = "[redacted]";

/// One run to be written. A value that was not measured is `None` or empty, and is written as `null` or empty.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The agent.
    pub agent: AgentName,
    /// The case, or the kind's name for a run of it.
    pub case: CaseId,
    /// The sample, from 0.
    pub sample: u32,
    /// How it ended.
    pub status: RunStatus,
    /// The error message, if it did not complete.
    pub error: Option<String>,
    /// Its inputs.
    pub inputs: RunInputs,
    /// Its outputs: the text of a JSON object.
    pub outputs: Json,
    /// Its steps.
    pub intermediate: Steps,
    /// What it read.
    pub evidence: RunEvidence,
    /// Its tokens, time and cost.
    pub metrics: Measures,
    /// Its origin.
    pub provenance: RunProvenance,
}

/// JSON text, unchanged to the byte, for the output of agents. A text that is not JSON is written as a JSON string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

/// The inputs of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunInputs {
    /// The prompt.
    pub prompt: Option<String>,
    /// The state of the repository that it used.
    pub repo_snapshot_id: Option<String>,
    /// Parameters: the text of a JSON object.
    pub options: Json,
}

/// The steps of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Steps {
    /// An agent's own `intermediate` object, unchanged.
    Own(Json),
    /// Steps observed from outside.
    Seen {
        /// Transitions between nodes of its graph.
        node_transitions: Vec<Json>,
        /// Its tool calls in order.
        tool_calls: Vec<ToolCall>,
        /// Other events.
        events: Vec<Json>,
    },
}

/// The keys of the list of calls in the intermediate steps of a record.
pub const CALL_LISTS: [&str; 2] = ["tool_calls", "toolCalls"];

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The MCP server of the tool, if stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its arguments.
    pub arguments: Json,
    /// Its result; `null` if it returned nothing.
    pub result: Json,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// Its duration, if measured.
    pub latency_ms: Option<u64>,
    /// The turn of the conversation that it belongs to, from 0; `None` in a run with one message of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The answer of the model that asked for it, from 0: calls of one answer have one number. `None` if this is the only call, or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

impl ToolCall {
    /// A call without a result.
    pub fn of(name: &str, arguments: Json) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            result: Json::null(),
            error: None,
            latency_ms: None,
            turn: None,
            step: None,
            server: None,
        }
    }

    /// Removes the step of an only call: nothing shares it.
    pub fn clear_single_step(calls: &mut [Self]) {
        if let [only] = calls {
            only.step = None;
        }
    }
}

/// What a run read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RunEvidence {
    /// Files.
    pub file_paths: Vec<String>,
    /// Tests.
    pub test_names: Vec<String>,
    /// Entries of a coverage report.
    pub coverage_refs: Vec<String>,
}

/// Tokens, time and cost of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Measures {
    /// Total tokens.
    pub total_tokens: Option<u64>,
    /// Input tokens.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Total time in milliseconds.
    pub total_latency_ms: Option<u64>,
    /// Tokens by node of the agent's graph.
    pub tokens_per_node: BTreeMap<String, u64>,
    /// Milliseconds by node.
    pub latency_per_node: BTreeMap<String, u64>,
    /// Model calls, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Calls by tool.
    pub tool_call_counts: BTreeMap<String, u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

impl Measures {
    /// The same with the tokens of another call.
    pub fn with_tokens_of(self, other: &Self) -> Self {
        Self {
            total_tokens: added(self.total_tokens, other.total_tokens),
            input_tokens: added(self.input_tokens, other.input_tokens),
            output_tokens: added(self.output_tokens, other.output_tokens),
            ..self
        }
    }

    /// The same with the tokens, the time, the calls and the cost of another part of a run. What single nodes used is not known of a whole that
    /// has parts.
    pub fn with_use_of(mut self, other: &Self) -> Self {
        for (tool, count) in &other.tool_call_counts {
            *self.tool_call_counts.entry(tool.clone()).or_default() += count;
        }
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(left), Some(right)) => Some(left + right),
            (left, right) => left.or(right),
        };
        Self {
            total_latency_ms: added(self.total_latency_ms, other.total_latency_ms),
            model_calls: added(self.model_calls, other.model_calls),
            cost_usd,
            ..self.with_tokens_of(other)
        }
    }
}

/// The sum of what is known.
fn added(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.saturating_add(right)),
        (left, right) => left.or(right),
    }
}

/// The origin of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunProvenance {
    /// The target's name in the config, [`RECORDED_COMMAND`], or [`IMPORTED`] and the format.
    pub target: Option<String>,
    /// What `goldgate record` or `goldgate import` was given, for messages that name the command; empty if unknown.
    pub arguments: Vec<String>,
    /// Model, prompt package with digest, cache.
    pub provenance: Provenance,
    /// Time of recording in UTC.
    pub recorded_at: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The workflow run that recorded it, as a URL; only of `mode: record`.
    pub run: Option<String>,
}

/// What `goldgate record` states as the target of a command that no config names.
pub const RECORDED_COMMAND: &str = "record";

/// What `goldgate import` states as the target, before the name of the format.
pub const IMPORTED: &str = "import ";

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match RawValue::from_string(self.0.trim().to_owned()) {
            Ok(json) => json.serialize(serializer),
            Err(_) => self.0.trim().serialize(serializer),
        }
    }
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
        Self::Seen {
            node_transitions: Vec::new(),
            tool_calls: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl Steps {
    /// The observed tool calls; an agent's own `intermediate` is not parsed.
    pub fn seen_calls(&self) -> &[ToolCall] {
        match self {
            Self::Seen { tool_calls, .. } => tool_calls,
            Self::Own(_) => &[],
        }
    }
}
