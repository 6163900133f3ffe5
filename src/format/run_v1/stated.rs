//! The digests that a recording states, and how they are written into it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::content_sha256;
use crate::format::json_cursor::Fields;
use crate::model::{AgentName, CaseId};

/// The origin that a recording states.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct StatedOrigin {
    /// What was called or read: a text, where goldgate wrote it.
    pub target: Option<Value>,
    /// What the command that wrote it was given: a list of texts, where goldgate wrote it.
    pub arguments: Option<Value>,
    /// The digest of the agent's files.
    pub agent_sha256: Option<String>,
    /// The digest of what the case asks.
    pub input_sha256: Option<String>,
    /// The digest of what was called.
    pub target_sha256: Option<String>,
    /// The digest of its content.
    pub content_sha256: Option<String>,
    /// What wrote the digests.
    pub by: Option<String>,
}

impl StatedOrigin {
    /// What was called or read; empty if it states none.
    pub fn target(&self) -> &str {
        self.target
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// What the command that wrote it was given; empty if it states none.
    pub fn arguments(&self) -> Vec<String> {
        let words = self.arguments.as_ref().and_then(Value::as_array);
        let words = words.into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// What `goldgate stamp` states as the writer of the digests.
pub const STAMPED: &str = "goldgate stamp";

/// The origin that a recording states; nothing of what it does not state, or of another text.
pub fn stated_origin(text: &str) -> StatedOrigin {
    #[derive(Deserialize)]
    struct OriginAlone {
        #[serde(default)]
        provenance: Option<StatedOrigin>,
    }
    serde_json::from_str::<OriginAlone>(text)
        .ok()
        .and_then(|run| run.provenance)
        .unwrap_or_default()
}

/// The text of a recording with the digest of its content; the rest is unchanged to the byte.
pub fn with_content_sha256(text: &str) -> String {
    match content_sha256(text) {
        Some(digest) => with_origin(text, &[("content_sha256", &digest)]),
        None => text.to_owned(),
    }
}

/// The text of a recording whose provenance has these values; the rest is unchanged to the byte. A text that is not one JSON object
/// is returned as it was.
pub fn with_origin(text: &str, values: &[(&str, &str)]) -> String {
    let mut written = text.to_owned();
    for (key, value) in values {
        written = with_value(&written, key, value);
    }
    written
}

/// The text of a recording for a path: what it says of its agent, case and sample becomes the path's; the rest, and what it does not say,
/// is unchanged to the byte.
pub fn with_place(text: &str, agent: &AgentName, case: &CaseId, sample: u32) -> String {
    let mut written = text.to_owned();
    for (key, value) in [
        ("agent", Value::from(agent.as_str())),
        ("case", Value::from(case.as_str())),
        ("sample", Value::from(sample)),
    ] {
        if let Some(old) = field(&written, key).map(RawValue::get) {
            written = replaced(&written, old, &value.to_string());
        }
    }
    written
}

fn with_value(text: &str, key: &str, value: &str) -> String {
    let value = Value::from(value).to_string();
    let Some(provenance) = field(text, "provenance") else {
        return with_key(
            text,
            text,
            "provenance",
            &format!("{{ \"{key}\": {value} }}"),
        );
    };
    // A slice of the text.
    if let Some(old) = field(provenance.get(), key) {
        return replaced(text, old.get(), &value);
    }
    if provenance.get().starts_with('{') {
        with_key(text, provenance.get(), key, &value)
    } else {
        replaced(text, provenance.get(), &format!("{{ \"{key}\": {value} }}"))
    }
}

/// The text with another value in place of a part of it.
fn replaced(text: &str, part: &str, value: &str) -> String {
    let start = offset(text, part);
    format!("{}{value}{}", &text[..start], &text[start + part.len()..])
}

/// The position of a slice of a text in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The text with a further key in an object that is a part of it, on a line of its own where the object has such lines.
fn with_key(text: &str, object: &str, key: &str, value: &str) -> String {
    let Some(end) = object.trim_end().strip_suffix('}') else {
        return text.to_owned();
    };
    let inner = end.trim_end();
    let last_line = inner.rsplit_once('\n').map(|(_, line)| line);
    let indent = last_line.map(|line| &line[..line.len() - line.trim_start().len()]);
    let comma = if inner.ends_with('{') { "" } else { "," };
    let gap = match indent {
        Some(indent) if end.len() > inner.len() => format!("\n{indent}"),
        Some(_) | None => " ".to_owned(),
    };
    let at = offset(text, object) + inner.len();
    format!(
        "{}{comma}{gap}\"{key}\": {value}{}",
        &text[..at],
        &text[at..]
    )
}

/// The raw value of a key of an object.
fn field<'a>(object: &'a str, key: &str) -> Option<&'a RawValue> {
    let Fields(fields) = serde_json::from_str(object).ok()?;
    fields
        .into_iter()
        .find(|(name, _)| serde_json::from_str::<String>(name.get()).is_ok_and(|name| name == key))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::{StatedOrigin, stated_origin, with_content_sha256, with_origin, with_place};
    use crate::format::run_v1::content_sha256;
    use crate::model::{AgentName, CaseId};

    #[test]
    fn only_the_values_of_the_provenance_change() {
        for (old, new) in [
            (
                r#"{"outputs": {"a": "1"}, "provenance": { "a" : "1", "x": 1 } }"#,
                r#"{"outputs": {"a": "1"}, "provenance": { "a" : "2", "x": 1, "b": "3" } }"#,
            ),
            (
                "{\n  \"outputs\": {},\n  \"provenance\": {\n    \"x\": 1\n  }\n}\n",
                "{\n  \"outputs\": {},\n  \"provenance\": {\n    \"x\": 1,\n    \"a\": \"2\",\n    \"b\": \"3\"\n  }\n}\n",
            ),
            (
                "{\n  \"outputs\": {}\n}\n",
                "{\n  \"outputs\": {},\n  \"provenance\": { \"a\": \"2\", \"b\": \"3\" }\n}\n",
            ),
            ("{}", r#"{ "provenance": { "a": "2", "b": "3" }}"#),
            (
                r#"{"provenance": null}"#,
                r#"{"provenance": { "a": "2", "b": "3" }}"#,
            ),
            ("[]", "[]"),
            ("", ""),
        ] {
            assert_eq!(with_origin(old, &[("a", "2"), ("b", "3")]), new, "{old}");
        }
    }

    #[test]
    fn only_what_a_recording_says_of_its_place_changes() {
        let (agent, case) = (AgentName::new("a").unwrap(), CaseId::new("c").unwrap());
        for (old, new) in [
            (
                r#"{"agent" : "b", "x": 1.50, "sample":7, "case": null}"#,
                r#"{"agent" : "a", "x": 1.50, "sample":2, "case": "c"}"#,
            ),
            (
                r#"{"outputs": {"agent": "b"}}"#,
                r#"{"outputs": {"agent": "b"}}"#,
            ),
            ("[]", "[]"),
        ] {
            assert_eq!(with_place(old, &agent, &case, 2), new, "{old}");
        }
    }

    #[test]
    fn a_recording_states_the_digest_of_its_content() {
        let text = with_content_sha256(r#"{"status": "completed", "outputs": {}}"#);
        let StatedOrigin {
            content_sha256: stated,
            ..
        } = stated_origin(&text);
        assert!(stated.is_some());
        assert_eq!(stated, content_sha256(&text));
        assert_eq!(stated_origin("[]"), StatedOrigin::default());
    }
}
