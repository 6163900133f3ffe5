//! OpenAI's chat completions, as served by the vendor and by compatible servers.

use serde_json::{Map, Value, json};

use super::{Server, count, forced, result_text, state, strange};
use crate::model::{
    AskedCall, CallError, Conversation, Message, ModelTurn, Provider, StopReason, TokenUsage,
    ToolSpec,
};

/// The body of a request.
pub fn request(conversation: &Conversation, provider: &Provider, server: Server) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), provider.model.as_str().into());
    body.insert("messages".to_owned(), messages(conversation).into());
    state(&mut body, "temperature", provider.temperature);
    // The vendor's newer models refuse `max_tokens`; Ollama and older servers do not know `max_completion_tokens`; the vendor refuses a
    // request with both.
    let limit = match server {
        Server::Vendor => "max_completion_tokens",
        Server::Compatible => "max_tokens",
    };
    state(&mut body, limit, provider.max_tokens);
    if !conversation.tools.is_empty() {
        body.insert(
            "tools".to_owned(),
            conversation.tools.iter().map(tool).collect(),
        );
    }
    if let Some(form) = forced(conversation) {
        let schema = json!({ "name": form.name, "schema": form.schema, "strict": true });
        body.insert(
            "response_format".to_owned(),
            json!({ "type": "json_schema", "json_schema": schema }),
        );
    }
    Value::Object(body)
}

fn tool(spec: &ToolSpec) -> Value {
    let ToolSpec {
        name,
        description,
        parameters,
    } = spec;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

fn messages(conversation: &Conversation) -> Vec<Value> {
    let mut messages = Vec::new();
    if !conversation.system.is_empty() {
        messages.push(json!({ "role": "system", "content": conversation.system }));
    }
    for message in &conversation.messages {
        match message {
            Message::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Message::Model { text, calls } => messages.push(spoken(text, calls)),
            Message::Tools(answers) => messages.extend(answers.iter().map(
                |answer| json!({ "role": "tool", "tool_call_id": answer.id, "content": result_text(&answer.outcome) }),
            )),
        }
    }
    messages
}

fn spoken(text: &str, calls: &[AskedCall]) -> Value {
    if calls.is_empty() {
        return json!({ "role": "assistant", "content": text });
    }
    let calls: Vec<Value> = calls
        .iter()
        .map(|AskedCall { id, name, arguments }| {
            // Arguments that were not JSON go back as the model wrote them.
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
        })
        .collect();
    let content = if text.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    json!({ "role": "assistant", "content": content, "tool_calls": calls })
}

/// The model's turn in an answer.
///
/// # Errors
/// What the answer contains instead.
pub fn turn(body: &Value) -> Result<ModelTurn, CallError> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(strange(body, "choices[0].message"));
    }
    let refused = message["refusal"].as_str().filter(|text| !text.is_empty());
    let stop = match (refused, choice["finish_reason"].as_str()) {
        (Some(_), _) | (None, Some("content_filter")) => StopReason::Refused,
        (None, Some("stop" | "tool_calls" | "function_call")) => StopReason::End,
        (None, Some("length")) => StopReason::Length,
        (None, reason) => StopReason::Other(reason.unwrap_or("no finish_reason").to_owned()),
    };
    let calls = message["tool_calls"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let usage = &body["usage"];
    Ok(ModelTurn {
        text: refused.map_or_else(|| text(&message["content"]), str::to_owned),
        calls: calls
            .iter()
            .enumerate()
            .map(|(index, call)| parse_call(index, call))
            .collect(),
        stop,
        spent: TokenUsage {
            input: count(usage, "prompt_tokens"),
            cached_input: count(&usage["prompt_tokens_details"], "cached_tokens"),
            output: count(usage, "completion_tokens"),
        },
        model: body["model"].as_str().map(str::to_owned),
    })
}

/// The content: a text, nothing, or the parts that some servers send.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// A call; it gets an id if the server sent none, because the result needs one.
fn parse_call(index: usize, call: &Value) -> AskedCall {
    let function = &call["function"];
    let id = call["id"]
        .as_str()
        .filter(|id| !id.is_empty())
        .map_or_else(|| format!("call_{index}"), str::to_owned);
    let arguments = match &function["arguments"] {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Value::Null => json!({}),
        value => value.clone(),
    };
    AskedCall {
        id,
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments,
    }
}
