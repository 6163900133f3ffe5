//! JSON as programs really write it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// Reads any value. Half a surrogate pair, as a truncated emoji leaves it, becomes U+FFFD, as in other parsers.
///
/// # Errors
/// Why the text is not valid JSON.
pub fn any(json: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(json).or_else(|error| match whole_pairs(json) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(replaced) => serde_json::from_str(&replaced),
    })
}

/// Reads a whole file as far as a lazy reader can: a part that cannot be a value, such as a number beyond all limits or lists nested too deep, becomes its
/// text. `None` if the text is not valid JSON.
pub fn whole(json: &str) -> Option<Value> {
    any(json).ok().or_else(|| {
        let raw: &RawValue = serde_json::from_str(json).ok()?;
        Some(in_parts(raw, DEEPEST))
    })
}

/// The most levels that are looked into.
const DEEPEST: usize = 100;

fn in_parts(raw: &RawValue, levels: usize) -> Value {
    let text = raw.get();
    if let Ok(value) = any(text) {
        return value;
    }
    let Some(levels) = levels.checked_sub(1) else {
        return Value::String(text.to_owned());
    };
    if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        return fields
            .into_iter()
            .map(|(name, part)| (name, in_parts(part, levels)))
            .collect();
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(parts) => parts
            .into_iter()
            .map(|part| in_parts(part, levels))
            .collect(),
        Err(_) => Value::String(text.to_owned()),
    }
}

/// The JSON inside a string, if it is valid; else the value itself.
pub fn embedded(value: &Value) -> Value {
    match value {
        Value::String(text) => any(text).unwrap_or_else(|_| value.clone()),
        other_value => other_value.clone(),
    }
}

/// The text with every escaped half of a surrogate pair replaced.
fn whole_pairs(json: &str) -> Cow<'_, str> {
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while let Some(distance) = json[at..].find('\\') {
        at += distance;
        match (escaped_code(json, at), escaped_code(json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(&json[from..at]);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            // Skip an escaped character, which may be a backslash.
            _ => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    match from {
        0 => Cow::Borrowed(json),
        _ => Cow::Owned(out + &json[from..]),
    }
}

/// The code of an escape such as `\ud83d` at this place.
fn escaped_code(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}
