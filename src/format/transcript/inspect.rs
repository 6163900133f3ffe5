//! Reads logs of inspect-ai: each sample is a run. `.json` logs have all samples; an `.eval` log has one file for each.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content;
use super::found_calls::{calls_within, each_once};
use super::loose_message::{LooseMessage, MessagePart, add_tokens, conversation};
use super::recorded_run::Transcript;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::{json, lenient};
use crate::model::{Json, Measures, RunStatus, ToolCall};

#[derive(Deserialize)]
struct InspectLog<'a> {
    #[serde(borrow)]
    samples: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct InspectSample<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    messages: Vec<&'a RawValue>,
    error: Option<&'a RawValue>,
    limit: Option<&'a RawValue>,
    model_usage: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    attachments: Option<&'a RawValue>,
    events: Option<&'a RawValue>,
    started_at: Option<String>,
    total_time: Option<f64>,
}

/// Reads the samples of logs, in order. The id of a sample names its case; its epochs are samples of the case.
pub fn read_inspect(
    source: &SourceText,
    documents: &[&RawValue],
) -> Result<Vec<Transcript>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut runs = Vec::new();
    for document in documents {
        let Some(log) = problems.keep(content::fields::<InspectLog<'_>>(source, document)) else {
            continue;
        };
        match log.samples {
            Some(samples) => runs.extend(
                samples
                    .iter()
                    .filter_map(|raw| problems.keep(sample(source, raw))),
            ),
            None => runs.extend(problems.keep(sample(source, document))),
        }
    }
    problems.or(())?;
    match runs.is_empty() {
        true => Err(source
            .problem(
                0,
                Code::NO_RUN,
                "this log has no samples",
                "write it with log_samples=True",
            )
            .into()),
        false => Ok(runs),
    }
}

fn sample(source: &SourceText, raw: &RawValue) -> Result<Transcript, Diagnostic> {
    let at = json::offset_of(source, raw);
    let form: InspectSample<'_> = content::fields(source, raw)?;
    let value = |raw: Option<&RawValue>| {
        raw.and_then(|raw| lenient::any(raw.get()).ok())
            .unwrap_or_default()
    };
    let attachments = value(form.attachments);
    let mut messages = Vec::new();
    for raw in &form.messages {
        let mut message: Value = json::part(source, raw)?;
        attach(&mut message, &attachments);
        messages.push(LooseMessage::of(&message, "user"));
    }
    let output = value(form.output);
    let failed = value(form.error);
    let of_model = output
        .get("error")
        .and_then(Value::as_str)
        .filter(|error| !error.is_empty());
    let failure = failed
        .get("message")
        .and_then(Value::as_str)
        .or(of_model)
        .map(str::to_owned);
    let limit = value(form.limit);
    let status = match (
        failed.is_null() && of_model.is_none(),
        limit.get("type").and_then(Value::as_str),
    ) {
        (false, _) => RunStatus::Error,
        (true, Some("time" | "working")) => RunStatus::Timeout,
        (true, Some(_) | None) => RunStatus::Completed,
    };
    if status != RunStatus::Completed || !limit.is_null() {
        // A run that was stopped is valid without an answer.
        messages.push(LooseMessage {
            role: "assistant".to_owned(),
            parts: Vec::new(),
        });
    }
    let mut transcript = conversation(source, at, &messages)?;
    let mut metrics = Measures::default();
    value(form.model_usage)
        .as_object()
        .into_iter()
        .flatten()
        .for_each(|(_, usage)| add_tokens(&mut metrics, usage));
    metrics.total_latency_ms = form
        .total_time
        .filter(|time| (0.0..1e9).contains(time))
        .map(|time| (time * 1000.0) as u64);
    let mut events = value(form.events);
    attach(&mut events, &attachments);
    transcript
        .calls
        .extend(unlisted(messages, &events, &output));
    Ok(Transcript {
        case: Some(form.id.get().trim_matches('"').to_owned()),
        status,
        error: failure.or((status == RunStatus::Timeout).then(|| limit.to_string())),
        metrics,
        model: output
            .get("model")
            .and_then(Value::as_str)
            .map(str::to_owned),
        started_at: form.started_at.as_deref().and_then(content::in_utc),
        ..transcript
    })
}

/// The calls that the messages do not have: those of a sub-agent with a conversation of its own, or of messages that were dropped.
fn unlisted(messages: Vec<LooseMessage>, events: &Value, output: &Value) -> Vec<ToolCall> {
    let is_call = |part: &MessagePart| matches!(part, MessagePart::Call { .. });
    let listed: Vec<MessagePart> = messages
        .into_iter()
        .flat_map(|message| message.parts)
        .filter(is_call)
        .collect();
    let known = listed.len();
    let mut executed = Vec::new();
    tool_events(events, &mut executed);
    let all = each_once(
        [listed, executed]
            .into_iter()
            .chain(calls_within(output))
            .collect(),
    );
    let more = all.into_iter().skip(known).filter_map(|part| match part {
        MessagePart::Call {
            name,
            arguments,
            server,
            result,
            ..
        } => Some(ToolCall {
            server,
            result: result.unwrap_or_else(Json::null),
            ..ToolCall::of(&name, arguments)
        }),
        MessagePart::Text(_) | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
    });
    more.collect()
}

/// The calls that were carried out, with those inside of others.
fn tool_events(events: &Value, found: &mut Vec<MessagePart>) {
    for event in events.as_array().into_iter().flatten() {
        if event.get("event").is_some_and(|kind| kind == "tool") {
            found.extend(LooseMessage::of(&json!({ "tool_calls": [event] }), "assistant").parts);
        }
        tool_events(event.get("events").unwrap_or(&Value::Null), found);
    }
}

/// Puts texts back that the log keeps apart from their messages.
fn attach(value: &mut Value, attachments: &Value) {
    match value {
        Value::String(text) => {
            let kept = text
                .strip_prefix("attachment://")
                .and_then(|name| attachments.get(name));
            if let Some(Value::String(kept)) = kept {
                text.clone_from(kept);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| attach(inner, attachments)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|inner| attach(inner, attachments)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
