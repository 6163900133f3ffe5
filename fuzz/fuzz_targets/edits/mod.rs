//! Edits of a repository's files: of bytes, of lines, and of the values of JSON files.

use std::collections::BTreeMap;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use serde_json::{Value, json};

/// One edit. Every number is taken modulo what there is.
#[derive(Debug, Arbitrary)]
pub enum Edit {
    Remove { file: u16 },
    CopyOver { file: u16, other: u16 },
    Truncate { file: u16, at: u16 },
    Insert { file: u16, at: u16, bytes: Vec<u8> },
    RemoveLine { file: u16, line: u16 },
    RepeatLine { file: u16, line: u16 },
    SwapLines { file: u16, line: u16, other: u16 },
    RemoveValue { file: u16, value: u16 },
    ReplaceValue { file: u16, value: u16, by: Replacement },
    SwapValues { file: u16, value: u16, other: u16 },
    RepeatItem { file: u16, value: u16 },
}

/// A value in place of another one.
#[derive(Debug, Arbitrary)]
pub enum Replacement {
    Null,
    Yes,
    Number(f64),
    Count(i64),
    Text(String),
    EmptyList,
    EmptyObject,
    Nested(u8),
}

/// Makes an edit. An edit that does not fit the file leaves it.
pub fn edited(files: &mut BTreeMap<String, Vec<u8>>, edit: &Edit) {
    match edit {
        Edit::Remove { file } => {
            let name = name_of(files, *file);
            files.remove(&name);
        }
        Edit::CopyOver { file, other } => {
            let bytes = files[&name_of(files, *other)].clone();
            *bytes_of(files, *file) = bytes;
        }
        Edit::Truncate { file, at } => {
            let bytes = bytes_of(files, *file);
            bytes.truncate(usize::from(*at) % (bytes.len() + 1));
        }
        Edit::Insert { file, at, bytes: new } => {
            let bytes = bytes_of(files, *file);
            let at = usize::from(*at) % (bytes.len() + 1);
            bytes.splice(at..at, new.iter().copied());
        }
        Edit::RemoveLine { file, line } => in_lines(bytes_of(files, *file), |lines| {
            lines.remove(usize::from(*line) % lines.len());
        }),
        Edit::RepeatLine { file, line } => in_lines(bytes_of(files, *file), |lines| {
            let at = usize::from(*line) % lines.len();
            lines.insert(at, lines[at].clone());
        }),
        Edit::SwapLines { file, line, other } => in_lines(bytes_of(files, *file), |lines| {
            let (line, other) = (usize::from(*line) % lines.len(), usize::from(*other) % lines.len());
            lines.swap(line, other);
        }),
        Edit::RemoveValue { file, value } => in_json(bytes_of(files, *file), |root| {
            let at = usize::from(*value) % count(root);
            remove(root, at);
        }),
        Edit::ReplaceValue { file, value, by } => in_json(bytes_of(files, *file), |root| {
            let at = usize::from(*value) % count(root);
            nth(root, at, &mut |place| *place = by.value());
        }),
        Edit::SwapValues { file, value, other } => in_json(bytes_of(files, *file), |root| {
            let (at, other) = (usize::from(*value) % count(root), usize::from(*other) % count(root));
            let mut copy = Value::Null;
            nth(root, other, &mut |place| copy = place.clone());
            nth(root, at, &mut |place| *place = copy.clone());
        }),
        Edit::RepeatItem { file, value } => in_json(bytes_of(files, *file), |root| {
            let at = usize::from(*value) % count(root);
            nth(root, at, &mut |place| {
                if let Value::Array(items) = place
                    && let Some(item) = items.first().cloned()
                {
                    items.push(item);
                }
            });
        }),
    }
}

impl Replacement {
    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Yes => json!(true),
            Self::Number(number) => json!(number),
            Self::Count(count) => json!(count),
            Self::Text(text) => json!(text),
            Self::EmptyList => json!([]),
            Self::EmptyObject => json!({}),
            Self::Nested(depth) => (0..*depth).fold(json!([]), |inner, _| json!([inner])),
        }
    }
}

fn name_of(files: &BTreeMap<String, Vec<u8>>, file: u16) -> String {
    files.keys().nth(usize::from(file) % files.len().max(1)).cloned().unwrap_or_default()
}

fn bytes_of(files: &mut BTreeMap<String, Vec<u8>>, file: u16) -> &mut Vec<u8> {
    let name = name_of(files, file);
    files.entry(name).or_default()
}

fn in_lines(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        change(&mut lines);
        *bytes = lines.concat();
    }
}

fn in_json(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Value)) {
    if let Ok(mut root) = serde_json::from_slice(bytes) {
        change(&mut root);
        *bytes = serde_json::to_vec_pretty(&root).unwrap_or_default();
    }
}

/// How many values there are in a value, with itself.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum::<usize>(),
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Calls a function with the value at a place in depth-first order.
fn nth(value: &mut Value, at: usize, change: &mut dyn FnMut(&mut Value)) {
    let Some(mut at) = at.checked_sub(1) else { return change(value) };
    for inner in children(value) {
        let within = count(inner);
        if at < within {
            return nth(inner, at, change);
        }
        at -= within;
    }
}

/// Removes the value at a place from its list or object.
fn remove(value: &mut Value, at: usize) {
    let Some(mut at) = at.checked_sub(1) else { return };
    let mut found = None;
    for (index, inner) in children(value).into_iter().enumerate() {
        let within = count(inner);
        if at == 0 {
            found = Some(index);
            break;
        }
        if at < within {
            return remove(inner, at);
        }
        at -= within;
    }
    match (value, found) {
        (Value::Array(items), Some(index)) => drop(items.remove(index)),
        (Value::Object(fields), Some(index)) => {
            let key = fields.keys().nth(index).cloned().unwrap_or_default();
            fields.remove(&key);
        }
        _ => {}
    }
}

fn children(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
