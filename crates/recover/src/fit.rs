//! Decides whether a recovered value is the expected list.

use serde_json::{Map, Value};

use super::Anchor;
use super::region::{Region, RegionState};

/// The region's value as an object with the anchor's list, if possible.
pub(super) fn fitting(region: &Region, text: &str, anchor: &Anchor<'_>) -> Option<Value> {
    // A piece of a broken container is not a separate answer: its siblings are around it.
    let value = region.value.as_ref().filter(|_| !region.inside)?;
    match value {
        // A truncated value after a broken container is not a separate answer: its siblings are lost.
        Value::Object(members) if has_list(members, anchor) => {
            (!region.fragment || region.state != RegionState::Cut).then(|| value.clone())
        }
        Value::Array(elements)
            if !region.fragment && (is_list(elements, anchor) || alone(region, text)) =>
        {
            Some(wrapped(anchor, elements.clone()))
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => None,
    }
}

/// The region's value without an anchor, unless it is a piece of a broken container.
pub(super) fn acceptable(region: &Region, text: &str) -> Option<Value> {
    let value = region.value.as_ref()?;
    let says_something = !is_empty(value) || alone(region, text);
    (!region.fragment && !region.inside && says_something).then(|| value.clone())
}

/// Wraps elements as the anchor's list.
pub(super) fn wrapped(anchor: &Anchor<'_>, elements: Vec<Value>) -> Value {
    let mut members = Map::new();
    members.insert(anchor.list.to_owned(), Value::Array(elements));
    Value::Object(members)
}

pub(super) fn has_list(members: &Map<String, Value>, anchor: &Anchor<'_>) -> bool {
    members.get(anchor.list).is_some_and(Value::is_array)
}

/// Whether an object has the anchor's field as a text: `{"category": {"type": "string"}}` is an echo of a schema.
pub(super) fn carries(members: &Map<String, Value>, anchor: &Anchor<'_>) -> bool {
    members.get(anchor.field).is_some_and(Value::is_string)
}

fn is_list(elements: &[Value], anchor: &Anchor<'_>) -> bool {
    let mut members = elements.iter().filter_map(Value::as_object);
    elements.iter().all(Value::is_object) && members.any(|members| carries(members, anchor))
}

/// Whether a strict empty value is alone on its lines, so that it is an answer: no findings.
fn alone(region: &Region, text: &str) -> bool {
    let text_before = text[..region.span.start].trim_end_matches([' ', '\t', '\r']);
    let text_after = text[region.span.end..].trim_start_matches([' ', '\t', '\r']);
    region.state == RegionState::Strict
        && region.value.as_ref().is_some_and(is_empty)
        && (text_before.is_empty() || text_before.ends_with('\n'))
        && (text_after.is_empty() || text_after.starts_with('\n'))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
