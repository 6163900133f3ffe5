//! Puts recorded event streams of models together: the events of one answer become the answer that is not streamed.

use serde_json::{Map, Value, json};

use crate::message::text_at;
use crate::streamed_calls::{StreamedCalls, append};
use crate::{loose, vendor_bodies};

/// The answer of an event stream; `None` unless the text is a stream of a known vendor.
#[must_use]
pub fn streamed_answer(text: &str) -> Option<Value> {
    let events: Vec<Value> = if is_event_stream(text) {
        events(text).collect()
    } else {
        values(text)
    };
    let answer = assembled(&events.iter().collect::<Vec<_>>());
    answer.or_else(|| {
        events
            .into_iter()
            .find(|event| event.get("error").is_some())
    })
}

/// The answer that events make up; `None` if they are none of a known vendor.
pub fn assembled(events: &[&Value]) -> Option<Value> {
    let first = events.first()?;
    match text_at(first, &["type"]).unwrap_or_default() {
        "message_start" | "ping" => message(events),
        "error" => Some((*first).clone()),
        _ if events.iter().any(|event| is_whole(event)) => {
            // The last event has the whole response: completed, failed or incomplete.
            let whole = events.iter().rev().find(|event| is_whole(event))?;
            whole.get("response").cloned()
        }
        _ if events.iter().any(|event| is_chunk(event)) => Some(completion(events)),
        _ => vendor_bodies::assembled(events),
    }
}

fn is_whole(event: &Value) -> bool {
    event.get("response").is_some_and(Value::is_object)
}

fn is_chunk(event: &Value) -> bool {
    let choices = event.get("choices").and_then(Value::as_array);
    choices.is_some_and(|choices| choices.iter().all(|choice| choice.get("delta").is_some()))
}

/// Whether a text is an event stream.
#[must_use]
pub fn is_event_stream(text: &str) -> bool {
    let start = text.trim_start();
    ["event:", "data:", "id:", "retry:", ": ", ":\n"]
        .iter()
        .any(|field| start.starts_with(field))
}

/// The values of a stream without events: one a line, or a list.
fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let values: Option<Vec<Value>> = values.map(Result::ok).collect();
    match values.unwrap_or_default() {
        list if list.len() == 1 => match list.into_iter().next() {
            Some(Value::Array(events)) => events,
            alone => alone.into_iter().collect(),
        },
        several => several,
    }
}

/// The data of all events that are JSON objects. An event ends at an empty line; its data lines belong together.
fn events(text: &str) -> impl Iterator<Item = Value> {
    let mut events = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(more) = line.strip_prefix("data:") {
            data.push(more.strip_prefix(' ').unwrap_or(more));
        } else if line.is_empty() && !data.is_empty() {
            events.extend(loose::any(&data.join("\n")).ok().filter(Value::is_object));
            data.clear();
        }
    }
    events.into_iter()
}

/// A message of Anthropic from its events.
fn message(events: &[&Value]) -> Option<Value> {
    let mut whole = Map::new();
    let mut blocks: Vec<(Value, String)> = Vec::new();
    for event in events {
        match text_at(event, &["type"]).unwrap_or_default() {
            "message_start" => whole = event.get("message")?.as_object()?.clone(),
            "content_block_start" => {
                blocks.push((event.get("content_block")?.clone(), String::new()))
            }
            "content_block_delta" => {
                let (block, input) = blocks.get_mut(index(event))?;
                let delta = event.get("delta")?.as_object()?;
                for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
                    match key.as_str() {
                        "partial_json" => input.push_str(value.as_str().unwrap_or_default()),
                        key => append(block.as_object_mut()?, key, value),
                    }
                }
            }
            "message_delta" => {
                whole.extend(fields(event, "delta"));
                let counted = fields(event, "usage");
                let usage = whole.entry("usage").or_insert_with(|| json!({}));
                usage.as_object_mut()?.extend(counted);
            }
            "error" => return Some((*event).clone()),
            _ => {}
        }
    }
    let mut content: Vec<Value> = Vec::new();
    for (mut block, input) in blocks {
        if let (Some(fields), false) = (block.as_object_mut(), input.is_empty()) {
            fields.insert(
                "input".to_owned(),
                loose::any(&input).unwrap_or(Value::String(input)),
            );
        }
        content.push(block);
    }
    whole.insert("content".to_owned(), Value::Array(content));
    (whole.len() > 1).then_some(Value::Object(whole))
}

/// A chat completion from its chunks. Each choice is put together by its index.
fn completion(events: &[&Value]) -> Value {
    let mut whole = Map::new();
    let mut choices: Vec<StreamedMessage> = Vec::new();
    for event in events {
        for key in ["id", "model", "usage", "error"] {
            if let Some(value) = event.get(key).filter(|value| !value.is_null()) {
                whole.insert(key.to_owned(), value.clone());
            }
        }
        let listed = event.get("choices").and_then(Value::as_array);
        for choice in listed.into_iter().flatten() {
            let Some(message) = slot(&mut choices, index(choice)) else {
                continue;
            };
            for (key, value) in fields(choice, "delta") {
                match (key.as_str(), &value) {
                    ("tool_calls", Value::Array(parts)) => {
                        parts.iter().for_each(|part| message.calls.add(part))
                    }
                    ("role", role) => drop(message.fields.insert("role".to_owned(), role.clone())),
                    (key, value) => append(&mut message.fields, key, value),
                }
            }
            let reason = choice
                .get("finish_reason")
                .filter(|reason| !reason.is_null());
            message.finish_reason = reason.cloned().or(message.finish_reason.take());
        }
    }
    let mut complete: Vec<Value> = Vec::new();
    for streamed in choices {
        let StreamedMessage {
            mut fields,
            calls,
            finish_reason,
        } = streamed;
        fields.entry("role").or_insert_with(|| json!("assistant"));
        if let Some(calls) = calls.whole() {
            fields.insert("tool_calls".to_owned(), calls);
        }
        complete.push(json!({ "message": fields, "finish_reason": finish_reason }));
    }
    whole.insert("object".to_owned(), json!("chat.completion"));
    whole.insert("choices".to_owned(), Value::Array(complete));
    Value::Object(whole)
}

/// A message of which some parts have arrived.
#[derive(Default)]
struct StreamedMessage {
    fields: Map<String, Value>,
    calls: StreamedCalls,
    finish_reason: Option<Value>,
}

/// The most choices of an answer: an index is a number that somebody wrote.
const MOST_CHOICES: usize = 1000;

fn slot(choices: &mut Vec<StreamedMessage>, at: usize) -> Option<&mut StreamedMessage> {
    while choices.len() <= at && at < MOST_CHOICES {
        choices.push(StreamedMessage::default());
    }
    choices.get_mut(at)
}

/// The object under a key; empty if there is none.
fn fields(value: &Value, key: &str) -> Map<String, Value> {
    let fields = value.get(key).and_then(Value::as_object);
    fields.cloned().unwrap_or_default()
}

fn index(value: &Value) -> usize {
    value
        .get("index")
        .and_then(Value::as_u64)
        .and_then(|index| usize::try_from(index).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;
    use serde_json::json;

    use super::{is_event_stream, streamed_answer};

    #[test]
    fn lines_of_data_and_comments_are_read_as_the_standard_says() {
        let text = ": keep-alive\n\ndata:{\"choices\":\ndata: [{\"index\": 0, \"delta\": {\"content\": \"a\"}}]}\r\n\r\ndata: [DONE]\n\n";
        assert!(is_event_stream(text));
        let whole = streamed_answer(text).unwrap();
        assert_eq!(
            whole["choices"],
            json!([{ "message": { "role": "assistant", "content": "a" }, "finish_reason": null }])
        );
        assert!(!is_event_stream("{\"data\": 1}"));
        assert_eq!(streamed_answer("data: nothing\n\n"), None);
    }

    #[test]
    fn an_index_beyond_all_reason_is_left_out() {
        let far =
            "data: {\"choices\": [{\"index\": 99999999999, \"delta\": {\"content\": \"a\"}}]}\n\n";
        assert_eq!(streamed_answer(far).unwrap()["choices"], json!([]));
    }

    #[test]
    fn each_call_of_a_stream_is_a_call_of_its_own() {
        let piece = |calls: serde_json::Value| {
            format!(
                "data: {}\n\n",
                json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] })
            )
        };
        let call = |index: Option<u32>, id: Option<&str>, name: Option<&str>, arguments: &str| {
            let mut call = json!({ "function": { "arguments": arguments } });
            index.iter().for_each(|index| call["index"] = json!(index));
            id.iter().for_each(|id| call["id"] = json!(id));
            name.iter()
                .for_each(|name| call["function"]["name"] = json!(name));
            call
        };
        let both = |first: Option<u32>, second: Option<u32>, ids: [Option<&str>; 2]| {
            [
                call(first, ids[0], Some("delete"), "{}"),
                call(second, ids[1], Some("pay"), "{}"),
            ]
        };
        let (ids, none) = ([Some("1"), Some("2")], [None, None]);
        let table = [
            piece(json!(both(None, None, ids))),
            both(Some(0), Some(0), ids)
                .map(|one| piece(json!([one])))
                .concat(),
            both(Some(0), Some(1), none)
                .map(|one| piece(json!([one])))
                .concat(),
            both(Some(0), Some(0), none)
                .map(|one| piece(json!([one])))
                .concat(),
            // In pieces, with and without an index.
            [
                call(Some(0), Some("1"), Some("delete"), ""),
                call(Some(0), None, None, "{"),
                call(Some(0), None, None, "}"),
                call(Some(1), Some("2"), Some("pay"), "{"),
                call(Some(1), Some("2"), None, "}"),
            ]
            .map(|one| piece(json!([one])))
            .concat(),
            [
                call(None, Some("1"), Some("delete"), "{"),
                call(None, None, None, "}"),
                call(None, Some("2"), Some("pay"), "{}"),
            ]
            .map(|one| piece(json!([one])))
            .concat(),
        ];
        for text in table {
            let whole = streamed_answer(&text).unwrap();
            let calls = whole["choices"][0]["message"]["tool_calls"]
                .as_array()
                .unwrap()
                .clone();
            let calls: Vec<_> = calls.iter().map(|call| call["function"].clone()).collect();
            let expected = ["delete", "pay"].map(|name| json!({ "name": name, "arguments": "{}" }));
            assert_eq!(calls, expected, "{text}");
        }
    }

    #[test]
    fn a_stream_has_all_of_its_calls_with_their_ids() {
        let parts = (0..1100).flat_map(|index| {
            let start = json!({ "index": index, "id": format!("call-{index}"), "function": { "name": "pay" } });
            [start, json!({ "index": index, "id": null, "function": { "arguments": "{}" } })]
        });
        let event =
            |call| json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
        let text: String = parts
            .map(|part| format!("data: {}\n\n", event(part)))
            .collect();
        let whole = streamed_answer(&text).unwrap();
        let calls = whole["choices"][0]["message"]["tool_calls"]
            .as_array()
            .unwrap();
        assert_eq!(calls.len(), 1100);
        assert_eq!(
            calls[1099],
            json!({ "id": "call-1099", "function": { "name": "pay", "arguments": "{}" } })
        );
    }

    proptest! {
        #[test]
        fn any_events_are_read_or_refused(kind in "(message_start|content_block_start|content_block_delta|message_delta|error|x)", rest in any::<String>()) {
            let one = json!({ "type": kind, "index": 3, "delta": { "text": rest, "type": 1 }, "message": {}, "usage": 1 });
            let _ = streamed_answer(&format!("data: {{\"type\": \"message_start\", \"message\": {{\"usage\": 3}}}}\n\ndata: {one}\n\n{rest}"));
        }
    }
}
