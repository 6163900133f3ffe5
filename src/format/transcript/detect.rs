//! Finds out the format of a transcript by the keys of its records.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content;
use super::documents::documents;
use super::recorded_run::TranscriptFormat;
use super::request_log::{has_exchanges, vendor_of};
use crate::diag::Diagnostic;
use crate::files::SourceText;

/// The keys that tell formats apart.
#[derive(Deserialize)]
struct RecordKeys<'a> {
    #[serde(borrow, rename = "resourceSpans", alias = "resource_spans")]
    resource_spans: Option<&'a RawValue>,
    messages: Option<&'a RawValue>,
    system: Option<&'a RawValue>,
    choices: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    outputs: Option<&'a RawValue>,
    role: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    arguments: Option<&'a RawValue>,
    stop_reason: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    eval: Option<&'a RawValue>,
    samples: Option<&'a RawValue>,
    epoch: Option<&'a RawValue>,
    run_type: Option<&'a RawValue>,
    observations: Option<&'a RawValue>,
    #[serde(rename = "traceId")]
    trace_id: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
    kwargs: Option<&'a RawValue>,
    #[serde(rename = "evalId")]
    eval_id: Option<&'a RawValue>,
    tests: Option<&'a RawValue>,
    prompts: Option<&'a RawValue>,
    ideal: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct PartKind<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
}

/// The format of a file; `None` if none of its records shows it.
///
/// # Errors
/// The file is not JSON.
pub fn format_of(source: &SourceText) -> Result<Option<TranscriptFormat>, Diagnostic> {
    Ok(format_of_records(&documents(source)?))
}

/// A list has the format of its records. Messages whose parts Anthropic alone has make all of them Anthropic's; plain ones read the same
/// in both formats.
fn format_of_records(records: &[&RawValue]) -> Option<TranscriptFormat> {
    let mut found = None;
    for record in records {
        match format_of_record(record) {
            Some(TranscriptFormat::OpenAi) => found = found.or(Some(TranscriptFormat::OpenAi)),
            Some(other) => return Some(other),
            None => {}
        }
    }
    found
}

fn format_of_record(record: &RawValue) -> Option<TranscriptFormat> {
    if record.get().starts_with('[') {
        return format_of_records(&serde_json::from_str::<Vec<&RawValue>>(record.get()).ok()?);
    }
    if !record.get().starts_with('{') {
        return None;
    }
    let keys: RecordKeys<'_> = serde_json::from_str(record.get()).ok()?;
    if keys.resource_spans.is_some() {
        return Some(TranscriptFormat::Otlp);
    }
    if has_exchanges(record) {
        return vendor_of(record);
    }
    let kind = keys.kind.map_or("", RawValue::get);
    if let Some(format) = format_of_tool(&keys, kind) {
        return Some(format);
    }
    let is_error = kind == "\"error\"" && keys.error.is_some();
    if is_error || keys.stop_reason.is_some() || keys.content.is_some_and(has_anthropic_parts) {
        return Some(TranscriptFormat::Anthropic);
    }
    if let Some(messages) = keys
        .messages
        .filter(|messages| messages.get().starts_with('['))
    {
        let anthropic = keys.system.map(|_| TranscriptFormat::Anthropic);
        return anthropic
            .or_else(|| format_of_record(messages))
            .or(Some(TranscriptFormat::OpenAi));
    }
    let is_response = keys
        .output
        .is_some_and(|output| output.get().starts_with('['));
    let is_message = keys.role.is_some() && (keys.content.is_some() || kind.is_empty());
    let is_item =
        matches!(
            kind,
            "\"function_call\"" | "\"function_call_output\"" | "\"reasoning\""
        ) && (keys.arguments.is_some() || keys.output.is_some() || keys.content.is_some());
    let is_input = keys.input.is_some() && is_response;
    // A run record that did not complete has an error and outputs.
    let is_failure =
        keys.error.is_some_and(|error| error.get().starts_with('{')) && keys.outputs.is_none();
    let is_openai = keys.choices.is_some()
        || is_response
        || is_input
        || is_message
        || is_item
        || (is_failure && kind.is_empty());
    is_openai.then_some(TranscriptFormat::OpenAi)
}

/// The format of a tool that has its own keys.
fn format_of_tool(keys: &RecordKeys<'_>, kind: &str) -> Option<TranscriptFormat> {
    let is_langchain = matches!(kind, "\"human\"" | "\"ai\"" | "\"system\"" | "\"tool\"")
        && (keys.data.is_some() || (keys.content.is_some() && keys.role.is_none()));
    match () {
        () if keys.eval.is_some() && keys.samples.is_some() => Some(TranscriptFormat::Inspect),
        () if keys.epoch.is_some() && keys.messages.is_some() => Some(TranscriptFormat::Inspect),
        () if keys.eval_id.is_some() => Some(TranscriptFormat::Promptfoo),
        () if keys.tests.is_some() && keys.prompts.is_some() => Some(TranscriptFormat::Promptfoo),
        () if keys.ideal.is_some() && keys.input.is_some() => Some(TranscriptFormat::OpenaiEvals),
        () if keys.run_type.is_some() => Some(TranscriptFormat::Langsmith),
        () if keys.observations.is_some() => Some(TranscriptFormat::Langfuse),
        () if keys.trace_id.is_some() && !kind.is_empty() => Some(TranscriptFormat::Langfuse),
        () if is_langchain || (kind == "\"constructor\"" && keys.kwargs.is_some()) => {
            Some(TranscriptFormat::Langchain)
        }
        () => None,
    }
}

fn has_anthropic_parts(content: &RawValue) -> bool {
    let parts: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
    parts.iter().any(|part| {
        content::has(part, |part: PartKind<'_>| {
            let kind = part.kind.map_or("", RawValue::get).trim_matches('"');
            matches!(
                kind,
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking"
            ) || kind.ends_with("_tool_use")
                || kind.ends_with("_tool_result")
        })
    })
}
