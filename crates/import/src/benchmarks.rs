//! Reads runs of agents in benchmarks: results of tau-bench, trajectories of SWE-agent, and event logs of OpenHands.

use serde_json::{Value, json};

use crate::conversations::Conversation;
use crate::dates::in_utc;
use crate::message::{CallPart, Message, Part, ResultPart, Role, plain, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::Source;
use crate::transcript::{Ending, Format, Transcript, Usage};

/// The benchmark whose runs or events these records are.
pub fn benchmark_of(record: &Value) -> Option<Format> {
    if record.get("task_id").is_some()
        && record.get("trial").is_some()
        && (is_list(record, "traj") || is_list(record, "messages"))
    {
        return Some(Format::TauBench);
    }
    if is_list(record, "history") && is_list(record, "trajectory") {
        return Some(Format::SweAgent);
    }
    let is_event = record.get("args").is_some_and(Value::is_object)
        && record.get("action").is_some_and(Value::is_string);
    (is_event && record.get("source").is_some_and(Value::is_string)).then_some(Format::OpenHands)
}

/// Reads the trials of tau-bench: the task is the case.
pub fn read_tau_bench(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let records = source.records().into_iter();
    all_or_problems(records.map(|(record, at)| trial(record, at)))
}

fn trial(record: &Value, at: usize) -> Result<Transcript, Problem> {
    let mut conversation = Conversation::default();
    let messages = record.get("traj").or_else(|| record.get("messages"));
    for message in messages.and_then(Value::as_array).into_iter().flatten() {
        // The simulated user has tools of its own.
        if text_at(message, &["requestor"]) == Some("user") {
            conversation
                .builder
                .leave_out("result of a tool of the user");
            continue;
        }
        conversation.note(message);
        conversation.add_read(Message::of(message, Role::User), || at)?;
    }
    let error = record
        .pointer("/info/error")
        .filter(|error| !error.is_null())
        .map(plain);
    let case = record.get("task_id").map(plain);
    Ok(Transcript {
        case: case.map(|task| {
            if record.get("traj").is_some() {
                format!("task-{task}")
            } else {
                task
            }
        }),
        ..conversation.finish_as(at, Ending::of(error.as_ref()), error)?
    })
}

/// Reads trajectories of SWE-agent. The answer is what the agent submitted.
pub fn read_swe_agent(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let records = source.records().into_iter();
    all_or_problems(records.map(|(record, at)| trajectory(record, at)))
}

fn is_list(record: &Value, key: &str) -> bool {
    record.get(key).is_some_and(Value::is_array)
}

fn trajectory(record: &Value, at: usize) -> Result<Transcript, Problem> {
    let is_of_calls = items(record, "history").any(|message| is_list(message, "tool_calls"));
    let mut conversation = Conversation::default();
    for message in items(record, "history").filter(|message| message["is_demo"] != true) {
        let mut message = message.clone();
        if let Some(id) = message.pointer("/tool_call_ids/0").cloned() {
            message["tool_call_id"] = id;
        }
        let read = Message::of(&message, Role::User);
        if !is_of_calls && read.role == Role::Assistant {
            break;
        }
        conversation.add_read(read, || at)?;
    }
    // Without the tools of a vendor, an action is a command in a text.
    for step in items(record, "trajectory").filter(|_| !is_of_calls) {
        let call = CallPart {
            name: "bash".to_owned(),
            arguments: json!({ "command": step.get("action") }),
            result: step.get("observation").cloned(),
            ..CallPart::default()
        };
        let said = text_at(step, &["thought", "response"]).unwrap_or_default();
        let parts = vec![Part::Text(said.to_owned()), Part::Call(call)];
        conversation.add_read(
            Message {
                role: Role::Assistant,
                parts,
            },
            || at,
        )?;
    }
    let info = record.get("info").unwrap_or(&Value::Null);
    let submission = text_at(info, &["submission"]).unwrap_or_default();
    let answer = Message {
        role: Role::Assistant,
        parts: vec![Part::Text(submission.to_owned())],
    };
    conversation.add_read(answer, || at)?;
    let status = text_at(info, &["exit_status"]).unwrap_or("no exit status");
    let is_submitted = status.to_ascii_lowercase().starts_with("submitted");
    let stats = info.get("model_stats").unwrap_or(&Value::Null);
    let usage = Usage {
        input_tokens: stats.get("tokens_sent").and_then(Value::as_u64),
        output_tokens: stats.get("tokens_received").and_then(Value::as_u64),
        cost_usd: info
            .pointer("/model_stats/instance_cost")
            .and_then(Value::as_f64),
        ..Usage::default()
    };
    let error = (!is_submitted).then(|| status.to_owned());
    Ok(Transcript {
        ending: Ending::of(error.as_ref()),
        error,
        usage,
        ..conversation.finish(at)?
    })
}

/// The items of a list; empty if the list is missing.
fn items<'v>(record: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    let list = record.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// Reads an event log of OpenHands: actions of the user and the agent, and observations, each with the id of its action.
pub fn read_open_hands(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let records = source.records();
    let at = records.first().map_or(0, |(_, at)| *at);
    let mut conversation = Conversation::default();
    let (mut started_at, mut error) = (None, None);
    for (event, place) in records {
        if started_at.is_none() {
            started_at = text_at(event, &["timestamp"]).and_then(in_utc);
        }
        let state = event.pointer("/extras/agent_state").and_then(Value::as_str);
        if let Some(state) = state {
            let reason = event.pointer("/extras/reason").and_then(Value::as_str);
            let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or(state);
            error = (state == "error").then(|| reason.to_owned());
        }
        if let Some(message) = message_of(event) {
            conversation
                .add_read(message, || place)
                .map_err(|problem| vec![problem])?;
        }
    }
    let transcript = conversation.finish_as(at, Ending::of(error.as_ref()), error);
    Ok(vec![Transcript {
        started_at,
        ..transcript.map_err(|problem| vec![problem])?
    }])
}

/// What an event says to or of the agent; `None` for states, memories, and empty observations.
fn message_of(event: &Value) -> Option<Message> {
    let args = event.get("args").unwrap_or(&Value::Null);
    let of_user = text_at(event, &["source"]) == Some("user");
    match text_at(event, &["action"]) {
        Some("system") => Some(text_message(Role::System, text_at(args, &["content"])?)),
        Some("message") => {
            let role = if of_user { Role::User } else { Role::Assistant };
            Some(text_message(role, text_at(args, &["content"])?))
        }
        Some("finish") => {
            let thought = text_at(args, &["final_thought", "thought"])
                .or_else(|| text_at(event, &["message"]));
            Some(text_message(Role::Assistant, thought?))
        }
        Some("recall" | "change_agent_state" | "condensation" | "null") => None,
        Some(action) if !of_user => {
            let mut arguments = args.clone();
            let mut parts = Vec::new();
            if let Some(fields) = arguments.as_object_mut() {
                let thought = fields.remove("thought");
                parts.extend(
                    thought
                        .as_ref()
                        .and_then(Value::as_str)
                        .map(|text| Part::Text(text.to_owned())),
                );
                let of_program = [
                    "blocking",
                    "confirmation_state",
                    "hidden",
                    "is_input",
                    "security_risk",
                ];
                fields.retain(|key, value| !value.is_null() && !of_program.contains(&key.as_str()));
            }
            let name = event
                .pointer("/tool_call_metadata/function_name")
                .and_then(Value::as_str);
            parts.push(Part::Call(CallPart {
                id: event.get("id").map(plain),
                name: name.unwrap_or(action).to_owned(),
                arguments,
                ..CallPart::default()
            }));
            Some(Message {
                role: Role::Assistant,
                parts,
            })
        }
        Some(_) => None,
        None => {
            let kind = text_at(event, &["observation"])?;
            let cause = event.get("cause").filter(|cause| !cause.is_null())?;
            if of_user || ["agent_state_changed", "recall", "null"].contains(&kind) {
                return None;
            }
            let result = event.get("content").cloned().unwrap_or_default();
            let error = (kind == "error").then(|| plain(&result));
            let part = ResultPart {
                id: Some(plain(cause)),
                name: None,
                result,
                error,
            };
            Some(Message {
                role: Role::Tool,
                parts: vec![Part::Result(part)],
            })
        }
    }
}

fn text_message(role: Role, text: &str) -> Message {
    Message {
        role,
        parts: vec![Part::Text(text.to_owned())],
    }
}
