//! Translates the attributes of OpenInference and of Langfuse's SDK to those of the GenAI semantic conventions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::span::Attributes;
use crate::loose;

/// Adds the attributes of the conventions to a span that has those of OpenInference or of Langfuse.
pub fn translate(attributes: &mut Attributes) {
    let text = |key: &str| {
        attributes
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let kind = text("openinference.span.kind").or_else(|| text("langfuse.observation.type"));
    let Some(kind) = kind else { return };
    let mut added = Attributes::new();
    let copy = |from: &[&str], to: &str, added: &mut Attributes| {
        if let Some(value) = from.iter().find_map(|key| attributes.get(*key)) {
            added.insert(to.to_owned(), value.clone());
        }
    };
    let operation = match kind.to_ascii_uppercase().as_str() {
        "LLM" | "GENERATION" => "chat",
        "AGENT" => "invoke_agent",
        "TOOL" => "execute_tool",
        _ => "other",
    };
    added.insert("gen_ai.operation.name".to_owned(), json!(operation));
    match operation {
        "chat" => {
            for (prefix, whole, to) in [
                (
                    "llm.input_messages",
                    "langfuse.observation.input",
                    "gen_ai.input.messages",
                ),
                (
                    "llm.output_messages",
                    "langfuse.observation.output",
                    "gen_ai.output.messages",
                ),
            ] {
                let messages = messages(attributes, prefix);
                if messages.is_empty() {
                    copy(&[whole], to, &mut added);
                } else {
                    added.insert(to.to_owned(), Value::Array(messages));
                }
            }
            copy(
                &["llm.model_name", "langfuse.observation.model.name"],
                "gen_ai.response.model",
                &mut added,
            );
            let usage = attributes
                .get("langfuse.observation.usage_details")
                .map(loose::embedded)
                .unwrap_or_default();
            for (from, inner, to) in [
                (
                    "llm.token_count.prompt",
                    "input",
                    "gen_ai.usage.input_tokens",
                ),
                (
                    "llm.token_count.completion",
                    "output",
                    "gen_ai.usage.output_tokens",
                ),
            ] {
                if let Some(count) = attributes.get(from).or_else(|| usage.get(inner)) {
                    added.insert(to.to_owned(), count.clone());
                }
            }
        }
        "execute_tool" => {
            copy(
                &["tool.name", "langfuse.observation.name"],
                "gen_ai.tool.name",
                &mut added,
            );
            copy(
                &["tool_call.id", "tool.id"],
                "gen_ai.tool.call.id",
                &mut added,
            );
            copy(
                &[
                    "tool.parameters",
                    "input.value",
                    "langfuse.observation.input",
                ],
                "gen_ai.tool.call.arguments",
                &mut added,
            );
            let result = ["output.value", "langfuse.observation.output"]
                .iter()
                .find_map(|key| attributes.get(*key));
            if let Some(result) = result {
                added.insert("gen_ai.tool.call.result".to_owned(), content_of(result));
            }
        }
        "invoke_agent" => copy(&["agent.name"], "gen_ai.agent.name", &mut added),
        _ => {}
    }
    for (key, value) in added {
        attributes.entry(key).or_insert(value);
    }
}

/// The result of a tool; LangChain writes the whole message with it.
fn content_of(result: &Value) -> Value {
    let message = loose::embedded(result);
    let is_message = message.get("type").and_then(Value::as_str) == Some("tool");
    let fields = message
        .get("data")
        .filter(|_| is_message)
        .unwrap_or(&message);
    match fields.get("content").filter(|_| is_message) {
        Some(content) => content.clone(),
        None => result.clone(),
    }
}

/// The messages whose fields are separate attributes: `PREFIX.0.message.role`, …
fn messages(attributes: &Attributes, prefix: &str) -> Vec<Value> {
    let mut whole = FieldTree::default();
    for (name, value) in attributes.range(format!("{prefix}.")..) {
        let Some(rest) = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            break;
        };
        whole.put(rest, value);
    }
    match whole.value() {
        Value::Array(messages) => messages,
        _ => Vec::new(),
    }
}

/// Values by the parts of their names.
#[derive(Default)]
struct FieldTree {
    value: Option<Value>,
    inner: BTreeMap<String, FieldTree>,
}

impl FieldTree {
    fn put(&mut self, path: &str, value: &Value) {
        let mut node = self;
        for part in path.split('.').take(DEEPEST) {
            node = node.inner.entry(part.to_owned()).or_default();
        }
        node.value = Some(value.clone());
    }

    /// Numbered fields are a list, in the order of their numbers. OpenInference's names of its objects are left out.
    fn value(self) -> Value {
        if self.inner.is_empty() {
            return self.value.unwrap_or_default();
        }
        let numbers: Option<Vec<u32>> = self.inner.keys().map(|key| key.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let mut list: Vec<(u32, Value)> = numbers
                .into_iter()
                .zip(self.inner.into_values().map(Self::value))
                .collect();
            list.sort_by_key(|(number, _)| *number);
            return list.into_iter().map(|(_, value)| value).collect();
        }
        let mut fields = Map::new();
        for (key, inner) in self.inner {
            match (key.as_str(), inner.value()) {
                ("message" | "message_content" | "tool_call", Value::Object(inner)) => {
                    fields.extend(inner)
                }
                ("contents", value) => drop(fields.insert("content".to_owned(), value)),
                (_, value) => drop(fields.insert(key, value)),
            }
        }
        Value::Object(fields)
    }
}

/// The most parts of a name that are distinguished.
const DEEPEST: usize = 12;
