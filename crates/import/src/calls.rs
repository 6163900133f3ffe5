//! Calls that several places repeat, and calls anywhere in a value whose form is not known, such as the state of a graph.

use std::collections::HashMap;

use serde_json::Value;

use crate::message::{CallPart, Message, Part, Role, part_of_call, text_at};

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
pub fn calls_within(value: &Value) -> Vec<Vec<CallPart>> {
    match value {
        Value::Array(list) => {
            let all: Vec<CallPart> = list.iter().flat_map(calls_within).flatten().collect();
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

/// The calls of several lists that tell the same calls, each once, those of the first list first. Two equal calls of one list are two calls.
pub fn each_once(lists: impl IntoIterator<Item = Vec<CallPart>>) -> Vec<CallPart> {
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
    part: CallPart,
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

impl CallKey {
    fn of_id(part: &CallPart) -> Option<Self> {
        Some(Self::Id(part.name.clone(), part.id.clone()?))
    }
}

impl DistinctCalls {
    /// Adds the calls of a list that no earlier one has. A known call without an id takes over that of its equal.
    fn add(&mut self, number: usize, list: Vec<CallPart>) {
        // How many of the first places of a key are passed.
        let mut passed: HashMap<CallKey, usize> = HashMap::new();
        for part in list {
            let content = spelled(&part.arguments);
            let any = CallKey::Content(part.name.clone(), content.clone());
            let without_id = CallKey::ContentWithoutId(part.name.clone(), content);
            let of_id = CallKey::of_id(&part);
            let wanted = match &of_id {
                Some(of_id) => vec![of_id, &without_id],
                None => vec![&any],
            };
            let index = wanted
                .into_iter()
                .find_map(|key| self.next(number, key, &mut passed));
            if let Some(at) = index {
                let known = &mut self.calls[at];
                known.last_list = number;
                if known.part.id.is_none()
                    && let Some(of_id) = of_id
                {
                    known.part.id = part.id;
                    self.places.entry(of_id).or_default().push(at);
                }
            } else {
                for key in [any, of_id.unwrap_or(without_id)] {
                    self.places.entry(key).or_default().push(self.calls.len());
                }
                let last_list = number;
                self.calls.push(DistinctCall { part, last_list });
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
        loop {
            let index = *places.get(*passed)?;
            let call = &self.calls[index];
            let has_id = call.part.id.is_some();
            let is_other = call.last_list == number
                || (has_id && matches!(key, CallKey::ContentWithoutId(..)));
            if !is_other {
                return Some(index);
            }
            *passed += 1;
        }
    }
}

/// Arguments in one spelling; none are an empty object.
pub fn spelled(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.is_empty() => "{}".to_owned(),
        arguments => arguments.to_string(),
    }
}

/// The calls of an object that is a call or a message.
fn calls_of(value: &Value) -> Vec<CallPart> {
    if is_call(value) {
        return match part_of_call(value) {
            Some(Part::Call(call)) => vec![call],
            Some(_) | None => Vec::new(),
        };
    }
    if OF_MESSAGES.iter().any(|key| value.get(*key).is_some()) {
        return Message::of(value, Role::Assistant)
            .calls()
            .cloned()
            .collect();
    }
    Vec::new()
}

/// Whether an object alone is a call. An answer of an agent may be an object, too: a type alone is not enough.
fn is_call(value: &Value) -> bool {
    let kind = text_at(value, &["type"]).unwrap_or_default();
    let is_result = kind.ends_with("result") || value.get("result").is_some() && kind.is_empty();
    let has_names = ["toolCallId", "toolName"]
        .iter()
        .all(|key| value.get(*key).is_some_and(Value::is_string));
    let is_of_ai_sdk = has_names && !is_result;
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{calls_within, each_once};

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
            let [call] = found.as_slice() else {
                panic!("{value}: {found:?}")
            };
            assert_eq!(call.name, "pay");
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
