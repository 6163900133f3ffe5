//! Reads the messages of a span: from attributes, from events, and in the older formats before the conventions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::span::{Attributes, TraceSpan};
use crate::loose;
use crate::message::{Message, Role, list};

/// The messages to the model, instructions first; empty if the span was recorded without content.
pub fn input(span: &TraceSpan) -> Vec<Message> {
    let mut messages: Vec<Message> = list(attribute(span, "gen_ai.system_instructions"))
        .iter()
        .map(|part| Message::of(&json!({ "parts": [part] }), Role::System))
        .collect();
    messages.extend(
        list(attribute(span, "gen_ai.input.messages"))
            .iter()
            .map(|value| Message::of(value, Role::User)),
    );
    if messages.is_empty() {
        for (name, attributes) in &span.events {
            let role = match name.as_str() {
                "gen_ai.system.message" => Role::System,
                "gen_ai.user.message" => Role::User,
                "gen_ai.assistant.message" => Role::Assistant,
                "gen_ai.tool.message" => Role::Tool,
                _ => continue,
            };
            messages.push(Message::of(&body(attributes), role));
        }
    }
    if messages.is_empty() {
        messages.extend(older(
            span,
            "gen_ai.prompt",
            "gen_ai.content.prompt",
            Role::User,
        ));
    }
    messages
}

/// The messages from the model.
pub fn output(span: &TraceSpan) -> Vec<Message> {
    let mut messages: Vec<Message> = list(attribute(span, "gen_ai.output.messages"))
        .iter()
        .map(|value| Message::of(value, Role::Assistant))
        .collect();
    if messages.is_empty() {
        let choices = span
            .events
            .iter()
            .filter(|(name, _)| name == "gen_ai.choice");
        for (_, attributes) in choices {
            let body = body(attributes);
            let inner = body
                .get("message")
                .map(loose::embedded)
                .filter(Value::is_object);
            messages.push(Message::of(&inner.unwrap_or(body), Role::Assistant));
        }
    }
    if messages.is_empty() {
        messages.extend(older(
            span,
            "gen_ai.completion",
            "gen_ai.content.completion",
            Role::Assistant,
        ));
    }
    messages
}

/// An attribute of the span, or of the event that contains the details of the call.
fn attribute<'a>(span: &'a TraceSpan, key: &str) -> Option<&'a Value> {
    if let Some(value) = span.attributes.get(key) {
        return Some(value);
    }
    let mut details = span
        .events
        .iter()
        .filter(|(name, _)| name == "gen_ai.client.inference.operation.details");
    details.find_map(|(_, attributes)| attributes.get(key))
}

/// The body of an older event: its attributes, or the JSON in one of them.
fn body(attributes: &Attributes) -> Value {
    let content = attributes
        .get("gen_ai.event.content")
        .map(loose::embedded)
        .filter(Value::is_object);
    content.unwrap_or_else(|| {
        let plain = attributes
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()));
        Value::Object(plain.collect())
    })
}

/// Reads `KEY` as a whole, an event with it, or `KEY.0.role`, `KEY.0.content`, …
fn older(span: &TraceSpan, key: &str, event: &str, role: Role) -> Vec<Message> {
    let whole = list(span.attributes.get(key).or_else(|| {
        let (_, attributes) = span.events.iter().find(|(name, _)| name == event)?;
        attributes.get(key)
    }));
    if !whole.is_empty() {
        return whole.iter().map(|value| Message::of(value, role)).collect();
    }
    let mut numbered: BTreeMap<u32, NumberedMessage> = BTreeMap::new();
    for (name, value) in span.attributes.range(format!("{key}.")..) {
        let Some(rest) = name
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            break;
        };
        let Some((number, field)) = rest.split_once('.') else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        numbered.entry(number).or_default().put(field, value);
    }
    numbered
        .into_values()
        .map(|numbered| Message::of(&numbered.value(), role))
        .collect()
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
        let inner = field
            .strip_prefix("tool_calls.")
            .and_then(|rest| rest.split_once('.'));
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
