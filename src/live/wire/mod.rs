//! The wire formats of model vendors: a conversation to a request body, an answer body to a turn. No network access.

pub mod anthropic;
pub mod converse;
pub mod openai;
mod refusal;
mod wait;

use serde_json::{Map, Value, json};

use self::refusal::QUOTED;
pub(crate) use self::refusal::{is_final, refusal};
pub(crate) use self::wait::{RetryHint, wait};
use crate::model::{
    AnswerForm, AskedCall, CallError, Charge, Conversation, Message, Retry, RunStatus, StopReason,
};
use crate::text::line;

/// Who serves a vendor's wire format. Compatible servers support a part of it, including some parts that the vendor has dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The vendor itself.
    Vendor,
    /// Another server: llama.cpp, vLLM, Ollama, a proxy.
    Compatible,
}

/// Parses the JSON of an answer. Invalid or truncated JSON is a retryable error.
///
/// # Errors
/// What came instead, in one line.
pub fn answer(content_type: Option<&str>, body: &[u8]) -> Result<Value, CallError> {
    let kind = content_type
        .unwrap_or("application/json")
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let excerpt = line(
        &String::from_utf8_lossy(&body[..body.len().min(4 * QUOTED)]),
        QUOTED,
    );
    if kind != "application/json" && !kind.ends_with("+json") {
        return Err(retryable(format!(
            "the answer is {}, not JSON: {excerpt}",
            line(&kind, 60)
        )));
    }
    serde_json::from_slice(body).map_err(|error| {
        let problem = if error.is_eof() {
            "is cut off"
        } else {
            "is not valid JSON"
        };
        retryable(format!(
            "the answer of {} bytes {problem}: {excerpt}",
            body.len()
        ))
    })
}

/// An error of an answer that a retry may solve.
fn retryable(message: String) -> CallError {
    CallError {
        status: RunStatus::Error,
        what: message,
        retry: Retry::Later { after: None },
        charge: Charge::Possible,
    }
}

/// The error for JSON that does not match the wire format.
fn strange(body: &Value, missing: &str) -> CallError {
    let message = refusal(body).map_or_else(
        || line(&body.to_string(), QUOTED),
        |text| format!("the server says {text}"),
    );
    retryable(format!("the answer has no {missing}: {message}"))
}

/// A call of Anthropic or Bedrock; `id` is the key of its id.
fn parse_call(call: &Value, id: &str) -> AskedCall {
    AskedCall {
        id: call[id].as_str().unwrap_or_default().to_owned(),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        arguments: call["input"].clone(),
    }
}

/// A count of tokens; 0 if the server does not report it.
fn count(usage: &Value, key: &str) -> u64 {
    usage[key].as_u64().unwrap_or(0)
}

/// A tool's result as text, which every wire format accepts.
fn result_text(outcome: &Result<Value, String>) -> String {
    match outcome {
        Ok(Value::String(text)) => text.clone(),
        Ok(value) => value.to_string(),
        Err(error) => json!({ "error": error }).to_string(),
    }
}

/// The arguments of a call as an object: both vendors refuse a conversation whose calls have other arguments.
fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        value => json!({ "arguments": value }),
    }
}

/// The format that the next turn must have. A turn with tools is not forced, because the model could not call a tool then.
fn forced(conversation: &Conversation) -> Option<&AnswerForm> {
    conversation
        .answer
        .as_ref()
        .filter(|_| conversation.tools.is_empty())
}

/// Takes the forced tool's arguments as the answer. A call that was cut off before its first field is not an empty answer.
fn answered(
    conversation: &Conversation,
    stop: &StopReason,
    text: String,
    mut calls: Vec<AskedCall>,
) -> (String, Vec<AskedCall>) {
    if forced(conversation).is_none() || calls.is_empty() {
        return (text, calls);
    }
    let input = calls.swap_remove(0).arguments;
    let lost = *stop == StopReason::Length && input.as_object().is_some_and(Map::is_empty);
    (
        if lost {
            String::new()
        } else {
            input.to_string()
        },
        Vec::new(),
    )
}

/// Messages as roles with content blocks, for Anthropic and Bedrock: without empty messages, with alternating roles.
fn turns(messages: &[Message], blocks: impl Fn(&Message) -> Vec<Value>) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let role = match message {
            Message::User(_) | Message::Tools(_) => "user",
            Message::Model { .. } => "assistant",
        };
        let blocks = blocks(message);
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, content)) if *last == role => content.extend(blocks),
            Some(_) | None => turns.push((role, blocks)),
        }
    }
    turns
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

/// Sets the key if there is a value.
fn state(body: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}
