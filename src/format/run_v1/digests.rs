//! Writes other digests into a run record.

use serde_json::value::RawValue;

use crate::format::json_cursor::Fields;

/// The record's text with other digests of the agent's files, where it has some; the rest is unchanged to the byte.
pub fn with_digests(text: &str, fingerprint: &str, prompt_sha256: Option<&str>) -> String {
    let Some(provenance) = field(text, "provenance") else {
        return text.to_owned();
    };
    let digests = [
        ("fingerprint", Some(fingerprint)),
        ("prompt_sha256", prompt_sha256),
    ];
    let places = digests.into_iter().filter_map(|(key, digest)| {
        let value = field(provenance.get(), key).filter(|value| value.get().starts_with('"'))?;
        // Both are slices of the text.
        Some((
            value.get().as_ptr() as usize - text.as_ptr() as usize,
            value.get().len(),
            digest?,
        ))
    });
    let mut places: Vec<_> = places.collect();
    places.sort_unstable();
    let mut written = text.to_owned();
    for (at, length, digest) in places.into_iter().rev() {
        written.replace_range(at..at + length, &format!("\"{digest}\""));
    }
    written
}

/// The raw value of a key of an object.
fn field<'a>(object: &'a str, key: &str) -> Option<&'a RawValue> {
    let Fields(fields) = serde_json::from_str(object).ok()?;
    fields
        .into_iter()
        .find(|(own, _)| serde_json::from_str::<String>(own.get()).is_ok_and(|own| own == key))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::with_digests;

    #[test]
    fn only_the_digests_of_the_provenance_change() {
        let old = r#"{"outputs": {"fingerprint": "a"}, "provenance": { "prompt_sha256":"b",  "fingerprint" : "a", "x": 1 } }"#;
        let new = r#"{"outputs": {"fingerprint": "a"}, "provenance": { "prompt_sha256":"d",  "fingerprint" : "c", "x": 1 } }"#;
        assert_eq!(with_digests(old, "c", Some("d")), new);
        for other in [
            "{}",
            "[]",
            "",
            r#"{"provenance": null}"#,
            r#"{"provenance": {"fingerprint": null}}"#,
        ] {
            assert_eq!(with_digests(other, "c", Some("d")), other);
        }
    }
}
