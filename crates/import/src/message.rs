//! A message, whoever wrote it: chat completions, items of the Responses API, content blocks, the GenAI conventions, LangChain, the AI
//! SDK, inspect-ai, Langfuse and LangSmith.
//!
//! A message has an author, and parts in order. What a part is, its keys tell: a text, a call (a tool's name with arguments), or a
//! result. Wrappers differ, so a call is looked for in all other keys of an assistant's message, too.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::builder::{ConversationBuilder, Misplaced};
use crate::calls::each_once;
use crate::loose;
use crate::transcript::Transcript;

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What it says, in order.
    pub parts: Vec<Part>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// System or developer instructions.
    System,
    User,
    Assistant,
    Tool,
    /// None: an item of a list of items, such as a call.
    Item,
    /// Somebody else.
    Unknown,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    Call(CallPart),
    Result(ResultPart),
    /// An item of an unknown type between messages.
    Item(Value),
    /// A part of this type, which is left out.
    Other(String),
    /// A call that cannot be read, and why.
    Unreadable(&'static str),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallPart {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments; a text where they are no JSON.
    pub arguments: Value,
    /// The MCP server of the tool, if stated.
    pub server: Option<String>,
    /// The result, if the part has it, too.
    pub result: Option<Value>,
    /// The error message, if the part says that the tool failed.
    pub error: Option<String>,
}

/// A tool's result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPart {
    pub id: Option<String>,
    /// The tool, if the part names it.
    pub name: Option<String>,
    pub result: Value,
    /// The error message, if the tool failed.
    pub error: Option<String>,
}

impl Role {
    /// The role with a name, of any vendor.
    pub fn named(name: &str) -> Self {
        match name {
            "system" | "developer" | "SystemMessage" => Self::System,
            "user" | "human" | "HumanMessage" | "HumanMessageChunk" => Self::User,
            "assistant" | "ai" | "AIMessage" | "AIMessageChunk" | "model" => Self::Assistant,
            "tool" | "function" | "ToolMessage" | "FunctionMessage" => Self::Tool,
            _ => Self::Unknown,
        }
    }
}

impl Message {
    /// Reads a message; `role` is the role of one that does not name its own.
    pub fn of(value: &Value, role: Role) -> Self {
        let value = &unwrapped(value);
        let stated = author(value);
        if stated.is_none()
            && let Some(kind) = text_at(value, &["type"])
        {
            return item(value, kind, role);
        }
        let role = stated.unwrap_or(role);
        if role == Role::Unknown {
            let name = text_at(value, &["role"]).unwrap_or_default();
            let parts = vec![Part::Other(format!("message of the role {name:?}"))];
            return Self { role, parts };
        }
        let content = value.get("parts").or_else(|| value.get("content"));
        let mut parts = content.map(parts_of_content).unwrap_or_default();
        let is_list = content.is_some_and(Value::is_array);
        if role == Role::Tool && !(is_list && parts.iter().any(is_result)) {
            parts = vec![Part::Result(result_of(value, content))];
        }
        if role == Role::Assistant {
            parts.extend(refusal(value, &parts));
            // A call is in the content, or in a list of calls, or in both.
            parts = with_other_calls(parts, value);
        }
        Self { role, parts }
    }

    /// Whether a value names its author, or has the type of an item.
    pub fn is_stated(value: &Value) -> bool {
        let value = unwrapped(value);
        author(&value).is_some() || text_at(&value, &["type"]).is_some()
    }

    /// Its texts, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Its calls.
    pub fn calls(&self) -> impl Iterator<Item = &CallPart> {
        calls_in(&self.parts)
    }
}

fn calls_in(parts: &[Part]) -> impl Iterator<Item = &CallPart> {
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    })
}

/// The conversation that messages tell, as far as they can be read; `None` without a message of the assistant.
pub fn readable_conversation(messages: impl IntoIterator<Item = Message>) -> Option<Transcript> {
    let mut builder = ConversationBuilder::default();
    for message in messages {
        // A result whose call is not among the messages changes no turn.
        let _: Result<(), Misplaced> = builder.add(message);
    }
    builder.finish(0).ok()
}

/// A list, also one written as a string; a plain text is one message.
pub fn list(value: Option<&Value>) -> Vec<Value> {
    match value.map(loose::embedded) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) => vec![json!({ "type": "text", "content": text })],
        Some(item) => vec![item],
    }
}

/// The text under the first of these keys that has one.
pub fn text_at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    let mut texts = keys.iter().filter_map(|key| value.get(*key)?.as_str());
    texts.find(|text| !text.is_empty())
}

/// A text unchanged, another value as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other_value => other_value.to_string(),
    }
}

/// The role that a message states: as its role, or as LangChain's type.
fn author(value: &Value) -> Option<Role> {
    match text_at(value, &["role"]) {
        Some(role) => Some(Role::named(role)),
        None => match Role::named(text_at(value, &["type"])?) {
            Role::Unknown => None,
            role => Some(role),
        },
    }
}

/// The fields of a message: LangChain wraps them, and writes pairs of role and text.
fn unwrapped(value: &Value) -> Cow<'_, Value> {
    if let Some([Value::String(role), Value::String(text)]) = value.as_array().map(Vec::as_slice) {
        return Cow::Owned(json!({ "role": role, "content": text }));
    }
    let (Some(kind), None) = (text_at(value, &["type"]), value.get("role")) else {
        return Cow::Borrowed(value);
    };
    let inner = match kind {
        "constructor" => value.get("kwargs"),
        _ => value.get("data"),
    };
    match inner {
        Some(Value::Object(fields)) => {
            let mut fields = fields.clone();
            let role = named_by_constructor(value).unwrap_or(kind);
            fields.entry("type").or_insert_with(|| json!(role));
            Cow::Owned(Value::Object(fields))
        }
        Some(_) | None => Cow::Borrowed(value),
    }
}

/// The class of a message that LangChain wrote as its constructor.
fn named_by_constructor(value: &Value) -> Option<&str> {
    value.get("id")?.as_array()?.last()?.as_str()
}

/// An item between messages: a call, a result, a text, or something else, which is kept unchanged.
fn item(value: &Value, kind: &str, role: Role) -> Message {
    let parts = parts_of(value);
    let role = match parts.as_slice() {
        [Part::Text(_)] => role,
        _ => Role::Item,
    };
    match parts.as_slice() {
        [Part::Other(_)] if kind != "reasoning" => Message {
            role,
            parts: vec![Part::Item(value.clone())],
        },
        _ => Message { role, parts },
    }
}

fn is_result(part: &Part) -> bool {
    matches!(part, Part::Result(_))
}

fn parts_of_content(content: &Value) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().flat_map(parts_of).collect(),
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Object(_) => parts_of(content),
        Value::Bool(_) | Value::Number(_) => vec![Part::Text(content.to_string())],
    }
}

/// The text with which a model refused, if it says nothing else.
fn refusal(value: &Value, parts: &[Part]) -> Option<Part> {
    let has_text = parts
        .iter()
        .any(|part| matches!(part, Part::Text(text) if !text.is_empty()));
    let inner = value.get("additional_kwargs").unwrap_or(&Value::Null);
    let refusal = text_at(value, &["refusal"]).or_else(|| text_at(inner, &["refusal"]))?;
    (!has_text).then(|| Part::Text(refusal.to_owned()))
}

/// Keys of a message under which no call of this message is: its content, what the tools are, what they were called with, data about the
/// run, and calls of before or that wait for somebody.
const NO_CALLS: [&str; 27] = [
    "__interrupt__",
    "args",
    "arguments",
    "available_tools",
    "config",
    "content",
    "context",
    "functions",
    "guardrails",
    "history",
    "input",
    "input_schema",
    "inputSchema",
    "mcp_approval_request",
    "metadata",
    "output",
    "parameters",
    "parsed",
    "parts",
    "prompt",
    "response_format",
    "result",
    "scores",
    "tool_choice",
    "tool_definitions",
    "tools",
    "usage",
];

/// The parts with the calls that the message has outside of its content, each once. LangChain keeps calls whose arguments are not valid, and those of
/// the vendor's own tools, in lists of their own; older versions have a single call.
fn with_other_calls(parts: Vec<Part>, message: &Value) -> Vec<Part> {
    let fields = message.as_object().into_iter().flatten();
    let others: Vec<Vec<Part>> = fields
        .flat_map(|(key, value)| called_in(key, value))
        .collect();
    if others.is_empty() {
        return parts;
    }
    let lists = std::iter::once(&parts).chain(&others);
    let calls = lists.map(|parts| calls_in(parts).cloned().collect());
    let mut once = each_once(calls).into_iter();
    let unreadable = others.into_iter().flatten();
    let unreadable = unreadable.filter(|part| matches!(part, Part::Unreadable(_)));
    // The calls of the content are the first ones.
    let mut all: Vec<Part> = parts
        .into_iter()
        .map(|part| match part {
            Part::Call(call) => Part::Call(once.next().unwrap_or(call)),
            part => part,
        })
        .collect();
    all.extend(once.map(Part::Call));
    all.extend(unreadable);
    all
}

/// The calls in what a message holds under a key, a list for each place.
fn called_in(key: &str, value: &Value) -> Vec<Vec<Part>> {
    if NO_CALLS.contains(&key) {
        return Vec::new();
    }
    let of_calls = key.contains("call") || key.contains("Call") || key.contains("Invocation");
    match value {
        Value::Array(list) => {
            let mut parts = Vec::new();
            for item in list {
                match item {
                    Value::Object(_) if of_calls => parts.extend(part_of_call(item)),
                    _ => parts.extend(called_in("", item).concat()),
                }
            }
            vec![parts]
        }
        Value::Object(_) if of_calls && has_name(value) => {
            vec![part_of_call(value).into_iter().collect()]
        }
        Value::Object(_) if is_named_call(value) || is_of_type_of_call(value) => {
            vec![part_of_call(value).into_iter().collect()]
        }
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| called_in(key, value))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn parts_of(value: &Value) -> Vec<Part> {
    let kind = text_at(value, &["type"]);
    if let Value::String(text) = value {
        return vec![Part::Text(text.clone())];
    }
    match kind {
        // LangChain wraps the parts that it does not know.
        Some("non_standard") if value.get("value").is_some_and(Value::is_object) => {
            return parts_of(&value["value"]);
        }
        Some(kind) if is_type_of_result(kind) => {
            return vec![Part::Result(result_of(value, value.get("content")))];
        }
        Some("text" | "input_text" | "output_text" | "refusal") => {
            let text = text_at(value, &["content", "text", "refusal"]);
            return vec![Part::Text(text.unwrap_or_default().to_owned())];
        }
        Some(_) | None => {}
    }
    if is_of_type_of_call(value) || is_named_call(value) {
        return part_of_call(value).into_iter().collect();
    }
    if value.get("thought") == Some(&Value::Bool(true)) {
        return vec![Part::Other("thought".to_owned())];
    }
    if let Some(part) = executed_code(value) {
        return vec![part];
    }
    if let (None, Some(text)) = (kind, value.get("text").and_then(Value::as_str)) {
        return vec![Part::Text(text.to_owned())];
    }
    let wrapped = ["toolResult", "functionResponse", "function_response"];
    let mut wrapped = wrapped.iter().filter_map(|key| value.get(*key));
    if let Some(inner) = wrapped.find(|inner| inner.is_object()) {
        return vec![Part::Result(result_of(inner, inner.get("content")))];
    }
    let fields = value.as_object().into_iter().flatten();
    let called: Vec<Part> = fields
        .flat_map(|(key, inner)| called_in(key, inner).concat())
        .collect();
    if called.is_empty() {
        let kind = kind.unwrap_or("part without a type");
        return vec![Part::Other(kind.to_owned())];
    }
    called
}

/// The code that Gemini ran itself, or what came of it.
fn executed_code(value: &Value) -> Option<Part> {
    let name = "code_execution";
    if let Some(code) = object_at(value, ["executableCode", "executable_code"]) {
        let (name, arguments) = (name.to_owned(), code.clone());
        return Some(Part::Call(CallPart {
            name,
            arguments,
            ..CallPart::default()
        }));
    }
    let outcome = object_at(value, ["codeExecutionResult", "code_execution_result"])?;
    let result = ResultPart {
        name: Some(name.to_owned()),
        ..result_of(outcome, None)
    };
    Some(Part::Result(result))
}

fn object_at<'v>(value: &'v Value, keys: [&str; 2]) -> Option<&'v Value> {
    let mut values = keys.into_iter().filter_map(|key| value.get(key));
    values.find(|value| value.is_object())
}

/// The keys of a call's name.
const NAMES: [&str; 6] = [
    "name",
    "toolName",
    "tool_name",
    "functionName",
    "function_name",
    "tool",
];

/// The keys of a call's arguments.
const ARGUMENTS: [&str; 9] = [
    "arguments",
    "args",
    "input",
    "tool_kwargs",
    "tool_args",
    "tool_input",
    "inputParameters",
    "input_parameters",
    "parameters",
];

/// The keys of a call's id. An item of the Responses API has an id of its own, too, to which no result refers.
const IDS: [&str; 7] = [
    "call_id",
    "callId",
    "tool_call_id",
    "toolCallId",
    "tool_use_id",
    "toolUseId",
    "id",
];

/// The keys of a result.
const RESULTS: [&str; 5] = ["result", "response", "output", "outputs", "results"];

/// The object with a call's name and arguments.
fn function_of(call: &Value) -> &Value {
    let keys = ["function", "custom", "toolInvocation"];
    let mut inner = keys.iter().filter_map(|key| call.get(*key));
    inner.find(|inner| inner.is_object()).unwrap_or(call)
}

fn name_of(call: &Value) -> Option<&str> {
    let inner = function_of(call);
    text_at(inner, &NAMES).or_else(|| text_at(inner, &["function"]))
}

fn has_name(call: &Value) -> bool {
    let inner = function_of(call);
    let keys = NAMES.iter().chain(&["function"]);
    keys.into_iter().any(|key| inner.get(*key).is_some())
}

/// Whether an object in a message is a call: it has a name, and arguments under a key of calls alone; where other things have such keys, too,
/// it needs the id or the type of a call.
fn is_named_call(value: &Value) -> bool {
    let inner = function_of(value);
    let kind = text_at(value, &["type"]).unwrap_or_default();
    let is_of_call = IDS.iter().any(|key| value.get(*key).is_some())
        || ["tool", "function", "call"]
            .iter()
            .any(|word| kind.contains(word));
    let has_arguments = has_arguments_at(
        inner,
        &["arguments", "tool_kwargs", "tool_args", "tool_input"],
    ) || (is_of_call
        && has_arguments_at(inner, &["args", "input"])
        && !inner["input"].is_string());
    name_of(value).is_some() && has_arguments && !kind.starts_with("mcp_approval")
}

fn has_arguments_at(function: &Value, keys: &[&str]) -> bool {
    let mut given = keys.iter().filter_map(|key| function.get(*key));
    given.any(|arguments| arguments.is_object() || arguments.is_string())
}

/// Types of calls that say nothing about the tool.
const UNNAMED: [&str; 7] = [
    "function_call",
    "tool_call",
    "custom_tool_call",
    "mcp_call",
    "tool-call",
    "tool-invocation",
    "dynamic-tool",
];

fn is_of_type_of_call(value: &Value) -> bool {
    text_at(value, &["type"]).is_some_and(is_type_of_call)
}

/// Whether parts of this type are calls. Every vendor has types of its own for the calls of MCP servers and of its own tools; the AI SDK
/// has `tool-call`, `tool-invocation`, `dynamic-tool` and `tool-NAME`.
fn is_type_of_call(kind: &str) -> bool {
    let endings = ["tool_use", "_call", "tool-call", "dynamic-tool"];
    endings.iter().any(|ending| kind.ends_with(ending))
        || (kind.starts_with("tool-") && !is_type_of_result(kind))
}

fn is_type_of_result(kind: &str) -> bool {
    let endings = [
        "tool_result",
        "tool-result",
        "_call_output",
        "_call_result",
        "tool_call_response",
    ];
    endings.iter().any(|ending| kind.ends_with(ending))
}

/// The call in an object; `None` if it names no tool and has no arguments, as some servers write in place of none.
pub fn part_of_call(call: &Value) -> Option<Part> {
    let inner = function_of(call);
    let given = ARGUMENTS.iter().find_map(|key| inner.get(*key));
    let kind = text_at(inner, &["type"]).filter(|kind| is_type_of_call(kind));
    let of_vendor = kind.filter(|kind| !UNNAMED.contains(kind) && !kind.ends_with("tool_use"));
    let by_type = of_vendor.map(|kind| {
        let name = kind.strip_prefix("tool-").unwrap_or(kind);
        name.strip_suffix("_call").unwrap_or(name)
    });
    let Some(name) = name_of(call).or(by_type) else {
        let is_empty = given.is_none_or(|given| given.is_null() || given == "") && kind.is_none();
        return (!is_empty).then_some(Part::Unreadable("this call has no \"name\""));
    };
    let arguments = match given {
        Some(given) => read_arguments(given),
        None if kind.is_some_and(|kind| kind.ends_with("_call")) => other_fields(inner),
        None => json!({}),
    };
    // inspect-ai names the server of an MCP call as its context.
    let is_mcp = call.get("tool_type").is_some_and(|kind| kind == "mcp_call");
    let server = text_at(call, &["server_name", "server_label"])
        .or_else(|| text_at(call, &["context"]).filter(|_| is_mcp));
    let mut results = [call, inner]
        .into_iter()
        .flat_map(|object| RESULTS.iter().filter_map(|key| object.get(*key)));
    Some(Part::Call(CallPart {
        id: text_at(call, &IDS)
            .or_else(|| text_at(inner, &IDS))
            .map(str::to_owned),
        name: name.to_owned(),
        arguments,
        server: server.map(str::to_owned),
        result: results.find(|result| !result.is_null()).cloned(),
        error: stated_error(call),
    }))
}

/// Arguments that are JSON inside a string; a string without valid JSON stays a string.
pub fn read_arguments(given: &Value) -> Value {
    match given {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        given => loose::embedded(given),
    }
}

/// The arguments of a call of one of the vendor's own tools. Each of these has other keys: all but those of the result are its arguments.
fn other_fields(call: &Value) -> Value {
    let frame = ["type", "name", "status", "server_label", "error"];
    let mut arguments = Map::new();
    for (key, value) in call.as_object().into_iter().flatten() {
        let name = key.as_str();
        if !frame.contains(&name) && !IDS.contains(&name) && !RESULTS.contains(&name) {
            arguments.insert(key.clone(), value.clone());
        }
    }
    Value::Object(arguments)
}

/// The result in a part, or in a message of a tool.
fn result_of(value: &Value, content: Option<&Value>) -> ResultPart {
    let stated = content.or_else(|| RESULTS.iter().find_map(|key| value.get(*key)));
    let only = match stated.and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) => Some(only),
        Some(_) => None,
        // A part needs no list around it.
        None => stated.filter(|part| text_at(part, &["type"]) == Some("text")),
    };
    let result = only
        .and_then(|only| only.get("text").or_else(|| only.get("json")))
        .or(stated);
    let result = result.cloned().unwrap_or_default();
    let is_error = value.get("is_error") == Some(&Value::Bool(true))
        || text_at(value, &["status"]) == Some("error");
    ResultPart {
        id: text_at(value, &IDS).map(str::to_owned),
        name: text_at(value, &NAMES)
            .or_else(|| text_at(value, &["function"]))
            .map(str::to_owned),
        error: stated_error(value).or_else(|| is_error.then(|| plain(&result))),
        result,
    }
}

/// The error message of a call or a result.
pub fn stated_error(value: &Value) -> Option<String> {
    let stated = ["error", "errorText"]
        .iter()
        .filter_map(|key| value.get(*key));
    let error = stated.into_iter().find(|error| !error.is_null())?;
    Some(plain(error.get("message").unwrap_or(error)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Message, Part, ResultPart, Role};

    #[test]
    fn a_call_is_one_whatever_its_type_is_called() {
        let call = |kind: &str| json!({ "type": kind, "id": "x", "name": "delete", "input": {}, "server_name": "db" });
        let wrapped = json!({ "type": "non_standard", "value": call("mcp_call") });
        let listed = json!([{ "name": "delete", "args": {}, "id": "x" }]);
        let both = json!({ "content": [call("tool_use")], "tool_calls": listed });
        let only = |message: &Value| -> Vec<String> {
            let message = Message::of(message, Role::Assistant);
            message.calls().map(|call| call.name.clone()).collect()
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
            assert_eq!(only(&message), ["delete"], "{message}");
        }
        let other = json!({ "content": [call("mcp_tool_use")], "tool_calls": [{ "name": "find", "args": {}, "id": "y" }] });
        assert_eq!(only(&other), ["delete", "find"]);
        let pay = json!({ "name": "pay", "args": { "a": 1 }, "id": null });
        let twice = json!({ "content": "", "tool_calls": [pay, pay], "additional_kwargs": { "tool_calls": [pay, pay] } });
        assert_eq!(only(&twice), ["pay", "pay"]);
        let unnamed = json!({ "content": [{ "type": "web_search_call", "id": "w" }, { "type": "text", "text": "hi" }] });
        assert_eq!(only(&unnamed), ["web_search"]);
    }
    #[test]
    fn a_call_of_every_library_is_read_wherever_it_is() {
        let function = json!({ "name": "delete", "arguments": "{}" });
        let call =
            json!({ "type": "function_call", "call_id": "a", "name": "delete", "arguments": "{}" });
        for message in [
            json!({ "role": "assistant", "content": "ok", "toolInvocations": [{ "toolCallId": "1", "toolName": "delete", "input": {} }] }),
            json!({ "role": "assistant", "content": "x", "tool_call": { "function": function } }),
            json!({ "role": "assistant", "content": "x", "additional_kwargs": { "tool_calls": [{ "function": function }] } }),
            json!({ "role": "assistant", "content": "x", "items": [{ "functionName": "delete", "arguments": {} }] }),
            json!({ "role": "assistant", "content": [{ "text": "x" }, { "toolUse": { "toolUseId": "t", "name": "delete", "input": {} } }] }),
            json!({ "role": "model", "parts": [{ "text": "x" }, { "functionCall": { "name": "delete", "args": {} } }] }),
            json!({ "type": "ai", "content": "x", "tool_call_chunks": [{ "id": "a", "name": "delete", "args": "{}" }] }),
            json!({ "type": "ai", "content": "x", "blocks": [{ "tool_name": "delete", "tool_kwargs": {} }] }),
            json!({ "type": "tool_call_item", "raw_item": call }),
            call.clone(),
        ] {
            let names: Vec<String> = Message::of(&message, Role::User)
                .calls()
                .map(|call| call.name.clone())
                .collect();
            assert_eq!(names, ["delete"], "{message}");
        }
        for message in [
            json!({ "role": "assistant", "content": "4", "tool_calls": null, "function_call": { "name": "", "arguments": "" } }),
            json!({ "role": "assistant", "content": "ok", "toolInvocations": [], "toolCalls": null, "parts": [{ "type": "text", "text": "ok" }] }),
            json!({ "role": "assistant", "content": "ok", "tools": [{ "type": "function", "function": function }] }),
            json!({ "role": "user", "content": "ok", "items": [call] }),
        ] {
            let message = Message::of(&message, Role::User);
            assert_eq!(message.calls().count(), 0, "{message:?}");
            assert!(
                !message
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Unreadable(_)))
            );
        }
        let nameless = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "input": {} }] });
        let parts = Message::of(&nameless, Role::User).parts;
        assert_eq!(parts, [Part::Unreadable("this call has no \"name\"")]);
    }

    #[test]
    fn a_result_is_read_in_the_form_of_every_vendor() {
        let given = |id: Option<&str>, name: Option<&str>, error: Option<&str>| {
            Part::Result(ResultPart {
                id: id.map(str::to_owned),
                name: name.map(str::to_owned),
                result: json!("rain"),
                error: error.map(str::to_owned),
            })
        };
        let by_id = given(Some("1"), None, None);
        let text = json!([{ "type": "text", "text": "rain" }]);
        for (message, expected) in [
            (
                json!({ "role": "tool", "tool_call_id": "1", "content": "rain" }),
                &by_id,
            ),
            (
                json!({ "role": "tool", "tool_call_id": "1", "content": text }),
                &by_id,
            ),
            (
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": text }] }),
                &by_id,
            ),
            (
                json!({ "type": "function_call_output", "call_id": "1", "output": "rain" }),
                &by_id,
            ),
            (
                json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "1", "output": "rain" }] }),
                &by_id,
            ),
            (
                json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": "1", "response": "rain" }] }),
                &by_id,
            ),
            (
                json!({ "role": "user", "content": [{ "toolResult": { "toolUseId": "1", "content": [{ "text": "rain" }] } }] }),
                &by_id,
            ),
            (
                json!({ "role": "user", "parts": [{ "functionResponse": { "name": "weather", "response": "rain" } }] }),
                &given(None, Some("weather"), None),
            ),
            (
                json!({ "role": "function", "name": "weather", "content": "rain" }),
                &given(None, Some("weather"), None),
            ),
            (
                json!({ "type": "tool", "data": { "tool_call_id": "1", "content": "rain", "status": "error" } }),
                &given(Some("1"), None, Some("rain")),
            ),
        ] {
            let parts = Message::of(&message, Role::User).parts;
            assert_eq!(parts, std::slice::from_ref(expected), "{message}");
        }
    }
}
