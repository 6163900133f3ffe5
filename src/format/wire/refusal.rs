//! What a server says when it refuses.

use serde_json::Value;

use super::QUOTED;
use crate::text::line;

/// A server's message in one line: OpenAI's and Anthropic's `error.message`, AWS's `message`, FastAPI's `detail`.
pub fn refusal(body: &Value) -> Option<String> {
    let said = [&body["error"]["message"], &body["error"], &body["message"], &body["Message"], &body["detail"]];
    let text = said.into_iter().find_map(|said| match said {
        Value::String(text) => Some(text.clone()),
        // A list of what is wrong with the fields.
        Value::Array(problems) => Some(Value::from(problems.clone()).to_string()),
        _ => None,
    });
    text.map(|text| line(&text, 2 * QUOTED)).filter(|text| !text.is_empty())
}

/// Whether a 429 means that no later try helps: the account has no money.
pub fn is_final(body: &Value) -> bool {
    [&body["error"]["code"], &body["error"]["type"]].into_iter().any(|code| code == "insufficient_quota")
}
