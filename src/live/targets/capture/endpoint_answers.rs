//! The answers of an endpoint that come from goldgate itself, and bodies as they are recorded.

use serde_json::{Value, json};

pub struct EndpointAnswer {
    pub status: u16,
    pub kind: String,
    /// Further headers, each with its line end.
    pub more: &'static str,
    pub body: Vec<u8>,
}

/// An answer that both vendors' clients show as an error, and do not try again.
pub fn refusal(status: u16, why: &str) -> EndpointAnswer {
    let body =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": why } });
    EndpointAnswer {
        status,
        kind: "application/json".to_owned(),
        more: "x-should-retry: false\r\n",
        body: body.to_string().into_bytes(),
    }
}

/// The receiver's answer to an export: an empty message in the encoding of the request.
pub fn accepted(kind: Option<&str>) -> EndpointAnswer {
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    let (kind, body) = if is_json {
        ("application/json", "{}")
    } else {
        ("application/x-protobuf", "")
    };
    EndpointAnswer {
        status: 200,
        kind: kind.to_owned(),
        more: "",
        body: body.as_bytes().to_vec(),
    }
}

/// The recorded form of a body: its JSON, or its text. A body that is neither is not recorded.
pub fn recorded_body(body: &[u8]) -> Value {
    if let Ok(object @ Value::Object(_)) = serde_json::from_slice(body) {
        return object;
    }
    match std::str::from_utf8(body) {
        Ok(text) if !text.is_empty() => Value::from(text),
        Ok(_) | Err(_) => Value::Null,
    }
}
