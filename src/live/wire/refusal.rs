//! Reads the message with which a server refuses a request.

use serde_json::Value;

use crate::text::line;

/// A server's message in one line: OpenAI's and Anthropic's `error.message`, AWS's `message`, FastAPI's `detail`.
pub fn refusal(body: &Value) -> Option<String> {
    let candidates = [
        &body["error"]["message"],
        &body["error"],
        &body["message"],
        &body["Message"],
        &body["detail"],
    ];
    let text = candidates
        .into_iter()
        .find_map(|candidate| match candidate {
            Value::String(text) => Some(text.clone()),
            // A list of problems of single fields.
            Value::Array(problems) => Some(Value::from(problems.clone()).to_string()),
            _ => None,
        });
    text.map(|text| line(&text, 2 * QUOTED))
        .filter(|text| !text.is_empty())
}

/// Whether a retry after this 429 is useless: the account has no credit.
pub fn is_final(body: &Value) -> bool {
    [&body["error"]["code"], &body["error"]["type"]]
        .into_iter()
        .any(|code| code == "insufficient_quota")
}

/// Most characters of a server's text that an error quotes.
pub(super) const QUOTED: usize = 200;
