//! The conversation loop of a model: it answers or calls tools, and gets their results, until it answers without a tool
//! call.

use recover::recover_any;
use serde_json::{Value, json};

use super::simulated_user::USER;
use super::tools::Tools;
use crate::files::Files;
use crate::model::{
    AnswerForm, Conversation, Json, Message, ModelTurn, PastTurn, SampleRequest, Steps, ToolAnswer,
    ToolCall, Toolbox, UserTurns,
};
use crate::text::without_reasoning;

/// Maximum number of turns of the model for one message of the user; a model that still calls tools then is not asked again.
const MOST_TURNS: usize = 24;

pub struct OngoingConversation<'a> {
    tools: Tools<'a>,
    conversation: Conversation,
    calls: Vec<ToolCall>,
    /// The turns of the model since the user's last message.
    turns: usize,
    /// The number of the model's answers before this one.
    step: u32,
    /// Whether the user may say more than one thing.
    has_turns: bool,
    /// What the user said, with the answers.
    said: Vec<PastTurn>,
}

pub enum NextTurn {
    /// Ask the model again.
    Agent,
    /// The model has answered: ask the user.
    User,
    Done,
}

pub struct ConversationOutcome {
    /// The record's `outputs`.
    pub outputs: Json,
    /// The record's `intermediate`.
    pub steps: Steps,
    /// Paths of the files that were read.
    pub read: Vec<String>,
}

impl<'a> OngoingConversation<'a> {
    /// The conversation of a request before its first turn.
    pub fn new(request: &'a SampleRequest, folder: &'a dyn Files) -> Self {
        let tools = Tools::new(&request.ask.tools, folder);
        let first_turn = PastTurn {
            user: request.ask.prompt.clone(),
            text: String::new(),
            calls: Vec::new(),
        };
        let conversation = Conversation {
            system: instructed(&request.system, request.ask.answer.as_ref()),
            messages: vec![Message::User(request.ask.prompt.clone())],
            tools: tools.specs(),
            answer: request.ask.answer.clone(),
        };
        Self {
            tools,
            conversation,
            calls: Vec::new(),
            turns: 0,
            step: 0,
            has_turns: request.ask.turns != UserTurns::Single,
            said: vec![first_turn],
        }
    }

    /// The messages, tools and answer format of the next turn.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What the user said so far, with the answers.
    pub fn said(&self) -> &[PastTurn] {
        &self.said
    }

    pub fn hear(&mut self, message: String) {
        self.turns = 0;
        self.said.push(PastTurn {
            user: message.clone(),
            text: String::new(),
            calls: Vec::new(),
        });
        self.conversation.messages.push(Message::User(message));
    }

    /// Adds a turn and answers its tool calls.
    pub fn take(&mut self, turn: ModelTurn) -> NextTurn {
        self.turns += 1;
        let ModelTurn { text, calls, .. } = turn;
        let mut answers = Vec::with_capacity(calls.len());
        let turn = self
            .has_turns
            .then(|| u32::try_from(self.said.len() - 1).ok())
            .flatten();
        for call in &calls {
            let outcome = self.tools.answer(call);
            self.calls.push(ToolCall {
                result: outcome
                    .as_ref()
                    .map_or_else(|_| Json::null(), |result| Json::from(result.to_string())),
                error: outcome.as_ref().err().cloned(),
                turn,
                step: Some(self.step),
                ..ToolCall::of(&call.name, Json::from(call.arguments.to_string()))
            });
            answers.push(ToolAnswer {
                id: call.id.clone(),
                outcome,
            });
        }
        self.step += 1;
        let is_answered = calls.is_empty();
        // What is said with a call does not answer.
        if let Some(said) = self.said.last_mut() {
            said.text = if is_answered {
                text.clone()
            } else {
                String::new()
            };
        }
        // A silent model ended the conversation: no vendor accepts an empty message.
        let goes_on = is_answered && !text.trim().is_empty();
        self.conversation
            .messages
            .push(Message::Model { text, calls });
        if !answers.is_empty() {
            self.conversation.messages.push(Message::Tools(answers));
        }
        match (
            goes_on && self.has_turns,
            is_answered || self.turns >= MOST_TURNS,
        ) {
            (true, _) => NextTurn::User,
            (false, true) => NextTurn::Done,
            (false, false) => NextTurn::Agent,
        }
    }

    /// Ends the conversation: its answer, its steps and the files read. `user` is what is recorded of a simulated user. A model that still calls
    /// tools has not answered.
    pub fn finish(mut self, toolbox: &Toolbox, user: Option<Value>) -> ConversationOutcome {
        let text = self
            .conversation
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Model { text, calls } if calls.is_empty() => Some(text.as_str()),
                Message::Model { .. } | Message::Tools(_) => Some(""),
                Message::User(_) => None,
            });
        let text = text.unwrap_or_default();
        let outputs = match toolbox {
            Toolbox::Empty | Toolbox::Canned(_) if self.has_turns => {
                let mut outputs = json!({ "text": text, "turns": said_turns(&self.said) });
                user.into_iter().for_each(|user| outputs[USER] = user);
                outputs
            }
            Toolbox::Empty | Toolbox::Canned(_) => json!({ "text": text }),
            Toolbox::Folder { .. } => {
                self.tools.event("result_written");
                json!({
                    "text": text,
                    "files_inspected": self.tools.read,
                    "result": result(text),
                    "invalid_tool_call_count": self.tools.violations,
                })
            }
        };
        let events = self
            .tools
            .events
            .iter()
            .map(|event| Json::from(event.to_string()))
            .collect();
        ToolCall::clear_single_step(&mut self.calls);
        let steps = Steps::Seen {
            node_transitions: Vec::new(),
            tool_calls: self.calls,
            events,
        };
        ConversationOutcome {
            outputs: Json::from(outputs.to_string()),
            steps,
            read: self.tools.read,
        }
    }
}

/// The turns of a conversation, as they are recorded.
pub(super) fn said_turns(said: &[PastTurn]) -> Value {
    said.iter()
        .map(
            |PastTurn {
                 user,
                 text,
                 calls: _,
             }| json!({ "user": user, "text": text }),
        )
        .collect()
}

/// The result of an inspection: the `result` field of the answered object outside of its reasoning, else the whole text.
fn result(text: &str) -> Value {
    let object = recover_any(&without_reasoning(text))
        .and_then(|recovered| recovered.value.get("result").cloned());
    object
        .filter(|result| result.is_string() || result.is_object())
        .unwrap_or_else(|| Value::from(text))
}

/// The system prompt: the agent's own rules, then the answer format.
fn instructed(system: &str, answer: Option<&AnswerForm>) -> String {
    let form = answer.map(|form| {
        format!(
            "Answer with one JSON object of this schema, and nothing else:\n{}",
            form.schema
        )
    });
    let parts: Vec<&str> = [Some(system), form.as_deref()]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n\n")
}
