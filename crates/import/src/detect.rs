//! Finds out the format of a transcript by the keys of its records.

use serde_json::Value;

use crate::adk::is_adk;
use crate::benchmarks::benchmark_of;
use crate::coding_agents::{is_claude_code, is_codex};
use crate::exchanges::{has_exchanges, vendor_of};
use crate::goldens::format_of_golden;
use crate::message::text_at;
use crate::transcript::Format;
use crate::vendor_bodies::{vendor_of_body, vendor_of_message};

/// The format of records. Messages whose parts Anthropic alone has make all of them Anthropic's; plain ones are the same in both formats.
pub fn format_of<'v>(records: impl IntoIterator<Item = &'v Value>) -> Option<Format> {
    let mut openai = None;
    for record in records {
        match format_of_record(record) {
            Some(Format::OpenAi) => openai = openai.or(Some(Format::OpenAi)),
            Some(format) => return Some(format),
            None => {}
        }
    }
    openai
}

fn format_of_record(record: &Value) -> Option<Format> {
    if let Value::Array(list) = record {
        return format_of(list);
    }
    record.as_object()?;
    let kind = text_at(record, &["type"]).unwrap_or_default();
    if is_claude_code(record) {
        return Some(Format::ClaudeCode);
    }
    if is_codex(record) {
        return Some(Format::Codex);
    }
    if is_adk(record) {
        return Some(Format::Adk);
    }
    if let Some(format) = benchmark_of(record) {
        return Some(format);
    }
    if states(record, "resourceSpans") || states(record, "resource_spans") {
        return Some(Format::Otlp);
    }
    if has_exchanges(record) {
        return vendor_of(record);
    }
    if let Some(format) = format_of_tool(record, kind) {
        return Some(format);
    }
    let of_body = record.as_object().and_then(vendor_of_body);
    if let Some(format) = of_body.or_else(|| vendor_of_message(record)) {
        return Some(format);
    }
    if let Some(format) = format_of_golden(record) {
        return Some(format);
    }
    let is_error = kind == "error" && states(record, "error");
    if is_error
        || states(record, "stop_reason")
        || record.get("content").is_some_and(has_anthropic_parts)
    {
        return Some(Format::Anthropic);
    }
    if let Some(messages) = record
        .get("messages")
        .filter(|messages| messages.is_array())
    {
        let anthropic = states(record, "system").then_some(Format::Anthropic);
        return anthropic
            .or_else(|| format_of_record(messages))
            .or(Some(Format::OpenAi));
    }
    let is_message = states(record, "role") && (states(record, "content") || kind.is_empty());
    let is_item = matches!(kind, "function_call" | "function_call_output" | "reasoning")
        && (states(record, "arguments") || states(record, "output") || states(record, "content"));
    // A run record that did not complete has an error and outputs.
    let is_failure = record.get("error").is_some_and(Value::is_object)
        && !states(record, "outputs")
        && kind.is_empty();
    let is_openai = states(record, "choices")
        || record.get("output").is_some_and(Value::is_array)
        || is_message
        || is_item
        || is_failure;
    is_openai.then_some(Format::OpenAi)
}

/// The format of a tool that has its own keys.
fn format_of_tool(record: &Value, kind: &str) -> Option<Format> {
    let is_langchain = matches!(kind, "human" | "ai" | "system" | "tool")
        && (states(record, "data") || (states(record, "content") && !states(record, "role")));
    let of_config = ["prompts", "providers", "targets", "defaultTest"];
    let formats = [
        (
            states(record, "eval") && states(record, "samples"),
            Format::Inspect,
        ),
        (
            states(record, "epoch") && states(record, "messages"),
            Format::Inspect,
        ),
        (states(record, "evalId"), Format::Promptfoo),
        (
            states(record, "tests") && of_config.iter().any(|key| states(record, key)),
            Format::Promptfoo,
        ),
        (states(record, "run_type"), Format::Langsmith),
        (states(record, "observations"), Format::Langfuse),
        (
            states(record, "traceId") && !kind.is_empty(),
            Format::Langfuse,
        ),
        (is_langchain, Format::Langchain),
        (
            kind == "constructor" && states(record, "kwargs"),
            Format::Langchain,
        ),
    ];
    let named = formats.into_iter().find(|(is_its, _)| *is_its);
    named.map(|(_, format)| format)
}

fn states(record: &Value, key: &str) -> bool {
    record.get(key).is_some_and(|value| !value.is_null())
}

fn has_anthropic_parts(content: &Value) -> bool {
    let parts = content.as_array().into_iter().flatten();
    let mut kinds = parts.filter_map(|part| text_at(part, &["type"]));
    kinds.any(|kind| {
        ["tool_use", "tool_result", "thinking", "redacted_thinking"].contains(&kind)
            || kind.ends_with("_tool_use")
            || kind.ends_with("_tool_result")
    })
}
