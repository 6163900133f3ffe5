//! The loop around a model: it is told, it calls tools, it is told their answers, until it has said its last.

use serde_json::{Value, json};

use super::tools::Tools;
use crate::model::{
    AnswerForm, Conversation, Json, Message, ModelTurn, SampleRequest, Steps, ToolAnswer, ToolCall, Toolbox,
};
use crate::suites::Files;
use crate::text::recover::recover_any;

/// Turns after which a model that still calls tools is not asked again.
const MOST_TURNS: usize = 24;

/// A conversation on its way.
pub struct OngoingConversation<'a> {
    tools: Tools<'a>,
    conversation: Conversation,
    calls: Vec<ToolCall>,
    turns: usize,
}

/// What a turn left to do.
pub enum NextTurn {
    /// The model is asked again.
    Ask,
    /// It has said its last.
    Done,
}

/// What a conversation came to.
pub struct ConversationOutcome {
    /// The record's `outputs`.
    pub outputs: Json,
    /// The record's `intermediate`.
    pub steps: Steps,
    /// Files that were read.
    pub read: Vec<String>,
}

impl<'a> OngoingConversation<'a> {
    /// The conversation of a request, before its first turn.
    pub fn new(request: &'a SampleRequest, folder: &'a dyn Files) -> Self {
        let tools = Tools::new(&request.ask.tools, folder);
        let conversation = Conversation {
            system: instructed(&request.system, request.ask.answer.as_ref()),
            messages: vec![Message::User(request.ask.prompt.clone())],
            tools: tools.specs(),
            answer: request.ask.answer.clone(),
        };
        Self { tools, conversation, calls: Vec::new(), turns: 0 }
    }

    /// What the model is told now.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Takes a turn, and answers the calls in it.
    pub fn take(&mut self, turn: ModelTurn) -> NextTurn {
        self.turns += 1;
        let ModelTurn { text, calls, .. } = turn;
        let mut answers = Vec::with_capacity(calls.len());
        for call in &calls {
            let outcome = self.tools.answer(call);
            self.calls.push(ToolCall {
                name: call.name.clone(),
                arguments: Json::from(call.arguments.to_string()),
                result: outcome.as_ref().map_or_else(|_| Json::null(), |result| Json::from(result.to_string())),
                error: outcome.as_ref().err().cloned(),
                latency_ms: None,
            });
            answers.push(ToolAnswer { id: call.id.clone(), outcome });
        }
        let next = if calls.is_empty() || self.turns >= MOST_TURNS { NextTurn::Done } else { NextTurn::Ask };
        self.conversation.messages.push(Message::Model { text, calls });
        if !answers.is_empty() {
            self.conversation.messages.push(Message::Tools(answers));
        }
        next
    }

    /// What it came to.
    pub fn finish(mut self, toolbox: &Toolbox) -> ConversationOutcome {
        let text = self.conversation.messages.iter().rev().find_map(|message| match message {
            Message::Model { text, .. } => Some(text.as_str()),
            Message::User(_) | Message::Tools(_) => None,
        });
        let text = text.unwrap_or_default();
        let outputs = match toolbox {
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
        let events = self.tools.events.iter().map(|event| Json::from(event.to_string())).collect();
        let steps = Steps::Seen { node_transitions: Vec::new(), tool_calls: self.calls, events };
        ConversationOutcome { outputs: Json::from(outputs.to_string()), steps, read: self.tools.read }
    }
}

/// The result of an inspection: the field of the object that the model was asked for, else what it said.
fn result(text: &str) -> Value {
    let object = recover_any(text).and_then(|found| found.value.get("result").cloned());
    object.filter(|result| result.is_string() || result.is_object()).unwrap_or_else(|| Value::from(text))
}

/// The agent's own rules, and the form of the answer.
fn instructed(system: &str, answer: Option<&AnswerForm>) -> String {
    let form =
        answer.map(|form| format!("Answer with one JSON object of this schema, and nothing else:\n{}", form.schema));
    let parts: Vec<&str> =
        [Some(system), form.as_deref()].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
