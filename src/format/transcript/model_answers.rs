//! The answers of a model in captured exchanges, each as a transcript of its own. An agent repeats earlier messages in its requests as it
//! likes: shortened, under other instructions, or not at all. So the answers tell what the model asked for, and a request only the calls
//! that the agent's own code made.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::read_transcripts;
use super::recorded_run::{RunNames, Transcript, TranscriptFormat};
use super::request_log::body;
use crate::files::SourceText;
use crate::model::{ExchangeWire, Measures, RecordedExchange, RepoPath};

/// The keys under which an API has messages, and how it names calls and their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageApi {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    Anthropic,
}

impl MessageApi {
    /// Where the arguments are in a message with one call.
    fn arguments(self) -> &'static str {
        match self {
            Self::Chat => "/tool_calls/0/function/arguments",
            Self::Responses => "/arguments",
            Self::Anthropic => "/content/0/input",
        }
    }
}

struct AnsweredRequest {
    api: MessageApi,
    request: Map<String, Value>,
    response: Map<String, Value>,
    /// The results of tools in the request, by the id of their calls; of several with one id the last.
    results: HashMap<String, Value>,
    /// The arguments of the calls in the request, by id and name.
    arguments: HashMap<(String, String), Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCalls {
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
    exchanges: &[&RecordedExchange],
    own: OwnCalls,
) -> Result<Vec<Transcript>, String> {
    let named = |index: usize, why: String| {
        format!("answer {} of the model cannot be read: {why}", index + 1)
    };
    let all = exchanges.iter().enumerate();
    let all = all
        .map(|(index, exchange)| AnsweredRequest::new(exchange).map_err(|why| named(index, why)));
    let all: Vec<AnsweredRequest> = all.collect::<Result<_, _>>()?;
    let mut seen = SeenCalls::default();
    let mut transcripts = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let (later, before) = (&all[index + 1..], transcripts.len());
        let mut answered = one.answered().map_err(|why| named(index, why))?;
        answered
            .iter_mut()
            .for_each(|message| one.state_as_run(message, later));
        let begins = match own {
            OwnCalls::OfLastTurn if index == 0 => one.last_question(),
            OwnCalls::OfLastTurn | OwnCalls::All => 0,
        };
        let made = seen.new_in(one, begins);
        seen.add(one, &answered);
        let mut opening = if index == 0 {
            one.prompt()
        } else {
            one.interjected()
        };
        for (messages, later) in [(made, &all[index..]), (answered, later)] {
            if messages.is_empty() {
                continue;
            }
            let opening = std::mem::take(&mut opening);
            let read = one.transcript((opening, messages), later, transcripts.is_empty());
            transcripts.push(read.map_err(|why| named(index, why))?);
        }
        // The calls before an answer are of the same exchange, whose tokens count once.
        if let Some([.., made, _]) = transcripts.get_mut(before..) {
            made.metrics = Measures::default();
        }
    }
    Ok(transcripts)
}

/// How often each call was seen so far, by id and name.
#[derive(Default)]
struct SeenCalls(HashMap<(String, String), usize>);

impl SeenCalls {
    fn add(&mut self, one: &AnsweredRequest, answered: &[Value]) {
        for call in answered.iter().flat_map(|message| one.calls_in(message)) {
            *self.0.entry(call.key).or_default() += 1;
        }
    }

    /// The calls of a request that were not seen before, as messages of the model. Of the messages before `begins` none is new.
    fn new_in(&mut self, one: &AnsweredRequest, begins: usize) -> Vec<Value> {
        let mut here: HashMap<(String, String), usize> = HashMap::new();
        let mut new = Vec::new();
        for (index, message) in one.asked().iter().enumerate() {
            for call in one.calls_in(message) {
                let count = here.entry(call.key.clone()).or_default();
                *count += 1;
                let seen = self.0.entry(call.key).or_default();
                if *count > *seen {
                    *seen = *count;
                    new.extend((index >= begins).then_some(call.message));
                }
            }
        }
        new
    }
}

struct CallInMessage {
    /// Its id, or nothing, and its name.
    key: (String, String),
    /// A message of the model with this call alone.
    message: Value,
}

impl AnsweredRequest {
    fn new(exchange: &RecordedExchange) -> Result<Self, String> {
        let object = |value: &Value, what: &str| match body(value) {
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) | None => Err(format!(
                "the {what} is not a JSON object, and no stream of one"
            )),
        };
        let request = object(&exchange.request.body, "request")?;
        let response = object(&exchange.response.body, "response")?;
        let api = match exchange.wire {
            ExchangeWire::Anthropic => MessageApi::Anthropic,
            ExchangeWire::OpenAi
                if response.contains_key("output") || request.contains_key("input") =>
            {
                MessageApi::Responses
            }
            ExchangeWire::OpenAi => MessageApi::Chat,
        };
        let mut one = Self {
            api,
            request,
            response,
            results: HashMap::new(),
            arguments: HashMap::new(),
        };
        let asked = one.asked();
        one.results = asked
            .iter()
            .flat_map(|message| one.results_in(message))
            .collect();
        let calls = asked.iter().flat_map(|message| one.calls_in(message));
        let stated = calls.filter_map(|call| {
            Some((call.key, call.message.pointer(one.api.arguments())?.clone()))
        });
        one.arguments = stated.collect();
        Ok(one)
    }

    /// The messages or items of the request.
    fn asked(&self) -> Vec<Value> {
        let key = if self.api == MessageApi::Responses {
            "input"
        } else {
            "messages"
        };
        match self.request.get(key) {
            Some(Value::Array(messages)) => messages.clone(),
            Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
            Some(_) | None => Vec::new(),
        }
    }

    /// The messages before the first answer of the model.
    fn prompt(&self) -> Vec<Value> {
        let asked = self.asked();
        let first = asked.iter().take_while(|message| is_instruction(message));
        first
            .filter_map(|message| self.without_results(message))
            .collect()
    }

    /// The messages of the user and the system after the last answer, without the results of tools.
    fn interjected(&self) -> Vec<Value> {
        let asked = self.asked();
        let begins = asked
            .iter()
            .rposition(|message| !is_instruction(message))
            .map_or(0, |last| last + 1);
        asked[begins..]
            .iter()
            .filter_map(|message| self.without_results(message))
            .collect()
    }

    fn without_results(&self, message: &Value) -> Option<Value> {
        let (MessageApi::Anthropic, Some(Value::Array(blocks))) =
            (self.api, message.get("content"))
        else {
            return Some(message.clone());
        };
        let others: Vec<&Value> = blocks
            .iter()
            .filter(|block| !has_type(block, "tool_result"))
            .collect();
        (!others.is_empty()).then(|| json!({ "role": message["role"], "content": others }))
    }

    /// The results of tools in a message, by the id of their calls.
    fn results_in(&self, message: &Value) -> Vec<(String, Value)> {
        let by =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let of = |id: Option<String>, value: &Value| {
            id.map(|id| (id, value.clone())).into_iter().collect()
        };
        match self.api {
            MessageApi::Chat if has_role(message, "tool") => {
                of(by(message, "tool_call_id"), message)
            }
            MessageApi::Chat if has_role(message, "function") => of(by(message, "name"), message),
            MessageApi::Responses if has_type(message, "_output") => {
                of(by(message, "call_id"), message)
            }
            MessageApi::Anthropic => {
                let blocks = message
                    .get("content")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                let results = blocks.filter(|block| has_type(block, "tool_result"));
                results
                    .filter_map(|block| Some((by(block, "tool_use_id")?, block.clone())))
                    .collect()
            }
            MessageApi::Chat | MessageApi::Responses => Vec::new(),
        }
    }

    /// The messages or items of the answer.
    fn answered(&self) -> Result<Vec<Value>, String> {
        let lacks = |key: &str| Err(format!("it has no \"{key}\""));
        match (
            self.api,
            self.response.get("status").and_then(Value::as_str),
        ) {
            (MessageApi::Responses, Some("queued" | "in_progress")) => Err(
                "it was not complete when it came, because the request says \"background\""
                    .to_owned(),
            ),
            (MessageApi::Responses, _) => match self.response.get("output") {
                Some(Value::Array(items)) if items.is_empty() => {
                    Ok(vec![json!({ "role": "assistant", "content": "" })])
                }
                Some(Value::Array(items)) => Ok(items.clone()),
                Some(_) | None => lacks("output"),
            },
            (MessageApi::Chat, _) => {
                let choices = self.response.get("choices").and_then(Value::as_array);
                let messages = choices
                    .filter(|choices| !choices.is_empty())
                    .and_then(|choices| {
                        choices
                            .iter()
                            .map(|choice| {
                                choice
                                    .get("message")
                                    .filter(|message| message.is_object())
                                    .cloned()
                            })
                            .collect()
                    });
                messages.map_or_else(|| lacks("choices[].message"), Ok)
            }
            (MessageApi::Anthropic, _) => match self.response.get("content") {
                Some(content @ Value::Array(_)) => {
                    Ok(vec![json!({ "role": "assistant", "content": content })])
                }
                Some(_) | None => lacks("content"),
            },
        }
    }

    /// The index of the user's last message, without the results of tools.
    fn last_question(&self) -> usize {
        let is_question =
            |message: &Value| has_role(message, "user") && self.without_results(message).is_some();
        self.asked().iter().rposition(is_question).unwrap_or(0)
    }

    /// The calls in a message of the model, or in an item.
    fn calls_in(&self, message: &Value) -> Vec<CallInMessage> {
        let text = |value: &Value, key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let list = |key: &str| {
            message
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        match self.api {
            MessageApi::Chat => {
                let name = |call: &Value| {
                    call.get("function")
                        .or(call.get("custom"))
                        .map_or(String::new(), |of| text(of, "name"))
                };
                let calls = list("tool_calls").map(|call| CallInMessage {
                    key: (text(call, "id"), name(call)),
                    message: json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
                });
                let old = message.get("function_call").filter(|call| call.is_object()).map(|call| CallInMessage {
                    key: (String::new(), text(call, "name")),
                    message: json!({ "role": "assistant", "content": null, "function_call": call }),
                });
                calls.chain(old).collect()
            }
            MessageApi::Responses if has_type(message, "_call") => {
                let id = ["call_id", "id"]
                    .iter()
                    .map(|key| text(message, key))
                    .find(|id| !id.is_empty());
                let key = (id.unwrap_or_default(), text(message, "name"));
                vec![CallInMessage {
                    key,
                    message: message.clone(),
                }]
            }
            MessageApi::Responses => Vec::new(),
            MessageApi::Anthropic => list("content")
                .filter(|block| has_type(block, "tool_use"))
                .map(|block| CallInMessage {
                    key: (text(block, "id"), text(block, "name")),
                    message: json!({ "role": "assistant", "content": [block] }),
                })
                .collect(),
        }
    }

    /// Gives the calls of an answer the arguments with which a later request repeats them: with these the agent's code ran them.
    fn state_as_run(&self, message: &mut Value, later: &[Self]) {
        let keys: Vec<(String, String)> = self
            .calls_in(message)
            .into_iter()
            .map(|call| call.key)
            .collect();
        let list = match self.api {
            MessageApi::Chat => message.get_mut("tool_calls").and_then(Value::as_array_mut),
            MessageApi::Anthropic => message.get_mut("content").and_then(Value::as_array_mut),
            MessageApi::Responses => None,
        };
        let (calls, pointer): (Vec<&mut Value>, &str) = match (self.api, list) {
            (MessageApi::Chat, Some(calls)) => (calls.iter_mut().collect(), "/function/arguments"),
            (MessageApi::Anthropic, Some(blocks)) => (
                blocks
                    .iter_mut()
                    .filter(|block| has_type(block, "tool_use"))
                    .collect(),
                "/input",
            ),
            (MessageApi::Responses, _) => (vec![message], "/arguments"),
            (MessageApi::Chat | MessageApi::Anthropic, None) => return,
        };
        for (call, key) in calls
            .into_iter()
            .zip(keys)
            .filter(|(_, (id, _))| !id.is_empty())
        {
            let mut repeated = later
                .iter()
                .filter(|one| one.api == self.api)
                .filter_map(|one| one.arguments.get(&key));
            if let (Some(run), Some(asked)) = (repeated.next(), call.pointer_mut(pointer))
                && parsed(run) != parsed(asked)
            {
                *asked = run.clone();
            }
        }
    }

    /// The transcript of messages of the model after others. Their results are in `later` requests.
    fn transcript(
        &self,
        (opening, answered): (Vec<Value>, Vec<Value>),
        later: &[Self],
        is_first: bool,
    ) -> Result<Transcript, String> {
        let result = |CallInMessage {
                          key: (id, name), ..
                      }: CallInMessage| {
            // A call in OpenAI's older form has no id.
            let id = if id.is_empty() { name } else { id };
            later
                .iter()
                .filter(|one| one.api == self.api)
                .find_map(|one| one.results.get(&id))
                .cloned()
        };
        let calls = answered.iter().flat_map(|message| self.calls_in(message));
        let mut results: Vec<Value> = calls.filter_map(result).collect();
        if self.api == MessageApi::Anthropic && !results.is_empty() {
            results = vec![json!({ "role": "user", "content": results })];
        }
        let messages: Vec<Value> = opening.into_iter().chain(answered).chain(results).collect();
        let key = if self.api == MessageApi::Responses {
            "input"
        } else {
            "messages"
        };
        let mut whole = Map::from_iter([(key.to_owned(), Value::Array(messages))]);
        let kept = ["model", "usage"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), self.response.get(key)?.clone())));
        whole.extend(kept);
        let instructions = ["system", "instructions"].into_iter().filter(|_| is_first);
        whole.extend(
            instructions.filter_map(|key| Some((key.to_owned(), self.request.get(key)?.clone()))),
        );
        let source = SourceText::from_text(
            RepoPath::root().child("exchange"),
            Value::Object(whole).to_string(),
        );
        let read =
            read_transcripts(self.format(), &source, RunNames::default()).map_err(|problems| {
                problems
                    .sorted()
                    .first()
                    .map_or_else(String::new, |problem| problem.what.clone())
            })?;
        read.into_iter()
            .next()
            .ok_or_else(|| "it has no message".to_owned())
    }

    fn format(&self) -> TranscriptFormat {
        match self.api {
            MessageApi::Chat | MessageApi::Responses => TranscriptFormat::OpenAi,
            MessageApi::Anthropic => TranscriptFormat::Anthropic,
        }
    }
}

/// Arguments as a value: some APIs have them as a text.
fn parsed(arguments: &Value) -> Value {
    let read = arguments
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| arguments.clone())
}

/// Whether a message is one of the user or the system.
fn is_instruction(message: &Value) -> bool {
    let is_message = message.get("type").is_none_or(|kind| kind == "message");
    is_message
        && ["user", "system", "developer"]
            .iter()
            .any(|role| has_role(message, role))
}

fn has_role(message: &Value, role: &str) -> bool {
    message.get("role").is_some_and(|own| own == role)
}

/// Whether the type of an item or a block ends with these letters.
fn has_type(value: &Value, ending: &str) -> bool {
    value
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.ends_with(ending))
}

#[cfg(test)]
mod tests;
