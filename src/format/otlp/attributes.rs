//! Creates span attributes; every text has a length limit.

use super::wire::{List, OtlpAttribute, OtlpValue, OtlpValueForm};

/// Longest text of an attribute, in bytes; a longer one is cut with a note.
const TEXT_BYTES: usize = 32 * 1024;

pub fn text(key: &str, value: &str) -> OtlpAttribute {
    attribute(key, OtlpValueForm::Text(bounded(value, TEXT_BYTES)))
}

/// A text attribute, if there is a text.
pub fn text_of(key: &str, value: Option<&str>) -> Option<OtlpAttribute> {
    value.map(|value| text(key, value))
}

pub fn count(key: &str, value: u64) -> OtlpAttribute {
    attribute(
        key,
        OtlpValueForm::Whole(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

pub fn number(key: &str, value: f64) -> OtlpAttribute {
    attribute(key, OtlpValueForm::Number(value))
}

/// A list attribute with one text.
pub fn only(key: &str, value: &str) -> OtlpAttribute {
    let values = vec![OtlpValue {
        value: Some(OtlpValueForm::Text(bounded(value, TEXT_BYTES))),
    }];
    attribute(key, OtlpValueForm::List(List { values }))
}

fn attribute(key: &str, value: OtlpValueForm) -> OtlpAttribute {
    OtlpAttribute {
        key: key.to_owned(),
        value: Some(OtlpValue { value: Some(value) }),
    }
}

/// At most `most` bytes of a text, followed by the number of bytes left out.
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{} … {} bytes left out", &text[..end], text.len() - end)
}

/// A list with one message in the conventions' format, as JSON text: not every receiver supports structured attributes.
pub fn message(key: &str, role: &str, content: &str) -> OtlpAttribute {
    let part = serde_json::json!({ "type": "text", "content": bounded(content, TEXT_BYTES) });
    let list = serde_json::json!([{ "role": role, "parts": [part] }]).to_string();
    attribute(key, OtlpValueForm::Text(list))
}
