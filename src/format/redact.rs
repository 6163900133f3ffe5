//! Removes secrets from what is saved: records of runs, and conversations that become records and cases.

use std::borrow::Cow;
use std::collections::BTreeMap;

use import::{Call, Transcript, Turn};
use serde_json::Value;

use super::lenient;
use crate::model::{
    Ask, Json, Measures, Run, RunEvidence, RunInputs, RunProvenance, RunRecord, Sample, Steps,
    ToolCall, UngradedReason, UserTurns,
};
use crate::text::Redactor;

/// The record without secrets; a record without any is unchanged to the byte.
pub fn redacted_record(record: RunRecord, redactor: &Redactor) -> RunRecord {
    let RunRecord {
        agent,
        case,
        sample,
        status,
        error,
        inputs,
        outputs,
        intermediate,
        evidence,
        metrics,
        provenance,
    } = record;
    let RunInputs {
        prompt,
        repo_snapshot_id,
        options,
    } = inputs;
    let RunEvidence {
        file_paths,
        test_names,
        coverage_refs,
    } = evidence;
    RunRecord {
        agent,
        case,
        sample,
        status,
        error: error.map(|error| redactor.excerpt(&error).into_owned()),
        inputs: RunInputs {
            prompt: optional(prompt, redactor),
            repo_snapshot_id,
            options: json(options, redactor),
        },
        outputs: json(outputs, redactor),
        intermediate: match intermediate {
            Steps::Own(steps) => Steps::Own(json(steps, redactor)),
            Steps::Seen {
                node_transitions,
                tool_calls,
                events,
            } => Steps::Seen {
                node_transitions: jsons(node_transitions, redactor),
                tool_calls: calls(tool_calls, redactor),
                events: jsons(events, redactor),
            },
        },
        evidence: RunEvidence {
            file_paths: texts(file_paths, redactor),
            test_names: texts(test_names, redactor),
            coverage_refs: texts(coverage_refs, redactor),
        },
        metrics: measures(metrics, redactor),
        provenance: RunProvenance {
            arguments: texts(provenance.arguments, redactor),
            ..provenance
        },
    }
}

/// The conversation without secrets.
pub fn redacted_transcript(transcript: Transcript, redactor: &Redactor) -> Transcript {
    let Transcript {
        at,
        agent,
        variant,
        case,
        ending,
        error,
        prompt,
        query,
        interjected,
        instructed,
        turns,
        text,
        calls: made,
        events,
        usage,
        model,
        started_at,
        record,
        passed,
        is_cut_off,
        left_out,
    } = transcript;
    Transcript {
        at,
        agent: optional(agent, redactor),
        variant: optional(variant, redactor),
        case: optional(case, redactor),
        ending,
        error: error.map(|error| redactor.excerpt(&error).into_owned()),
        prompt: optional(prompt, redactor),
        query: optional(query, redactor),
        interjected: optional(interjected, redactor),
        instructed: optional(instructed, redactor),
        turns: turns
            .into_iter()
            .map(|Turn { user, text }| Turn {
                user: redactor.text(&user).into_owned(),
                text: redactor.text(&text).into_owned(),
            })
            .collect(),
        text: optional(text, redactor),
        calls: made
            .into_iter()
            .map(|call| Call {
                name: redactor.text(&call.name).into_owned(),
                server: optional(call.server, redactor),
                arguments: value(call.arguments, redactor),
                result: value(call.result, redactor),
                error: call
                    .error
                    .map(|error| redactor.excerpt(&error).into_owned()),
                ..call
            })
            .collect(),
        events: events
            .into_iter()
            .map(|event| value(event, redactor))
            .collect(),
        usage,
        model,
        started_at,
        is_cut_off,
        record: record.map(|record| value(record, redactor)),
        passed,
        left_out: keys(left_out, redactor),
    }
}

/// All texts of a conversation that become a record or a case.
pub fn texts_of(transcript: &Transcript) -> Vec<String> {
    let Transcript {
        at: _,
        agent,
        variant,
        case,
        ending: _,
        error,
        prompt,
        query,
        interjected,
        instructed,
        turns,
        text,
        calls,
        events,
        usage: _,
        model: _,
        started_at: _,
        is_cut_off: _,
        record,
        passed: _,
        left_out: _,
    } = transcript;
    let stated = [
        agent,
        variant,
        case,
        error,
        prompt,
        query,
        interjected,
        instructed,
        text,
    ];
    let mut texts: Vec<String> = stated.into_iter().flatten().cloned().collect();
    texts.extend(
        turns
            .iter()
            .flat_map(|turn| [turn.user.clone(), turn.text.clone()]),
    );
    let values = calls
        .iter()
        .flat_map(|call| [&call.arguments, &call.result])
        .chain(events)
        .chain(record);
    for value in values {
        add_texts(value, &mut texts);
    }
    texts
}

/// Adds all texts of a value.
pub fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|member| add_texts(member, texts)),
        Value::Object(fields) => fields.values().for_each(|member| add_texts(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What an agent wrote, without secrets, to be shown.
pub fn redacted_samples(mut samples: Vec<Sample>, redactor: &Redactor) -> Vec<Sample> {
    for sample in &mut samples {
        match sample {
            Sample::Completed(runs) => runs.iter_mut().for_each(|run| redact_run(run, redactor)),
            Sample::Inconclusive { why, run } => {
                if let UngradedReason::Ended {
                    status: _,
                    error: Some(error),
                } = why
                {
                    *error = redactor.excerpt(error).into_owned();
                }
                run.iter_mut().for_each(|run| redact_run(run, redactor));
            }
            Sample::Spared => {}
        }
    }
    samples
}

fn redact_run(run: &mut Run, redactor: &Redactor) {
    if let Cow::Owned(plain) = redacted_json(&run.outputs, redactor) {
        run.outputs = plain.into();
    }
    let steps = run.intermediate.take();
    run.intermediate = steps.map(|steps| redacted_json(&steps, redactor).into());
}

/// What a case asks, without secrets: to be shown, or to be compared with a conversation that has none.
pub fn redacted_ask(ask: &Ask, redactor: &Redactor) -> Ask {
    let mut ask = ask.clone();
    ask.prompt = redactor.text(&ask.prompt).into_owned();
    redact_value(&mut ask.inputs, redactor);
    if let UserTurns::Scripted(messages) = &mut ask.turns {
        for message in messages {
            message.text = redactor.text(&message.text).into_owned();
        }
    }
    ask
}

/// Removes secrets from all texts and keys of a value; returns whether it had any.
pub fn redact_value(value: &mut Value, redactor: &Redactor) -> bool {
    let mut is_changed = false;
    match value {
        Value::String(text) => {
            let plain = redactor.text(text).into_owned();
            is_changed = plain != *text;
            *text = plain;
        }
        Value::Array(list) => {
            for member in list {
                is_changed |= redact_value(member, redactor);
            }
        }
        Value::Object(fields) => {
            for (key, mut member) in std::mem::take(fields) {
                let plain = redactor.text(&key).into_owned();
                is_changed |= plain != key;
                is_changed |= redact_value(&mut member, redactor);
                fields.insert(plain, member);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    is_changed
}

/// JSON text without secrets. Each text in it is looked at as it was before it became JSON; a text that is not JSON, unchanged.
pub fn redacted_json<'t>(text: &'t str, redactor: &Redactor) -> Cow<'t, str> {
    let Ok(mut value) = lenient::any(text) else {
        return redactor.text(text);
    };
    if redact_value(&mut value, redactor) {
        Cow::Owned(value.to_string())
    } else {
        Cow::Borrowed(text)
    }
}

fn json(json: Json, redactor: &Redactor) -> Json {
    match redacted_json(json.text(), redactor) {
        Cow::Borrowed(_) => json,
        Cow::Owned(plain) => Json::from(plain),
    }
}

fn value(mut value: Value, redactor: &Redactor) -> Value {
    redact_value(&mut value, redactor);
    value
}

fn jsons(list: Vec<Json>, redactor: &Redactor) -> Vec<Json> {
    list.into_iter()
        .map(|value| json(value, redactor))
        .collect()
}

fn optional(text: Option<String>, redactor: &Redactor) -> Option<String> {
    text.map(|text| redactor.text(&text).into_owned())
}

fn texts(list: Vec<String>, redactor: &Redactor) -> Vec<String> {
    list.iter()
        .map(|text| redactor.text(text).into_owned())
        .collect()
}

fn keys<V>(map: BTreeMap<String, V>, redactor: &Redactor) -> BTreeMap<String, V> {
    map.into_iter()
        .map(|(key, value)| (redactor.text(&key).into_owned(), value))
        .collect()
}

fn measures(measures: Measures, redactor: &Redactor) -> Measures {
    Measures {
        tokens_per_node: keys(measures.tokens_per_node, redactor),
        latency_per_node: keys(measures.latency_per_node, redactor),
        tool_call_counts: keys(measures.tool_call_counts, redactor),
        ..measures
    }
}

fn calls(calls: Vec<ToolCall>, redactor: &Redactor) -> Vec<ToolCall> {
    calls
        .into_iter()
        .map(|call| ToolCall {
            name: redactor.text(&call.name).into_owned(),
            server: optional(call.server, redactor),
            arguments: json(call.arguments, redactor),
            result: json(call.result, redactor),
            error: call
                .error
                .map(|error| redactor.excerpt(&error).into_owned()),
            ..call
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::redacted_json;
    use crate::text::Redactor;

    #[test]
    fn a_key_after_an_escape_is_removed_and_clean_json_is_unchanged() {
        let redactor = Redactor::new(["hunter2hunter2"], Vec::new());
        for (text, expected) in [
            (
                r#"{"a": "x\nsk-0123456789abcdefgh", "b": [1.50]}"#,
                r#"{"a":"x\nsk-[redacted]","b":[1.5]}"#,
            ),
            (r#"{ "a" : 1.50 }"#, r#"{ "a" : 1.50 }"#),
            (r#"{"hunter2hunter2": 1}"#, r#"{"[redacted]":1}"#),
        ] {
            assert_eq!(redacted_json(text, &redactor), expected);
        }
    }
}
