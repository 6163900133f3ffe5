//! Requests and answers of Gemini, of Bedrock's Converse API and of Ollama, and run states of the OpenAI Agents SDK, in the form of the chat completions: `messages`, `choices`, `usage`.
//!
//! Their messages stay as they are: one reader reads those of all vendors.

use serde_json::{Map, Value, json};

use crate::message::text_at;
use crate::transcript::Format;

/// The vendor whose body this is, by keys that no other vendor has.
pub fn vendor_of_body(body: &Map<String, Value>) -> Option<Format> {
    let contents = body.get("contents");
    if contents.is_some_and(|contents| !contents.is_null())
        || body.get("candidates").is_some_and(Value::is_array)
    {
        return Some(Format::Gemini);
    }
    if items_of_run_state(body).is_some() {
        return Some(Format::OpenAi);
    }
    let output = body.get("output");
    let messages = body.get("messages").and_then(Value::as_array);
    let output_message = output.and_then(|output| output.get("message"));
    let has_tool_part = messages.is_some_and(|messages| {
        messages
            .iter()
            .any(|message| has_part(message, &["toolUse", "toolResult"]))
    });
    if output_message.is_some_and(Value::is_object) || has_tool_part {
        return Some(Format::Bedrock);
    }
    let has_answer = body.get("message").is_some_and(Value::is_object)
        || body.get("response").is_some_and(Value::is_string);
    (has_answer && body.get("done").is_some_and(Value::is_boolean)).then_some(Format::Ollama)
}

/// The vendor of a message by its parts, which have no type but a key.
pub fn vendor_of_message(message: &Value) -> Option<Format> {
    message.get("role")?;
    let parts = message.get("parts").and_then(Value::as_array);
    if let Some(parts) = parts
        && !parts.is_empty()
        && parts.iter().all(|part| part.get("type").is_none())
    {
        return Some(Format::Gemini);
    }
    has_part(message, &["toolUse", "toolResult"]).then_some(Format::Bedrock)
}

fn has_part(message: &Value, keys: &[&str]) -> bool {
    let content = message.get("content").and_then(Value::as_array);
    let mut parts = content.into_iter().flatten();
    parts.any(|part| {
        keys.iter()
            .any(|key| part.get(*key).is_some_and(Value::is_object))
    })
}

/// A request, an answer, or both in one, in the form of the chat completions; those of other vendors stay as they are.
pub fn in_common_form(mut body: Map<String, Value>) -> Map<String, Value> {
    match vendor_of_body(&body) {
        Some(Format::Gemini) => gemini(&mut body),
        Some(Format::Bedrock) => bedrock(&mut body),
        Some(Format::Ollama) => ollama(&mut body),
        Some(Format::OpenAi) => run_state(&mut body),
        Some(_) | None => {}
    }
    body
}

/// The answer in the events of a stream; `None` if they are those of another vendor.
pub fn assembled(events: &[&Value]) -> Option<Value> {
    let (last, earlier) = events.split_last()?;
    let mut whole = last.as_object()?.clone();
    let is_of_ollama = events.iter().all(|event| event.get("done").is_some())
        && earlier.iter().all(|event| event["done"] == json!(false));
    if is_of_ollama {
        let calls = events
            .iter()
            .filter_map(|event| event.get("message")?.get("tool_calls")?.as_array());
        let calls: Vec<Value> = calls.flatten().cloned().collect();
        let content = joined_texts(events, "content") + &joined_texts(events, "response");
        whole.insert(
            "message".to_owned(),
            json!({ "role": "assistant", "content": content, "tool_calls": calls }),
        );
        return Some(Value::Object(whole));
    }
    let has_unfinished = earlier
        .iter()
        .filter_map(|event| first_candidate(event))
        .any(|candidate| finish_reason(candidate).is_null());
    if events.iter().any(|event| event.get("contents").is_some())
        || !(earlier.is_empty() || has_unfinished)
    {
        return None;
    }
    let candidates = events.iter().filter_map(|event| first_candidate(event));
    let mut answer = candidates.clone().next_back()?.clone();
    let mut parts: Vec<Value> = Vec::new();
    for candidate in candidates {
        let content = candidate.get("content");
        if let Some(Value::Array(list)) = content.and_then(|content| content.get("parts")) {
            parts.extend(list.iter().cloned());
        }
    }
    answer["content"] = json!({ "role": "model", "parts": parts });
    whole.insert("candidates".to_owned(), json!([answer]));
    Some(Value::Object(whole))
}

/// The texts of all events, without a blank between them.
fn joined_texts(events: &[&Value], key: &str) -> String {
    let pieces = events
        .iter()
        .map(|event| event.get("message").unwrap_or(event));
    pieces.filter_map(|piece| text_at(piece, &[key])).collect()
}

fn first_candidate(event: &Value) -> Option<&Value> {
    event.get("candidates")?.as_array()?.first()
}

fn gemini(body: &mut Map<String, Value>) {
    let config = body.get("config").cloned().unwrap_or_default();
    let contents = match body.remove("contents") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(alone) => vec![alone],
    };
    if !contents.is_empty() {
        let messages = contents
            .into_iter()
            .map(|content| content_of(content, "user"));
        body.insert("messages".to_owned(), messages.collect());
    }
    let keys = ["systemInstruction", "system_instruction"];
    let instruction = keys.iter().find_map(|key| {
        let stated = body.get(*key).or_else(|| config.get(*key));
        stated.filter(|instruction| !instruction.is_null())
    });
    if let Some(instruction) = instruction {
        let parts = instruction.get("parts").unwrap_or(instruction).clone();
        body.insert("system".to_owned(), parts);
    }
    rename(body, &["usageMetadata", "usage_metadata"], "usage");
    rename(body, &["modelVersion", "model_version"], "model");
    let Some(Value::Array(candidates)) = body.remove("candidates") else {
        return;
    };
    if candidates.is_empty() {
        let feedback = ["promptFeedback", "prompt_feedback"]
            .iter()
            .find_map(|key| body.get(*key));
        let reason =
            feedback.and_then(|feedback| text_at(feedback, &["blockReason", "block_reason"]));
        let message = reason.unwrap_or("no answer").to_owned();
        body.insert("error".to_owned(), json!({ "message": message }));
    } else {
        body.insert(
            "choices".to_owned(),
            candidates.iter().map(choice_of).collect(),
        );
    }
}

fn choice_of(candidate: &Value) -> Value {
    let finish_reason = finish_reason(candidate);
    let content = candidate
        .get("content")
        .filter(|content| content.is_object());
    match content {
        Some(content) => {
            json!({ "message": content_of(content.clone(), "model"), "finish_reason": finish_reason })
        }
        None => json!({ "finish_reason": finish_reason }),
    }
}

fn finish_reason(candidate: &Value) -> &Value {
    let reasons = ["finishReason", "finish_reason"];
    let mut reasons = reasons.iter().filter_map(|key| candidate.get(*key));
    reasons.next().unwrap_or(&Value::Null)
}

/// A content of Gemini with a role; a plain text is one, too.
fn content_of(content: Value, role: &str) -> Value {
    match content {
        Value::Object(mut fields) => {
            if fields.get("role").is_none_or(Value::is_null) {
                fields.insert("role".to_owned(), json!(role));
            }
            Value::Object(fields)
        }
        text => json!({ "role": role, "parts": [text] }),
    }
}

fn bedrock(body: &mut Map<String, Value>) {
    let message = body
        .get("output")
        .and_then(|output| output.get("message"))
        .cloned();
    if let Some(message) = message {
        body.remove("output");
        let finish_reason = body.get("stopReason").cloned();
        let choice = json!({ "message": message, "finish_reason": finish_reason });
        body.insert("choices".to_owned(), json!([choice]));
    }
    rename(body, &["modelId"], "model");
}

fn ollama(body: &mut Map<String, Value>) {
    if let Some(Value::String(prompt)) = body.remove("prompt") {
        body.insert(
            "messages".to_owned(),
            json!([{ "role": "user", "content": prompt }]),
        );
    }
    let message = match body.remove("message") {
        Some(message) => message,
        None => json!({ "role": "assistant", "content": body.get("response") }),
    };
    let finish_reason = body.get("done_reason").cloned();
    let counts = ["prompt_eval_count", "eval_count"].into_iter();
    let usage: Map<String, Value> = counts
        .filter_map(|key| Some((key.to_owned(), body.get(key)?.clone())))
        .collect();
    body.insert("usage".to_owned(), Value::Object(usage));
    body.insert(
        "choices".to_owned(),
        json!([{ "message": message, "finish_reason": finish_reason }]),
    );
}

/// The items that a run of the OpenAI Agents SDK generated, as its state or its result has them.
fn items_of_run_state(body: &Map<String, Value>) -> Option<&Vec<Value>> {
    let keys = ["generated_items", "generatedItems", "new_items", "newItems"];
    keys.iter().find_map(|key| body.get(*key)?.as_array())
}

fn run_state(body: &mut Map<String, Value>) {
    let items = items_of_run_state(body).into_iter().flatten();
    // What waits for an approval is a call already.
    let items = items.filter(|item| text_at(item, &["type"]) != Some("tool_approval_item"));
    let items = items.filter_map(|item| item.get("raw_item").or_else(|| item.get("rawItem")));
    let output: Vec<Value> = items.cloned().collect();
    body.insert("output".to_owned(), Value::Array(output));
    rename(body, &["original_input", "originalInput"], "input");
    if let Some(usage) = body.get("context").and_then(|context| context.get("usage")) {
        body.insert("usage".to_owned(), usage.clone());
    }
}

/// Moves the value of the first of these keys to another one.
fn rename(body: &mut Map<String, Value>, keys: &[&str], to: &str) {
    let mut values = keys.iter().filter_map(|key| body.get(*key).cloned());
    if let Some(value) = values.find(|value| !value.is_null()) {
        body.insert(to.to_owned(), value);
    }
}
