//! The differences of two values, each with its path.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::files::SourceText;
use crate::format::golden_value;

/// The number of edits of one file that are listed.
const LISTED: usize = 5;
/// Longer values are cut, in characters.
const LONGEST: usize = 60;

/// How a file is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileView {
    /// By its values, if it is JSON or YAML.
    #[default]
    Whole,
    /// By lines: a document, in which every byte counts.
    Lines,
}

/// How a file differs; `None` if only its form does.
pub fn edited(before: &SourceText, after: &SourceText, view: FileView) -> Option<String> {
    if before.text == after.text {
        return None;
    }
    match (view, value(before), value(after)) {
        (FileView::Whole, Some(before), Some(after)) => listed(&differences(&before, &after)),
        (FileView::Whole | FileView::Lines, ..) => Some(lines(&before.text, &after.text)),
    }
}

fn value(source: &SourceText) -> Option<Value> {
    match source.file.name().rsplit_once('.')?.1 {
        "json" | "yaml" | "yml" => golden_value(source.clone()),
        _ => None,
    }
}

/// The differences of two values, in the order of the paths.
pub fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", before, after, &mut found);
    found
}

/// The first differences and the number of further ones; `None` without any.
pub fn listed(found: &[String]) -> Option<String> {
    let more = found.len().saturating_sub(LISTED);
    let first = found
        .iter()
        .take(LISTED)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    match (found.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(first),
        (false, more) => Some(format!("{first}; … and {more} more")),
    }
}

fn lines(before: &str, after: &str) -> String {
    // A line may be there several times, such as a blank one.
    let count = |some: &str, others: &str| {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        others
            .lines()
            .for_each(|line| *known.entry(line).or_default() += 1);
        let is_new = |line: &&str| match known.get_mut(*line).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        };
        some.lines().filter(is_new).count()
    };
    let lines = |count| {
        if count == 1 {
            "1 line".to_owned()
        } else {
            format!("{count} lines")
        }
    };
    format!(
        "{} removed, {} added",
        lines(count(before, after)),
        lines(count(after, before))
    )
}

fn walk(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => objects(path, before, after, found),
        (Value::Array(before), Value::Array(after)) => lists(path, before, after, found),
        _ if same(before, after) => {}
        _ => found.push(format!("{} {}", named(path), edit(before, after))),
    }
}

/// The value before and after an edit. Texts that look the same say where they differ.
fn edit(before: &Value, after: &Value) -> String {
    let (old, new) = (display_value(before), display_value(after));
    let old_text = without_white_space(before);
    if old_text.is_some() && old_text == without_white_space(after) {
        format!("{new} (only white space differs)")
    } else if old == new {
        format!("{new} (differs after that)")
    } else {
        format!("{old} -> {new}")
    }
}

fn without_white_space(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    Some(text.split_whitespace().collect())
}

fn named(path: &str) -> &str {
    if path.is_empty() {
        "the whole value"
    } else {
        path
    }
}

fn objects(
    path: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    found: &mut Vec<String>,
) {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let inner = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        member(&inner, before.get(key), after.get(key), found);
    }
}

fn member(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<String>) {
    match (before, after) {
        (Some(before), Some(after)) => walk(path, before, after, found),
        (Some(before), None) => found.push(format!("{path} removed: {}", display_value(before))),
        (None, Some(after)) => found.push(format!("{path} added: {}", display_value(after))),
        (None, None) => {}
    }
}

fn lists(path: &str, before: &[Value], after: &[Value], found: &mut Vec<String>) {
    if let (Some(old), Some(new)) = (by_id(before), by_id(after)) {
        let ids: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for id in ids {
            let of = |some: &BTreeMap<&str, usize>, all: &'_ [Value]| {
                some.get(id).map(|index| all[*index].clone())
            };
            member(
                &format!("{path}[{id}]"),
                of(&old, before).as_ref(),
                of(&new, after).as_ref(),
                found,
            );
        }
        // The entries of a whole file, such as its cases, have no order. A list within a value may be read by its places.
        let order = |all: &[Value], others: &BTreeMap<&str, usize>| -> Vec<String> {
            let ids = all.iter().filter_map(|one| one.get("id")?.as_str());
            ids.filter(|id| others.contains_key(id))
                .map(str::to_owned)
                .collect()
        };
        if !path.is_empty() && order(before, &new) != order(after, &old) {
            found.push(format!("{path} has another order"));
        }
        return;
    }
    // Equal elements at both ends are skipped, so that one removed element does not shift all others.
    let start = before
        .iter()
        .zip(after)
        .take_while(|(one, other)| same(one, other))
        .count();
    let rest = before.len().min(after.len()) - start;
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(one, other)| same(one, other))
        .count();
    let (old, new) = (
        &before[start..before.len() - end],
        &after[start..after.len() - end],
    );
    for index in 0..old.len().max(new.len()) {
        member(
            &format!("{path}[{}]", start + index),
            old.get(index),
            new.get(index),
            found,
        );
    }
}

/// The indexes of a list's elements by id; `None` if an id is missing or used twice.
fn by_id(list: &[Value]) -> Option<BTreeMap<&str, usize>> {
    let ids: Option<BTreeMap<&str, usize>> = list
        .iter()
        .enumerate()
        .map(|(index, one)| Some((one.get("id")?.as_str()?, index)))
        .collect();
    ids.filter(|ids| ids.len() == list.len() && !ids.is_empty())
}

/// Whether two values are equal as JSON: 1 equals 1.0.
fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        // Large integers are compared digit by digit, because a float cannot distinguish them.
        (Value::Number(one), Value::Number(other)) => {
            one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => before == after,
    }
}

fn display_value(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;
    use serde_json::{Value, json};

    use super::{differences, listed};

    #[test]
    fn an_edit_has_its_path() {
        let table = [
            (json!({"a": 1}), json!({"a": 1.0}), &[][..]),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), &[]),
            (json!({"a": 3}), json!({"a": 9}), &["a 3 -> 9"]),
            (
                json!({"a": "9 to 17"}),
                json!({"a": "9  to 17"}),
                &["a \"9  to 17\" (only white space differs)"],
            ),
            (
                json!({"a": {"b": [1, 2, 3]}}),
                json!({"a": {"b": [1, 3]}}),
                &["a.b[1] removed: 2"],
            ),
            (
                json!([{"id": "x", "q": 1}, {"id": "y"}]),
                json!([{"id": "y"}, {"id": "x", "q": 2}]),
                &["[x].q 1 -> 2"],
            ),
            (
                json!({"a": [{"id": "x"}, {"id": "y"}]}),
                json!({"a": [{"id": "y"}, {"id": "z"}, {"id": "x"}]}),
                &["a[z] added: {\"id\":\"z\"}", "a has another order"],
            ),
            (json!({"a": null}), json!({}), &["a removed: null"]),
            (json!(1), json!("1"), &["the whole value 1 -> \"1\""]),
            (
                json!(9007199254740992_u64),
                json!(9007199254740993_u64),
                &["the whole value 9007199254740992 -> 9007199254740993"],
            ),
        ];
        for (before, after, expected) in table {
            assert_eq!(differences(&before, &after), expected, "{before} {after}");
        }
    }

    #[test]
    fn many_edits_are_counted_and_long_values_cut() {
        let before: Vec<Value> = (0..9).map(Value::from).collect();
        let after: Vec<Value> = (0..9).map(|_| Value::from("x".repeat(500))).collect();
        let text = listed(&differences(&json!(before), &json!(after))).unwrap();
        assert!(
            text.ends_with("; … and 4 more") && text.len() < 500,
            "{text}"
        );
        assert_eq!(listed(&[]), None);
    }

    proptest! {
        #[test]
        fn a_list_that_differs_is_never_alike(before: Vec<u8>, after: Vec<u8>) {
            assert_eq!(differences(&json!(before), &json!(after)).is_empty(), before == after);
        }

        #[test]
        fn a_text_that_differs_is_never_alike(before in any::<String>(), after in any::<String>()) {
            let found = differences(&json!({"a": before}), &json!({"a": after}));
            assert_eq!(found.is_empty(), before == after);
        }
    }
}
