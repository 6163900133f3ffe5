//! Translates the attributes of OpenInference and of Langfuse's SDK to those of the GenAI semantic conventions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::span::Attributes;
use crate::loose;

/// Adds the attributes of the conventions to a span that has those of OpenInference or of Langfuse.
pub fn translate(attributes: &mut Attributes) {
    let kind = stated(attributes, &["openinference.span.kind"])
        .or_else(|| stated(attributes, &["langfuse.observation.type"]));
    let Some(Value::String(kind)) = kind else {
        return;
    };
    let usage = attributes.get("langfuse.observation.usage_details");
    let usage = usage.map(loose::embedded).unwrap_or_default();
    let (operation, stated_attributes) = match kind.to_ascii_uppercase().as_str() {
        "LLM" | "GENERATION" => (
            "chat",
            vec![
                (
                    "gen_ai.input.messages",
                    message_list(
                        attributes,
                        "llm.input_messages",
                        "langfuse.observation.input",
                    ),
                ),
                (
                    "gen_ai.output.messages",
                    message_list(
                        attributes,
                        "llm.output_messages",
                        "langfuse.observation.output",
                    ),
                ),
                (
                    "gen_ai.response.model",
                    stated(
                        attributes,
                        &["llm.model_name", "langfuse.observation.model.name"],
                    ),
                ),
                (
                    "gen_ai.usage.input_tokens",
                    stated(attributes, &["llm.token_count.prompt"])
                        .or_else(|| usage.get("input").cloned()),
                ),
                (
                    "gen_ai.usage.output_tokens",
                    stated(attributes, &["llm.token_count.completion"])
                        .or_else(|| usage.get("output").cloned()),
                ),
            ],
        ),
        "AGENT" => (
            "invoke_agent",
            vec![("gen_ai.agent.name", stated(attributes, &["agent.name"]))],
        ),
        "TOOL" => {
            let result = stated(attributes, &["output.value", "langfuse.observation.output"]);
            (
                "execute_tool",
                vec![
                    (
                        "gen_ai.tool.name",
                        stated(attributes, &["tool.name", "langfuse.observation.name"]),
                    ),
                    (
                        "gen_ai.tool.call.id",
                        stated(attributes, &["tool_call.id", "tool.id"]),
                    ),
                    (
                        "gen_ai.tool.call.arguments",
                        stated(
                            attributes,
                            &[
                                "tool.parameters",
                                "input.value",
                                "langfuse.observation.input",
                            ],
                        ),
                    ),
                    ("gen_ai.tool.call.result", result.as_ref().map(content_of)),
                ],
            )
        }
        _ => ("other", Vec::new()),
    };
    let operation = ("gen_ai.operation.name", Some(json!(operation)));
    for (key, value) in stated_attributes.into_iter().chain([operation]) {
        if let Some(value) = value {
            attributes.entry(key.to_owned()).or_insert(value);
        }
    }
}

/// The first of these attributes that is set.
fn stated(attributes: &Attributes, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| attributes.get(*key).cloned())
}

/// The messages of flattened attributes; without any, the attribute that has the whole list.
fn message_list(attributes: &Attributes, prefix: &str, whole: &str) -> Option<Value> {
    let messages = messages(attributes, prefix);
    if messages.is_empty() {
        return stated(attributes, &[whole]);
    }
    Some(Value::Array(messages))
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
