//! Collects tool calls: a model's message requests a call, a tool's span executes it.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};

use super::span::TraceSpan;
use crate::message::{CallPart, read_arguments};
use crate::transcript::Call;

#[derive(Default)]
pub struct Calls {
    calls: Vec<(i64, Call)>,
    /// The indices of calls without a known result, by id.
    unanswered: HashMap<String, VecDeque<usize>>,
    /// The indices of requested calls without a tool span, by id.
    requested: HashMap<String, VecDeque<usize>>,
    /// The same by name, with the id if there is one.
    requested_by_name: HashMap<String, VecDeque<(usize, Option<String>)>>,
    /// The indices of calls with a tool span, by either way.
    executed: HashSet<usize>,
}

impl Calls {
    /// Adds a call that a message tells.
    pub fn made(&mut self, part: CallPart, at: i64) {
        let CallPart {
            id,
            name,
            arguments,
            server,
            result,
            error: _,
        } = part;
        let index = self.push(at, &name, arguments);
        let call = &mut self.calls[index].1;
        call.server = server;
        if let Some(result) = result {
            call.result = result;
        }
        if let Some(id) = &id {
            self.unanswered
                .entry(id.clone())
                .or_default()
                .push_back(index);
            self.requested
                .entry(id.clone())
                .or_default()
                .push_back(index);
        }
        self.requested_by_name
            .entry(name)
            .or_default()
            .push_back((index, id));
    }

    /// Adds a tool's result from a message to the model; each later message repeats it.
    pub fn answered(&mut self, id: &str, result: Value) {
        if let Some(index) = self.unanswered.get_mut(id).and_then(VecDeque::pop_front) {
            self.calls[index].1.result = result;
        }
    }

    /// Adds a tool's span: to the call with its id, else to the next requested call of its name, else as a new call.
    pub fn executed(&mut self, span: &TraceSpan) {
        let name = span.tool().unwrap_or_default();
        let id = span.call_id();
        let known = id
            .and_then(|id| self.by_id(id))
            .or_else(|| self.by_name(name, id));
        let index = known.unwrap_or_else(|| self.push(span.start, name, json!({})));
        self.executed.insert(index);
        let call = &mut self.calls[index].1;
        call.latency_ms = span.latency_ms();
        if let Some(arguments) = first_attribute(span, ARGUMENTS) {
            call.arguments = read_arguments(arguments);
        }
        if let Some(result) = first_attribute(span, RESULT) {
            call.result = result.clone();
        }
        let kind = span.text(&["error.type"]);
        call.error = match (&span.failed, kind) {
            (Some(message), _) if !message.is_empty() => Some(message.clone()),
            (Some(_), kind) => Some(kind.unwrap_or("error").to_owned()),
            (None, kind) => kind.map(str::to_owned),
        };
    }

    /// The calls in the order in which they were made.
    pub fn in_order(mut self) -> Vec<Call> {
        self.calls.sort_by_key(|(at, _)| *at);
        self.calls.into_iter().map(|(_, call)| call).collect()
    }

    fn push(&mut self, at: i64, name: &str, arguments: Value) -> usize {
        self.calls.push((at, Call::of(name, arguments)));
        self.calls.len() - 1
    }

    fn by_id(&mut self, id: &str) -> Option<usize> {
        let Self {
            requested,
            executed,
            ..
        } = self;
        let indices = requested.get_mut(id)?;
        std::iter::from_fn(|| indices.pop_front()).find(|index| !executed.contains(index))
    }

    /// The next requested call of a name. Calls with different ids are different calls.
    fn by_name(&mut self, name: &str, id: Option<&str>) -> Option<usize> {
        let Self {
            requested_by_name,
            executed,
            ..
        } = self;
        let indices = requested_by_name.get_mut(name)?;
        while indices
            .front()
            .is_some_and(|(index, _)| executed.contains(index))
        {
            indices.pop_front();
        }
        let (index, _) = indices
            .front()
            .filter(|(_, requested_id)| id.is_none() || requested_id.is_none())?;
        Some(*index)
    }
}

fn first_attribute<'s>(span: &'s TraceSpan, keys: [&str; 4]) -> Option<&'s Value> {
    keys.iter().find_map(|key| span.attributes.get(*key))
}

/// The attributes with the arguments of a tool.
const ARGUMENTS: [&str; 4] = [
    "gen_ai.tool.call.arguments",
    "traceloop.entity.input",
    "ai.toolCall.args",
    "ai.toolCall.input",
];

/// The attributes with the result of a tool.
const RESULT: [&str; 4] = [
    "gen_ai.tool.call.result",
    "traceloop.entity.output",
    "ai.toolCall.result",
    "ai.toolCall.output",
];
