//! The calls of a streamed message, put together from their parts.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The calls of a message so far.
#[derive(Default)]
pub struct StreamedCalls {
    /// In the order in which they began.
    calls: Vec<StreamedCall>,
    by_id: HashMap<String, usize>,
    /// The last call whose parts state an index.
    by_index: HashMap<String, usize>,
}

#[derive(Default)]
struct StreamedCall {
    fields: Map<String, Value>,
    function: Map<String, Value>,
    /// How far its arguments are.
    arguments: Nesting,
}

impl StreamedCalls {
    pub fn add(&mut self, part: &Value) {
        let at = self.continued(part).unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(StreamedCall::default());
        }
        if let Some(id) = text(part.get("id")) {
            self.by_id.entry(id.to_owned()).or_insert(at);
        }
        if let Some(index) = stated_index(part) {
            self.by_index.insert(index, at);
        }
        if let Some(call) = self.calls.get_mut(at) {
            call.add(part);
        }
    }

    /// The place of the call that a part continues; `None` if it begins one. Not every server states an index, and some state 0 for each
    /// call.
    fn continued(&self, part: &Value) -> Option<usize> {
        let id = text(part.get("id"));
        if let Some(known) = id.and_then(|id| self.by_id.get(id)) {
            return Some(*known);
        }
        let last = match stated_index(part) {
            Some(index) => *self.by_index.get(&index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = self.calls.get(last)?;
        let is_named_again = text(part.pointer("/function/name")).is_some()
            && text(call.function.get("name")).is_some();
        let is_other = match (id, call.id()) {
            (Some(_), Some(_)) => true,
            (Some(_) | None, _) => is_named_again && call.has_whole_arguments(),
        };
        (!is_other).then_some(last)
    }

    /// The calls as an answer that is not streamed has them; `None` without any.
    pub fn whole(self) -> Option<Value> {
        if self.calls.is_empty() {
            return None;
        }
        let mut calls = Vec::new();
        for call in self.calls {
            let mut fields = call.fields;
            fields.insert("function".to_owned(), Value::Object(call.function));
            calls.push(Value::Object(fields));
        }
        Some(Value::Array(calls))
    }
}

impl StreamedCall {
    fn add(&mut self, part: &Value) {
        for (key, value) in part.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("function", Value::Object(function)) => {
                    self.arguments
                        .read(text(function.get("arguments")).unwrap_or_default());
                    function
                        .iter()
                        .for_each(|(key, value)| append(&mut self.function, key, value));
                }
                ("index", _) | (_, Value::Null) => {}
                (key, value) => drop(self.fields.insert(key.to_owned(), value.clone())),
            }
        }
    }

    fn id(&self) -> Option<&str> {
        text(self.fields.get("id"))
    }

    /// Whether its arguments are JSON from beginning to end. They are only parsed where their brackets are closed: a part may be a
    /// letter, and there may be a million of them.
    fn has_whole_arguments(&self) -> bool {
        let arguments = text(self.function.get("arguments")).filter(|_| self.arguments.is_closed());
        arguments.is_some_and(|text| serde_json::from_str::<Value>(text).is_ok())
    }
}

/// The index that a part states, as JSON.
fn stated_index(part: &Value) -> Option<String> {
    part.get("index")
        .filter(|index| !index.is_null())
        .map(Value::to_string)
}

/// A text that is not empty.
fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.is_empty())
}

/// Appends a piece of a text to the text so far; other values replace it.
pub fn append(fields: &mut Map<String, Value>, key: &str, piece: &Value) {
    match (fields.get_mut(key), piece) {
        (_, Value::Null) => {}
        (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
        (Some(_) | None, piece) => drop(fields.insert(key.to_owned(), piece.clone())),
    }
}

/// How deep a JSON text that arrives in parts is nested.
#[derive(Default)]
struct Nesting {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl Nesting {
    fn read(&mut self, part: &str) {
        for byte in part.bytes() {
            match (self.is_in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.is_in_text = !self.is_in_text,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                (true | false, _) => {}
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.depth == 0 && !self.is_in_text
    }
}
