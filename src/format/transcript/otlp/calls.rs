//! Tool calls in the making: a model's message says that one is wanted, a tool's span that one was made.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use super::messages::{MessagePart, OtlpMessage};
use super::span::TraceSpan;
use crate::format::run_v1;
use crate::model::{Json, ToolCall};

/// The calls of one trace.
#[derive(Default)]
pub struct Calls {
    calls: Vec<(i64, ToolCall)>,
    /// The places of calls whose answer is not known yet, by id.
    unanswered: HashMap<String, VecDeque<usize>>,
    /// The places of calls that no tool's span was seen of, by id.
    wanted: HashMap<String, VecDeque<usize>>,
    /// The same, by name, with the id where there is one.
    wanted_by_name: HashMap<String, VecDeque<(usize, Option<String>)>>,
    /// Calls that a tool's span was seen of, by both ways.
    executed: HashSet<usize>,
}

impl Calls {
    /// Takes the calls of a model's message.
    pub fn made(&mut self, message: &OtlpMessage, at: i64) {
        for part in &message.parts {
            if let MessagePart::Call { id, name, arguments } = part {
                let place = self.push(at, name, arguments.clone());
                if let Some(id) = id {
                    self.unanswered.entry(id.clone()).or_default().push_back(place);
                    self.wanted.entry(id.clone()).or_default().push_back(place);
                }
                self.wanted_by_name.entry(name.clone()).or_default().push_back((place, id.clone()));
            }
        }
    }

    /// Takes what a tool answered, as a model was told it: each later message tells it again.
    pub fn answered(&mut self, id: &str, result: Json) {
        if let Some(index) = self.unanswered.get_mut(id).and_then(VecDeque::pop_front) {
            self.calls[index].1.result = result;
        }
    }

    /// Takes what a tool's span says of the call with its id, else of the next one of its name; else it is a call itself.
    pub fn executed(&mut self, span: &TraceSpan) {
        let name = span.text(&["gen_ai.tool.name", "traceloop.entity.name"]).unwrap_or_default();
        let id = span.text(&["gen_ai.tool.call.id"]);
        let known = id.and_then(|id| self.by_id(id)).or_else(|| self.by_name(name, id));
        let index = known.unwrap_or_else(|| self.push(span.start, name, Json::default()));
        self.executed.insert(index);
        let call = &mut self.calls[index].1;
        call.latency_ms = span.latency_ms();
        let said = |keys: [&str; 2]| keys.iter().find_map(|key| span.said.get(*key));
        if let Some(arguments) = said(["gen_ai.tool.call.arguments", "traceloop.entity.input"]) {
            call.arguments = unquoted(arguments);
        }
        if let Some(result) = said(["gen_ai.tool.call.result", "traceloop.entity.output"]) {
            call.result = run_v1::json(result);
        }
        let kind = span.text(&["error.type"]);
        call.error = match (&span.failed, kind) {
            (Some(said), _) if !said.is_empty() => Some(said.clone()),
            (Some(_), kind) => Some(kind.unwrap_or("error").to_owned()),
            (None, kind) => kind.map(str::to_owned),
        };
    }

    /// The calls in the order in which they were made.
    pub fn in_order(mut self) -> Vec<ToolCall> {
        self.calls.sort_by_key(|(at, _)| *at);
        self.calls.into_iter().map(|(_, call)| call).collect()
    }

    fn push(&mut self, at: i64, name: &str, arguments: Json) -> usize {
        let call = ToolCall { name: name.to_owned(), arguments, result: Json::null(), error: None, latency_ms: None };
        self.calls.push((at, call));
        self.calls.len() - 1
    }

    fn by_id(&mut self, id: &str) -> Option<usize> {
        let Self { wanted, executed, .. } = self;
        let places = wanted.get_mut(id)?;
        std::iter::from_fn(|| places.pop_front()).find(|place| !executed.contains(place))
    }

    /// The next wanted call of a name. Two ids that differ are two calls.
    fn by_name(&mut self, name: &str, id: Option<&str>) -> Option<usize> {
        let Self { wanted_by_name, executed, .. } = self;
        let places = wanted_by_name.get_mut(name)?;
        while places.front().is_some_and(|(place, _)| executed.contains(place)) {
            places.pop_front();
        }
        let (place, _) = places.front().filter(|(_, wanted)| id.is_none() || wanted.is_none())?;
        Some(*place)
    }
}

/// Arguments that were written as JSON in a text stand as what they are.
fn unquoted(value: &Value) -> Json {
    match value.as_str() {
        Some(text) if serde_json::from_str::<&RawValue>(text).is_ok() => Json::from(text),
        Some(_) | None => run_v1::json(value),
    }
}
