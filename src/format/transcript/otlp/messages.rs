//! Reads the messages of a span: from attributes, from events, and in the older formats before the conventions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::span::{Attributes, TraceSpan};
use crate::format::{lenient, run_v1};
use crate::model::Json;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct OtlpMessage {
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
        /// The result.
        result: Json,
    },
    /// A part of this type that is left out.
    Other(String),
}

impl OtlpMessage {
    /// Its texts, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            MessagePart::Call { .. } | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
        });
        texts.collect()
    }
}

/// The messages to the model, instructions first; empty if the span was recorded without content.
pub fn input(span: &TraceSpan) -> Vec<OtlpMessage> {
    let mut messages: Vec<OtlpMessage> = list(attribute(span, "gen_ai.system_instructions"))
        .iter()
        .map(|part| message(&json!({ "parts": [part] }), "system"))
        .collect();
    messages.extend(list(attribute(span, "gen_ai.input.messages")).iter().map(|value| message(value, "user")));
    if messages.is_empty() {
        messages.extend(span.events.iter().filter_map(|(name, attributes)| match name.as_str() {
            "gen_ai.system.message" => Some(message(&body(attributes), "system")),
            "gen_ai.user.message" => Some(message(&body(attributes), "user")),
            "gen_ai.assistant.message" => Some(message(&body(attributes), "assistant")),
            "gen_ai.tool.message" => Some(message(&body(attributes), "tool")),
            _ => None,
        }));
    }
    if messages.is_empty() {
        messages.extend(older(span, "gen_ai.prompt", "gen_ai.content.prompt", "user"));
    }
    messages
}

/// The messages from the model.
pub fn output(span: &TraceSpan) -> Vec<OtlpMessage> {
    let mut messages: Vec<OtlpMessage> =
        list(attribute(span, "gen_ai.output.messages")).iter().map(|value| message(value, "assistant")).collect();
    if messages.is_empty() {
        let choices = span.events.iter().filter(|(name, _)| name == "gen_ai.choice");
        messages.extend(choices.map(|(_, attributes)| {
            let body = body(attributes);
            let inner = body.get("message").map(lenient::embedded).filter(Value::is_object);
            message(&inner.unwrap_or(body), "assistant")
        }));
    }
    if messages.is_empty() {
        messages.extend(older(span, "gen_ai.completion", "gen_ai.content.completion", "assistant"));
    }
    messages
}

/// An attribute of the span, or of the event that contains the details of the call.
fn attribute<'a>(span: &'a TraceSpan, key: &str) -> Option<&'a Value> {
    let details = || {
        let mut events = span.events.iter().filter(|(name, _)| name == "gen_ai.client.inference.operation.details");
        events.find_map(|(_, attributes)| attributes.get(key))
    };
    span.attributes.get(key).or_else(details)
}

/// A list, also one written as a string; a plain text is one message.
fn list(value: Option<&Value>) -> Vec<Value> {
    match value.map(lenient::embedded) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => vec![json!({ "type": "text", "content": text })],
        Some(other) => vec![other],
    }
}

/// The body of an older event: its attributes, or the JSON in one of them.
fn body(attributes: &Attributes) -> Value {
    let content = attributes.get("gen_ai.event.content").map(lenient::embedded).filter(Value::is_object);
    content.unwrap_or_else(|| {
        let plain = attributes.iter().map(|(key, value)| (key.clone(), value.clone()));
        Value::Object(plain.collect())
    })
}

/// Reads `KEY` as a whole, an event with it, or `KEY.0.role`, `KEY.0.content`, …
fn older(span: &TraceSpan, key: &str, event: &str, role: &str) -> Vec<OtlpMessage> {
    let of_event =
        || span.events.iter().find(|(name, _)| name == event).and_then(|(_, attributes)| attributes.get(key));
    let whole = list(span.attributes.get(key).or_else(of_event));
    if !whole.is_empty() {
        return whole.iter().map(|value| message(value, role)).collect();
    }
    let mut numbered: BTreeMap<u32, NumberedMessage> = BTreeMap::new();
    for (name, value) in span.attributes.range(format!("{key}.")..) {
        let Some(rest) = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('.')) else { break };
        let Some((number, field)) = rest.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        numbered.entry(number).or_default().put(field, value);
    }
    numbered.into_values().map(|numbered| message(&numbered.value(), role)).collect()
}

/// A message whose fields are separate attributes.
#[derive(Default)]
struct NumberedMessage {
    fields: Map<String, Value>,
    calls: BTreeMap<u32, Map<String, Value>>,
}

impl NumberedMessage {
    /// Sets a field: `tool_calls.0.name` belongs to the first call, others to the message.
    fn put(&mut self, field: &str, value: &Value) {
        let inner = field.strip_prefix("tool_calls.").and_then(|rest| rest.split_once('.'));
        let call = inner.and_then(|(number, key)| Some((number.parse().ok()?, key)));
        let (fields, key) = match call {
            Some((number, key)) => (self.calls.entry(number).or_default(), key),
            None => (&mut self.fields, field),
        };
        fields.insert(key.to_owned(), value.clone());
    }

    fn value(mut self) -> Value {
        if !self.calls.is_empty() {
            let calls = self.calls.into_values().map(Value::Object).collect();
            self.fields.insert("tool_calls".to_owned(), calls);
        }
        Value::Object(self.fields)
    }
}

/// A message in the format of the conventions (`parts`) or of the chat completions.
fn message(value: &Value, role: &str) -> OtlpMessage {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let id = text("id").or(text("tool_call_id")).map(str::to_owned);
    let role = text("role").unwrap_or(role).to_owned();
    let content = value.get("content").map_or(Value::Null, Value::clone);
    let mut parts: Vec<MessagePart> = Vec::new();
    match (value.get("parts").and_then(Value::as_array), &content) {
        (Some(list), _) => parts.extend(list.iter().map(part)),
        (None, Value::Null) => {}
        (None, _) if role == "tool" => parts.push(MessagePart::Answer { id, result: run_v1::json(&content) }),
        (None, Value::Array(list)) => parts.extend(list.iter().map(part)),
        (None, Value::String(text)) => parts.push(MessagePart::Text(text.clone())),
        (None, other) => parts.push(MessagePart::Text(other.to_string())),
    }
    let calls = list(value.get("tool_calls"));
    parts.extend(calls.iter().map(|call| {
        let inner = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
        called(call, inner)
    }));
    OtlpMessage { role, parts }
}

fn part(value: &Value) -> MessagePart {
    let id = || ["id", "tool_call_id"].iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned);
    match value.get("type").and_then(Value::as_str) {
        Some("tool_call") => called(value, value),
        Some("tool_call_response") => {
            // The conventions' example uses `result`, their schema `response`.
            let result = value.get("response").or(value.get("result")).unwrap_or(&Value::Null);
            MessagePart::Answer { id: id(), result: run_v1::json(result) }
        }
        Some("text" | "input_text" | "output_text") => {
            let text = value.get("content").or(value.get("text")).and_then(Value::as_str);
            MessagePart::Text(text.unwrap_or_default().to_owned())
        }
        Some(other) => MessagePart::Other(other.to_owned()),
        None => match value {
            Value::String(text) => MessagePart::Text(text.clone()),
            _ => MessagePart::Other("part without a type".to_owned()),
        },
    }
}

fn called(call: &Value, inner: &Value) -> MessagePart {
    let arguments = inner.get("arguments").map_or(Json::default(), |value| run_v1::json(&lenient::embedded(value)));
    MessagePart::Call {
        id: call.get("id").and_then(Value::as_str).map(str::to_owned),
        name: inner.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments,
    }
}
