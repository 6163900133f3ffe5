//! The wire formats of models: a conversation to the body of a request, the body of an answer to a turn. Reads no network.

pub mod anthropic;
pub mod converse;
pub mod openai;
mod refusal;
mod wait;

use serde_json::{Map, Value, json};

pub use self::refusal::{is_final, refusal};
pub use self::wait::{RetryHint, wait};
use crate::model::{AnswerForm, AskedCall, CallError, Conversation, Message, Retry, RunStatus, StopReason};
use crate::text::line;

/// The most characters of a foreign text that a fault quotes.
const QUOTED: usize = 200;

/// Who speaks a vendor's wire format. Compatible servers know less of it than the vendor, and the vendor has left some of what
/// they know behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The vendor itself.
    Vendor,
    /// Another server: llama.cpp, vLLM, Ollama, a proxy.
    Compatible,
}

/// The JSON of an answer: what is no JSON, or cut off, is a fault that another try may mend.
///
/// # Errors
/// What came instead, in one line.
pub fn answer(content_type: Option<&str>, body: &[u8]) -> Result<Value, CallError> {
    let kind =
        content_type.unwrap_or("application/json").split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let shown = line(&String::from_utf8_lossy(&body[..body.len().min(4 * QUOTED)]), QUOTED);
    if kind != "application/json" && !kind.ends_with("+json") {
        return Err(mendable(format!("the answer is {} and no JSON: {shown}", line(&kind, 60))));
    }
    serde_json::from_slice(body).map_err(|error| {
        let what = if error.is_eof() { "is cut off" } else { "is no JSON" };
        mendable(format!("the answer of {} bytes {what}: {shown}", body.len()))
    })
}

/// A fault that another try may mend.
fn mendable(what: String) -> CallError {
    CallError { status: RunStatus::Error, what, retry: Retry::Later { after: None } }
}

/// JSON of another form than the wire format's.
fn strange(body: &Value, missing: &str) -> CallError {
    let said = refusal(body).map_or_else(|| line(&body.to_string(), QUOTED), |said| format!("it says {said}"));
    mendable(format!("the answer has no {missing}: {said}"))
}

/// A count of tokens; servers that do not count leave it out.
fn count(usage: &Value, key: &str) -> u64 {
    usage[key].as_u64().unwrap_or(0)
}

/// A tool's result as the text that every wire format takes.
fn result_text(outcome: &Result<Value, String>) -> String {
    match outcome {
        Ok(Value::String(text)) => text.clone(),
        Ok(value) => value.to_string(),
        Err(what) => json!({ "error": what }).to_string(),
    }
}

/// The arguments of a call as an object: both vendors refuse a conversation in which a model's own call has none.
fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        other => json!({ "arguments": other }),
    }
}

/// The form that the next turn is held to: with tools a model is not forced into it, since it could then call none.
fn forced(conversation: &Conversation) -> Option<&AnswerForm> {
    conversation.answer.as_ref().filter(|_| conversation.tools.is_empty())
}

/// The tool that a model was forced into is its answer. One that was cut off before its first field is no empty answer.
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
    (if lost { String::new() } else { input.to_string() }, Vec::new())
}

/// Messages as roles with blocks of content, the way Anthropic and Bedrock take them: no message is empty, and the roles take
/// turns.
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
    turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Sets what is stated.
fn state(body: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}
