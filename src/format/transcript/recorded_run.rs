//! One run in a transcript.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::{
    AgentName, CaseId, IMPORTED, Json, Measures, Provenance, RunEvidence, RunInputs, RunProvenance,
    RunRecord, RunStatus, Steps, ToolCall, words,
};

/// Which parts of a file are the runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunNames<'a> {
    /// The key of a record, or the attribute of a span, with the case.
    pub case_key: Option<&'a str>,
    /// The agent. Of several agents in a trace, its answer is that of the run.
    pub agent: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The byte offset at which it starts, for problems of the whole transcript.
    pub at: usize,
    /// The agent's name, if the transcript contains it.
    pub agent: Option<String>,
    /// Which of several things that were tried side by side made the run, such as one of promptfoo's prompts.
    pub variant: Option<String>,
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
    /// The first message of the system after the user's first message and before the last answer, if any.
    pub instructed: Option<String>,
    /// The turns of the conversation that have an answer; empty if the transcript does not tell them.
    pub turns: Vec<TranscriptTurn>,
    /// The last answer; `None` if the transcript contains no texts.
    pub text: Option<String>,
    /// The tool calls in order.
    pub calls: Vec<ToolCall>,
    /// Messages in between as `{"role", "text"}`, and parts of unknown types as written.
    pub events: Vec<Json>,
    /// Tokens and time.
    pub metrics: Measures,
    pub model: Option<String>,
    /// When it started, in UTC.
    pub started_at: Option<String>,
    /// Number of omitted parts by type.
    pub left_out: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptTurn {
    /// What the user said; several messages without an answer between them are one.
    pub user: String,
    /// The answer.
    pub text: String,
}

impl Transcript {
    /// A completed run that contains nothing, at a byte offset.
    pub fn blank(at: usize) -> Self {
        Self {
            at,
            agent: None,
            variant: None,
            case: None,
            status: RunStatus::Completed,
            error: None,
            prompt: None,
            query: None,
            interjected: None,
            instructed: None,
            turns: Vec::new(),
            text: None,
            calls: Vec::new(),
            events: Vec::new(),
            metrics: Measures::default(),
            model: None,
            started_at: None,
            left_out: BTreeMap::new(),
        }
    }

    /// A message in between, as an event.
    pub fn event(role: &str, text: &str) -> Json {
        Json::from(json!({ "role": role, "text": text }).to_string())
    }

    /// Whether the run has an answer, as far as is known.
    pub fn is_answered(&self) -> bool {
        self.text
            .as_ref()
            .is_none_or(|text| !text.trim().is_empty())
    }

    /// The messages of the user that were answered; of a run whose turns are not known, the first one.
    pub fn messages(&self) -> Vec<&str> {
        match self.turns.as_slice() {
            [] => self.query.as_deref().into_iter().collect(),
            turns => turns.iter().map(|turn| turn.user.as_str()).collect(),
        }
    }

    /// The outputs: the last answer, and the turns if there are several.
    fn outputs(&self) -> Map<String, Value> {
        let mut outputs = Map::new();
        outputs.extend(
            self.text
                .as_ref()
                .map(|text| ("text".to_owned(), json!(text))),
        );
        if self.turns.len() > 1 {
            let turns = self
                .turns
                .iter()
                .map(|TranscriptTurn { user, text }| json!({ "user": user, "text": text }));
            outputs.insert("turns".to_owned(), turns.collect());
        }
        outputs
    }

    /// The record of this run under the suite's names.
    pub fn record(
        &self,
        form: TranscriptFormat,
        agent: AgentName,
        case: CaseId,
        sample: u32,
    ) -> RunRecord {
        let mut metrics = self.metrics.clone();
        for call in &self.calls {
            *metrics
                .tool_call_counts
                .entry(call.name.clone())
                .or_default() += 1;
        }
        RunRecord {
            agent,
            case,
            sample,
            status: self.status,
            error: self.error.clone(),
            inputs: RunInputs {
                prompt: self.prompt.clone(),
                ..RunInputs::default()
            },
            outputs: Json::from(Value::Object(self.outputs()).to_string()),
            intermediate: Steps::Seen {
                node_transitions: Vec::new(),
                tool_calls: self.calls.clone(),
                events: self.events.clone(),
            },
            evidence: RunEvidence::default(),
            metrics,
            provenance: RunProvenance {
                target: Some(format!("{IMPORTED}{}", form.as_str())),
                provenance: Provenance {
                    model: self.model.clone(),
                    ..Provenance::default()
                },
                recorded_at: self.started_at.clone(),
                ..RunProvenance::default()
            },
        }
    }
}

words! {
    /// The format of a transcript, with its name on the command line and in a record's provenance.
    pub enum TranscriptFormat {
        /// Message lists of the chat completions, and items of the Responses API.
        OpenAi = "openai",
        /// Messages with content blocks.
        Anthropic = "anthropic",
        /// Traces with the GenAI semantic conventions or OpenInference, in OTLP's JSON encoding or in protobuf.
        Otlp = "otlp",
        /// Logs of inspect-ai.
        Inspect = "inspect",
        /// Dumps of LangChain's messages.
        Langchain = "langchain",
        /// Runs of LangSmith.
        Langsmith = "langsmith",
        /// Traces of Langfuse.
        Langfuse = "langfuse",
        /// The output of promptfoo, or its config, which has cases only.
        Promptfoo = "promptfoo",
        /// Samples of OpenAI's evals, which are cases only.
        OpenaiEvals = "openai-evals",
    }
}

impl TranscriptFormat {
    /// The formats of runs alone, without cases.
    pub const OF_RUNS: [Self; 7] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Otlp,
        Self::Inspect,
        Self::Langchain,
        Self::Langsmith,
        Self::Langfuse,
    ];

    /// The names of all formats, in a sentence.
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Whether its records are traces, which may lack the messages.
    pub fn is_trace(self) -> bool {
        match self {
            Self::Otlp | Self::Langsmith | Self::Langfuse => true,
            Self::OpenAi
            | Self::Anthropic
            | Self::Inspect
            | Self::Langchain
            | Self::Promptfoo
            | Self::OpenaiEvals => false,
        }
    }
}
