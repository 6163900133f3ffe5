//! Finds calls anywhere in a value whose form is not known, such as the state of a graph.

use std::collections::HashMap;

use serde_json::Value;

use super::loose_message::{CALL_IDS, LooseMessage, MessagePart, function_of};
use crate::format::lenient;
use crate::model::Json;

/// Keys of objects that are messages, or that have calls as a message has.
const OF_MESSAGES: [&str; 8] = [
    "content",
    "parts",
    "tool_calls",
    "toolCalls",
    "toolInvocations",
    "invalid_tool_calls",
    "function_call",
    "additional_kwargs",
];

/// The calls in a value, a list for each place: another place may tell the same calls again. What is inside of a call, such as its
/// arguments, has none.
pub fn calls_within(value: &Value) -> Vec<Vec<MessagePart>> {
    match value {
        Value::Array(list) => {
            let all: Vec<MessagePart> = list.iter().flat_map(calls_within).flatten().collect();
            if all.is_empty() {
                Vec::new()
            } else {
                vec![all]
            }
        }
        Value::Object(fields) => match calls_of(value) {
            none if none.is_empty() => fields.values().flat_map(calls_within).collect(),
            calls => vec![calls],
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// The calls of several lists that tell the same calls, each once. Two equal calls of one list are two calls.
pub fn each_once(lists: Vec<Vec<MessagePart>>) -> Vec<MessagePart> {
    let mut distinct = DistinctCalls::default();
    for (number, list) in lists.into_iter().enumerate() {
        distinct.add(number, list);
    }
    distinct.calls.into_iter().map(|call| call.part).collect()
}

/// Calls in the order in which they were first seen.
#[derive(Default)]
struct DistinctCalls {
    calls: Vec<DistinctCall>,
    places: HashMap<CallKey, Vec<usize>>,
}

struct DistinctCall {
    part: MessagePart,
    /// The number of the last list that has it.
    last_list: usize,
}

/// By what a call is found, after its name: calls with one id are one call, and so are two of one content if one of both has no id.
#[derive(Clone, PartialEq, Eq, Hash)]
enum CallKey {
    Id(String, String),
    Content(String, String),
    ContentWithoutId(String, String),
}

impl DistinctCalls {
    /// Adds the calls of a list that no earlier one has.
    fn add(&mut self, number: usize, list: Vec<MessagePart>) {
        // How many of the first places of a key are calls of this list.
        let mut passed: HashMap<CallKey, usize> = HashMap::new();
        for part in list {
            let MessagePart::Call {
                id,
                name,
                arguments,
                ..
            } = &part
            else {
                continue;
            };
            let content = spelled(arguments);
            let with_id = id.clone().map(|id| CallKey::Id(name.clone(), id));
            let any = CallKey::Content(name.clone(), content.clone());
            let without_id = CallKey::ContentWithoutId(name.clone(), content);
            let wanted = with_id.as_ref().map_or([Some(&any), None], |with_id| {
                [Some(with_id), Some(&without_id)]
            });
            let found = wanted
                .into_iter()
                .flatten()
                .find_map(|key| self.next(number, key, &mut passed));
            match found.and_then(|at| self.calls.get_mut(at)) {
                Some(call) => call.last_list = number,
                None => {
                    for key in [any, with_id.unwrap_or(without_id)] {
                        self.places.entry(key).or_default().push(self.calls.len());
                    }
                    self.calls.push(DistinctCall {
                        part,
                        last_list: number,
                    });
                }
            }
        }
    }

    /// The first call with a key that is not yet a call of this list.
    fn next(
        &self,
        number: usize,
        key: &CallKey,
        passed: &mut HashMap<CallKey, usize>,
    ) -> Option<usize> {
        let places = self.places.get(key)?;
        let passed = passed.entry(key.clone()).or_default();
        while self
            .calls
            .get(*places.get(*passed)?)
            .is_some_and(|call| call.last_list == number)
        {
            *passed += 1;
        }
        places.get(*passed).copied()
    }
}

/// Arguments in one spelling; none are an empty object.
pub fn spelled(arguments: &Json) -> String {
    match lenient::any(arguments.text()) {
        Ok(Value::Null) => "{}".to_owned(),
        Ok(Value::String(text)) if text.is_empty() => "{}".to_owned(),
        Ok(value) => value.to_string(),
        Err(_) => arguments.text().to_owned(),
    }
}

/// The calls of an object that is a call or a message.
fn calls_of(value: &Value) -> Vec<MessagePart> {
    let message = if is_call(value) {
        serde_json::json!({ "tool_calls": [value] })
    } else if OF_MESSAGES.iter().any(|key| value.get(*key).is_some()) {
        value.clone()
    } else {
        return Vec::new();
    };
    let parts = LooseMessage::of(&message, "assistant").parts;
    parts
        .into_iter()
        .filter(|part| matches!(part, MessagePart::Call { .. }))
        .collect()
}

/// Whether an object alone is a call. An answer of an agent may be an object, too: a type alone is not enough.
fn is_call(value: &Value) -> bool {
    let has_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_result = kind.ends_with("result") || value.get("result").is_some() && kind.is_empty();
    let is_of_ai_sdk = has_text("toolCallId") && has_text("toolName") && !is_result;
    let is_typed = [
        "tool_use",
        "tool_call",
        "function_call",
        "mcp_call",
        "custom_tool_call",
    ]
    .contains(&kind)
        && ["name", "function"]
            .iter()
            .any(|key| value.get(*key).is_some());
    let function = value.get("function");
    let is_function = function.is_some_and(|function| {
        function.get("name").is_some() && function.get("arguments").is_some()
    });
    is_of_ai_sdk || is_typed || is_function
}

/// Keys under which a transcript has no calls that an agent made in this run: what the tools are, what they were called with, data about the
/// run, and calls of before or that wait for somebody.
const NO_CALLS: [&str; 21] = [
    "__interrupt__",
    "args",
    "arguments",
    "available_tools",
    "config",
    "context",
    "functions",
    "guardrails",
    "history",
    "input_schema",
    "inputSchema",
    "mcp_approval_request",
    "metadata",
    "parameters",
    "parsed",
    "prompt",
    "response_format",
    "scores",
    "tool_choice",
    "tool_definitions",
    "tools",
];

/// The name of the first call in a value that is none of the recorded ones. Here every object with a name and arguments is a call, whatever
/// its type is and wherever it is; where such keys may also be of something else, the object has to have an id or a type of a call.
/// The record itself is none: it may have a name and an input.
pub fn unread_call(record: &Value, is_recorded: &dyn Fn(&str) -> bool) -> Option<String> {
    let unread = |one: &Value| match named_call(one) {
        Some(name) => (!is_recorded(name)).then(|| name.to_owned()),
        None => unread_call(one, is_recorded),
    };
    match record {
        Value::Array(list) => list.iter().find_map(unread),
        Value::Object(fields) => {
            let inner = fields
                .iter()
                .filter(|(key, _)| !NO_CALLS.contains(&key.as_str()));
            inner.map(|(_, value)| value).find_map(unread)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The name in an object that has a name and arguments under any of the keys that libraries use. A call that waits for an approval is not
/// made yet.
fn named_call(value: &Value) -> Option<&str> {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let call = function_of(value);
    let has = |keys: &[&str]| {
        keys.iter().any(|key| {
            call.get(*key)
                .is_some_and(|one| one.is_object() || one.is_string())
        })
    };
    let is_called = CALL_IDS
        .iter()
        .chain(&["toolUseId"])
        .any(|key| value.get(*key).is_some())
        || ["tool", "function", "call"]
            .iter()
            .any(|word| kind.contains(word));
    let of_calls_alone = has(&["arguments", "tool_kwargs", "tool_args", "tool_input"]);
    let is_call = of_calls_alone
        || (is_called
            && has(&["args", "input"])
            && !value.get("input").is_some_and(Value::is_string));
    let names = [
        "name",
        "toolName",
        "tool_name",
        "functionName",
        "function_name",
        "tool",
    ];
    let name = names.iter().find_map(|key| call.get(*key)?.as_str())?;
    (is_call && !kind.starts_with("mcp_approval")).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{calls_within, each_once};
    use crate::format::transcript::loose_message::MessagePart;

    #[test]
    fn calls_of_several_lists_are_kept_once() {
        let list = |calls: &[(&str, i64)]| {
            let call = |(id, of): &(&str, i64)| {
                let mut call = json!({ "type": "function", "function": { "name": "pay", "arguments": json!({ "of": of }) } });
                if !id.is_empty() {
                    call["id"] = json!(id);
                }
                call
            };
            calls_within(&calls.iter().map(call).collect()).concat()
        };
        for (lists, kept) in [
            (
                vec![list(&[("1", 1), ("2", 1)]), list(&[("2", 1), ("1", 1)])],
                2,
            ),
            (vec![list(&[("1", 1)]), list(&[("2", 1)])], 2),
            (vec![list(&[("1", 1)]), list(&[("1", 2)])], 1),
            // Without an id, by the content; those of one list are different calls.
            (
                vec![
                    list(&[("", 1), ("", 1)]),
                    list(&[("", 1)]),
                    list(&[("", 1), ("", 1)]),
                ],
                2,
            ),
            (
                vec![
                    list(&[("1", 1), ("2", 2)]),
                    list(&[("", 2), ("", 1), ("", 1)]),
                ],
                3,
            ),
            (vec![list(&[("", 1)]), list(&[("1", 1), ("2", 1)])], 2),
            (
                vec![list(&[("", 1), ("1", 2)]), list(&[("1", 1), ("2", 1)])],
                2,
            ),
        ] {
            assert_eq!(each_once(lists.clone()).len(), kept, "{lists:?}");
        }
    }

    #[test]
    fn calls_are_found_at_any_depth_once() {
        let call = json!({ "id": "1", "name": "pay", "args": { "type": "tool_use", "name": "x" } });
        let block = json!({ "type": "tool_use", "id": "1", "name": "pay", "input": {} });
        let function = json!({ "id": "1", "type": "function", "function": { "name": "pay", "arguments": "{}" } });
        for value in [
            json!({ "update": { "messages": [{ "type": "ai", "content": [block.clone()], "tool_calls": [call] }] } }),
            json!([[{ "message": { "type": "constructor", "kwargs": { "content": "", "tool_calls": [call] } } }]]),
            json!({ "output": [function.clone()] }),
            json!([{ "toolCallId": "1", "toolName": "pay", "input": {} }]),
        ] {
            let found = calls_within(&value).concat();
            let [MessagePart::Call { name, .. }] = found.as_slice() else {
                panic!("{value}: {found:?}")
            };
            assert_eq!(name, "pay");
        }
        let step =
            json!({ "tool_call": function, "state": { "messages": [{ "content": [block] }] } });
        assert_eq!(calls_within(&step).len(), 2, "two places");
        for value in [
            json!({ "tools": [{ "type": "function", "function": { "name": "pay", "parameters": {} } }] }),
            json!([{ "type": "phone_call", "name": "Bob" }, { "type": "tool_result", "tool_use_id": "1" }]),
            json!({ "messages": [{ "role": "user", "content": "{\"tool_calls\": [{ \"name\": \"pay\" }]}" }] }),
            json!([{ "type": "tool-result", "toolCallId": "1", "toolName": "pay" }]),
        ] {
            assert!(calls_within(&value).is_empty(), "{value}");
        }
    }
}
