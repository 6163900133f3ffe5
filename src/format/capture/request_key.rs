//! When two requests to a model ask the same: their digests are equal, without ids that differ in every run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::files::sha256_hex;
use crate::model::{ExchangeWire, RecordedRequest};
use crate::text::{changed_part, line};

/// Keys of a request's body that name the caller, and do not change what the model answers.
const CALLER_KEYS: [&str; 5] = [
    "metadata",
    "prompt_cache_key",
    "safety_identifier",
    "store",
    "user",
];

/// Keys whose value is an id of a message or of a tool call.
const ID_KEYS: [&str; 6] = [
    "id",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "item_id",
    "toolCallId",
];

/// The digest of what a request asks: method, path and body. Ids count by the order in which they first occur, because clients
/// and servers choose other ones in every run.
pub fn request_key(wire: ExchangeWire, request: &RecordedRequest) -> String {
    let RecordedRequest {
        method,
        path,
        headers: _,
        body,
    } = request;
    let body = meaning(body);
    sha256_hex(format!("{}\n{method}\n{path}\n{body}", wire.as_str()).as_bytes())
}

/// The first part of a body that differs from a recorded one: where, what was recorded, and what is asked now.
pub fn first_difference(recorded: &Value, asked: &Value) -> Option<String> {
    let (recorded, asked) = (meaning(recorded), meaning(asked));
    let (path, recorded_part, asked_part) = difference(&recorded, &asked, String::new())?;
    let path = if path.is_empty() {
        "the body".to_owned()
    } else {
        path
    };
    let (recorded_part, asked_part) = shown(recorded_part, asked_part);
    Some(format!("{path} was {recorded_part}, and is {asked_part}"))
}

/// The most characters of a value that are shown.
const SHOWN: usize = 80;

/// Two values that differ: of texts the words that differ.
fn shown(recorded: Option<&Value>, asked: Option<&Value>) -> (String, String) {
    if let (Some(Value::String(recorded)), Some(Value::String(asked))) = (recorded, asked) {
        let (recorded, asked) = changed_part(recorded, asked, SHOWN);
        if recorded != asked {
            return (format!("\"{recorded}\""), format!("\"{asked}\""));
        }
    }
    (part(recorded), part(asked))
}

fn part(value: Option<&Value>) -> String {
    value.map_or("nothing".to_owned(), |value| {
        line(&value.to_string(), SHOWN)
    })
}

/// The body without what does not count. Objects have their keys in order.
fn meaning(body: &Value) -> Value {
    let mut body = body.clone();
    if let Value::Object(fields) = &mut body {
        CALLER_KEYS.iter().for_each(|key| drop(fields.remove(*key)));
        let mut ids = BTreeMap::new();
        // Only messages have ids that differ: a tool may well have a parameter called "id".
        for key in ["messages", "input"] {
            for message in fields
                .get_mut(key)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                number_ids(message, &mut ids);
            }
        }
    }
    body
}

/// Replaces the ids of a message, of its parts and of its calls by numbers. Arguments and contents of tools stay as they are.
fn number_ids(message: &mut Value, ids: &mut BTreeMap<String, usize>) {
    let Value::Object(fields) = message else {
        return;
    };
    number_own_ids(fields, ids);
    for key in ["content", "tool_calls"] {
        for part in fields
            .get_mut(key)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Value::Object(part) = part {
                number_own_ids(part, ids);
            }
        }
    }
}

fn number_own_ids(fields: &mut Map<String, Value>, ids: &mut BTreeMap<String, usize>) {
    for key in ID_KEYS {
        if let Some(Value::String(id)) = fields.get_mut(key) {
            let next = ids.len();
            *id = format!("#{}", ids.entry(id.clone()).or_insert(next));
        }
    }
}

/// Where two values differ, and the two parts; `None` is a missing part.
type BodyDifference<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn difference<'a>(
    recorded: &'a Value,
    asked: &'a Value,
    path: String,
) -> Option<BodyDifference<'a>> {
    match (recorded, asked) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let difference = of_parts(old.get(key), new.get(key), path);
                if difference.is_some() {
                    return difference;
                }
            }
            None
        }
        (Value::Array(old), Value::Array(new)) => (0..old.len().max(new.len()))
            .find_map(|index| of_parts(old.get(index), new.get(index), format!("{path}[{index}]"))),
        (old, new) => (old != new).then_some((path, Some(old), Some(new))),
    }
}

fn of_parts<'a>(
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    path: String,
) -> Option<BodyDifference<'a>> {
    match (old, new) {
        (Some(old), Some(new)) => difference(old, new, path),
        (None, None) => None,
        (old, new) => Some((path, old, new)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{first_difference, request_key};
    use crate::model::{ExchangeWire, RecordedRequest};

    fn key(body: Value) -> String {
        let request = RecordedRequest {
            method: "POST".to_owned(),
            path: "/chat/completions".to_owned(),
            headers: vec![],
            body,
        };
        request_key(ExchangeWire::OpenAi, &request)
    }

    fn loop_with(id: &str, result: &str) -> Value {
        json!({ "model": "m", "messages": [
            { "role": "user", "content": "q" },
            { "role": "assistant", "tool_calls": [{ "id": id, "function": { "name": "f", "arguments": "{\"id\": 1}" } }] },
            { "role": "tool", "tool_call_id": id, "content": result }] })
    }

    #[test]
    fn ids_and_callers_do_not_make_another_request() {
        assert_eq!(key(loop_with("call_1", "r")), key(loop_with("call_2", "r")));
        assert_ne!(
            key(loop_with("call_1", "r")),
            key(loop_with("call_1", "another"))
        );
        let mut other = loop_with("call_1", "r");
        other["user"] = json!("u-17");
        other["metadata"] = json!({ "run": "2026-01-01" });
        assert_eq!(key(loop_with("call_1", "r")), key(other));
        let mixed = |second: &str| {
            json!({ "messages": [{ "role": "assistant", "tool_calls": [{ "id": "a" }, { "id": "b" }] },
                { "role": "tool", "tool_call_id": second }] })
        };
        assert_ne!(
            key(mixed("a")),
            key(mixed("b")),
            "the result of another call is another request"
        );
    }

    #[test]
    fn everything_else_makes_another_request() {
        let plain = json!({ "model": "m", "messages": [{ "role": "user", "content": "q" }], "tools": [{ "id": "x" }] });
        for (pointer, value) in [
            ("/model", json!("n")),
            ("/messages/0/content", json!("other")),
            ("/messages/0/role", json!("system")),
            ("/tools/0/id", json!("y")),
        ] {
            let mut other = plain.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            assert_ne!(key(plain.clone()), key(other), "{pointer}");
        }
        for more in [
            "temperature",
            "stream",
            "seed",
            "max_tokens",
            "response_format",
        ] {
            let mut other = plain.clone();
            other[more] = json!(1);
            assert_ne!(key(plain.clone()), key(other), "{more}");
        }
    }

    #[test]
    fn the_first_difference_names_its_place_and_both_values() {
        let (old, new) = (loop_with("a", "r"), loop_with("b", "s"));
        let shown = first_difference(&old, &new);
        assert_eq!(
            shown.as_deref(),
            Some("messages[2].content was \"r\", and is \"s\"")
        );
        let longer = json!({ "messages": [1, 2] });
        assert_eq!(
            first_difference(&json!({ "messages": [1] }), &longer).as_deref(),
            Some("messages[1] was nothing, and is 2")
        );
        assert_eq!(first_difference(&old, &loop_with("c", "r")), None);
    }
}
