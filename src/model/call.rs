//! What a live agent is asked, and what one call to it came to.

use std::time::Duration;

use serde_json::Value;

use super::path::RepoPath;
use super::run::{RunKey, RunStatus};

/// One sample of one run that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRequest {
    /// Whose run of what.
    pub key: RunKey,
    /// Which sample, from 0. It is part of a request's identity: two samples never share one answer.
    pub sample: u32,
    /// The agent's prompt package as one text; empty where it has none.
    pub system: String,
    /// What the case asks.
    pub ask: Ask,
}

/// What a case asks of an agent: the same thing in words for a bare model, and in fields for an agent's own program.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The words that a model is given; empty where the case has fields alone, so that no model can be asked.
    pub prompt: String,
    /// The same as a JSON object, for `command` and `http` targets.
    pub inputs: Value,
    /// The form of the answer, where the kind has one.
    pub answer: Option<AnswerForm>,
    /// What the agent may use.
    pub tools: Toolbox,
}

/// Who of a loop of two agents is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoopRole {
    /// Who makes something: the agent that is graded.
    Actor,
    /// Who judges what was made.
    Critic,
}

/// What follows in a loop of two agents.
#[derive(Debug, Clone, PartialEq)]
pub enum NextRole {
    /// One of them is asked.
    Ask(LoopRole, Ask),
    /// Nothing: the loop is at its end.
    End,
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    /// Its name: letters, digits, `_` and `-`.
    pub name: &'static str,
    /// A JSON Schema of an object: every property required, none beside them, so that every vendor's strict mode takes it.
    pub schema: Value,
}

/// The tools that a run may use.
#[derive(Debug, Clone, PartialEq)]
pub enum Toolbox {
    /// None.
    Empty,
    /// Tools with canned results, as the suite declares them.
    Canned(Vec<CannedTool>),
    /// `list_files`, `read_file` and `search`, which see this folder of the repository and nothing else.
    Folder {
        /// The folder.
        root: RepoPath,
        /// The most calls that a run should need; more count as violations of the policy and are answered with an error.
        max_calls: u32,
    },
}

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// A tool whose results were written down beforehand.
#[derive(Debug, Clone, PartialEq)]
pub struct CannedTool {
    /// What a model is told about it.
    pub spec: ToolSpec,
    /// Its results; the first whose `when` is contained in the arguments is given.
    pub results: Vec<CannedResult>,
}

/// One result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CannedResult {
    /// Arguments that have to be there, nested objects by subset; an empty object fits always.
    pub when: Value,
    /// What the tool then says.
    pub says: Value,
}

/// What a model is told, up to its next turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The system prompt; empty where there is none.
    pub system: String,
    /// What was said so far; the first message is the user's.
    pub messages: Vec<Message>,
    /// The tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// The form of the last answer. With tools a model is not forced into it, since it could then call none.
    pub answer: Option<AnswerForm>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The user's.
    User(String),
    /// The model's: its text, and the tools that it called.
    Model {
        /// Its text; may be empty where it called tools.
        text: String,
        /// Its calls.
        calls: Vec<AskedCall>,
    },
    /// The answers of the tools, in the order of the calls.
    Tools(Vec<ToolAnswer>),
}

/// A model's call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCall {
    /// The vendor's id of it.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments: an object, or whatever the model wrote in its place.
    pub arguments: Value,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The id of the call.
    pub id: String,
    /// The result, or what was wrong with the call.
    pub outcome: Result<Value, String>,
}

/// A model's turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTurn {
    /// Its text.
    pub text: String,
    /// The tools that it called.
    pub calls: Vec<AskedCall>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost, as the vendor says.
    pub spent: TokenUsage,
    /// The model that answered, as the vendor names it.
    pub model: Option<String>,
}

/// Why a model's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It had said everything, or called its tools.
    End,
    /// The limit of tokens.
    Length,
    /// It, or the vendor's filter, refused.
    Refused,
    /// Another reason, as the vendor names it.
    Other(String),
}

/// Tokens of one or more calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Read, those from the vendor's cache among them.
    pub input: u64,
    /// Of these, read from the vendor's cache.
    pub cached_input: u64,
    /// Written.
    pub output: u64,
}

impl TokenUsage {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// A call that gave no answer. Infrastructure: never the agent's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// How the run ends where no further try helps: `error`, `timeout` or `stalled`.
    pub status: RunStatus,
    /// What happened, in one line without secrets.
    pub what: String,
    /// Whether another try may help.
    pub retry: Retry,
}

/// Whether another try may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It will not: a wrong key, a request that is refused.
    Never,
    /// It may: 408, 409, 429, 5xx, a connection that broke.
    Later {
        /// The least time to wait, where the server said one.
        after: Option<Duration>,
    },
}

impl LoopRole {
    /// The word used in records and reasons.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Actor => "actor",
            Self::Critic => "critic",
        }
    }
}
