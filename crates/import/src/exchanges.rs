//! Recorded exchanges with a model: a request and its answer. The exchanges of one agent's loop become one conversation.

use serde_json::{Map, Value, json};

use crate::event_stream::streamed_answer;
use crate::loose;
use crate::problem::{Problem, ProblemKind};
use crate::source::Document;
use crate::transcript::Format;

/// A conversation that was put together of its exchanges.
pub struct JoinedConversation {
    /// The byte offset of the record with its first exchange.
    pub at: usize,
    /// The request with the answer, as one object.
    pub value: Value,
}

/// Whether a record is a recorded exchange, or a file with many: a cassette of vcrpy, or HAR.
pub fn has_exchanges(record: &Value) -> bool {
    let has = |key: &str| record.get(key).is_some();
    (has("request") && has("response"))
        || has("interactions")
        || record
            .get("log")
            .is_some_and(|log| log.get("entries").is_some())
}

/// The vendor whose models a record's exchanges asked.
pub fn vendor_of(record: &Value) -> Option<Format> {
    let exchange = exchanges(0, record).into_iter().next()?;
    Some(exchange.vendor())
}

/// Puts the exchanges of records together; records that are no exchange stay as they are.
///
/// # Errors
/// A record whose exchanges asked no model.
pub fn join(records: &[Document<'_>]) -> Result<Vec<JoinedConversation>, Problem> {
    let mut chains: Vec<Exchange> = Vec::new();
    for record in records {
        let found = exchanges(record.at, &record.value);
        if found.is_empty() {
            let what = "this record has no request to a model with its answer";
            let help =
                "provide the bodies of requests and answers under \"request\" and \"response\"";
            return Err(Problem::new(record.at, ProblemKind::NoMessages, what, help));
        }
        for exchange in found {
            let mut earlier = chains.iter_mut().rev();
            match earlier.find(|earlier| exchange.continues(earlier)) {
                Some(earlier) => earlier.take_over(exchange),
                None => chains.push(exchange),
            }
        }
    }
    let joined = chains.iter().map(|chain| JoinedConversation {
        at: chain.at,
        value: chain.conversation(),
    });
    Ok(joined.collect())
}

/// One exchange, or several of one loop.
struct Exchange {
    at: usize,
    /// Names next to the request.
    around: Map<String, Value>,
    request: Map<String, Value>,
    response: Map<String, Value>,
    usage: Map<String, Value>,
}

/// The exchanges of a record with a model: both bodies are objects, and the request has messages or an input.
fn exchanges(at: usize, record: &Value) -> Vec<Exchange> {
    let many = record
        .get("interactions")
        .or_else(|| record.get("log")?.get("entries"))
        .and_then(Value::as_array);
    let records: Vec<&Value> = many.map_or(vec![record], |many| many.iter().collect());
    records
        .into_iter()
        .filter_map(|record| Exchange::of(at, record))
        .collect()
}

impl Exchange {
    fn of(at: usize, record: &Value) -> Option<Self> {
        let Value::Object(request) = body(record.get("request")?)? else {
            return None;
        };
        let Value::Object(response) = body(record.get("response")?)? else {
            return None;
        };
        let asks = |key: &str| {
            request
                .get(key)
                .is_some_and(|asked| asked.is_array() || asked.is_string())
        };
        if !asks("messages") && !asks("input") {
            return None;
        }
        let names = ["agent", "case", "metadata"].into_iter();
        let around = names
            .filter_map(|key| Some((key.to_owned(), record.get(key)?.clone())))
            .collect();
        let usage = response
            .get("usage")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        Some(Self {
            at,
            around,
            request,
            response,
            usage,
        })
    }

    fn vendor(&self) -> Format {
        let kind = self.response.get("type").and_then(Value::as_str);
        match kind {
            Some("message" | "error") => Format::Anthropic,
            Some(_) | None if self.request.contains_key("system") => Format::Anthropic,
            Some(_) | None => Format::OpenAi,
        }
    }

    fn asked(&self) -> &[Value] {
        let asked = self
            .request
            .get("messages")
            .or_else(|| self.request.get("input"));
        asked.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Whether this is the next step of a loop: it repeats the messages before and the model's answer, or names the response.
    fn continues(&self, earlier: &Self) -> bool {
        let id = earlier.response.get("id").filter(|id| id.is_string());
        if id.is_some() && self.request.get("previous_response_id") == id {
            return true;
        }
        let (now, before) = (self.asked(), earlier.asked());
        let next = now
            .get(before.len())
            .filter(|_| !before.is_empty() && now.starts_with(before));
        let of_model = |message: &Value| {
            let role = message.get("role").and_then(Value::as_str);
            let kind = message.get("type").and_then(Value::as_str);
            role == Some("assistant")
                || kind.is_some_and(|kind| kind == "reasoning" || kind.ends_with("_call"))
        };
        next.is_some_and(of_model)
    }

    fn take_over(&mut self, next: Self) {
        let Self {
            at: _,
            around,
            mut request,
            response,
            usage,
        } = next;
        if request
            .get("previous_response_id")
            .is_some_and(Value::is_string)
        {
            let as_list = |value: Option<&Value>| match value {
                Some(Value::Array(items)) => items.clone(),
                Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
                Some(_) | None => Vec::new(),
            };
            let mut input = as_list(self.request.get("input"));
            input.extend(as_list(self.response.get("output")));
            input.extend(as_list(request.get("input")));
            request.insert("input".to_owned(), Value::Array(input));
        }
        for (key, count) in usage {
            let sum = self
                .usage
                .get(&key)
                .and_then(Value::as_u64)
                .zip(count.as_u64());
            let sum = sum.map(|(before, more)| json!(before.saturating_add(more)));
            self.usage.insert(key, sum.unwrap_or(count));
        }
        self.around.extend(around);
        (self.request, self.response) = (request, response);
    }

    /// The request and the answer as one object, in the form that the readers of conversations know.
    fn conversation(&self) -> Value {
        let kept = [
            "model",
            "metadata",
            "system",
            "instructions",
            "messages",
            "input",
        ]
        .into_iter();
        let mut whole: Map<String, Value> = kept
            .filter_map(|key| Some((key.to_owned(), self.request.get(key)?.clone())))
            .collect();
        let answered = ["model", "choices", "output", "status", "error"].into_iter();
        whole.extend(
            answered.filter_map(|key| Some((key.to_owned(), self.response.get(key)?.clone()))),
        );
        let is_message = self.response.get("type").and_then(Value::as_str) == Some("message");
        if let (true, Some(Value::Array(messages))) = (is_message, whole.get_mut("messages")) {
            messages.push(Value::Object(self.response.clone()));
        }
        if !self.usage.is_empty() {
            whole.insert("usage".to_owned(), Value::Object(self.usage.clone()));
        }
        whole.extend(self.around.clone());
        Value::Object(whole)
    }
}

/// The body of a request or of an answer: itself, under the keys of recorders, or as a text with JSON or an event stream.
pub fn body(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => loose::any(text)
            .ok()
            .filter(Value::is_object)
            .or_else(|| streamed_answer(text)),
        Value::Object(fields) => {
            let recorded = fields
                .get("body")
                .or_else(|| fields.get("parsed_body"))
                .or_else(|| fields.get("postData")?.get("text"));
            let recorded = recorded.or_else(|| fields.get("content")?.get("text"));
            match recorded {
                Some(Value::Object(inner)) if inner.contains_key("string") => {
                    body(inner.get("string")?)
                }
                Some(inner @ (Value::Object(_) | Value::String(_))) => body(inner),
                Some(_) | None => Some(value.clone()),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
