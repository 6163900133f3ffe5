//! Anthropic's messages API, as served by the vendor and by compatible servers.

use serde_json::{Map, Value, json};

use super::{
    Server, answered, as_object, count, forced, parse_call, result_text, state, strange, turns,
};
use crate::model::{
    AnswerForm, AskedCall, CallError, Conversation, Message, ModelTurn, Provider, StopReason,
    TokenUsage, ToolSpec,
};

/// The version in the header `anthropic-version`. Compatible servers know this one. The next one (2026-10-21) refuses a temperature, which
/// is needed where answers should vary from sample to sample.
pub const VERSION: &str = "2023-06-01";

/// Default of the longest answer in tokens: the vendor requires a limit, and the thinking of its newer models counts too.
const MAX_TOKENS: u32 = 16_384;

/// The body of a request.
pub fn request(conversation: &Conversation, provider: &Provider, server: Server) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), provider.model.as_str().into());
    body.insert(
        "max_tokens".to_owned(),
        provider.max_tokens.unwrap_or(MAX_TOKENS).into(),
    );
    state(
        &mut body,
        "system",
        Some(conversation.system.as_str()).filter(|system| !system.is_empty()),
    );
    body.insert(
        "messages".to_owned(),
        turns(&conversation.messages, blocks).into(),
    );
    state(&mut body, "temperature", provider.temperature);
    if !conversation.tools.is_empty() {
        body.insert(
            "tools".to_owned(),
            conversation.tools.iter().map(tool).collect(),
        );
    }
    if let Some(form) = forced(conversation) {
        force(&mut body, form, server);
    }
    Value::Object(body)
}

/// Forces the answer format. The vendor's newest models refuse a forced tool but support a format; compatible servers support no format,
/// and most of them support a forced tool.
fn force(body: &mut Map<String, Value>, form: &AnswerForm, server: Server) {
    match server {
        Server::Vendor => {
            let format = json!({ "type": "json_schema", "schema": form.schema });
            body.insert("output_config".to_owned(), json!({ "format": format }));
        }
        Server::Compatible => {
            let tool = json!({ "name": form.name, "description": "Gives the answer.", "input_schema": form.schema });
            body.insert("tools".to_owned(), json!([tool]));
            body.insert(
                "tool_choice".to_owned(),
                json!({ "type": "tool", "name": form.name }),
            );
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    let ToolSpec {
        name,
        description,
        parameters,
    } = spec;
    json!({ "name": name, "description": description, "input_schema": parameters })
}

fn blocks(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => text_blocks(text),
        Message::Model { text, calls } => {
            let mut blocks = text_blocks(text);
            blocks.extend(calls.iter().map(|AskedCall { id, name, arguments }| {
                json!({ "type": "tool_use", "id": id, "name": name, "input": as_object(arguments) })
            }));
            blocks
        }
        Message::Tools(answers) => answers
            .iter()
            .map(|answer| {
                let content = match &answer.outcome {
                    Ok(_) => result_text(&answer.outcome),
                    Err(error) => error.clone(),
                };
                let failed = answer.outcome.is_err();
                json!({ "type": "tool_result", "tool_use_id": answer.id, "content": content, "is_error": failed })
            })
            .collect(),
    }
}

/// The text as a block; no block if it is blank, because the vendor refuses one.
fn text_blocks(text: &str) -> Vec<Value> {
    if text.trim().is_empty() {
        Vec::new()
    } else {
        vec![json!({ "type": "text", "text": text })]
    }
}

/// The model's turn in an answer to this conversation.
///
/// # Errors
/// What the answer contains instead.
pub fn turn(body: &Value, conversation: &Conversation) -> Result<ModelTurn, CallError> {
    let Some(blocks) = body["content"].as_array() else {
        return Err(strange(body, "content"));
    };
    let stop = match body["stop_reason"].as_str() {
        Some("end_turn" | "tool_use" | "stop_sequence") => StopReason::End,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refused,
        reason => StopReason::Other(reason.unwrap_or("no stop_reason").to_owned()),
    };
    let text: String = blocks
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    let calls: Vec<AskedCall> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|call| parse_call(call, "id"))
        .collect();
    let (text, calls) = answered(conversation, &stop, text, calls);
    let usage = &body["usage"];
    let cached_input = count(usage, "cache_read_input_tokens");
    let input = [
        count(usage, "input_tokens"),
        cached_input,
        count(usage, "cache_creation_input_tokens"),
    ];
    Ok(ModelTurn {
        text,
        calls,
        stop,
        spent: TokenUsage {
            input: input.into_iter().fold(0, u64::saturating_add),
            cached_input,
            output: count(usage, "output_tokens"),
        },
        model: body["model"].as_str().map(str::to_owned),
    })
}
