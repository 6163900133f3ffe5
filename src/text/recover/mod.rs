//! Reading what a model said: a structure out of prose and fences, by strict parsing (grading.md 11, layer 1).
//!
//! Repairs and salvage, layers 2 and 3, are not part of this version: what no strict parse can read is unreadable, and says so.

use serde_json::Value;
use serde_json::json;

/// What the reader looks for: the kind's anchor.
#[derive(Debug, Clone, Copy)]
pub struct Anchor<'a> {
    /// The key of the list.
    pub list: &'a str,
    /// A field that each of the list's objects has.
    pub field: &'a str,
}

/// The first value that fits the anchor: of the whole text, of its fenced blocks, then of its outermost objects and lists.
///
/// The result is an object that has the anchor's list; a bare list of objects, or a single object with the anchor's field, is
/// put into one. Nothing is ever added to what was written.
pub fn recover(text: &str, anchor: &Anchor<'_>) -> Option<Value> {
    let candidates = std::iter::once(text).chain(fenced(text)).chain(outermost(text));
    candidates
        .filter_map(|candidate| serde_json::from_str(candidate.trim()).ok())
        .find_map(|value| fitted(value, anchor))
}

fn fitted(value: Value, anchor: &Anchor<'_>) -> Option<Value> {
    match &value {
        Value::Object(fields) if fields.get(anchor.list).is_some_and(Value::is_array) => Some(value),
        Value::Object(fields) if fields.contains_key(anchor.field) => Some(json!({ anchor.list: [value] })),
        Value::Array(list) if !list.is_empty() && list.iter().all(|one| one.get(anchor.field).is_some()) => {
            Some(json!({ anchor.list: value }))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The insides of blocks between lines of three back ticks.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("```").skip(1).step_by(2);
    // The word behind the opening fence names a language.
    parts.map(|part| part.find(['\n', '{', '[']).map_or("", |start| &part[start..]))
}

/// The outermost balanced objects and lists, in their order. One pass: brackets inside of strings do not count.
fn outermost(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    let (mut start, mut in_string, mut escaped) = (0, false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            // Outside of a value a quotation mark is prose.
            b'"' if !open.is_empty() => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                if open.is_empty() {
                    start = place;
                }
                open.push(if byte == b'{' { b'}' } else { b']' });
            }
            b'}' | b']' if open.last() == Some(&byte) => {
                open.pop();
                if open.is_empty() {
                    found.push(&text[start..=place]);
                }
            }
            // A closer that fits nothing ends a value that is none.
            b'}' | b']' => open.clear(),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;
    use serde_json::Value;
    use serde_json::json;

    use super::Anchor;
    use super::recover;

    const ANCHOR: Anchor<'static> = Anchor { list: "findings", field: "category" };

    fn read(text: &str) -> Option<Value> {
        recover(text, &ANCHOR)
    }

    #[test]
    fn the_whole_a_fence_and_prose_are_read() {
        let one = json!({ "findings": [{ "category": "a" }] });
        for text in [
            r#"{"findings": [{"category": "a"}]}"#,
            r#"[{"category": "a"}]"#,
            r#"{"category": "a"}"#,
            "Here it is:\n```json\n{\"findings\": [{\"category\": \"a\"}]}\n```\nThat is all.",
            "```[{\"category\": \"a\"}]```",
            r#"I "think" {"findings": [{"category": "a"}]} is right."#,
            r#"{"plan": 1} and then {"findings": [{"category": "a"}]}"#,
        ] {
            assert_eq!(read(text), Some(one.clone()), "{text}");
        }
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = r#"so: {"findings": [{"category": "a } ] \" {"}]} ok"#;
        assert_eq!(read(text), Some(json!({ "findings": [{ "category": "a } ] \" {" }] })));
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        for text in
            ["", "no findings", "{\"findings\": 3}", "[]", "[1]", "{\"findings\": [", "}{", "```", "[{\"x\": 1}]"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_value_in_prose_comes_back_exactly(category in any::<String>(), before in "[a-z .]*", after in "[a-z .]*") {
            let value = json!({ "findings": [{ "category": category }] });
            assert_eq!(read(&format!("{before}{value}{after}")), Some(value));
        }

        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            read(&text);
        }
    }
}
