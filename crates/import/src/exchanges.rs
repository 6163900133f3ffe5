//! Recorded exchanges with a model: a request and its answer. The exchanges of one agent's loop become one conversation.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use crate::event_stream::{assembled, streamed_answer};
use crate::loose;
use crate::message::Role;
use crate::problem::{Problem, ProblemKind};
use crate::source::Document;
use crate::transcript::Format;
use crate::vendor_bodies::{in_common_form, vendor_of_body};

/// A conversation that was put together of its exchanges.
pub struct JoinedConversation {
    /// The byte offset of the record with its first exchange.
    pub at: usize,
    /// The request with the answer, as one object.
    pub value: Value,
}

/// Whether a record is a recorded exchange, or a file with many: a cassette of vcrpy, or HAR.
pub fn has_exchanges(record: &Value) -> bool {
    (record.get("request").is_some() && record.get("response").is_some())
        || record.get("interactions").is_some()
        || record
            .get("log")
            .is_some_and(|log| log.get("entries").is_some())
}

/// The vendor whose models a record's exchanges asked.
pub fn vendor_of(record: &Value) -> Option<Format> {
    let mut exchanges = entries(record).into_iter();
    exchanges.find_map(|entry| Some(Exchange::of(0, entry)?.vendor()))
}

/// Puts the exchanges of records together. The answer to a request that says "background" is in a later exchange, which asks for it by its id.
///
/// # Errors
/// A record whose exchanges asked no model, or one with a body that cannot be read.
pub fn join(records: &[Document<'_>]) -> Result<Vec<JoinedConversation>, Problem> {
    let mut chains = Chains::default();
    for record in records {
        let mut is_read = false;
        for entry in entries(&record.value) {
            if let Some(exchange) = Exchange::of(record.at, entry) {
                is_read = true;
                chains.add(exchange);
            } else if is_compressed(entry) {
                let description = "the body of an answer is compressed";
                let help = "record it again with decode_compressed_response=True";
                return Err(Problem::new(
                    record.at,
                    ProblemKind::NoMessages,
                    description,
                    help,
                ));
            } else if let Some(answer) = later_answer(entry)
                && let Some(asked) = chains.with_response(answer.get("id"))
            {
                is_read = true;
                asked.add_usage(usage_of(&answer));
                asked.response = answer;
            }
        }
        if !is_read {
            let description = "this record has no request to a model with its answer";
            let help =
                "provide the bodies of requests and answers under \"request\" and \"response\"";
            return Err(Problem::new(
                record.at,
                ProblemKind::NoMessages,
                description,
                help,
            ));
        }
    }
    let joined = chains.all.iter().map(|chain| JoinedConversation {
        at: chain.at,
        value: chain.conversation(),
    });
    Ok(joined.collect())
}

/// The conversations that were put together so far, found by what continues them: without that, each exchange would be compared with all.
#[derive(Default)]
struct Chains {
    all: Vec<Exchange>,
    by_response: HashMap<String, Vec<usize>>,
    /// By the number of the messages asked, and their hash.
    by_messages: HashMap<(usize, u64), Vec<usize>>,
}

impl Chains {
    fn add(&mut self, exchange: Exchange) {
        let index = match self.continued_by(&exchange) {
            Some(index) => {
                self.forget(index);
                self.all[index].take_over(exchange);
                index
            }
            None => {
                self.all.push(exchange);
                self.all.len() - 1
            }
        };
        let (id, messages) = self.all[index].keys();
        if let Some(id) = id {
            self.by_response.entry(id).or_default().push(index);
        }
        self.by_messages.entry(messages).or_default().push(index);
    }

    /// The newest conversation that an exchange continues.
    fn continued_by(&self, exchange: &Exchange) -> Option<usize> {
        let id = exchange.request.get("previous_response_id");
        let of_id = id.and_then(|id| self.by_response.get(id.as_str()?));
        let of_messages = prefixes(exchange.asked()).filter_map(|key| self.by_messages.get(&key));
        let continued = of_id.into_iter().chain(of_messages).filter_map(|indexes| {
            let mut newest_first = indexes.iter().rev().copied();
            newest_first.find(|index| exchange.continues(&self.all[*index]))
        });
        continued.max()
    }

    /// The newest conversation whose last answer has this id.
    fn with_response(&mut self, id: Option<&Value>) -> Option<&mut Exchange> {
        let indexes = self.by_response.get(id?.as_str()?)?;
        self.all.get_mut(*indexes.last()?)
    }

    fn forget(&mut self, index: usize) {
        let (id, messages) = self.all[index].keys();
        let of_id = id.and_then(|id| self.by_response.get_mut(&id));
        for indexes in of_id.into_iter().chain(self.by_messages.get_mut(&messages)) {
            if let Some(at) = indexes.iter().rposition(|known| *known == index) {
                indexes.remove(at);
            }
        }
    }
}

/// The beginnings of a list of messages that others follow: their lengths and hashes.
fn prefixes(messages: &[Value]) -> impl Iterator<Item = (usize, u64)> {
    let (_, before_last) = messages.split_last().unzip();
    let mut hasher = DefaultHasher::new();
    let messages = before_last.unwrap_or_default().iter();
    messages.enumerate().map(move |(index, message)| {
        message.hash(&mut hasher);
        (index + 1, hasher.finish())
    })
}

/// One exchange, or several of one loop.
struct Exchange {
    at: usize,
    /// Names next to the request.
    around: Map<String, Value>,
    request: Map<String, Value>,
    response: Map<String, Value>,
    usage: Map<String, Value>,
    /// The vendor, if its bodies show it.
    vendor: Option<Format>,
}

/// The exchanges of a record, with a model or not.
fn entries(record: &Value) -> Vec<&Value> {
    let many = record
        .get("interactions")
        .or_else(|| record.get("log")?.get("entries"))
        .and_then(Value::as_array);
    many.map_or(vec![record], |many| many.iter().collect())
}

/// The answer of the Responses API that an exchange without a body asks for.
fn later_answer(entry: &Value) -> Option<Map<String, Value>> {
    match body(entry.get("response")?)? {
        Value::Object(answer) if answer.get("output").is_some_and(Value::is_array) => Some(answer),
        _ => None,
    }
}

/// Whether the body of an answer is not a text, as its headers say.
fn is_compressed(entry: &Value) -> bool {
    let headers = entry
        .pointer("/response/headers")
        .and_then(Value::as_object);
    let mut headers = headers.into_iter().flatten();
    let is_encoded = headers.any(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let response = entry.get("response").unwrap_or(&Value::Null);
    let text = response
        .pointer("/body/string")
        .or_else(|| response.get("body"));
    let text = text.and_then(Value::as_str).unwrap_or_default();
    is_encoded
        && !text.trim_start().is_empty()
        && !text.trim_start().starts_with(['{', '[', 'd', 'e', ':'])
}

fn usage_of(response: &Map<String, Value>) -> Map<String, Value> {
    let usage = response.get("usage").and_then(Value::as_object);
    usage.cloned().unwrap_or_default()
}

impl Exchange {
    fn of(at: usize, record: &Value) -> Option<Self> {
        let Value::Object(request) = body(record.get("request")?)? else {
            return None;
        };
        let Value::Object(response) = body(record.get("response")?)? else {
            return None;
        };
        let vendor = vendor_of_body(&response).or_else(|| vendor_of_body(&request));
        // What Ollama generates answers a prompt.
        let is_generated = vendor == Some(Format::Ollama) && !request.contains_key("messages");
        let request = match request.get("prompt") {
            Some(prompt) if is_generated => {
                json!({ "messages": [{ "role": "user", "content": prompt }],
                "system": request.get("system"), "model": request.get("model") })
            }
            Some(_) | None => Value::Object(in_common_form(request)),
        };
        let (Value::Object(request), response) = (request, in_common_form(response)) else {
            return None;
        };
        let asks = ["messages", "input"]
            .iter()
            .filter_map(|key| request.get(*key))
            .any(|asked| asked.is_array() || asked.is_string());
        // Other answers, such as a count of tokens, answer no question.
        let answers = ["choices", "output", "content", "error", "status"];
        if !asks || !answers.iter().any(|key| response.contains_key(*key)) {
            return None;
        }
        let names = ["agent", "case", "metadata"].into_iter();
        let around = names
            .filter_map(|key| Some((key.to_owned(), record.get(key)?.clone())))
            .collect();
        let usage = usage_of(&response);
        Some(Self {
            at,
            around,
            request,
            response,
            usage,
            vendor,
        })
    }

    fn vendor(&self) -> Format {
        if let Some(vendor) = self.vendor {
            return vendor;
        }
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

    /// What an exchange that continues this one has of it: the id of its answer, or its messages.
    fn keys(&self) -> (Option<String>, (usize, u64)) {
        let id = self.response.get("id").and_then(Value::as_str);
        let mut hasher = DefaultHasher::new();
        let messages = self.asked();
        messages
            .iter()
            .for_each(|message| message.hash(&mut hasher));
        (id.map(str::to_owned), (messages.len(), hasher.finish()))
    }

    /// Whether this is the next step of a loop: it repeats the messages before and the model's answer, or names the response.
    fn continues(&self, earlier: &Self) -> bool {
        #[cfg(test)]
        tests::COMPARED.with(|count| count.set(count.get() + 1));
        let id = earlier.response.get("id").filter(|id| id.is_string());
        if id.is_some() && self.request.get("previous_response_id") == id {
            return true;
        }
        let (asked, earlier_asked) = (self.asked(), earlier.asked());
        let next = asked
            .get(earlier_asked.len())
            .filter(|_| !earlier_asked.is_empty() && asked.starts_with(earlier_asked));
        next.is_some_and(is_of_model)
    }

    fn take_over(&mut self, next: Self) {
        let Self {
            at: _,
            around,
            mut request,
            response,
            usage,
            vendor: _,
        } = next;
        if request
            .get("previous_response_id")
            .is_some_and(Value::is_string)
        {
            let mut input = items_of(self.request.get("input"));
            input.extend(items_of(self.response.get("output")));
            input.extend(items_of(request.get("input")));
            request.insert("input".to_owned(), Value::Array(input));
        }
        self.add_usage(usage);
        self.around.extend(around);
        (self.request, self.response) = (request, response);
    }

    fn add_usage(&mut self, usage: Map<String, Value>) {
        for (key, count) in usage {
            let sum = self
                .usage
                .get(&key)
                .and_then(Value::as_u64)
                .zip(count.as_u64());
            let sum = sum.map(|(known, more)| json!(known.saturating_add(more)));
            self.usage.insert(key, sum.unwrap_or(count));
        }
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

fn is_of_model(message: &Value) -> bool {
    let role = message.get("role").and_then(Value::as_str).map(Role::named);
    let kind = message.get("type").and_then(Value::as_str);
    role == Some(Role::Assistant)
        || kind.is_some_and(|kind| kind == "reasoning" || kind.ends_with("_call"))
}

/// The items of an input or an output, where a text is the user's.
fn items_of(value: Option<&Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
        Some(_) | None => Vec::new(),
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
                Some(inner @ (Value::Object(_) | Value::String(_) | Value::Array(_))) => {
                    body(inner)
                }
                Some(_) | None => Some(value.clone()),
            }
        }
        // Gemini streams a list.
        Value::Array(events) => assembled(&events.iter().collect::<Vec<_>>()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::{Value, json};

    use super::{Chains, Exchange};

    thread_local! {
        /// How often two exchanges were compared.
        pub static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// The two exchanges of a conversation: the second one repeats the first with its answer.
    fn exchanges(query: &str, answer: &str) -> [Value; 2] {
        let asked = json!({ "role": "user", "content": query });
        let answered = json!({ "role": "assistant", "content": answer });
        let more = json!({ "role": "user", "content": "more" });
        let response = |text: &str| json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] });
        [
            json!({ "request": { "messages": [asked] }, "response": response(answer) }),
            json!({ "request": { "messages": [asked, answered, more] }, "response": response("end") }),
        ]
    }

    /// The numbers of conversations and of comparisons in this many conversations, whose exchanges come in turn.
    fn joined(count: usize, query: impl Fn(usize) -> String) -> (usize, usize) {
        let pairs: Vec<[Value; 2]> = (0..count)
            .map(|index| exchanges(&query(index), &format!("answer {index}")))
            .collect();
        COMPARED.set(0);
        let mut chains = Chains::default();
        for step in 0..2 {
            for pair in &pairs {
                chains.add(Exchange::of(0, &pair[step]).unwrap());
            }
        }
        (chains.all.len(), COMPARED.get())
    }

    #[test]
    fn an_exchange_is_compared_with_those_that_it_may_continue() {
        for count in [10, 1000] {
            assert_eq!(
                joined(count, |index| format!("query {index}")),
                (count, count)
            );
            // Of the same question, the newest conversation is continued first, and then the one before.
            assert_eq!(joined(count, |_| "the same".to_owned()), (count, count));
        }
    }
}
