//! A conversation, told message by message: what was asked, what was called, what was answered in the end.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::json;

use super::Transcript;
use crate::model::{Json, Measures, RunStatus, ToolCall};

/// A conversation so far.
#[derive(Default)]
pub struct ConversationBuilder {
    prompt: Vec<String>,
    query: Option<String>,
    /// What was said after the query, while nobody has answered it.
    unanswered: Option<String>,
    interjected: Option<String>,
    begun: bool,
    last: Option<String>,
    calls: Vec<ToolCall>,
    /// The places of calls without an answer, the earliest first.
    open: HashMap<Known, VecDeque<usize>>,
    events: Vec<Json>,
    left_out: BTreeMap<String, u32>,
}

/// What an answer knows its call by.
#[derive(PartialEq, Eq, Hash)]
enum Known {
    Id(String),
    /// Calls had no ids once.
    Name(String),
}

/// Who said something that is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// The system's or developer's instructions.
    System,
    /// The user.
    User,
}

/// An answer of a tool that nobody called, or that had answered already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnmatchedResult;

/// A conversation without a single message of the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAssistantMessage;

impl ConversationBuilder {
    /// The system or the user said something.
    pub fn add_question(&mut self, asker: Asker, text: String) {
        match (self.query.is_some() || self.begun, asker) {
            _ if text.is_empty() => {}
            (false, Asker::System) => {}
            (false, Asker::User) => self.query = Some(text.clone()),
            (true, Asker::User) if self.query.is_none() => self.query = Some(text.clone()),
            (true, Asker::System | Asker::User) => drop(self.unanswered.get_or_insert_with(|| text.clone())),
        }
        match (self.begun, asker) {
            _ if text.is_empty() => {}
            (false, _) => self.prompt.push(text),
            (true, Asker::System) => self.event("system", &text),
            (true, Asker::User) => self.event("user", &text),
        }
    }

    /// The assistant does something: it has heard what was said before.
    fn answers(&mut self) {
        self.begun = true;
        let heard = self.unanswered.take();
        self.interjected = self.interjected.take().or(heard);
    }

    /// A message of the assistant begins, with its text if it has one. The last one's text is the answer.
    pub fn add_answer(&mut self, text: String) {
        self.answers();
        if let Some(before) = self.last.replace(text).filter(|before| !before.is_empty()) {
            self.event("assistant", &before);
        }
    }

    /// The assistant calls a tool.
    pub fn called(&mut self, id: Option<String>, name: String, arguments: Json) {
        self.answers();
        self.last.get_or_insert_default();
        let known = id.map_or_else(|| Known::Name(name.clone()), Known::Id);
        self.open.entry(known).or_default().push_back(self.calls.len());
        self.calls.push(ToolCall { name, arguments, result: Json::null(), error: None, latency_ms: None });
    }

    /// A tool answers the first open call with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn answered(&mut self, id: &str, result: Json, error: Option<String>) -> Result<(), UnmatchedResult> {
        self.answer(&Known::Id(id.to_owned()), result, error)
    }

    /// A tool answers the first open call of its name that has no id.
    ///
    /// # Errors
    /// There is none.
    pub fn answered_by_name(&mut self, name: &str, result: Json) -> Result<(), UnmatchedResult> {
        self.answer(&Known::Name(name.to_owned()), result, None)
    }

    fn answer(&mut self, known: &Known, result: Json, error: Option<String>) -> Result<(), UnmatchedResult> {
        let index = self.open.get_mut(known).and_then(VecDeque::pop_front).ok_or(UnmatchedResult)?;
        self.calls[index].result = result;
        self.calls[index].error = error;
        Ok(())
    }

    /// Something that this version does not know stays as it was written.
    pub fn kept(&mut self, json: Json) {
        self.events.push(json);
    }

    /// Something is not taken over; it will be counted.
    pub fn left_out(&mut self, what: &str) {
        *self.left_out.entry(what.chars().take(40).collect()).or_default() += 1;
    }

    fn event(&mut self, role: &str, text: &str) {
        self.events.push(Json::from(json!({ "role": role, "text": text }).to_string()));
    }

    /// The conversation is over.
    ///
    /// # Errors
    /// Nobody answered: that is no run.
    pub fn finish(self, at: usize) -> Result<Transcript, NoAssistantMessage> {
        Ok(Transcript {
            at,
            agent: None,
            case: None,
            status: RunStatus::Completed,
            error: None,
            prompt: (!self.prompt.is_empty()).then(|| self.prompt.join("\n\n")),
            query: self.query,
            interjected: self.interjected,
            text: Some(self.last.ok_or(NoAssistantMessage)?),
            calls: self.calls,
            events: self.events,
            metrics: Measures::default(),
            model: None,
            started_at: None,
            left_out: self.left_out,
        })
    }
}
