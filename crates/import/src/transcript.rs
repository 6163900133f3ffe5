//! One run of an agent, and the formats that have them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Which parts of a file are the runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// The key of a record, or the attribute of a span, with the case.
    pub case_key: Option<&'a str>,
    /// The agent. Of several agents in a trace, its answer is that of the run.
    pub agent: Option<&'a str>,
    /// The attribute of a span with which the author of a trace states the agent.
    pub agent_attribute: &'a str,
    /// The same for the case.
    pub case_attribute: &'a str,
}

/// One run of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
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
    pub ending: Ending,
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
    pub turns: Vec<Turn>,
    /// The last answer; `None` if the transcript contains no texts.
    pub text: Option<String>,
    /// The tool calls in order.
    pub calls: Vec<Call>,
    /// Messages in between as `{"role", "text"}`, and items of unknown types as written.
    pub events: Vec<Value>,
    /// Tokens, time and cost.
    pub usage: Usage,
    /// The model's name.
    pub model: Option<String>,
    /// When it started, in UTC.
    pub started_at: Option<String>,
    /// Whether the model stopped at its limit of tokens, so that the answer is not whole.
    pub is_cut_off: bool,
    /// The record of the run as its own system wrote it, which has more than the texts and calls that are read here.
    pub record: Option<Value>,
    /// Whether the case passed, according to the log.
    pub passed: Option<bool>,
    /// Number of omitted parts by type.
    pub left_out: BTreeMap<String, u32>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// With its answer.
    #[default]
    Completed,
    /// With an error.
    Error,
    /// Its time was over.
    Timeout,
    /// It made no progress.
    Stalled,
    /// It was cancelled.
    Cancelled,
}

impl Ending {
    /// That of a run which has an error, or none.
    #[must_use]
    pub fn of(error: Option<&String>) -> Self {
        match error {
            Some(_) => Self::Error,
            None => Self::Completed,
        }
    }
}

/// What the user said, and the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What the user said; several messages without an answer between them are one.
    pub user: String,
    /// The answer.
    pub text: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The MCP server of the tool, if stated.
    pub server: Option<String>,
    /// Its arguments; a text where they are no JSON.
    pub arguments: Value,
    /// Its result; null if it returned nothing.
    pub result: Value,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// Its duration in milliseconds, if measured.
    pub latency_ms: Option<u64>,
    /// The turn of the conversation that it belongs to, from 0; `None` in a run with one message of the user.
    pub turn: Option<u32>,
    /// The answer of the model that asked for it, from 0: calls of one answer have one number. `None` if this is the only call, or unknown.
    pub step: Option<u32>,
}

/// Tokens, time and cost of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// Input tokens, with those of the cache.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Total tokens.
    pub total_tokens: Option<u64>,
    /// Total time in milliseconds.
    pub latency_ms: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

impl Transcript {
    /// A message in between, as an event.
    #[must_use]
    pub fn event(role: &str, text: &str) -> Value {
        json!({ "role": role, "text": text })
    }

    /// Whether the run has an answer, as far as is known.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.text
            .as_ref()
            .is_none_or(|text| !text.trim().is_empty())
    }

    /// The messages of the user that were answered; of a run whose turns are not known, the first one.
    #[must_use]
    pub fn messages(&self) -> Vec<&str> {
        match self.turns.as_slice() {
            [] => self.query.as_deref().into_iter().collect(),
            turns => turns.iter().map(|turn| turn.user.as_str()).collect(),
        }
    }
}

impl Call {
    /// A call without a result.
    pub(crate) fn of(name: &str, arguments: Value) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            ..Self::default()
        }
    }

    /// Removes the step of an only call: nothing shares it.
    pub fn clear_single_step(calls: &mut [Self]) {
        if let [only] = calls {
            only.step = None;
        }
    }
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
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
    /// Sessions of Claude Code and of the Agent SDK.
    ClaudeCode,
    /// Sessions of Codex.
    Codex,
    /// Contents, requests and answers of Gemini.
    Gemini,
    /// Sets of evaluation cases and sessions of Google's Agent Development Kit.
    Adk,
    /// Messages, requests and answers of Bedrock's Converse API.
    Bedrock,
    /// Requests and answers of Ollama.
    Ollama,
    /// Results of tau-bench.
    TauBench,
    /// Trajectories of SWE-agent.
    SweAgent,
    /// Event logs of OpenHands.
    OpenHands,
    /// Goldens of deepeval.
    Deepeval,
    /// Tables of questions and answers, which are cases only.
    Csv,
    /// Logs with an entry for each case; never found out by themselves.
    Results,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 21] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Otlp,
        Self::Inspect,
        Self::Langchain,
        Self::Langsmith,
        Self::Langfuse,
        Self::Promptfoo,
        Self::OpenaiEvals,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Adk,
        Self::Bedrock,
        Self::Ollama,
        Self::TauBench,
        Self::SweAgent,
        Self::OpenHands,
        Self::Deepeval,
        Self::Csv,
        Self::Results,
    ];

    /// Its name on a command line.
    #[must_use]
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
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Adk => "adk",
            Self::Bedrock => "bedrock",
            Self::Ollama => "ollama",
            Self::TauBench => "tau-bench",
            Self::SweAgent => "swe-agent",
            Self::OpenHands => "openhands",
            Self::Deepeval => "deepeval",
            Self::Csv => "csv",
            Self::Results => "results",
        }
    }

    /// The format with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The names of all formats, in a sentence.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Whether its records are traces, which may lack the messages.
    #[must_use]
    pub fn is_trace(self) -> bool {
        matches!(self, Self::Otlp | Self::Langsmith | Self::Langfuse)
    }
}
