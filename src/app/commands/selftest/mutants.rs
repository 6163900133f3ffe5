//! Mutated recordings: grading that does not detect a mutation proves nothing.

use std::fmt;

use recover::recover_any;
use serde_json::{Value, json};

use crate::model::Run;

/// The most mutants of one run.
const MOST: usize = 12;
/// The least length in characters of a text that is replaced.
const LONG: usize = 20;
/// The replacement text.
const ELSE: &str = "something else";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mutation {
    /// The answer is cut in the middle, as if a token limit was reached.
    Truncated,
    /// An element of a list is removed, such as a finding.
    Dropped {
        /// The JSON pointer of the list.
        list: String,
        /// The index of the element.
        element: usize,
    },
    /// The longest text is replaced.
    Replaced(String),
    /// A number is one more, or a yes becomes a no.
    Altered(String),
    /// The name of a called tool is changed.
    Renamed(String),
    /// An argument of a tool call is changed.
    Argued(String),
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => write!(f, "the answer is cut in the middle"),
            Self::Dropped { list, element } => write!(f, "element {element} of {list} is left out"),
            Self::Replaced(at) => write!(f, "the text {at} is \"{ELSE}\""),
            Self::Altered(at) => write!(f, "{at} has another value"),
            Self::Renamed(at) => write!(f, "{at} names another tool"),
            Self::Argued(at) => write!(f, "an argument in {at} is \"{ELSE}\""),
        }
    }
}

/// Returns the possible mutations of a run, the most important first.
pub fn mutations(run: &Run) -> Vec<Mutation> {
    let mut mutations = vec![Mutation::Truncated];
    let (outputs, _) = shown(run);
    let mut calls = Vec::new();
    if let Some(steps) = &run.intermediate {
        pointers(
            &serde_json::from_str(steps).unwrap_or_default(),
            "",
            &mut calls,
        );
    }
    let names = in_calls(&calls, "name");
    mutations.extend(names.into_iter().take(2).map(Mutation::Renamed));
    let mut arguments = in_calls(&calls, "arguments");
    arguments.extend(in_calls(&calls, "args"));
    mutations.extend(arguments.into_iter().take(2).map(Mutation::Argued));
    let mut inside = Vec::new();
    pointers(&outputs, "", &mut inside);
    let longest = inside.iter().filter_map(|(at, kind)| match kind {
        ValueKind::Text(length) if *length >= LONG => Some((*length, at)),
        ValueKind::Text(_) | ValueKind::List(_) | ValueKind::Plain | ValueKind::Other => None,
    });
    mutations.extend(
        longest
            .max_by_key(|(length, _)| *length)
            .map(|(_, at)| Mutation::Replaced(at.clone())),
    );
    let plain = inside
        .iter()
        .filter(|(_, kind)| matches!(kind, ValueKind::Plain));
    mutations.extend(plain.take(2).map(|(at, _)| Mutation::Altered(at.clone())));
    // An outer list contains more of the output.
    let mut lists: Vec<(usize, &String, usize)> = inside
        .iter()
        .filter_map(|(at, kind)| match kind {
            ValueKind::List(length) if *length > 0 => Some((at.matches('/').count(), at, *length)),
            ValueKind::List(_) | ValueKind::Text(_) | ValueKind::Plain | ValueKind::Other => None,
        })
        .collect();
    lists.sort();
    for (_, list, length) in lists {
        mutations.extend((0..length).map(|element| Mutation::Dropped {
            list: list.clone(),
            element,
        }));
    }
    mutations.truncate(MOST);
    mutations
}

/// The pointers that end with this key in a call of a tool.
fn in_calls(pointers: &[(String, ValueKind)], key: &str) -> Vec<String> {
    let mut called = Vec::new();
    for (pointer, _) in pointers {
        if pointer.contains("ool") && pointer.rsplit('/').next() == Some(key) {
            called.push(pointer.clone());
        }
    }
    called
}

enum ValueKind {
    Text(usize),
    List(usize),
    /// A number, or yes or no.
    Plain,
    Other,
}

/// The outputs, or the values in the JSON object of their only text; and whether they are those in the text.
fn shown(run: &Run) -> (Value, bool) {
    let outputs: Value = serde_json::from_str(&run.outputs).unwrap_or_default();
    let only = outputs
        .as_object()
        .filter(|fields| fields.len() == 1)
        .and_then(|fields| fields.get("text")?.as_str());
    match only
        .and_then(recover_any)
        .map(|recovered| recovered.value)
        .filter(Value::is_object)
    {
        Some(inner) => (inner, true),
        None => (outputs, false),
    }
}

fn pointers(value: &Value, at: &str, all: &mut Vec<(String, ValueKind)>) {
    match value {
        Value::Array(list) => {
            all.push((at.to_owned(), ValueKind::List(list.len())));
            for (index, value) in list.iter().enumerate() {
                pointers(value, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(fields) => {
            all.push((at.to_owned(), ValueKind::Other));
            for (key, value) in fields {
                pointers(
                    value,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    all,
                );
            }
        }
        Value::String(text) => all.push((at.to_owned(), ValueKind::Text(text.chars().count()))),
        Value::Bool(_) | Value::Number(_) => all.push((at.to_owned(), ValueKind::Plain)),
        Value::Null => all.push((at.to_owned(), ValueKind::Other)),
    }
}

pub fn mutant(run: &Run, mutation: &Mutation) -> Run {
    match mutation {
        Mutation::Truncated => Run {
            outputs: json!({ "text": half(&run.outputs) }).to_string().into(),
            ..run.clone()
        },
        Mutation::Dropped { list, element } => with_outputs(run, &|value| {
            if let Some(list) = value
                .pointer_mut(list)
                .and_then(Value::as_array_mut)
                .filter(|list| *element < list.len())
            {
                list.remove(*element);
            }
        }),
        Mutation::Replaced(at) => with_outputs(run, &|value| {
            if let Some(Value::String(text)) = value.pointer_mut(at) {
                *text = ELSE.to_owned();
            }
        }),
        Mutation::Altered(at) => with_outputs(run, &|value| match value.pointer_mut(at) {
            Some(Value::Bool(holds)) => *holds = !*holds,
            Some(number @ Value::Number(_)) => {
                *number = json!(number.as_f64().unwrap_or_default() + 1.0)
            }
            Some(_) | None => {}
        }),
        Mutation::Renamed(at) => with_steps(run, &|value| {
            if let Some(Value::String(name)) = value.pointer_mut(at) {
                name.push_str("_of_another");
            }
        }),
        Mutation::Argued(at) => with_steps(run, &|value| {
            if let Some(Value::Object(arguments)) = value.pointer_mut(at) {
                arguments
                    .values_mut()
                    .take(1)
                    .for_each(|argument| *argument = Value::from(ELSE));
            }
        }),
    }
}

fn with_outputs(run: &Run, change: &dyn Fn(&mut Value)) -> Run {
    let (mut value, is_in_text) = shown(run);
    change(&mut value);
    let outputs = if is_in_text {
        json!({ "text": value.to_string() })
    } else {
        value
    };
    Run {
        outputs: outputs.to_string().into(),
        ..run.clone()
    }
}

fn with_steps(run: &Run, change: &dyn Fn(&mut Value)) -> Run {
    Run {
        intermediate: run
            .intermediate
            .as_ref()
            .map(|text| changed(text, change).into()),
        ..run.clone()
    }
}

fn changed(text: &str, change: &dyn Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap_or_default();
    change(&mut value);
    value.to_string()
}

fn half(text: &str) -> &str {
    let middle = text.chars().count() / 2;
    text.char_indices()
        .nth(middle)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::{Mutation, mutant, mutations};
    use crate::model::Run;

    #[test]
    fn each_mutant_has_exactly_one_mutation() {
        let run = Run {
            intermediate: Some(r#"{"tool_calls":[{"arguments":{"of":1},"name":"look"}]}"#.into()),
            ..Run::of(
                r#"{"findings":["a","b"],"summary":"a text of some length, to be cut","total":3}"#,
            )
        };
        let found = mutations(&run);
        let dropped = |element| Mutation::Dropped {
            list: "/findings".to_owned(),
            element,
        };
        let expected = [
            Mutation::Truncated,
            Mutation::Renamed("/tool_calls/0/name".to_owned()),
            Mutation::Argued("/tool_calls/0/arguments".to_owned()),
            Mutation::Replaced("/summary".to_owned()),
            Mutation::Altered("/total".to_owned()),
            dropped(0),
            dropped(1),
        ];
        assert_eq!(found, expected);
        let mutants: Vec<Run> = found
            .iter()
            .map(|mutation| mutant(&run, mutation))
            .collect();
        assert_eq!(
            &*mutants[0].outputs,
            r#"{"text":"{\"findings\":[\"a\",\"b\"],\"summary\":\"a tex"}"#
        );
        let steps = |at: usize| mutants[at].intermediate.as_deref().unwrap();
        assert_eq!(
            steps(1),
            r#"{"tool_calls":[{"arguments":{"of":1},"name":"look_of_another"}]}"#
        );
        assert_eq!(
            steps(2),
            r#"{"tool_calls":[{"arguments":{"of":"something else"},"name":"look"}]}"#
        );
        assert_eq!(
            &*mutants[3].outputs,
            r#"{"findings":["a","b"],"summary":"something else","total":3}"#
        );
        assert_eq!(
            &*mutants[4].outputs,
            r#"{"findings":["a","b"],"summary":"a text of some length, to be cut","total":4.0}"#
        );
        assert_eq!(
            &*mutants[6].outputs,
            r#"{"findings":["a"],"summary":"a text of some length, to be cut","total":3}"#
        );
        let text = Run::of(r#"{"text":"```json\n{\"is_late\": true}\n```"}"#);
        let altered = Mutation::Altered("/is_late".to_owned());
        assert_eq!(mutations(&text), [Mutation::Truncated, altered.clone()]);
        assert_eq!(
            &*mutant(&text, &altered).outputs,
            r#"{"text":"{\"is_late\":false}"}"#
        );
        assert!(mutants.iter().all(|mutant| *mutant != run));
    }
}
