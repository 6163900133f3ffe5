//! Mutated recordings: grading that does not detect a mutation proves nothing.

use serde_json::{Value, json};

use crate::model::Run;

/// The most mutants of one run.
const MOST: usize = 12;
/// The least length in characters of a text that is replaced.
const LONG: usize = 20;
/// The replacement text.
const ELSE: &str = "something else";

/// One mutation of a run.
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
    /// The name of a called tool is changed.
    Renamed(String),
    /// An argument of a tool call is changed.
    Argued(String),
}

/// Returns the possible mutations of a run, the most important first.
pub fn mutations(run: &Run) -> Vec<Mutation> {
    let mut found = vec![Mutation::Truncated];
    let outputs: Value = serde_json::from_str(&run.outputs).unwrap_or_default();
    let mut calls = Vec::new();
    if let Some(steps) = &run.intermediate {
        pointers(&serde_json::from_str(steps).unwrap_or_default(), "", &mut calls);
    }
    let called = |key: &str| -> Vec<String> {
        let in_a_call = |at: &&(String, ValueKind)| at.0.contains("ool") && at.0.rsplit('/').next() == Some(key);
        calls.iter().filter(in_a_call).map(|(at, _)| at.clone()).collect()
    };
    found.extend(called("name").into_iter().take(2).map(Mutation::Renamed));
    let arguments = ["arguments", "args"].into_iter().flat_map(called);
    found.extend(arguments.take(2).map(Mutation::Argued));
    let mut inside = Vec::new();
    pointers(&outputs, "", &mut inside);
    let longest = inside.iter().filter_map(|(at, kind)| match kind {
        ValueKind::Text(length) if *length >= LONG => Some((*length, at)),
        ValueKind::Text(_) | ValueKind::List(_) | ValueKind::Other => None,
    });
    found.extend(longest.max_by_key(|(length, _)| *length).map(|(_, at)| Mutation::Replaced(at.clone())));
    // An outer list contains more of the output.
    let mut lists: Vec<(usize, &String, usize)> = inside
        .iter()
        .filter_map(|(at, kind)| match kind {
            ValueKind::List(length) if *length > 0 => Some((at.matches('/').count(), at, *length)),
            ValueKind::List(_) | ValueKind::Text(_) | ValueKind::Other => None,
        })
        .collect();
    lists.sort();
    for (_, list, length) in lists {
        found.extend((0..length).map(|element| Mutation::Dropped { list: list.clone(), element }));
    }
    found.truncate(MOST);
    found
}

enum ValueKind {
    Text(usize),
    List(usize),
    Other,
}

fn pointers(value: &Value, at: &str, found: &mut Vec<(String, ValueKind)>) {
    match value {
        Value::Array(list) => {
            found.push((at.to_owned(), ValueKind::List(list.len())));
            list.iter().enumerate().for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            found.push((at.to_owned(), ValueKind::Other));
            for (key, value) in fields {
                pointers(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::String(text) => found.push((at.to_owned(), ValueKind::Text(text.chars().count()))),
        Value::Null | Value::Bool(_) | Value::Number(_) => found.push((at.to_owned(), ValueKind::Other)),
    }
}

/// Returns the run with one mutation.
pub fn mutant(run: &Run, mutation: &Mutation) -> Run {
    let outputs = |change: &dyn Fn(&mut Value)| Run { outputs: changed(&run.outputs, change).into(), ..run.clone() };
    let steps = |change: &dyn Fn(&mut Value)| Run {
        intermediate: run.intermediate.as_ref().map(|text| changed(text, change).into()),
        ..run.clone()
    };
    match mutation {
        Mutation::Truncated => Run { outputs: json!({ "text": half(&run.outputs) }).to_string().into(), ..run.clone() },
        Mutation::Dropped { list, element } => outputs(&|value| {
            if let Some(list) =
                value.pointer_mut(list).and_then(Value::as_array_mut).filter(|list| *element < list.len())
            {
                list.remove(*element);
            }
        }),
        Mutation::Replaced(at) => outputs(&|value| {
            if let Some(Value::String(text)) = value.pointer_mut(at) {
                *text = ELSE.to_owned();
            }
        }),
        Mutation::Renamed(at) => steps(&|value| {
            if let Some(Value::String(name)) = value.pointer_mut(at) {
                name.push_str("_of_another");
            }
        }),
        Mutation::Argued(at) => steps(&|value| {
            if let Some(Value::Object(arguments)) = value.pointer_mut(at) {
                arguments.values_mut().take(1).for_each(|argument| *argument = Value::from(ELSE));
            }
        }),
    }
}

fn changed(text: &str, change: &dyn Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap_or_default();
    change(&mut value);
    value.to_string()
}

fn half(text: &str) -> &str {
    let middle = text.chars().count() / 2;
    text.char_indices().nth(middle).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::{Mutation, mutant, mutations};
    use crate::model::Run;

    #[test]
    fn each_mutant_has_exactly_one_mutation() {
        let run = Run {
            intermediate: Some(r#"{"tool_calls":[{"arguments":{"of":1},"name":"look"}]}"#.into()),
            ..Run::of(r#"{"findings":["a","b"],"summary":"a text of some length, to be cut"}"#)
        };
        let found = mutations(&run);
        let dropped = |element| Mutation::Dropped { list: "/findings".to_owned(), element };
        let expected = [
            Mutation::Truncated,
            Mutation::Renamed("/tool_calls/0/name".to_owned()),
            Mutation::Argued("/tool_calls/0/arguments".to_owned()),
            Mutation::Replaced("/summary".to_owned()),
            dropped(0),
            dropped(1),
        ];
        assert_eq!(found, expected);
        let mutants: Vec<Run> = found.iter().map(|mutation| mutant(&run, mutation)).collect();
        assert_eq!(&*mutants[0].outputs, r#"{"text":"{\"findings\":[\"a\",\"b\"],\"summary\":\""}"#);
        let steps = |at: usize| mutants[at].intermediate.as_deref().unwrap();
        assert_eq!(steps(1), r#"{"tool_calls":[{"arguments":{"of":1},"name":"look_of_another"}]}"#);
        assert_eq!(steps(2), r#"{"tool_calls":[{"arguments":{"of":"something else"},"name":"look"}]}"#);
        assert_eq!(&*mutants[3].outputs, r#"{"findings":["a","b"],"summary":"something else"}"#);
        assert_eq!(&*mutants[5].outputs, r#"{"findings":["a"],"summary":"a text of some length, to be cut"}"#);
        assert!(mutants.iter().all(|mutant| *mutant != run));
    }
}
