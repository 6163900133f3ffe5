//! Reads sessions of coding agents: the session files and printed streams of Claude Code and of the Agent SDK, and those of Codex.
//!
//! Both write a record for each thing that happens. A record of a conversation has a message of the vendor's API in it, which is read like
//! all others.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::builder::Misplaced;
use crate::conversations::{Conversation, misplaced_at};
use crate::dates::in_utc;
use crate::message::{CallPart, Message, Part, Role, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::Source;
use crate::transcript::{Ending, Transcript, Usage};

/// What the records of one session say besides its messages.
#[derive(Default)]
struct Session {
    at: usize,
    conversation: Conversation,
    started_at: Option<String>,
    model: Option<String>,
    ending: Ending,
    error: Option<String>,
    usage: Option<Usage>,
    left_out: BTreeMap<String, u32>,
}

impl Session {
    fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_default() += 1;
    }

    fn add(&mut self, message: Message, at: usize) -> Result<(), Problem> {
        let added = self.conversation.builder.add(message);
        added.map_err(|misplaced: Misplaced| misplaced_at(at, misplaced))
    }

    fn fail(&mut self, ending: Ending, error: Option<&str>) {
        (self.ending, self.error) = (ending, error.map(str::to_owned));
    }

    fn transcript(mut self) -> Result<Transcript, Problem> {
        if self.ending != Ending::Completed {
            // A failed run is valid without an answer.
            self.conversation.builder.begin_answer();
        }
        let mut transcript = self.conversation.finish(self.at)?;
        transcript.left_out.extend(self.left_out);
        Ok(Transcript {
            ending: self.ending,
            error: self.error,
            started_at: self.started_at,
            usage: self.usage.unwrap_or(transcript.usage),
            model: self.model.or(transcript.model),
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
    let mut sessions: Vec<(String, Session)> = Vec::new();
    let mut problems = Vec::new();
    for (record, at) in source.records() {
        let Some(id) = text_at(record, &["sessionId", "session_id"]) else {
            continue;
        };
        let known = sessions.iter().position(|(known, _)| known == id);
        let index = known.unwrap_or(sessions.len());
        if known.is_none() {
            let session = Session {
                at,
                ..Session::default()
            };
            sessions.push((id.to_owned(), session));
        }
        if let Err(problem) = claude_record(&mut sessions[index].1, record, at) {
            problems.push(problem);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    all_or_problems(
        sessions
            .into_iter()
            .map(|(_, session)| session.transcript()),
    )
}

fn claude_record(session: &mut Session, record: &Value, at: usize) -> Result<(), Problem> {
    let is_true = |key: &str| record.get(key) == Some(&Value::Bool(true));
    if session.started_at.is_none() {
        session.started_at = text_at(record, &["timestamp"]).and_then(in_utc);
    }
    match text_at(record, &["type"]) {
        Some("user" | "assistant") if is_true("isMeta") => Ok(()),
        Some("user" | "assistant") => {
            let Some(message) = record.get("message") else {
                return Ok(());
            };
            let of_other = record
                .get("parent_tool_use_id")
                .is_some_and(Value::is_string);
            if is_true("isSidechain") || of_other {
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
            if is_true("is_error") {
                session.fail(Ending::Error, text_at(record, &["result", "subtype"]));
            }
            Ok(())
        }
        Some(_) | None => Ok(()),
    }
}

/// Reads a session of Codex.
pub fn read_codex(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut session = Session::default();
    let mut problems = Vec::new();
    for (index, (record, at)) in source.records().into_iter().enumerate() {
        if index == 0 {
            session.at = at;
        }
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
            session.model = text_at(payload, &["model"]).map(str::to_owned);
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
    let value = |key: &str| item.get(key).filter(|value| !value.is_null()).cloned();
    let kind = text_at(item, &["type"]).unwrap_or_default();
    let call = match kind {
        "agent_message" => {
            let text = text_at(item, &["text"]);
            let message = json!({ "role": "assistant", "content": text });
            return session.add(Message::of(&message, Role::Assistant), at);
        }
        "command_execution" => {
            let failed = value("exit_code").filter(|code| code != 0);
            CallPart {
                name: kind.to_owned(),
                arguments: json!({ "command": item.get("command") }),
                result: value("aggregated_output"),
                error: failed.map(|code| format!("exit code {code}")),
                ..CallPart::default()
            }
        }
        "mcp_tool_call" => CallPart {
            name: text_at(item, &["tool"]).unwrap_or_default().to_owned(),
            server: text_at(item, &["server"]).map(str::to_owned),
            arguments: value("arguments").unwrap_or_else(|| json!({})),
            result: value("result"),
            error: value("error").map(|error| {
                text_at(&error, &["message"]).map_or_else(|| error.to_string(), str::to_owned)
            }),
            ..CallPart::default()
        },
        "file_change" => CallPart {
            name: kind.to_owned(),
            arguments: json!({ "changes": item.get("changes") }),
            ..CallPart::default()
        },
        "web_search" => CallPart {
            name: kind.to_owned(),
            arguments: json!({ "query": item.get("query") }),
            ..CallPart::default()
        },
        other => {
            session.leave_out(other);
            return Ok(());
        }
    };
    let (role, parts) = (Role::Item, vec![Part::Call(call)]);
    session.add(Message { role, parts }, at)
}
