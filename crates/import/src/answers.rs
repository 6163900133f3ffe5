//! The answers of a model in recorded exchanges, each as a transcript of its own. An agent repeats earlier messages in its requests as it
//! likes: shortened, under other instructions, or not at all. So the answers tell what the model asked for, and a request only the calls
//! that the agent's own code made.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::conversations::conversation_of_messages;
use crate::exchanges::body;
use crate::message::{CallPart, Message, Part, ResultPart, Role};
use crate::transcript::{Transcript, Usage};

/// A request to a model with its answer: their bodies as JSON, or as texts.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest<'e> {
    /// What was asked.
    pub request: &'e Value,
    /// What was answered.
    pub response: &'e Value,
}

/// Which of the calls in requests are those of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCalls {
    /// All.
    All,
    /// Those after the user's last message: the run is a turn of a conversation, and what it tells repeats the turns before.
    OfLastTurn,
}

/// Reads the answer of each exchange with the results of its calls, which later requests state, and before it the calls that its request
/// has and no answer. The first transcript has the prompt.
///
/// # Errors
/// Which answer cannot be read, and why.
pub fn answer_transcripts(
    exchanges: &[AnsweredRequest<'_>],
    counted: OwnCalls,
) -> Result<Vec<Transcript>, String> {
    let mut all = Vec::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        all.push(Exchange::read(exchange).map_err(|why| unreadable(index, &why))?);
    }
    let mut seen = SeenCalls::default();
    let mut transcripts = Vec::new();
    for (index, exchange) in all.iter().enumerate() {
        let later = &all[index + 1..];
        let mut answered = exchange.answered.clone();
        for message in &mut answered {
            state_as_run(message, later);
        }
        let begins = match counted {
            OwnCalls::OfLastTurn if index == 0 => exchange.last_question(),
            OwnCalls::OfLastTurn | OwnCalls::All => 0,
        };
        let made = seen.new_in(exchange, begins);
        seen.add(&answered);
        let mut opening = match index {
            0 => exchange.prompt(),
            _ => exchange.interjected(),
        };
        let mut read = Vec::new();
        for (messages, later) in [(made, &all[index..]), (answered, later)] {
            if messages.is_empty() {
                continue;
            }
            let mut whole = std::mem::take(&mut opening);
            let results = results_of(&messages, later);
            whole.extend(messages);
            whole.push(results);
            let transcript = conversation_of_messages(0, whole)
                .map_err(|problem| unreadable(index, &problem.what))?;
            read.push(Transcript {
                model: exchange.model.clone(),
                ..transcript
            });
        }
        // The calls before an answer are of the same exchange, whose tokens count once.
        if let Some(last) = read.last_mut() {
            last.usage = exchange.usage.clone();
        }
        transcripts.extend(read);
    }
    Ok(transcripts)
}

fn unreadable(index: usize, why: &str) -> String {
    format!("answer {} of the model cannot be read: {why}", index + 1)
}

/// An exchange with its messages.
struct Exchange {
    /// The instructions, which are in no message.
    instructions: Vec<Message>,
    asked: Vec<Message>,
    answered: Vec<Message>,
    usage: Usage,
    model: Option<String>,
    /// The results of tools in the request, by the id of their calls, or by the name of those without; of several the last.
    results: HashMap<String, ResultPart>,
    /// The arguments of the calls in the request, by id and name.
    arguments: HashMap<CallKey, Value>,
}

/// The id of a call, or nothing, and its name.
type CallKey = (String, String);

fn key(call: &CallPart) -> CallKey {
    (call.id.clone().unwrap_or_default(), call.name.clone())
}

impl Exchange {
    fn read(exchange: &AnsweredRequest<'_>) -> Result<Self, String> {
        let request = object(exchange.request, "request")?;
        let response = object(exchange.response, "response")?;
        let asked = asked(&request);
        let calls = asked.iter().flat_map(Message::calls);
        let arguments = calls.map(|call| (key(call), call.arguments.clone()));
        let arguments = arguments.collect();
        let results = asked.iter().flat_map(results_in);
        let results = results
            .filter_map(|result| Some((result.id.clone().or(result.name.clone())?, result.clone())))
            .collect();
        let instructions = ["system", "instructions"].iter();
        let instructions = instructions
            .filter_map(|key| request.get(*key).filter(|text| !text.is_null()))
            .map(|text| Message::of(&json!({ "content": text }), Role::System));
        let mut usage = Usage::default();
        if let Some(stated) = response.get("usage") {
            usage.add_tokens(stated);
        }
        Ok(Self {
            instructions: instructions.collect(),
            asked,
            answered: answered(&response)?,
            usage,
            model: response
                .get("model")
                .and_then(Value::as_str)
                .map(str::to_owned),
            results,
            arguments,
        })
    }

    /// The messages before the first answer of the model.
    fn prompt(&self) -> Vec<Message> {
        let first = self.asked.iter().take_while(|message| is_asking(message));
        let asked = first.filter_map(without_results);
        self.instructions.iter().cloned().chain(asked).collect()
    }

    /// The messages of the user and the system after the last answer, without the results of tools.
    fn interjected(&self) -> Vec<Message> {
        let last = self.asked.iter().rposition(|message| !is_asking(message));
        let begins = last.map_or(0, |last| last + 1);
        self.asked[begins..]
            .iter()
            .filter_map(without_results)
            .collect()
    }

    /// The index of the user's last message, without the results of tools.
    fn last_question(&self) -> usize {
        let last = self
            .asked
            .iter()
            .rposition(|message| message.role == Role::User && without_results(message).is_some());
        last.unwrap_or(0)
    }
}

fn object(value: &Value, role: &str) -> Result<Map<String, Value>, String> {
    match body(value) {
        Some(Value::Object(fields)) => Ok(fields),
        Some(_) | None => Err(format!(
            "the {role} is not a JSON object, and no stream of one"
        )),
    }
}

/// The messages or items of a request.
fn asked(request: &Map<String, Value>) -> Vec<Message> {
    match request.get("messages").or_else(|| request.get("input")) {
        Some(Value::Array(messages)) => messages
            .iter()
            .map(|message| Message::of(message, Role::User))
            .collect(),
        Some(text @ Value::String(_)) => {
            vec![Message::of(&json!({ "content": text }), Role::User)]
        }
        Some(_) | None => Vec::new(),
    }
}

/// A message of the model.
fn said(message: &Value) -> Message {
    Message::of(message, Role::Assistant)
}

/// The messages or items of an answer.
fn answered(response: &Map<String, Value>) -> Result<Vec<Message>, String> {
    let status = response.get("status").and_then(Value::as_str);
    if let Some("queued" | "in_progress") = status {
        let why = "it was not complete when it came, because the request says \"background\"";
        return Err(why.to_owned());
    }
    if let Some(items) = response.get("output").and_then(Value::as_array) {
        let items: Vec<Message> = items.iter().map(said).collect();
        if items.is_empty() {
            return Ok(vec![said(&json!({ "content": "" }))]);
        }
        return Ok(items);
    }
    if let Some(choices) = response.get("choices").and_then(Value::as_array) {
        let messages = choices
            .iter()
            .map(|choice| choice.get("message").filter(|message| message.is_object()));
        let messages: Option<Vec<&Value>> = messages.collect();
        return match messages.filter(|messages| !messages.is_empty()) {
            Some(messages) => Ok(messages.into_iter().map(said).collect()),
            None => Err("it has no \"choices[].message\"".to_owned()),
        };
    }
    match response.get("content") {
        Some(content @ Value::Array(_)) => Ok(vec![said(
            &json!({ "role": "assistant", "content": content }),
        )]),
        Some(_) | None => Err("it has no message".to_owned()),
    }
}

/// How often each call was seen so far.
#[derive(Default)]
struct SeenCalls(HashMap<CallKey, usize>);

impl SeenCalls {
    fn add(&mut self, answered: &[Message]) {
        for call in answered.iter().flat_map(Message::calls) {
            *self.0.entry(key(call)).or_default() += 1;
        }
    }

    /// The calls of a request that were not seen before, as messages of the model. Of the messages before `begins` none is new.
    fn new_in(&mut self, exchange: &Exchange, begins: usize) -> Vec<Message> {
        let mut here: HashMap<CallKey, usize> = HashMap::new();
        let mut new = Vec::new();
        for (index, message) in exchange.asked.iter().enumerate() {
            for call in message.calls() {
                let count = here.entry(key(call)).or_default();
                *count += 1;
                let seen = self.0.entry(key(call)).or_default();
                if *count > *seen {
                    *seen = *count;
                    if index >= begins {
                        new.push(Message {
                            role: Role::Assistant,
                            parts: vec![Part::Call(call.clone())],
                        });
                    }
                }
            }
        }
        new
    }
}

/// Gives the calls of an answer the arguments with which a later request repeats them: with these the agent's code ran them.
fn state_as_run(message: &mut Message, later: &[Exchange]) {
    for part in &mut message.parts {
        if let Part::Call(call) = part
            && call.id.is_some()
        {
            let of_call = key(call);
            let mut repeated = later
                .iter()
                .filter_map(|exchange| exchange.arguments.get(&of_call));
            if let Some(run) = repeated.next() {
                call.arguments.clone_from(run);
            }
        }
    }
}

/// The results of the calls of messages in later requests, as one message.
fn results_of(messages: &[Message], later: &[Exchange]) -> Message {
    let calls = messages.iter().flat_map(Message::calls);
    let results = calls.filter_map(|call| {
        let of_call = call.id.as_ref().unwrap_or(&call.name);
        let mut stated = later
            .iter()
            .filter_map(|exchange| exchange.results.get(of_call));
        stated.next().cloned().map(Part::Result)
    });
    Message {
        role: Role::Tool,
        parts: results.collect(),
    }
}

fn results_in(message: &Message) -> impl Iterator<Item = &ResultPart> {
    message.parts.iter().filter_map(|part| match part {
        Part::Result(result) => Some(result),
        _ => None,
    })
}

/// Whether a message is one of the user or the system.
fn is_asking(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::System)
}

/// The message without the results of tools; `None` if it has nothing else.
fn without_results(message: &Message) -> Option<Message> {
    let parts = message.parts.iter();
    let others: Vec<Part> = parts
        .filter(|part| !matches!(part, Part::Result(_)))
        .cloned()
        .collect();
    let (role, parts) = (message.role, others);
    (!parts.is_empty()).then_some(Message { role, parts })
}

#[cfg(test)]
mod tests;
