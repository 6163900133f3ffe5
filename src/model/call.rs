//! Requests to live agents, and the results of calls.

use std::time::Duration;

use serde_json::{Value, json};

use super::path::RepoPath;
use super::run::{RunKey, RunStatus};
use super::words::words;

/// One sample of one run to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRequest {
    /// Suite, agent and case.
    pub key: RunKey,
    /// The sample, from 0. Part of a request's identity: two samples never share an answer.
    pub sample: u32,
    /// The agent's prompt package as one text; empty if it has none.
    pub system: String,
    /// The task of the case.
    pub ask: Ask,
    /// The place in a conversation, if the request is one turn of it.
    pub conversation: Option<ConversationSoFar>,
}

/// The place of a request in a conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConversationSoFar {
    /// The turns before, in order.
    pub before: Vec<PastTurn>,
}

impl ConversationSoFar {
    /// The bytes of its texts.
    pub fn bytes(&self) -> usize {
        self.before.iter().map(PastTurn::bytes).sum()
    }
}

/// A turn of a conversation that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct PastTurn {
    /// What the user said.
    pub user: String,
    /// What the agent answered.
    pub text: String,
    /// The tool calls that the agent stated, as it wrote them.
    pub calls: Vec<Value>,
}

impl PastTurn {
    fn bytes(&self) -> usize {
        let calls: usize = self.calls.iter().map(|call| call.to_string().len()).sum();
        self.user.len() + self.text.len() + calls
    }
}

/// The task of a case: as text for a bare model, as fields for an agent's own program.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The text for a model; empty if the case has only fields, so that no model can run it.
    pub prompt: String,
    /// The same as a JSON object, for `command` and `http` targets.
    pub inputs: Value,
    /// The format of the answer, if the kind defines one.
    pub answer: Option<AnswerForm>,
    /// The tools that the agent may use.
    pub tools: Toolbox,
    /// What the user says after the prompt.
    pub turns: UserTurns,
}

impl Ask {
    /// A request without tools and without another message of the user.
    pub fn plain(prompt: String, inputs: Value, answer: Option<AnswerForm>) -> Self {
        Self {
            prompt,
            inputs,
            answer,
            tools: Toolbox::Empty,
            turns: UserTurns::Single,
        }
    }

    /// Everything that the agent certainly hears: the prompt, or all messages of a script.
    pub fn said(&self) -> Vec<&str> {
        match &self.turns {
            UserTurns::Single | UserTurns::Simulated(_) => vec![&self.prompt],
            UserTurns::Scripted(messages) => messages
                .iter()
                .map(|message| message.text.as_str())
                .collect(),
        }
    }
}

/// What the user says in a case.
#[derive(Debug, Clone, PartialEq)]
pub enum UserTurns {
    /// The prompt alone.
    Single,
    /// Every message of a conversation, the prompt first.
    Scripted(Vec<UserMessage>),
    /// The prompt, then what a model says that plays the user.
    Simulated(SimulatedUser),
}

impl UserTurns {
    /// The user that a model plays.
    pub fn simulated_user(&self) -> Option<&SimulatedUser> {
        match self {
            Self::Simulated(user) => Some(user),
            Self::Single | Self::Scripted(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedUser {
    /// The model's target, by its name in the config.
    pub target: String,
    /// What the user wants, and what the user knows.
    pub goal: String,
    /// The most messages that the user says, the prompt among them.
    pub max_turns: u32,
}

/// What the user says in one turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    pub text: String,
    /// The same as a JSON object, for `command` and `http` targets.
    pub inputs: Value,
}

impl UserMessage {
    /// A user's own words.
    pub fn query(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            inputs: json!({ QUERY: text }),
        }
    }
}

/// The field of `inputs` with a user's own words.
pub const QUERY: &str = "query";

/// The key of an input that is not a text.
pub const INPUT: &str = "input";

words! {
    #[derive(PartialOrd, Ord)]
    pub enum LoopRole {
        /// The agent that produces something; it is graded.
        Actor = "actor",
        /// The agent that judges the product.
        Critic = "critic",
    }
}

/// The next step in a loop of two agents.
#[derive(Debug, Clone, PartialEq)]
pub enum NextRole {
    /// A request to one of them.
    Ask(LoopRole, Ask),
    End,
}

/// The format of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    /// Its name: letters, digits, `_` and `-`.
    pub name: &'static str,
    /// A JSON Schema of an object with all properties required and no additional ones, as every vendor's strict mode needs.
    pub schema: Value,
}

/// The tools that a run may use.
#[derive(Debug, Clone, PartialEq)]
pub enum Toolbox {
    /// No tools.
    Empty,
    /// Tools with canned results from the suite.
    Canned(Vec<CannedTool>),
    /// `list_files`, `read_file` and `search` on this folder of the repository only.
    Folder {
        /// The folder.
        root: RepoPath,
        /// The expected maximum of calls; further calls count as policy violations and return an error.
        max_calls: u32,
    },
}

/// The declaration of a tool for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl ToolSpec {
    fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.parameters.to_string().len()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CannedTool {
    pub spec: ToolSpec,
    /// Its results; the first one whose `when` is contained in the arguments is returned.
    pub results: Vec<CannedResult>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CannedResult {
    /// Arguments that must be present, nested objects by subset; an empty object always matches.
    pub when: Value,
    /// The tool's answer.
    pub says: Value,
}

/// The input of a model for its next turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The system prompt; may be empty.
    pub system: String,
    /// The messages so far; the first one is the user's.
    pub messages: Vec<Message>,
    /// The tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// The format of the last answer. A model with tools is not forced into it, because it could not call a tool then.
    pub answer: Option<AnswerForm>,
}

impl Conversation {
    /// The bytes of its texts.
    pub fn bytes(&self) -> usize {
        let Self {
            system,
            messages,
            tools,
            answer,
        } = self;
        let answer = answer
            .as_ref()
            .map_or(0, |form| form.schema.to_string().len());
        let messages: usize = messages.iter().map(Message::bytes).sum();
        let tools: usize = tools.iter().map(ToolSpec::bytes).sum();
        system.len() + messages + tools + answer
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A message of the user.
    User(String),
    /// A turn of the model: its text and its tool calls.
    Model {
        /// Its text; may be empty if it called tools.
        text: String,
        /// Its calls.
        calls: Vec<AskedCall>,
    },
    /// The results of the tools, in the order of the calls.
    Tools(Vec<ToolAnswer>),
}

impl Message {
    /// The bytes of its texts.
    fn bytes(&self) -> usize {
        match self {
            Self::User(text) => text.len(),
            Self::Model { text, calls } => {
                text.len() + calls.iter().map(AskedCall::bytes).sum::<usize>()
            }
            Self::Tools(answers) => answers.iter().map(ToolAnswer::bytes).sum(),
        }
    }
}

/// A model's call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCall {
    /// The vendor's id of the call.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments: an object, or whatever the model wrote instead.
    pub arguments: Value,
}

impl AskedCall {
    /// The bytes of its texts.
    fn bytes(&self) -> usize {
        self.name.len() + self.arguments.to_string().len()
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The id of the call.
    pub id: String,
    /// The result, or the error of the call.
    pub outcome: Result<Value, String>,
}

impl ToolAnswer {
    /// The bytes of its text.
    fn bytes(&self) -> usize {
        match &self.outcome {
            Ok(value) => value.to_string().len(),
            Err(error) => error.len(),
        }
    }
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
    /// Its tokens, as the vendor reports them.
    pub spent: TokenUsage,
    /// The model that answered, as the vendor names it.
    pub model: Option<String>,
}

impl ModelTurn {
    /// The bytes of its texts.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.calls.iter().map(AskedCall::bytes).sum::<usize>()
    }
}

/// Why a model's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It was complete, or called tools.
    End,
    /// It reached the token limit.
    Length,
    /// The model or the vendor's filter refused.
    Refused,
    /// Another reason, as the vendor names it.
    Other(String),
}

/// Tokens of one or more calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Input tokens, including those from the vendor's cache.
    pub input: u64,
    /// Of these, tokens from the vendor's cache.
    pub cached_input: u64,
    /// Output tokens.
    pub output: u64,
}

impl TokenUsage {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// A call without an answer. Infrastructure: never counted as the agent's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// The status of the run if retries do not help: `error`, `timeout` or `stalled`.
    pub status: RunStatus,
    /// The error in one line without secrets.
    pub what: String,
    /// Whether a retry may help.
    pub retry: Retry,
    /// Whether it may have been charged.
    pub charge: Charge,
}

impl CallError {
    /// The same failure of a call that may have been charged.
    pub fn charged(self) -> Self {
        Self {
            charge: Charge::Possible,
            ..self
        }
    }
}

/// Whether a call without an answer may have been charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charge {
    /// It was refused, or it never arrived.
    Never,
    /// The server worked on it: its answer was late, broke off or could not be used.
    Possible,
}

/// Whether a retry may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It cannot help: a wrong key, a refused request.
    Never,
    /// It may help: 408, 409, 429, 5xx, a broken connection.
    Later {
        /// The minimum wait, if the server sent one.
        after: Option<Duration>,
    },
}
