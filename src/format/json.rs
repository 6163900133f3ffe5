//! Reads JSON into typed values; errors have positions.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::conflict::conflict;
use super::long_numbers::every_number_exact;
pub use super::raw_json::offset_of;
use super::unique_keys::every_key_once;
use crate::diag::{Code, Diagnostic, nearest};
use crate::files::SourceText;
use crate::model::InputLimit;

/// Reads the whole text as one value.
///
/// # Errors
/// The position at which the text does not match the type.
pub fn whole<'a, T: Deserialize<'a>>(source: &'a SourceText) -> Result<T, Diagnostic> {
    read_json_part(source, 0, &source.text)
}

/// Reads the whole text as one value. Refuses duplicate keys, because one of the two would silently have no effect.
///
/// # Errors
/// The position of the second of two equal keys, or at which the text does not match the type.
pub fn with_unique_keys<'a, T: Deserialize<'a>>(source: &'a SourceText) -> Result<T, Diagnostic> {
    every_key_once(source)?;
    whole(source)
}

/// Reads the whole text as one value. Refuses duplicate keys, and whole numbers of which not every digit counts.
///
/// # Errors
/// As [`with_unique_keys`], or the position of such a number.
pub fn golden<'a, T: Deserialize<'a>>(source: &'a SourceText) -> Result<T, Diagnostic> {
    let value = with_unique_keys(source)?;
    every_number_exact(source)?;
    Ok(value)
}

/// Reads a part of the text that [`whole`] kept raw.
///
/// # Errors
/// The position, in the whole text, at which the part does not match the type.
pub fn part<'a, T: Deserialize<'a>>(
    source: &'a SourceText,
    raw: &'a RawValue,
) -> Result<T, Diagnostic> {
    read_json_part(source, offset_of(source, raw), raw.get())
}

/// Reads the part of the text that starts at the given byte.
pub fn read_json_part<'a, T: Deserialize<'a>>(
    source: &SourceText,
    start: usize,
    part: &'a str,
) -> Result<T, Diagnostic> {
    serde_json::from_str(part).map_err(|error| problem(source, start, part, &error))
}

/// The problem of invalid JSON from a byte offset on.
pub fn broken(source: &SourceText, start: usize) -> Diagnostic {
    let outcome: Result<&RawValue, Diagnostic> =
        read_json_part(source, start, &source.text[start..]);
    let (description, help) = ("invalid JSON", "correct the syntax here");
    match outcome {
        Err(problem) => problem,
        Ok(_) => source.problem(start, Code::BROKEN_JSON, description, help),
    }
}

/// The problem of a part that does not match its type, by the message of serde.
pub fn wrong_form(source: &SourceText, at: usize, message: &str) -> Diagnostic {
    let SerdeMessage {
        code,
        what: description,
        help,
    } = phrase(message, true);
    source.problem(at, code, description, help)
}

fn problem(source: &SourceText, start: usize, part: &str, error: &serde_json::Error) -> Diagnostic {
    let read = offset_in(part, error.line(), error.column());
    let SerdeMessage {
        code,
        what: description,
        help,
    } = merge_conflict(part).unwrap_or_else(|| {
        phrase_of_keys(
            &error.to_string(),
            error.is_data(),
            &keys_around(part, read),
        )
    });
    let is_yaml = code == Code::BROKEN_JSON
        && [".yaml", ".yml"]
            .iter()
            .any(|end| source.file.as_str().ends_with(end));
    let help = if is_yaml {
        "write it as JSON: this file cannot be YAML".to_owned()
    } else {
        help
    };
    let inner = if error.is_data() && error.column() > 0 {
        ahead(part, read)
    } else {
        read
    };
    source.problem(start + inner, code, description, help)
}

/// What is wrong with a text that git could not merge.
fn merge_conflict(text: &str) -> Option<SerdeMessage> {
    let (_, problem) = conflict(text)?;
    Some(SerdeMessage::new(
        Code::BROKEN_JSON,
        problem.what,
        problem.help,
    ))
}

/// Converts serde_json's line and byte column (both from 1) to a byte offset. For data errors the column is one byte too far.
fn offset_in(text: &str, line: usize, column: usize) -> usize {
    let start = match line.checked_sub(2) {
        None => 0,
        Some(skip) => text
            .match_indices('\n')
            .nth(skip)
            .map_or(0, |(at, _)| at + 1),
    };
    (start + column.saturating_sub(1)).min(text.len())
}

/// The first byte of a list or object of the wrong type: serde_json reports the position before it.
fn ahead(part: &str, read: usize) -> usize {
    let rest = &part.as_bytes()[read.min(part.len())..];
    match rest.split_first() {
        Some((b' ' | b'\t' | b'\r' | b'\n' | b':' | b',' | b'[', after)) => {
            read + 1
                + after
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace())
                    .count()
        }
        _ => read,
    }
}

#[derive(Debug, PartialEq, Eq)]
struct SerdeMessage {
    pub code: Code,
    pub what: String,
    pub help: String,
}

impl SerdeMessage {
    fn new(code: Code, description: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            what: description.into(),
            help: help.into(),
        }
    }
}

/// The keys of the innermost object around a position.
fn keys_around(text: &str, at: usize) -> Vec<String> {
    // The keys of each open object; a list has none.
    let mut open: Vec<Vec<String>> = Vec::new();
    let mut depth = None;
    let mut read = 0;
    while let Some(byte) = text.as_bytes().get(read) {
        if read >= at && depth.is_none() {
            depth = Some(open.len());
        }
        match byte {
            b'{' | b'[' => open.push(Vec::new()),
            b'}' | b']' => {
                let closed = open.pop().unwrap_or_default();
                if depth == Some(open.len() + 1) {
                    return closed;
                }
            }
            b'"' => {
                let mut string = serde_json::Deserializer::from_str(&text[read..]).into_iter();
                let Some(Ok(string)) = string.next() else {
                    break;
                };
                let string: String = string;
                let mut end = read + 1;
                while text.as_bytes().get(end).is_some_and(|byte| *byte != b'"') {
                    end += 1 + usize::from(text.as_bytes()[end] == b'\\');
                }
                read = end;
                let after = text[(end + 1).min(text.len())..].trim_start();
                if after.starts_with(':')
                    && let Some(keys) = open.last_mut()
                {
                    keys.push(string);
                }
            }
            _ => {}
        }
        read += 1;
    }
    depth
        .and_then(|depth| open.into_iter().nth(depth.checked_sub(1)?))
        .unwrap_or_default()
}

/// The same for an object with these keys: all that are unknown are named.
fn phrase_of_keys(message: &str, data: bool, keys: &[String]) -> SerdeMessage {
    let mut phrased = phrase(message, data);
    let known: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
    let mut unknown = Vec::new();
    for key in keys {
        if !known.iter().any(|name| is_named(key, name)) {
            unknown.push(format!("\"{key}\""));
        }
    }
    if phrased.code == Code::UNKNOWN_KEY && unknown.len() > 1 {
        phrased.what = format!("unknown keys {}", unknown.join(", "));
        phrased.help = format!("known keys: {}", known.join(", "));
    }
    phrased
}

/// Whether a key has this name; with an asterisk, whether it ends so.
fn is_named(key: &str, name: &str) -> bool {
    key == name || name.strip_prefix('*').is_some_and(|end| key.ends_with(end))
}

/// Splits a serde message into the problem and the help.
fn phrase(message: &str, data: bool) -> SerdeMessage {
    let message = message.split(" at line ").next().unwrap_or(message);
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, Some((key, known))) = (message.contains("unknown field"), quoted.split_first()) {
        let help = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => "remove it: no keys are allowed here".to_owned(),
            None => format!("known keys: {}", known.join(", ")),
        };
        return SerdeMessage::new(Code::UNKNOWN_KEY, format!("unknown key \"{key}\""), help);
    }
    if let (true, Some((word, known))) = (message.contains("unknown variant"), quoted.split_first())
    {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!(
                "did you mean \"{near}\"? known values: {}",
                known.join(", ")
            ),
            None => format!("known values: {}", known.join(", ")),
        };
        return SerdeMessage::new(
            Code::UNKNOWN_VALUE,
            format!("unknown value \"{word}\""),
            help,
        );
    }
    if let (true, Some(key)) = (message.contains("missing field"), quoted.first()) {
        return SerdeMessage::new(
            Code::MISSING_KEY,
            format!("the key \"{key}\" is missing"),
            format!("add \"{key}\""),
        );
    }
    if let (true, Some(key)) = (message.contains("duplicate field"), quoted.first()) {
        return SerdeMessage::new(
            Code::DUPLICATE_KEY,
            format!("duplicate key \"{key}\""),
            "keep one of them",
        );
    }
    if let Some((actual, expected)) = message.split_once(", expected ") {
        return SerdeMessage::new(
            Code::WRONG_TYPE,
            plain(actual),
            format!("expected {}", plain(expected)),
        );
    }
    if message.contains("number out of range") {
        let help = "write a number of at most 1.7e308";
        return SerdeMessage::new(Code::BAD_NUMBER, "the number is out of range", help);
    }
    if message.contains("recursion limit") {
        let help = format!("flatten it: the limit is {}", InputLimit::JSON_LEVELS);
        return SerdeMessage::new(Code::TOO_DEEP, "the value is nested too deeply", help);
    }
    if data {
        SerdeMessage::new(Code::BAD_VALUE, message, "correct the value")
    } else {
        SerdeMessage::new(
            Code::BROKEN_JSON,
            format!("invalid JSON: {message}"),
            "correct the syntax here",
        )
    }
}

/// Replaces serde's type names with the terms of JSON.
fn plain(words: &str) -> String {
    let form = match words {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        name if name.starts_with("struct ") => "an object",
        name => name,
    };
    form.replace("sequence", "a list")
        .replace("invalid type: map", "invalid type: an object")
}

/// Reads the value of a key that may be missing, but not `null`: a key without a value in YAML would silently mean that it is missing.
///
/// # Errors
/// `null`, or a value of the wrong type.
pub fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Writes whole numbers without a fraction: 1.0 is 1.
pub fn whole_numbers(value: &mut Value) {
    /// From here on a float cannot tell every whole number from the next one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
            if let Some(whole) = whole {
                *number = Number::from(whole as i64);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::value::RawValue;

    use super::{offset_of, part, whole};
    use crate::files::SourceText;
    use crate::model::RepoPath;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Outer<'a> {
        #[serde(borrow)]
        list: Vec<&'a RawValue>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        size: u32,
    }

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.json"), text.to_owned())
    }

    #[test]
    fn the_keys_of_the_object_around_a_position_are_found() {
        let text = r#"{"a": [{"b": "x\\", "c": {"d": "}"}}, "e"], "f\"": 1}"#;
        for (at, expected) in [
            ("b", &["b", "c"][..]),
            ("d", &["d"]),
            ("f", &["a", "f\""]),
            ("e", &[]),
        ] {
            let at = text.find(&format!("\"{at}")).unwrap() + 1;
            assert_eq!(super::keys_around(text, at), expected, "{at}");
        }
        assert_eq!(super::keys_around("{\"a\": [", 9), [""; 0]);
    }

    #[test]
    fn a_problem_in_a_part_has_its_position_in_the_file() {
        let source = source("{ \"list\": [\n  {\"size\": 1},\n  {\"sise\": 2}\n] }");
        let outer: Outer<'_> = whole(&source).unwrap();
        assert_eq!(offset_of(&source, outer.list[0]), 14);
        assert_eq!(part::<Inner>(&source, outer.list[0]).unwrap().size, 1);
        let problem = part::<Inner>(&source, outer.list[1]).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "a.json:3:9: unknown key \"sise\"; did you mean \"size\"? [unknown-key]"
        );
    }

    #[test]
    fn a_value_has_at_most_127_levels() {
        let read = |levels: usize| {
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            whole::<serde_json::Value>(&source(&text)).map_err(|problem| problem.to_string())
        };
        assert!(read(127).is_ok());
        let refused = "a.json:1:128: the value is nested too deeply; flatten it: the limit is 127 levels [too-deep]";
        assert_eq!(read(128).unwrap_err(), refused);
    }

    #[test]
    fn messages_contain_the_remedy() {
        let table = [
            (
                "{",
                "a.json:1:1: invalid JSON: EOF while parsing an object; correct the syntax here [broken-json]",
            ),
            (
                "{\"list\": 3}",
                "a.json:1:10: invalid type: integer `3`; expected a list [wrong-type]",
            ),
            (
                "{\"list\": {}}",
                "a.json:1:10: invalid type: an object; expected a list [wrong-type]",
            ),
            (
                "{\"list\":\n  {}}",
                "a.json:2:3: invalid type: an object; expected a list [wrong-type]",
            ),
            (
                "{}",
                "a.json:1:2: the key \"list\" is missing; add \"list\" [missing-key]",
            ),
            (
                "{\"list\": NaN}",
                "a.json:1:10: invalid JSON: expected value; correct the syntax here [broken-json]",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(
                whole::<Outer<'_>>(&source(text)).unwrap_err().to_string(),
                expected
            );
        }
    }
}
