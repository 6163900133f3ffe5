//! Reads what Google's Agent Development Kit keeps: sets of evaluation cases, in its forms of today and before, and sessions with events.
//!
//! Its contents are those of Gemini. Keys are in snake case or in camel case, by the program that wrote them.

use serde_json::{Value, json};

use crate::case_key::as_id;
use crate::conversations::Conversation;
use crate::dates::time;
use crate::message::{Message, Role, part_of_call, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::{Source, element_offsets};
use crate::transcript::{Ending, Transcript};

/// Whether a record is a set of cases, a case, an invocation of one, or a session.
pub fn is_adk(record: &Value) -> bool {
    let is_of_app = at(record, "app_name").is_some() || at(record, "user_id").is_some();
    is_list(record, "eval_cases")
        || (is_list(record, "conversation") && at(record, "eval_id").is_some())
        || is_old_invocation(record)
        || is_old_case(record)
        || (is_list(record, "events") && is_of_app)
}

fn is_list(record: &Value, key: &str) -> bool {
    at(record, key).is_some_and(Value::is_array)
}

fn is_old_invocation(record: &Value) -> bool {
    record.get("query").is_some_and(Value::is_string) && record.get("expected_tool_use").is_some()
}

fn is_old_case(record: &Value) -> bool {
    let data = record.get("data").and_then(Value::as_array);
    data.is_some_and(|data| data.iter().any(is_old_invocation))
}

/// The value under a key in snake case, or in camel case.
fn at<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let stated = value.get(key).or_else(|| value.get(camel_case(key)));
    stated.filter(|value| !value.is_null())
}

fn camel_case(key: &str) -> String {
    let mut camel = String::new();
    for (index, word) in key.split('_').enumerate() {
        let (first, rest) = word.split_at(usize::from(index > 0));
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(rest);
    }
    camel
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    at(value, key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Reads the cases of sets, each as the run that it expects, and sessions.
pub fn read_adk(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut runs = Vec::new();
    for document in &source.documents {
        let of_set = ["eval_cases", "evalCases"]
            .into_iter()
            .find(|key| document.value.get(*key).is_some());
        match (&document.value, of_set) {
            (value, Some(key)) => {
                let places = element_offsets(source.text, document.raw, &[key]);
                let cases = list(value, "eval_cases").iter().zip(places);
                runs.extend(cases.map(|(case, at)| run(case, at)));
            }
            (Value::Array(invocations), None) if invocations.iter().all(is_old_invocation) => {
                runs.push(run(&json!({ "conversation": invocations }), document.at));
            }
            (Value::Array(records), None) => {
                let places = element_offsets(source.text, document.raw, &[]);
                runs.extend(
                    records
                        .iter()
                        .zip(places)
                        .map(|(record, at)| run(record, at)),
                );
            }
            (record, None) => runs.push(run(record, document.at)),
        }
    }
    all_or_problems(runs)
}

/// A case, or a session.
fn run(record: &Value, place: usize) -> Result<Transcript, Problem> {
    let mut conversation = Conversation::default();
    let mut failure = None;
    let invocations = match list(record, "conversation") {
        [] => list(record, "data"),
        invocations => invocations,
    };
    for invocation in invocations {
        for message in messages(invocation) {
            conversation.add_read(message, || place)?;
        }
    }
    for event in list(record, "events") {
        if at(event, "partial") == Some(&Value::Bool(true)) {
            continue;
        }
        let error = at(event, "error_message").or_else(|| at(event, "error_code"));
        failure = error.and_then(Value::as_str).map(str::to_owned);
        conversation.note(event);
        if let Some(content) = at(event, "content") {
            let of_user = event.get("author").is_some_and(|author| author == "user");
            let role = if of_user { Role::User } else { Role::Assistant };
            conversation.add_read(Message::of(content, role), || place)?;
        }
    }
    let session = at(record, "session_input").or_else(|| record.get("initial_session"));
    let app = at(session.unwrap_or(record), "app_name").and_then(Value::as_str);
    let dates = ["creation_timestamp", "last_update_time"].iter();
    let date = dates
        .filter_map(|key| at(record, key))
        .find(|date| date.as_f64() > Some(0.0));
    let ending = Ending::of(failure.as_ref());
    let mut transcript = conversation.finish_as(place, ending, failure)?;
    if !invocations.is_empty() {
        // A set does not say which calls were made at once.
        transcript
            .calls
            .iter_mut()
            .for_each(|call| call.step = None);
    }
    Ok(Transcript {
        agent: app.filter(|app| !app.is_empty()).map(str::to_owned),
        case: at(record, "eval_id")
            .and_then(Value::as_str)
            .or_else(|| text_at(record, &["name"]))
            .map(case_id),
        started_at: date.and_then(time),
        ..transcript
    })
}

/// The id of a case, which the kit lets be any text: of a file that it converted, the path.
fn case_id(stated: &str) -> String {
    let name = match stated.rsplit_once('/') {
        Some((_, file)) => file.split('.').next().unwrap_or_default(),
        None => stated,
    };
    as_id(name)
}

/// What the user said, what the agent did, and what it answered.
fn messages(invocation: &Value) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(content) = at(invocation, "user_content").or_else(|| invocation.get("query")) {
        messages.push(message_of(content, Role::User));
    }
    let data = at(invocation, "intermediate_data").unwrap_or(&Value::Null);
    for event in list(data, "invocation_events") {
        messages.extend(at(event, "content").map(|content| Message::of(content, Role::Assistant)));
    }
    let uses = [
        list(data, "tool_uses"),
        list(invocation, "expected_tool_use"),
    ];
    let calls = uses.concat().iter().filter_map(part_of_call).collect();
    messages.push(Message {
        role: Role::Item,
        parts: calls,
    });
    for response in list(data, "tool_responses") {
        messages.push(message_of(
            &json!({ "parts": [{ "functionResponse": response }] }),
            Role::User,
        ));
    }
    for between in list(data, "intermediate_responses") {
        messages.extend(
            between
                .get(1)
                .map(|parts| message_of(&json!({ "parts": parts }), Role::Assistant)),
        );
    }
    let answer = at(invocation, "final_response").or_else(|| invocation.get("reference"));
    messages.extend(answer.map(|answer| message_of(answer, Role::Assistant)));
    messages
}

/// A content, or a plain text, of an author.
fn message_of(content: &Value, role: Role) -> Message {
    let parts = match content {
        Value::Object(_) => Message::of(content, role).parts,
        text => Message::of(&json!({ "content": text }), role).parts,
    };
    Message { role, parts }
}
