//! A message of any tool, read leniently: the GenAI conventions, chat completions, LangChain, inspect-ai, Langfuse and LangSmith.

use serde_json::{Value, json};

use super::content;
use super::content::finish_transcript;
use super::conversation_builder::{Asker, ConversationBuilder, UnmatchedResult};
use super::recorded_run::Transcript;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::{lenient, run_v1};
use crate::model::{Json, Measures};

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct LooseMessage {
    /// The author's role.
    pub role: String,
    /// The parts of the message.
    pub parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// A text.
    Text(String),
    /// A call of a tool.
    Call {
        /// Its id.
        id: Option<String>,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Json,
    },
    /// A tool's result.
    Answer {
        /// The call's id.
        id: Option<String>,
        /// The tool, if the message names it.
        name: Option<String>,
        /// The result.
        result: Json,
        /// The error message, if the tool failed.
        error: Option<String>,
    },
    /// A part of this type that is left out.
    Other(String),
}

impl LooseMessage {
    /// Reads a message; `role` is the role of one that does not name its own.
    pub fn of(value: &Value, role: &str) -> Self {
        message(value, role)
    }

    /// Its texts, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            MessagePart::Call { .. } | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
        });
        texts.collect()
    }
}

/// A list, also one written as a string; a plain text is one message.
pub fn list(value: Option<&Value>) -> Vec<Value> {
    match value.map(lenient::embedded) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => vec![json!({ "type": "text", "content": text })],
        Some(other) => vec![other],
    }
}

/// The fields of a message: LangChain wraps them, and writes pairs of role and text.
fn unwrapped(value: &Value) -> Value {
    let wrapped = match value.get("type").and_then(Value::as_str) {
        Some("constructor") => value.get("kwargs"),
        Some(kind) if role_of_type(kind).is_some() => value.get("data"),
        Some(_) | None => None,
    };
    match (wrapped.filter(|inner| inner.is_object()), value.as_array().map(Vec::as_slice)) {
        (Some(inner), _) => inner.clone(),
        (None, Some([Value::String(role), Value::String(text)])) => json!({ "type": role, "content": text }),
        (None, _) => value.clone(),
    }
}

/// The role for LangChain's types of messages.
fn role_of_type(kind: &str) -> Option<&'static str> {
    match kind {
        "human" | "HumanMessage" | "HumanMessageChunk" | "user" => Some("user"),
        "ai" | "AIMessage" | "AIMessageChunk" | "assistant" => Some("assistant"),
        "system" | "SystemMessage" => Some("system"),
        "tool" | "ToolMessage" => Some("tool"),
        "function" | "FunctionMessage" => Some("function"),
        _ => None,
    }
}

/// A message in the format of the conventions (`parts`), of the chat completions, or of a tool.
fn message(value: &Value, role: &str) -> LooseMessage {
    let value = &unwrapped(value);
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let role = text("role").or_else(|| role_of_type(text("type")?)).unwrap_or(role).to_owned();
    let content = value.get("content").map_or(Value::Null, Value::clone);
    let calls = list(value.get("tool_calls"));
    let mut parts: Vec<MessagePart> = Vec::new();
    match (value.get("parts").and_then(Value::as_array), &content) {
        (Some(list), _) => parts.extend(list.iter().map(part)),
        (None, _) if role == "tool" || role == "function" => parts.push(answer_of(value, &content)),
        (None, Value::Null) => {}
        (None, Value::Array(list)) => {
            // A call is in the content, or in the list of calls, or in both.
            let is_repeated = |part: &MessagePart| matches!(part, MessagePart::Call { .. }) && !calls.is_empty();
            parts.extend(list.iter().map(part).filter(|part| !is_repeated(part)));
        }
        (None, Value::String(text)) => parts.push(MessagePart::Text(text.clone())),
        (None, other) => parts.push(MessagePart::Text(other.to_string())),
    }
    let refusal = text("refusal").or_else(|| value.get("additional_kwargs")?.get("refusal")?.as_str());
    let is_silent =
        |parts: &[MessagePart]| !parts.iter().any(|part| matches!(part, MessagePart::Text(text) if !text.is_empty()));
    if let Some(refusal) = refusal.filter(|_| is_silent(&parts)) {
        parts.push(MessagePart::Text(refusal.to_owned()));
    }
    parts.extend(calls.iter().map(|call| {
        let inner = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
        called(call, inner)
    }));
    LooseMessage { role, parts }
}

/// The result of a tool.
fn answer_of(value: &Value, content: &Value) -> MessagePart {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let result = match content.as_array().map(Vec::as_slice) {
        Some([only]) if only.get("text").is_some() => only.get("text").unwrap_or(content),
        Some(_) | None => content,
    };
    let failed = value.get("error").filter(|error| !error.is_null());
    let message = failed.map(|error| error.get("message").unwrap_or(error));
    let stated = message.map(|message| message.as_str().map_or_else(|| message.to_string(), str::to_owned));
    let by_status = (text("status").as_deref() == Some("error")).then(|| plain(result));
    MessagePart::Answer {
        id: text("tool_call_id").or_else(|| text("id")),
        name: text("name").or_else(|| text("function")),
        result: run_v1::json(result),
        error: stated.or(by_status),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn part(value: &Value) -> MessagePart {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = || ["id", "tool_call_id", "tool_use_id", "call_id"].iter().find_map(|key| text(key));
    let answer = |result: Option<&Value>| {
        let result = result.unwrap_or(&Value::Null);
        let is_error = value.get("is_error") == Some(&Value::Bool(true));
        let (id, name, error) = (id(), text("name"), is_error.then(|| plain(result)));
        MessagePart::Answer { id, name, result: run_v1::json(result), error }
    };
    match value.get("type").and_then(Value::as_str) {
        Some("tool_call" | "tool_use" | "tool-call") => called(value, value),
        // The conventions' example uses `result`, their schema `response`.
        Some("tool_call_response") => answer(value.get("response").or(value.get("result"))),
        Some("tool_result" | "tool-result") => answer(value.get("content").or(value.get("result"))),
        Some("text" | "input_text" | "output_text" | "refusal") => {
            let text = ["content", "text", "refusal"].iter().find_map(|key| text(key));
            MessagePart::Text(text.unwrap_or_default())
        }
        Some(other) => MessagePart::Other(other.to_owned()),
        None => match value {
            Value::String(text) => MessagePart::Text(text.clone()),
            _ => MessagePart::Other("part without a type".to_owned()),
        },
    }
}

fn called(call: &Value, inner: &Value) -> MessagePart {
    let arguments = ["arguments", "args", "input"].iter().find_map(|key| inner.get(*key));
    let name = inner.get("name").or_else(|| inner.get("function")).and_then(Value::as_str).unwrap_or_default();
    let id = ["id", "tool_call_id", "call_id"].iter().find_map(|key| call.get(*key).and_then(Value::as_str));
    MessagePart::Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.map_or(Json::default(), |value| run_v1::json(&lenient::embedded(value))),
    }
}

/// The conversation of messages at a byte offset.
///
/// # Errors
/// A tool's result without its call, or no message of the assistant.
pub fn conversation(source: &SourceText, at: usize, messages: &[LooseMessage]) -> Result<Transcript, Diagnostic> {
    let mut builder = ConversationBuilder::default();
    for message in messages {
        add(&mut builder, message).map_err(|(name, UnmatchedResult)| {
            let what = format!("the tool result {name:?} matches no open call before it");
            let help = "provide the whole conversation, including the message with the call";
            source.problem(at, Code::ANSWER_WITHOUT_CALL, what, help)
        })?;
    }
    finish_transcript(source, at, builder)
}

/// The conversation that messages tell, as far as they can be read; `None` without a message of the assistant.
pub fn readable_conversation<'m>(messages: impl IntoIterator<Item = &'m LooseMessage>) -> Option<Transcript> {
    let mut builder = ConversationBuilder::default();
    for message in messages {
        // A result whose call is not among the messages changes no turn.
        let _ = add(&mut builder, message);
    }
    builder.finish(0).ok()
}

fn add(builder: &mut ConversationBuilder, message: &LooseMessage) -> Result<(), (String, UnmatchedResult)> {
    match message.role.as_str() {
        "assistant" => builder.add_answer(message.text()),
        "system" | "developer" => builder.add_question(Asker::System, message.text()),
        "tool" | "function" => {}
        _ => builder.add_question(Asker::User, message.text()),
    }
    for part in &message.parts {
        match part {
            MessagePart::Call { id, name, arguments } => builder.called(id.clone(), name.clone(), arguments.clone()),
            MessagePart::Answer { id: Some(id), result, error, .. } => {
                builder.answered(id, result.clone(), error.clone()).map_err(|unmatched| (id.clone(), unmatched))?;
            }
            MessagePart::Answer { id: None, name, result, .. } => {
                let name = name.clone().unwrap_or_default();
                let answered = builder.answered_by_name(&name, result.clone());
                answered.map_err(|unmatched| (name, unmatched))?;
            }
            MessagePart::Text(_) => {}
            MessagePart::Other(kind) => builder.left_out(kind),
        }
    }
    Ok(())
}

/// Adds the tokens under the names of an object: `input_tokens`, `prompt_tokens`, `input`, …
pub fn add_tokens(measures: &mut Measures, usage: &Value) {
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(*key)?.as_u64());
    let input = count(&["input_tokens", "prompt_tokens", "promptTokens", "prompt", "input"]);
    let output = count(&["output_tokens", "completion_tokens", "completionTokens", "completion", "output"]);
    let total = count(&["total_tokens", "totalTokens", "total"]);
    let both = (input.is_some() || output.is_some()).then(|| input.unwrap_or(0).saturating_add(output.unwrap_or(0)));
    content::add(&mut measures.input_tokens, input);
    content::add(&mut measures.output_tokens, output);
    content::add(&mut measures.total_tokens, total.or(both));
}
