//! A message of any tool, read leniently: the GenAI conventions, chat completions, LangChain, inspect-ai, Langfuse and LangSmith.

use serde_json::{Value, json};

use super::content;
use super::content::{finish_transcript, is_type_of_call};
use super::conversation_builder::{Asker, ConversationBuilder, UnmatchedResult};
use super::recorded_run::Transcript;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::{lenient, run_v1};
use crate::model::{Json, Measures};

#[derive(Debug, Clone, PartialEq)]
pub struct LooseMessage {
    /// The author's role.
    pub role: String,
    pub parts: Vec<MessagePart>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    Text(String),
    Call {
        id: Option<String>,
        /// The tool.
        name: String,
        arguments: Json,
        /// The MCP server of the tool, if stated.
        server: Option<String>,
        /// The result, if the part has it too.
        result: Option<Json>,
    },
    /// A tool's result.
    Answer {
        id: Option<String>,
        /// The tool, if the message names it.
        name: Option<String>,
        result: Json,
        /// The error message, if the tool failed.
        error: Option<String>,
    },
    /// A part of this type that is left out.
    Other(String),
}

impl LooseMessage {
    /// Reads a message; `role` is the role of one that does not name its own.
    pub fn of(value: &Value, role: &str) -> Self {
        message(value, role)
    }

    /// Its texts, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            MessagePart::Call { .. } | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
        });
        texts.collect()
    }
}

/// A list, also one written as a string; a plain text is one message.
pub fn list(value: Option<&Value>) -> Vec<Value> {
    match value.map(lenient::embedded) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => vec![json!({ "type": "text", "content": text })],
        Some(other) => vec![other],
    }
}

/// The fields of a message: LangChain wraps them, and writes pairs of role and text.
fn unwrapped(value: &Value) -> Value {
    let wrapped = match value.get("type").and_then(Value::as_str) {
        Some("constructor") => value.get("kwargs"),
        Some(kind) if role_of_type(kind).is_some() => value.get("data"),
        Some(_) | None => None,
    };
    match (
        wrapped.filter(|inner| inner.is_object()),
        value.as_array().map(Vec::as_slice),
    ) {
        (Some(inner), _) => inner.clone(),
        (None, Some([Value::String(role), Value::String(text)])) => {
            json!({ "type": role, "content": text })
        }
        (None, _) => value.clone(),
    }
}

/// The role for LangChain's types of messages.
fn role_of_type(kind: &str) -> Option<&'static str> {
    match kind {
        "human" | "HumanMessage" | "HumanMessageChunk" | "user" => Some("user"),
        "ai" | "AIMessage" | "AIMessageChunk" | "assistant" => Some("assistant"),
        "system" | "SystemMessage" => Some("system"),
        "tool" | "ToolMessage" => Some("tool"),
        "function" | "FunctionMessage" => Some("function"),
        _ => None,
    }
}

/// A message in the format of the conventions (`parts`), of the chat completions, or of a tool.
fn message(value: &Value, role: &str) -> LooseMessage {
    let value = &unwrapped(value);
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let role = text("role")
        .or_else(|| role_of_type(text("type")?))
        .unwrap_or(role)
        .to_owned();
    let content = value.get("content").map_or(Value::Null, Value::clone);
    let calls = calls_outside_content(value);
    // A call is in the content, or in a list of calls, or in both.
    let mut listed: Vec<&Value> = calls.iter().collect();
    let is_other = |one: &&Value| {
        !matches!(part(one), MessagePart::Call { .. }) || !remove_same_call(&mut listed, one)
    };
    let mut parts: Vec<MessagePart> = Vec::new();
    match (value.get("parts").and_then(Value::as_array), &content) {
        (Some(list), _) => parts.extend(list.iter().filter(is_other).map(part)),
        (None, _) if role == "tool" || role == "function" => parts.push(answer_of(value, &content)),
        (None, Value::Null) => {}
        (None, Value::Array(list)) => parts.extend(list.iter().filter(is_other).map(part)),
        (None, Value::String(text)) => parts.push(MessagePart::Text(text.clone())),
        (None, other) => parts.push(MessagePart::Text(other.to_string())),
    }
    let refusal =
        text("refusal").or_else(|| value.get("additional_kwargs")?.get("refusal")?.as_str());
    let is_silent = |parts: &[MessagePart]| {
        !parts
            .iter()
            .any(|part| matches!(part, MessagePart::Text(text) if !text.is_empty()))
    };
    if let Some(refusal) = refusal.filter(|_| is_silent(&parts)) {
        parts.push(MessagePart::Text(refusal.to_owned()));
    }
    parts.extend(calls.iter().map(|call| called(call, function_of(call))));
    LooseMessage { role, parts }
}

/// The calls that a message has outside of its content, each once. LangChain keeps calls whose arguments are not valid, and those of the
/// vendor's own tools, in lists of their own; older versions have a single call.
fn calls_outside_content(value: &Value) -> Vec<Value> {
    let more = value.get("additional_kwargs");
    let more = |key: &str| more.and_then(|more| more.get(key));
    let outputs = list(more("tool_outputs"))
        .into_iter()
        .filter(|item| matches!(part(item), MessagePart::Call { .. }));
    let keys = [
        "tool_calls",
        "toolCalls",
        "toolInvocations",
        "invalid_tool_calls",
    ];
    let lists = keys
        .map(|key| value.get(key))
        .into_iter()
        .chain([more("tool_calls")])
        .map(list);
    let single = |call: Option<&Value>| {
        call.filter(|call| call.is_object())
            .cloned()
            .into_iter()
            .collect()
    };
    let singles = [
        single(value.get("function_call")),
        single(more("function_call")),
    ];
    let mut calls: Vec<Value> = Vec::new();
    for list in lists.chain([outputs.collect()]).chain(singles) {
        let mut known: Vec<&Value> = calls.iter().collect();
        // Two equal calls of one list are two calls.
        let fresh: Vec<Value> = list
            .into_iter()
            .filter(|call| !remove_same_call(&mut known, call))
            .collect();
        calls.extend(fresh);
    }
    calls
}

/// Removes a form of this call from a list; returns whether there was one.
fn remove_same_call(list: &mut Vec<&Value>, call: &Value) -> bool {
    let same = list.iter().position(|one| is_same_call(call, one));
    same.map(|at| list.remove(at)).is_some()
}

/// Whether two forms are of one call: they share an id, or one of them has none and they have the same name and arguments.
fn is_same_call(one: &Value, other: &Value) -> bool {
    let ids = |call: &Value| -> Vec<String> {
        let ids = CALL_IDS
            .iter()
            .filter_map(|key| call.get(*key).and_then(Value::as_str));
        ids.map(str::to_owned).collect()
    };
    let (mine, others) = (ids(one), ids(other));
    if !mine.is_empty() && !others.is_empty() {
        return mine.iter().any(|id| others.contains(id));
    }
    let content = |call: &Value| match called(call, function_of(call)) {
        MessagePart::Call {
            name, arguments, ..
        } => Some((name, arguments)),
        MessagePart::Text(_) | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
    };
    content(one) == content(other)
}

/// The object with a call's name and arguments.
pub fn function_of(call: &Value) -> &Value {
    let inner = ["function", "toolInvocation"]
        .iter()
        .find_map(|key| call.get(*key).filter(|inner| inner.is_object()));
    inner.unwrap_or(call)
}

/// The result of a tool.
fn answer_of(value: &Value, content: &Value) -> MessagePart {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let result = match content.as_array().map(Vec::as_slice) {
        Some([only]) if only.get("text").is_some() => only.get("text").unwrap_or(content),
        Some(_) | None => content,
    };
    let failed = value.get("error").filter(|error| !error.is_null());
    let message = failed.map(|error| error.get("message").unwrap_or(error));
    let stated = message.map(|message| {
        message
            .as_str()
            .map_or_else(|| message.to_string(), str::to_owned)
    });
    let by_status = (text("status").as_deref() == Some("error")).then(|| plain(result));
    MessagePart::Answer {
        id: text("tool_call_id").or_else(|| text("id")),
        name: text("name").or_else(|| text("function")),
        result: run_v1::json(result),
        error: stated.or(by_status),
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn part(value: &Value) -> MessagePart {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = || {
        CALL_IDS
            .iter()
            .chain(&["tool_use_id"])
            .find_map(|key| text(key))
    };
    let answer = |result: Option<&Value>| {
        let result = result.unwrap_or(&Value::Null);
        let is_error = value.get("is_error") == Some(&Value::Bool(true));
        let (id, name, error) = (id(), text("name"), is_error.then(|| plain(result)));
        MessagePart::Answer {
            id,
            name,
            result: run_v1::json(result),
            error,
        }
    };
    match value.get("type").and_then(Value::as_str) {
        // LangChain wraps the parts that it does not know.
        Some("non_standard") if value.get("value").is_some_and(Value::is_object) => {
            part(&value["value"])
        }
        // The conventions' example uses `result`, their schema `response`.
        Some("tool_call_response") => answer(value.get("response").or(value.get("result"))),
        Some(kind) if kind.ends_with("tool_result") || kind.ends_with("tool-result") => answer(
            value
                .get("content")
                .or(value.get("result"))
                .or(value.get("output")),
        ),
        // Every vendor has types of its own for the calls of MCP servers and of its own tools.
        Some(kind) if is_call(kind, value) => called(value, function_of(value)),
        Some("text" | "input_text" | "output_text" | "refusal") => {
            let text = ["content", "text", "refusal"]
                .iter()
                .find_map(|key| text(key));
            MessagePart::Text(text.unwrap_or_default())
        }
        Some(other) => MessagePart::Other(other.to_owned()),
        None => match value {
            Value::String(text) => MessagePart::Text(text.clone()),
            _ => MessagePart::Other("part without a type".to_owned()),
        },
    }
}

/// Whether a part of this type is a call: by its type, or because it has a name and arguments.
fn is_call(kind: &str, value: &Value) -> bool {
    let has_arguments = || ARGUMENTS.iter().any(|key| value.get(*key).is_some());
    is_type_of_call(kind)
        || ["name", "toolName"]
            .iter()
            .any(|key| value.get(*key).is_some_and(Value::is_string))
            && has_arguments()
}

/// The keys of a call's arguments.
const ARGUMENTS: [&str; 3] = ["arguments", "args", "input"];

/// The keys of a call's id. An item of the Responses API has an id of its own, too, to which no result refers.
pub const CALL_IDS: [&str; 4] = ["call_id", "tool_call_id", "toolCallId", "id"];

fn called(call: &Value, inner: &Value) -> MessagePart {
    let arguments = ARGUMENTS.iter().find_map(|key| inner.get(*key));
    // A call of one of the vendor's own tools is named by its type.
    let named = ["name", "toolName", "function"]
        .iter()
        .find_map(|key| inner.get(*key).and_then(Value::as_str));
    let by_type = || {
        inner
            .get("type")?
            .as_str()
            .map(|kind| kind.strip_prefix("tool-").unwrap_or(kind))
    };
    let name = named.or_else(by_type).unwrap_or_default();
    let server = ["server_name", "server_label"]
        .iter()
        .find_map(|key| call.get(*key).and_then(Value::as_str));
    // inspect-ai names the server of an MCP call as its context.
    let is_mcp = call.get("tool_type").is_some_and(|kind| kind == "mcp_call");
    let server = server.or_else(|| call.get("context").filter(|_| is_mcp)?.as_str());
    let id = [call, inner]
        .into_iter()
        .find_map(|one| CALL_IDS.iter().find_map(|key| one.get(*key)?.as_str()));
    MessagePart::Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.map_or(Json::default(), |value| {
            run_v1::json(&lenient::embedded(value))
        }),
        server: server.map(str::to_owned),
        result: call
            .get("result")
            .or_else(|| inner.get("result"))
            .map(run_v1::json),
    }
}

/// The conversation of messages at a byte offset.
///
/// # Errors
/// A tool's result without its call, or no message of the assistant.
pub fn conversation(
    source: &SourceText,
    at: usize,
    messages: &[LooseMessage],
) -> Result<Transcript, Diagnostic> {
    let mut builder = ConversationBuilder::default();
    for message in messages {
        add(&mut builder, message).map_err(|(name, UnmatchedResult)| {
            let what = format!("the tool result {name:?} matches no open call before it");
            let help = "provide the whole conversation, including the message with the call";
            source.problem(at, Code::ANSWER_WITHOUT_CALL, what, help)
        })?;
    }
    finish_transcript(source, at, builder)
}

/// The conversation that messages tell, as far as they can be read; `None` without a message of the assistant.
pub fn readable_conversation<'m>(
    messages: impl IntoIterator<Item = &'m LooseMessage>,
) -> Option<Transcript> {
    let mut builder = ConversationBuilder::default();
    for message in messages {
        // A result whose call is not among the messages changes no turn.
        let _ = add(&mut builder, message);
    }
    builder.finish(0).ok()
}

fn add(
    builder: &mut ConversationBuilder,
    message: &LooseMessage,
) -> Result<(), (String, UnmatchedResult)> {
    match message.role.as_str() {
        "assistant" => builder.add_answer(message.text()),
        "system" | "developer" => builder.add_question(Asker::System, message.text()),
        "tool" | "function" => {}
        _ => builder.add_question(Asker::User, message.text()),
    }
    for part in &message.parts {
        match part {
            MessagePart::Call { .. } => add_call(builder, part),
            MessagePart::Answer {
                id: Some(id),
                result,
                error,
                ..
            } => {
                builder
                    .answered(id, result.clone(), error.clone())
                    .map_err(|unmatched| (id.clone(), unmatched))?;
            }
            MessagePart::Answer {
                id: None,
                name,
                result,
                ..
            } => {
                let name = name.clone().unwrap_or_default();
                let answered = builder.answered_by_name(&name, result.clone());
                answered.map_err(|unmatched| (name, unmatched))?;
            }
            MessagePart::Text(_) => {}
            MessagePart::Other(kind) => builder.left_out(kind),
        }
    }
    Ok(())
}

pub fn add_call(builder: &mut ConversationBuilder, part: &MessagePart) {
    let MessagePart::Call {
        id,
        name,
        arguments,
        server,
        result,
    } = part
    else {
        return;
    };
    builder.called(id.clone(), name.clone(), arguments.clone());
    builder.served_by(server.clone());
    if let Some(result) = result {
        builder.answered_at_once(result.clone(), None);
    }
}

/// Adds the tokens under the names of an object: `input_tokens`, `prompt_tokens`, `input`, …
pub fn add_tokens(measures: &mut Measures, usage: &Value) {
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(*key)?.as_u64());
    let input = count(&[
        "input_tokens",
        "prompt_tokens",
        "promptTokens",
        "prompt",
        "input",
    ]);
    let output = count(&[
        "output_tokens",
        "completion_tokens",
        "completionTokens",
        "completion",
        "output",
    ]);
    let total = count(&["total_tokens", "totalTokens", "total"]);
    let both = (input.is_some() || output.is_some())
        .then(|| input.unwrap_or(0).saturating_add(output.unwrap_or(0)));
    content::add(&mut measures.input_tokens, input);
    content::add(&mut measures.output_tokens, output);
    content::add(&mut measures.total_tokens, total.or(both));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LooseMessage, MessagePart};

    #[test]
    fn a_call_is_one_whatever_its_type_is_called() {
        let call = |kind: &str| json!({ "type": kind, "id": "x", "name": "delete", "input": {}, "server_name": "db" });
        let wrapped = json!({ "type": "non_standard", "value": call("mcp_call") });
        let listed = json!([{ "name": "delete", "args": {}, "id": "x" }]);
        let both = json!({ "content": [call("tool_use")], "tool_calls": listed });
        let only = |parts: &[MessagePart]| -> Vec<String> {
            let names = parts.iter().filter_map(|part| match part {
                MessagePart::Call { name, .. } => Some(name.clone()),
                MessagePart::Text(_) | MessagePart::Answer { .. } | MessagePart::Other(_) => None,
            });
            names.collect()
        };
        for message in [
            json!({ "content": [call("mcp_tool_use")] }),
            json!({ "content": [call("server_tool_call")] }),
            json!({ "content": [call("custom_tool_call")] }),
            json!({ "content": [call("tool-call")] }),
            json!({ "content": [{ "type": "tool-call", "toolCallId": "x", "toolName": "delete", "input": {} }] }),
            json!({ "parts": [{ "type": "tool-delete", "toolCallId": "x", "state": "output-available", "input": {} }] }),
            json!({ "content": "", "toolCalls": listed, "toolInvocations": [{ "toolCallId": "x", "toolName": "delete", "args": {} }] }),
            json!({ "parts": [{ "type": "tool-invocation", "toolInvocation": { "toolCallId": "x", "toolName": "delete", "args": {} } }] }),
            json!({ "content": [call("a_new_type")] }),
            json!({ "content": [wrapped] }),
            json!({ "content": "", "invalid_tool_calls": listed }),
            json!({ "content": "", "additional_kwargs": { "tool_outputs": [call("mcp_call")] } }),
            json!({ "content": "", "additional_kwargs": { "function_call": { "name": "delete", "arguments": "{}" } } }),
            json!({ "content": "", "tool_calls": listed, "additional_kwargs": { "tool_calls": listed } }),
            both,
        ] {
            assert_eq!(
                only(&LooseMessage::of(&message, "assistant").parts),
                ["delete"],
                "{message}"
            );
        }
        let other = json!({ "content": [call("mcp_tool_use")], "tool_calls": [{ "name": "find", "args": {}, "id": "y" }] });
        assert_eq!(
            only(&LooseMessage::of(&other, "assistant").parts),
            ["delete", "find"]
        );
        let pay = json!({ "name": "pay", "args": { "a": 1 }, "id": null });
        let twice = json!({ "content": "", "tool_calls": [pay, pay], "additional_kwargs": { "tool_calls": [pay, pay] } });
        assert_eq!(
            only(&LooseMessage::of(&twice, "assistant").parts),
            ["pay", "pay"]
        );
        let unnamed = json!({ "content": [{ "type": "web_search_call", "id": "w" }, { "type": "text", "text": "hi" }] });
        assert_eq!(
            only(&LooseMessage::of(&unnamed, "assistant").parts),
            ["web_search_call"]
        );
    }
}
