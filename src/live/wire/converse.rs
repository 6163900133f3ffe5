//! Bedrock's Converse API.

use serde_json::{Map, Value, json};

use super::{answered, as_object, count, forced, parse_call, result_text, state, strange, turns};
use crate::model::{
    AnswerForm, AskedCall, CallError, Conversation, Message, ModelTurn, Provider, StopReason,
    TokenUsage, ToolSpec,
};

/// The body of a request; the URL contains the model.
pub fn request(conversation: &Conversation, provider: &Provider) -> Value {
    let mut body = Map::new();
    if !conversation.system.is_empty() {
        body.insert(
            "system".to_owned(),
            json!([{ "text": conversation.system }]),
        );
    }
    body.insert(
        "messages".to_owned(),
        turns(&conversation.messages, blocks).into(),
    );
    let mut limits = Map::new();
    state(&mut limits, "maxTokens", provider.max_tokens);
    state(&mut limits, "temperature", provider.temperature);
    if !limits.is_empty() {
        body.insert("inferenceConfig".to_owned(), limits.into());
    }
    if let Some(tools) = tools(conversation) {
        body.insert("toolConfig".to_owned(), tools);
    }
    Value::Object(body)
}

/// The tools, or the forced answer tool. Converse refuses calls in a conversation without declared tools.
fn tools(conversation: &Conversation) -> Option<Value> {
    match forced(conversation) {
        Some(AnswerForm { name, schema }) => {
            let choice = json!({ "tool": { "name": name } });
            Some(
                json!({ "tools": [tool(name, "Gives the answer.", schema)], "toolChoice": choice }),
            )
        }
        None if conversation.tools.is_empty() => None,
        None => {
            let tools = conversation.tools.iter();
            let tools: Vec<Value> = tools
                .map(
                    |ToolSpec {
                         name,
                         description,
                         parameters,
                     }| tool(name, description, parameters),
                )
                .collect();
            Some(json!({ "tools": tools }))
        }
    }
}

fn tool(name: &str, description: &str, schema: &Value) -> Value {
    json!({ "toolSpec": { "name": name, "description": description, "inputSchema": { "json": schema } } })
}

fn blocks(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => text_blocks(text),
        Message::Model { text, calls } => {
            let mut blocks = text_blocks(text);
            blocks.extend(calls.iter().map(|AskedCall { id, name, arguments }| {
                json!({ "toolUse": { "toolUseId": id, "name": name, "input": as_object(arguments) } })
            }));
            blocks
        }
        Message::Tools(answers) => answers
            .iter()
            .map(|answer| {
                let (text, status) = match &answer.outcome {
                    Ok(_) => (result_text(&answer.outcome), "success"),
                    Err(error) => (error.clone(), "error"),
                };
                // Converse refuses an empty text.
                let text = if text.is_empty() { "(empty)".to_owned() } else { text };
                json!({ "toolResult": { "toolUseId": answer.id, "content": [{ "text": text }], "status": status } })
            })
            .collect(),
    }
}

/// The text as a block; no block if it is blank, because Converse refuses one.
fn text_blocks(text: &str) -> Vec<Value> {
    if text.trim().is_empty() {
        Vec::new()
    } else {
        vec![json!({ "text": text })]
    }
}

/// The model's turn in an answer to this conversation.
///
/// # Errors
/// What the answer contains instead.
pub fn turn(body: &Value, conversation: &Conversation) -> Result<ModelTurn, CallError> {
    let Some(blocks) = body["output"]["message"]["content"].as_array() else {
        return Err(strange(body, "output.message.content"));
    };
    let stop = match body["stopReason"].as_str() {
        Some("end_turn" | "tool_use" | "stop_sequence") => StopReason::End,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("guardrail_intervened" | "content_filtered" | "refusal") => StopReason::Refused,
        reason => StopReason::Other(reason.unwrap_or("no stopReason").to_owned()),
    };
    let text: String = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    let calls = blocks
        .iter()
        .map(|block| &block["toolUse"])
        .filter(|call| call.is_object());
    let calls: Vec<AskedCall> = calls.map(|call| parse_call(call, "toolUseId")).collect();
    let (text, calls) = answered(conversation, &stop, text, calls);
    let usage = &body["usage"];
    let cached_input = count(usage, "cacheReadInputTokens");
    let input = [
        count(usage, "inputTokens"),
        cached_input,
        count(usage, "cacheWriteInputTokens"),
    ];
    Ok(ModelTurn {
        text,
        calls,
        stop,
        spent: TokenUsage {
            input: input.into_iter().fold(0, u64::saturating_add),
            cached_input,
            output: count(usage, "outputTokens"),
        },
        // The answer does not contain it.
        model: None,
    })
}
