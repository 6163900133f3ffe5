//! Reads sessions of coding agents: the session files and printed streams of Claude Code and of the Agent SDK, and those of Codex.
//!
//! Both write a record for each thing that happens. A record of a conversation has a message of the vendor's API in it, which is read like
//! all others.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::conversations::Conversation;
use crate::dates::in_utc;
use crate::message::{CallPart, Message, Part, Role, stated_error, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::Source;
use crate::transcript::{Ending, Transcript, Usage};

/// What the records of one session say besides its messages.
#[derive(Default)]
struct Session {
    at: usize,
    conversation: Conversation,
    started_at: Option<String>,
    ending: Ending,
    error: Option<String>,
    usage: Option<Usage>,
}

impl Session {
    fn starting(at: usize) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }

    fn leave_out(&mut self, feature: &str) {
        self.conversation.builder.leave_out(feature);
    }

    fn add(&mut self, message: Message, at: usize) -> Result<(), Problem> {
        self.conversation.add_read(message, || at)
    }

    fn fail(&mut self, ending: Ending, error: Option<&str>) {
        (self.ending, self.error) = (ending, error.map(str::to_owned));
    }

    fn transcript(self) -> Result<Transcript, Problem> {
        let transcript = self
            .conversation
            .finish_as(self.at, self.ending, self.error)?;
        Ok(Transcript {
            started_at: self.started_at,
            usage: self.usage.unwrap_or(transcript.usage),
            ..transcript
        })
    }
}

/// The types of records of Claude Code that a session begins with, or that have its messages.
const CLAUDE_CODE: [&str; 6] = [
    "user",
    "assistant",
    "system",
    "result",
    "queue-operation",
    "attachment",
];

/// Whether a record is one of Claude Code.
pub fn is_claude_code(record: &Value) -> bool {
    let is_of_session = ["sessionId", "session_id"]
        .iter()
        .any(|key| record.get(*key).is_some_and(Value::is_string));
    let kind = text_at(record, &["type"]).unwrap_or_default();
    is_of_session && CLAUDE_CODE.contains(&kind)
}

/// Whether a record is one of Codex: of its session file, or of what it prints.
pub fn is_codex(record: &Value) -> bool {
    let kind = text_at(record, &["type"]).unwrap_or_default();
    let is_of_session = ["session_meta", "response_item", "event_msg", "turn_context"];
    let is_printed = ["thread.started", "turn.started", "turn.completed"];
    (is_of_session.contains(&kind) && record.get("payload").is_some_and(Value::is_object))
        || is_printed.contains(&kind)
        || (kind == "item.completed" && record.get("item").is_some_and(Value::is_object))
}

/// Reads sessions of Claude Code, in the order in which they begin.
pub fn read_claude_code(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for (record, at) in source.records() {
        let Some(id) = text_at(record, &["sessionId", "session_id"]) else {
            continue;
        };
        let place = *places.entry(id).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Session::starting(at));
        }
        problems.extend(claude_record(&mut sessions[place], record, at).err());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    all_or_problems(sessions.into_iter().map(Session::transcript))
}

fn claude_record(session: &mut Session, record: &Value, at: usize) -> Result<(), Problem> {
    if session.started_at.is_none() {
        session.started_at = text_at(record, &["timestamp"]).and_then(in_utc);
    }
    match text_at(record, &["type"]) {
        Some("user" | "assistant") if is_true(record, "isMeta") => Ok(()),
        Some("user" | "assistant") => {
            let Some(message) = record.get("message") else {
                return Ok(());
            };
            let of_other = record
                .get("parent_tool_use_id")
                .is_some_and(Value::is_string);
            if is_true(record, "isSidechain") || of_other {
                session.leave_out("message of a sub-agent");
                return Ok(());
            }
            session.conversation.note(message);
            session.add(Message::of(message, Role::User), at)
        }
        Some("result") => {
            let mut usage = Usage {
                cost_usd: record.get("total_cost_usd").and_then(Value::as_f64),
                latency_ms: record.get("duration_ms").and_then(Value::as_u64),
                ..Usage::default()
            };
            usage.add_tokens(record.get("usage").unwrap_or(&Value::Null));
            session.usage = Some(usage);
            if is_true(record, "is_error") {
                session.fail(Ending::Error, text_at(record, &["result", "subtype"]));
            }
            Ok(())
        }
        Some(_) | None => Ok(()),
    }
}

fn is_true(record: &Value, key: &str) -> bool {
    record.get(key) == Some(&Value::Bool(true))
}

/// Reads a session of Codex.
pub fn read_codex(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let records = source.records();
    let mut session = Session::starting(records.first().map_or(0, |(_, at)| *at));
    let mut problems = Vec::new();
    for (record, at) in records {
        if session.started_at.is_none() {
            session.started_at = text_at(record, &["timestamp"]).and_then(in_utc);
        }
        let read = match record.get("payload") {
            Some(payload) => codex_payload(&mut session, record, payload, at),
            None => codex_printed(&mut session, record, at),
        };
        problems.extend(read.err());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(vec![session.transcript().map_err(|problem| vec![problem])?])
}

/// A record of a session file.
fn codex_payload(
    session: &mut Session,
    record: &Value,
    payload: &Value,
    at: usize,
) -> Result<(), Problem> {
    let kind = text_at(payload, &["type"]).unwrap_or_default();
    match (text_at(record, &["type"]).unwrap_or_default(), kind) {
        ("response_item", _) => {
            let mut message = Message::of(payload, Role::User);
            if message.role == Role::User && is_context(&message.text()) {
                message.role = Role::System;
            }
            session.add(message, at)
        }
        ("turn_context", _) => {
            session.conversation.model = text_at(payload, &["model"]).map(str::to_owned);
            Ok(())
        }
        ("event_msg", "token_count") => {
            let mut usage = Usage::default();
            let whole = payload.pointer("/info/total_token_usage");
            usage.add_tokens(whole.unwrap_or(&Value::Null));
            session.usage = Some(usage);
            Ok(())
        }
        ("event_msg", "task_started") => {
            session.fail(Ending::Completed, None);
            Ok(())
        }
        ("event_msg", "error") => {
            session.fail(Ending::Error, text_at(payload, &["message"]));
            Ok(())
        }
        ("event_msg", "turn_aborted") => {
            session.fail(Ending::Cancelled, text_at(payload, &["reason"]));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether a text in the name of the user is one of the program: what it says of the machine and of the repository's instructions.
fn is_context(text: &str) -> bool {
    let text = text.trim();
    let element = text
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .map(|(name, _)| format!("</{name}>"));
    element.is_some_and(|end| text.ends_with(&end)) || text.starts_with("# AGENTS.md instructions")
}

/// A line of `codex exec --json`.
fn codex_printed(session: &mut Session, record: &Value, at: usize) -> Result<(), Problem> {
    let null = Value::Null;
    match text_at(record, &["type"]).unwrap_or_default() {
        "item.completed" => codex_item(session, record.get("item").unwrap_or(&null), at),
        "turn.completed" => {
            let usage = session.usage.get_or_insert_with(Usage::default);
            usage.add_tokens(record.get("usage").unwrap_or(&null));
            Ok(())
        }
        "turn.failed" | "error" => {
            let error = record.get("error").unwrap_or(record);
            session.fail(Ending::Error, text_at(error, &["message"]));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn codex_item(session: &mut Session, item: &Value, at: usize) -> Result<(), Problem> {
    let kind = text_at(item, &["type"]).unwrap_or_default();
    let (name, arguments) = match kind {
        "agent_message" => {
            let text = text_at(item, &["text"]);
            let message = json!({ "role": "assistant", "content": text });
            return session.add(Message::of(&message, Role::Assistant), at);
        }
        "command_execution" => (kind, json!({ "command": item.get("command") })),
        "file_change" => (kind, json!({ "changes": item.get("changes") })),
        "web_search" => (kind, json!({ "query": item.get("query") })),
        "mcp_tool_call" => (
            text_at(item, &["tool"]).unwrap_or_default(),
            stated_value(item, "arguments").unwrap_or_else(|| json!({})),
        ),
        kind => {
            session.leave_out(kind);
            return Ok(());
        }
    };
    let failed = stated_value(item, "exit_code").filter(|code| code != 0);
    let call = CallPart {
        name: name.to_owned(),
        arguments,
        server: text_at(item, &["server"]).map(str::to_owned),
        result: stated_value(item, "aggregated_output").or_else(|| stated_value(item, "result")),
        error: match failed {
            Some(code) => Some(format!("exit code {code}")),
            None => stated_error(item),
        },
        ..CallPart::default()
    };
    let (role, parts) = (Role::Item, vec![Part::Call(call)]);
    session.add(Message { role, parts }, at)
}

fn stated_value(item: &Value, key: &str) -> Option<Value> {
    item.get(key).filter(|value| !value.is_null()).cloned()
}
