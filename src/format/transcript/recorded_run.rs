//! One run in a transcript.

use std::collections::BTreeMap;

use crate::model::{
    AgentName, CaseId, Json, Measures, Provenance, RunEvidence, RunInputs, RunProvenance, RunRecord, RunStatus, Steps,
    ToolCall,
};

/// One run in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The byte offset at which it starts, for problems of the whole transcript.
    pub at: usize,
    /// The agent's name, if the transcript contains it.
    pub agent: Option<String>,
    /// The case's name, if the transcript contains it.
    pub case: Option<String>,
    /// How the run ended.
    pub status: RunStatus,
    /// The error message, if it did not complete.
    pub error: Option<String>,
    /// The messages of the system and the user before the first answer.
    pub prompt: Option<String>,
    /// The user's first message, if any.
    pub query: Option<String>,
    /// User or system messages after that and before the last answer: the answer does not refer to the first message alone then.
    pub interjected: Option<String>,
    /// The last answer; `None` if the transcript contains no texts.
    pub text: Option<String>,
    /// The tool calls in order.
    pub calls: Vec<ToolCall>,
    /// Messages in between as `{"role", "text"}`, and parts of unknown types as written.
    pub events: Vec<Json>,
    /// Tokens and time.
    pub metrics: Measures,
    /// The model that answered.
    pub model: Option<String>,
    /// When it started, in UTC.
    pub started_at: Option<String>,
    /// Number of omitted parts by type.
    pub left_out: BTreeMap<String, u32>,
}

impl Transcript {
    /// The record of this run under the suite's names.
    pub fn record(&self, form: TranscriptFormat, agent: AgentName, case: CaseId, sample: u32) -> RunRecord {
        let outputs = match &self.text {
            Some(text) => serde_json::json!({ "text": text }),
            None => serde_json::json!({}),
        };
        let mut metrics = self.metrics.clone();
        for call in &self.calls {
            *metrics.tool_call_counts.entry(call.name.clone()).or_default() += 1;
        }
        RunRecord {
            agent,
            case,
            sample,
            status: self.status,
            error: self.error.clone(),
            inputs: RunInputs { prompt: self.prompt.clone(), ..RunInputs::default() },
            outputs: Json::from(outputs.to_string()),
            intermediate: Steps::Seen {
                node_transitions: Vec::new(),
                tool_calls: self.calls.clone(),
                events: self.events.clone(),
            },
            evidence: RunEvidence::default(),
            metrics,
            provenance: RunProvenance {
                target: Some(format!("import {}", form.as_str())),
                provenance: Provenance { model: self.model.clone(), ..Provenance::default() },
                recorded_at: self.started_at.clone(),
                ..RunProvenance::default()
            },
        }
    }
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// Message lists of the chat completions, and items of the Responses API.
    OpenAi,
    /// Messages with content blocks.
    Anthropic,
    /// Traces with the GenAI semantic conventions or OpenInference, in OTLP's JSON encoding or in protobuf.
    Otlp,
    /// Logs of inspect-ai.
    Inspect,
    /// Dumps of LangChain's messages.
    Langchain,
    /// Runs of LangSmith.
    Langsmith,
    /// Traces of Langfuse.
    Langfuse,
    /// The output of promptfoo, or its config, which has cases only.
    Promptfoo,
    /// Samples of OpenAI's evals, which are cases only.
    OpenaiEvals,
}

impl TranscriptFormat {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::OpenAi, Self::Anthropic, Self::Otlp, Self::Inspect, Self::Langchain, Self::Langsmith, Self::Langfuse];

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The names of all formats, in a sentence.
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Whether its records are traces, which may lack the messages.
    pub fn is_trace(self) -> bool {
        match self {
            Self::Otlp | Self::Langsmith | Self::Langfuse => true,
            Self::OpenAi | Self::Anthropic | Self::Inspect | Self::Langchain | Self::Promptfoo | Self::OpenaiEvals => {
                false
            }
        }
    }

    /// The name on the command line and in a record's provenance.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Otlp => "otlp",
            Self::Inspect => "inspect",
            Self::Langchain => "langchain",
            Self::Langsmith => "langsmith",
            Self::Langfuse => "langfuse",
            Self::Promptfoo => "promptfoo",
            Self::OpenaiEvals => "openai-evals",
        }
    }
}
