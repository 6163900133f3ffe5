//! The content of a recording: what its run was asked and did. Two recordings with the same content are the same run.

use serde_json::Value;

use crate::files::sha256_hex;
use crate::format::json::whole_numbers;
use crate::format::lenient;

/// The keys of a recording that are not its content: what states its origin, what is added later, and what repeats its path.
const NOT_CONTENT: [&str; 6] = [
    "provenance",
    "judgements",
    "schema",
    "agent",
    "case",
    "sample",
];

/// The content of a recording as parsed values: all but its origin, judges' votes and the keys that repeat its path, and when it was
/// recorded. `None` if the text is not one JSON object.
pub fn content(text: &str) -> Option<Value> {
    let mut whole = lenient::whole(text)?;
    let fields = whole.as_object_mut()?;
    let recorded_at = fields
        .get("provenance")
        .and_then(|provenance| provenance.get("recorded_at"))
        .filter(|recorded_at| !recorded_at.is_null())
        .cloned();
    fields.retain(|key, _| !NOT_CONTENT.contains(&key.as_str()));
    if let Some(recorded_at) = recorded_at {
        fields.insert("recorded_at".to_owned(), recorded_at);
    }
    whole_numbers(&mut whole);
    Some(whole)
}

/// The digest of the content of a recording, in lower-case hexadecimal.
pub fn content_sha256(text: &str) -> Option<String> {
    // The keys of an object are sorted.
    content(text).map(|content| sha256_hex(content.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{content, content_sha256};

    #[test]
    fn the_form_the_origin_and_the_votes_are_not_content() {
        let run = r#"{"schema":"goldgate.run/1","agent":"a","case":"c","sample":0,"status":"completed","outputs":{"text":"x","n":1.0},
            "judgements":{"tone":[]},"provenance":{"recorded_at":"2026-01-01T00:00:00Z","agent_sha256":"1"}}"#;
        let same = r#"{"outputs":{"n":1,"text":"x"},"status":"completed","provenance":{"agent_sha256":"2","recorded_at":"2026-01-01T00:00:00Z"}}"#;
        assert_eq!(content(run), content(same));
        assert_eq!(content_sha256(run), content_sha256(same));
        for other in [
            r#"{"outputs":{"n":2,"text":"x"},"status":"completed","provenance":{"recorded_at":"2026-01-01T00:00:00Z"}}"#,
            r#"{"outputs":{"n":1,"text":"x"},"status":"completed","provenance":{"recorded_at":"2026-01-02T00:00:00Z"}}"#,
            r#"{"outputs":{"n":1,"text":"x"},"status":"completed"}"#,
        ] {
            assert_ne!(content_sha256(run), content_sha256(other), "{other}");
        }
        for broken in ["", "[]", "1", "{"] {
            assert_eq!(content(broken), None, "{broken}");
        }
    }
}
