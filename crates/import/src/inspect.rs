//! Reads logs of inspect-ai: each sample is a run. `.json` logs have all samples; an `.eval` log has one file for each.

use serde_json::{Value, json};

use crate::calls::{calls_within, each_once};
use crate::conversations::conversation_of_messages;
use crate::dates::in_utc;
use crate::message::{CallPart, Message, Role, text_at};
use crate::problem::{Problem, ProblemKind, all_or_problems};
use crate::source::{Source, element_offsets};
use crate::transcript::{Call, Ending, Transcript, Usage};

/// Reads the samples of logs, in order. The id of a sample names its case; its epochs are samples of the case.
pub fn read_inspect(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut runs = Vec::new();
    for document in &source.documents {
        match document.value.get("samples").and_then(Value::as_array) {
            Some(samples) => {
                let places = element_offsets(source.text, document.raw, &["samples"]);
                let samples = samples.iter().zip(places);
                runs.extend(samples.map(|(value, at)| sample(value, at)));
            }
            None => runs.push(sample(&document.value, document.at)),
        }
    }
    let runs = all_or_problems(runs)?;
    if runs.is_empty() {
        let help = "write it with log_samples=True";
        return Err(vec![Problem::new(
            0,
            ProblemKind::NoRun,
            "this log has no samples",
            help,
        )]);
    }
    Ok(runs)
}

fn sample(form: &Value, at: usize) -> Result<Transcript, Problem> {
    let Value::Array(listed) = value(form, "messages") else {
        let description = "the key \"messages\" is missing";
        let help = "write it with log_samples=True";
        return Err(Problem::new(at, ProblemKind::NoMessages, description, help));
    };
    let attachments = value(form, "attachments");
    let mut messages = Vec::new();
    for mut message in listed {
        attach(&mut message, &attachments);
        messages.push(Message::of(&message, Role::User));
    }
    let (output, failed, limit) = (
        value(form, "output"),
        value(form, "error"),
        value(form, "limit"),
    );
    let of_model = text_at(&output, &["error"]);
    let failure = text_at(&failed, &["message"])
        .or(of_model)
        .map(str::to_owned);
    let is_failed = !failed.is_null() || of_model.is_some();
    let ending = match text_at(&limit, &["type"]) {
        _ if is_failed => Ending::Error,
        Some("time" | "working") => Ending::Timeout,
        Some(_) | None => Ending::Completed,
    };
    if ending != Ending::Completed || !limit.is_null() {
        // A run that was stopped is valid without an answer.
        messages.push(Message {
            role: Role::Assistant,
            parts: Vec::new(),
        });
    }
    let transcript = conversation_of_messages(at, messages.clone())?;
    let mut usage = Usage::default();
    for (_, counted) in value(form, "model_usage").as_object().into_iter().flatten() {
        usage.add_tokens(counted);
    }
    let seconds = form.get("total_time").and_then(Value::as_f64);
    usage.latency_ms = seconds
        .filter(|time| (0.0..1e9).contains(time))
        .map(|time| (time * 1000.0) as u64);
    let mut events = value(form, "events");
    attach(&mut events, &attachments);
    let mut calls = transcript.calls;
    calls.extend(unlisted(&messages, &events, &output));
    let case = value(form, "id");
    Ok(Transcript {
        case: Some(
            case.as_str()
                .map_or_else(|| case.to_string(), str::to_owned),
        ),
        ending,
        error: failure.or((ending == Ending::Timeout).then(|| limit.to_string())),
        usage,
        model: text_at(&output, &["model"]).map(str::to_owned),
        started_at: text_at(form, &["started_at"]).and_then(in_utc),
        calls,
        ..transcript
    })
}

/// The value of a key; `null` if it is missing.
fn value(form: &Value, key: &str) -> Value {
    form.get(key).cloned().unwrap_or_default()
}

/// The calls that the messages do not have: those of a sub-agent with a conversation of its own, or of messages that were dropped.
fn unlisted(messages: &[Message], events: &Value, output: &Value) -> Vec<Call> {
    let listed: Vec<CallPart> = messages.iter().flat_map(Message::calls).cloned().collect();
    let known = listed.len();
    let mut executed = Vec::new();
    tool_events(events, &mut executed);
    let all = each_once([listed, executed].into_iter().chain(calls_within(output)));
    let more = all.into_iter().skip(known).map(|part| Call {
        name: part.name,
        server: part.server,
        arguments: part.arguments,
        result: part.result.unwrap_or_default(),
        ..Call::default()
    });
    more.collect()
}

/// The calls that were carried out, with those inside of others.
fn tool_events(events: &Value, calls: &mut Vec<CallPart>) {
    for event in events.as_array().into_iter().flatten() {
        if event.get("event").is_some_and(|kind| kind == "tool") {
            let message = Message::of(&json!({ "tool_calls": [event] }), Role::Assistant);
            calls.extend(message.calls().cloned());
        }
        tool_events(event.get("events").unwrap_or(&Value::Null), calls);
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
