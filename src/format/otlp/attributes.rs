//! Attributes of spans: of every form one word, and no text without a bound.

use super::wire::{List, OtlpAttribute, OtlpValue, OtlpValueForm};

/// The longest text of an attribute, in bytes; what is longer is cut, and says so.
const TEXT_BYTES: usize = 32 * 1024;

/// A text.
pub fn text(key: &str, value: &str) -> OtlpAttribute {
    attribute(key, OtlpValueForm::Text(bounded(value, TEXT_BYTES)))
}

/// A text, where there is one.
pub fn text_of(key: &str, value: Option<&str>) -> Option<OtlpAttribute> {
    value.map(|value| text(key, value))
}

/// A count.
pub fn count(key: &str, value: u64) -> OtlpAttribute {
    attribute(key, OtlpValueForm::Whole(i64::try_from(value).unwrap_or(i64::MAX)))
}

/// A number.
pub fn number(key: &str, value: f64) -> OtlpAttribute {
    attribute(key, OtlpValueForm::Number(value))
}

/// A list of one text.
pub fn only(key: &str, value: &str) -> OtlpAttribute {
    let values = vec![OtlpValue { value: Some(OtlpValueForm::Text(bounded(value, TEXT_BYTES))) }];
    attribute(key, OtlpValueForm::List(List { values }))
}

fn attribute(key: &str, value: OtlpValueForm) -> OtlpAttribute {
    OtlpAttribute { key: key.to_owned(), value: Some(OtlpValue { value: Some(value) }) }
}

/// At most this many bytes of a text, and how many are missing.
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{} … {} bytes left out", &text[..end], text.len() - end)
}

/// A list of one message in the conventions' form, as a text: spans have no structured attributes everywhere.
pub fn message(key: &str, role: &str, said: &str) -> OtlpAttribute {
    let part = serde_json::json!({ "type": "text", "content": bounded(said, TEXT_BYTES) });
    let list = serde_json::json!([{ "role": role, "parts": [part] }]).to_string();
    attribute(key, OtlpValueForm::Text(list))
}
