//! Reads conversations: lists of messages, objects that contain one, and exchanges with a model.

use serde_json::{Value, json};

use crate::builder::{ConversationBuilder, Misplaced, NoAssistantMessage};
use crate::exchanges::{JoinedConversation, has_exchanges, join};
use crate::message::{Message, Role, plain, text_at};
use crate::problem::{Problem, ProblemKind, all_or_problems};
use crate::source::{Document, Source, element_offsets};
use crate::transcript::{Ending, Transcript, Usage};
use crate::vendor_bodies::{in_common_form, vendor_of_body};
use crate::{event_stream, loose, vendor_bodies};

/// Reads the runs of a file: a list of messages, an object that contains one, one of either per line, or one message per line.
pub fn read_conversations(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let documents = &source.documents;
    if documents
        .iter()
        .any(|document| has_exchanges(&document.value))
    {
        let joined = join(documents).map_err(|problem| vec![problem])?;
        let read = joined
            .into_iter()
            .map(|JoinedConversation { at, value }| runs_of_object(at, &value, &|_, _| at));
        return Ok(all_or_problems(read)?.concat());
    }
    let values: Vec<&Value> = documents.iter().map(|document| &document.value).collect();
    if let Some(answer) = vendor_bodies::assembled(&values).filter(|_| values.len() > 1) {
        let at = documents.first().map_or(0, |document| document.at);
        return runs_of_object(at, &answer, &|_, _| at).map_err(|problem| vec![problem]);
    }
    if documents.iter().all(|document| is_message(&document.value)) {
        let first_at = documents.first().map_or(0, |document| document.at);
        let run = runs_of_list(first_at, &values, &|_, index| {
            documents.get(index).map_or(0, |document| document.at)
        });
        return Ok(vec![run.map_err(|problem| vec![problem])?]);
    }
    let read = documents
        .iter()
        .map(|document| runs_of_document(source.text, document));
    Ok(all_or_problems(read)?.concat())
}

/// The place of a message in the text: that with an index in the list under a key.
type PlaceOf<'p> = &'p dyn Fn(Option<&str>, usize) -> usize;

fn runs_of_document(text: &str, document: &Document<'_>) -> Result<Vec<Transcript>, Problem> {
    let at = document.at;
    let place: PlaceOf<'_> = &|key, index| {
        let places = element_offsets(text, document.raw, key.as_slice());
        places.get(index).copied().unwrap_or(at)
    };
    let Value::Array(list) = &document.value else {
        return runs_of_object(at, &document.value, place);
    };
    let messages: Vec<&Value> = list.iter().collect();
    let are_conversations = !list.is_empty()
        && list
            .iter()
            .all(|value| !is_message(value) && contains_messages(value));
    if are_conversations && event_stream::assembled(&messages).is_none() {
        let mut runs = Vec::new();
        for (value, at) in list.iter().zip(element_offsets(text, document.raw, &[])) {
            runs.extend(runs_of_object(at, value, &|_, _| at)?);
        }
        return Ok(runs);
    }
    Ok(vec![runs_of_list(at, &messages, place)?])
}

/// The run of a list of messages, or of the events of a stream.
fn runs_of_list(at: usize, messages: &[&Value], place: PlaceOf<'_>) -> Result<Transcript, Problem> {
    if let Some(answer) = event_stream::assembled(messages) {
        let mut runs = runs_of_object(at, &answer, &|_, _| at)?;
        return Ok(runs.swap_remove(0));
    }
    let mut conversation = Conversation::default();
    conversation.add_list(None, messages, place)?;
    conversation.finish(at)
}

/// Whether a value is a message or an item, and no object that contains some.
fn is_message(value: &Value) -> bool {
    let is_error = text_at(value, &["type"]) == Some("error");
    Message::is_stated(value) && !is_error && !contains_messages(value)
}

fn contains_messages(value: &Value) -> bool {
    let value = conversation_of(value);
    if value
        .as_object()
        .is_some_and(|body| vendor_of_body(body).is_some())
    {
        return true;
    }
    is_list(value, "messages")
        || is_list(value, "choices")
        || (is_list(value, "output") && value.get("role").is_none() && value.get("type").is_none())
}

fn is_list(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(Value::is_array)
}

/// The object with the messages: LangChain wraps it.
fn conversation_of(value: &Value) -> &Value {
    let inner = value
        .get("kwargs")
        .filter(|_| value.get("messages").is_none());
    inner
        .filter(|inner| inner.get("messages").is_some())
        .unwrap_or(value)
}

/// The runs of an object: a request, an answer, or both in one. Each alternative of the answer is a sample; tokens are counted once.
fn runs_of_object(
    at: usize,
    value: &Value,
    place: PlaceOf<'_>,
) -> Result<Vec<Transcript>, Problem> {
    let whole = match conversation_of(value) {
        Value::Object(body) => &Value::Object(in_common_form(body.clone())),
        form => form,
    };
    let choices = whole.get("choices").and_then(Value::as_array);
    let alternatives = choices.map_or(1, Vec::len).max(1);
    let mut runs = Vec::new();
    for choice in 0..alternatives {
        let mut run = run_of_object(at, whole, choice, place)?;
        if choice > 0 {
            run.usage = Usage::default();
        }
        runs.push(run);
    }
    Ok(runs)
}

fn run_of_object(
    at: usize,
    whole: &Value,
    choice: usize,
    place: PlaceOf<'_>,
) -> Result<Transcript, Problem> {
    let mut conversation = Conversation::default();
    for key in ["system", "instructions"] {
        conversation.add_text(Role::System, whole.get(key));
    }
    let error = whole.get("error").filter(|error| !error.is_null());
    let lists = ["input", "messages", "output"];
    let mut has_messages = false;
    for key in lists {
        match whole.get(key) {
            Some(Value::Array(list)) => {
                has_messages = true;
                let messages: Vec<&Value> = list.iter().collect();
                conversation.add_list(Some(key), &messages, place)?;
            }
            Some(text @ Value::String(_)) if key == "input" => {
                has_messages = true;
                conversation.add_text(Role::User, Some(text));
            }
            Some(_) | None => {}
        }
    }
    let chosen = whole.get("choices").and_then(|choices| choices.get(choice));
    let message =
        chosen.and_then(|chosen| chosen.get("message").filter(|message| message.is_object()));
    if let Some(message) = message {
        conversation.add(
            message,
            &|_, _| place(Some("choices"), choice),
            None,
            choice,
        )?;
    }
    if !has_messages && chosen.is_none() && error.is_none() {
        let description = "this object has no \"messages\"";
        let help = "provide a list of messages, or an object with \"messages\", or with \"input\" and \"output\"";
        return Err(Problem::new(at, ProblemKind::NoMessages, description, help));
    }
    let unanswered = chosen.filter(|_| message.is_none()).map(|chosen| {
        let reason = text_at(chosen, &["finish_reason"]).unwrap_or("no reason given");
        format!("the choice has no message: {reason}")
    });
    if let Some(chosen) = chosen {
        conversation.note_end(chosen);
    }
    if let Some(details) = whole.get("incomplete_details") {
        conversation.note_end(details);
    }
    let (ending, error) = ended(whole, error, unanswered);
    if let Some(usage) = whole.get("usage").filter(|usage| usage.is_object()) {
        conversation.usage = vec![(None, usage.clone())];
    }
    let transcript = conversation.finish_as(at, ending, error)?;
    let model = text_at(whole, &["model"]).map(str::to_owned);
    Ok(Transcript {
        agent: name_of(whole, "agent"),
        case: name_of(whole, "case"),
        model: model.or(transcript.model),
        ..transcript
    })
}

/// How a run ended, by the status of a response, an error, or a choice without a message.
fn ended(
    whole: &Value,
    error: Option<&Value>,
    unanswered: Option<String>,
) -> (Ending, Option<String>) {
    let stated = error.map(|error| {
        text_at(error, &["message", "type"]).map_or_else(|| plain(error), str::to_owned)
    });
    match text_at(whole, &["status"]) {
        Some("failed") => (Ending::Error, stated),
        Some("cancelled") => (Ending::Cancelled, None),
        Some(status @ ("queued" | "in_progress")) => {
            (Ending::Error, Some(format!("still {status}")))
        }
        _ => match stated.or(unanswered) {
            Some(error) => (Ending::Error, Some(error)),
            None => (Ending::Completed, None),
        },
    }
}

/// The value of `agent` or `case` next to the messages or in `metadata`.
fn name_of(whole: &Value, key: &str) -> Option<String> {
    let inner = whole.get("metadata").map(loose::embedded);
    let stated = whole
        .get(key)
        .filter(|name| !name.is_null())
        .cloned()
        .or_else(|| inner?.get(key).cloned());
    match stated? {
        Value::String(name) => Some(name),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A conversation with the token counts of its messages.
#[derive(Default)]
pub struct Conversation {
    pub builder: ConversationBuilder,
    /// The tokens of each answer, by the id of its message: an answer that is written in several lines states the whole in each.
    usage: Vec<(Option<String>, Value)>,
    pub model: Option<String>,
    is_cut_off: bool,
}

impl Conversation {
    fn add_list(
        &mut self,
        key: Option<&str>,
        messages: &[&Value],
        place: PlaceOf<'_>,
    ) -> Result<(), Problem> {
        for (index, message) in messages.iter().enumerate() {
            self.add(message, place, key, index)?;
        }
        Ok(())
    }

    fn add_text(&mut self, role: Role, content: Option<&Value>) {
        if let Some(content) = content.filter(|content| !content.is_null()) {
            let message = Message::of(&json!({ "content": content }), role);
            // A text and its parts are neither calls nor results.
            let _: Result<(), Misplaced> = self.builder.add(message);
        }
    }

    fn add(
        &mut self,
        message: &Value,
        place: PlaceOf<'_>,
        key: Option<&str>,
        index: usize,
    ) -> Result<(), Problem> {
        if !Message::is_stated(message) {
            let why = match message {
                Value::Object(_) => "this message has no \"role\"",
                _ => "this message is not an object",
            };
            let misplaced = Misplaced::Unreadable(why);
            return Err(misplaced_at(place(key, index), misplaced));
        }
        self.note(message);
        self.add_read(Message::of(message, Role::User), || place(key, index))
    }

    /// Adds a message that was read; `at` finds its place for a problem.
    pub fn add_read(
        &mut self,
        message: Message,
        at: impl FnOnce() -> usize,
    ) -> Result<(), Problem> {
        let added = self.builder.add(message);
        added.map_err(|misplaced| misplaced_at(at(), misplaced))
    }

    /// Notes the tokens and the model that a message states.
    pub fn note(&mut self, message: &Value) {
        let wrapped = ["kwargs", "data"].iter().find_map(|key| message.get(*key));
        let message = wrapped.filter(|inner| inner.is_object()).unwrap_or(message);
        let usage = ["usage", "usage_metadata", "usageMetadata"]
            .iter()
            .find_map(|key| message.get(*key).filter(|usage| usage.is_object()));
        if let Some(usage) = usage {
            let id = text_at(message, &["id"]).map(str::to_owned);
            self.usage.push((id, usage.clone()));
        }
        let metadata = message.get("response_metadata").unwrap_or(&Value::Null);
        self.note_end(message);
        self.note_end(metadata);
        let model = text_at(message, &["model"]).or_else(|| text_at(metadata, &["model_name"]));
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
    }

    /// Notes why the model stopped; the last answer counts.
    fn note_end(&mut self, answer: &Value) {
        let keys = ["stop_reason", "finish_reason", "finishReason", "reason"];
        if let Some(reason) = text_at(answer, &keys) {
            self.is_cut_off = is_of_limit(reason);
        }
    }

    /// The run with its end; a failed one is valid without an answer.
    pub fn finish_as(
        mut self,
        at: usize,
        ending: Ending,
        error: Option<String>,
    ) -> Result<Transcript, Problem> {
        if ending != Ending::Completed {
            self.builder.begin_answer();
        }
        let transcript = self.finish(at)?;
        Ok(Transcript {
            ending,
            error,
            ..transcript
        })
    }

    pub fn finish(self, at: usize) -> Result<Transcript, Problem> {
        let mut transcript = self.builder.finish(at).map_err(|none| {
            let NoAssistantMessage { left_out } = none;
            let mut description = "this transcript has no assistant message".to_owned();
            if let Some(kind) = left_out.keys().find(|kind| kind.starts_with("message of")) {
                description.push_str(&format!(", but a {kind}"));
            }
            let help = "provide the whole conversation, including the model's answer";
            Problem::new(at, ProblemKind::NoAnswer, description, help)
        })?;
        let counted = self.usage.iter().enumerate().filter(|(index, (id, _))| {
            // Of one answer the last count: its output grows.
            let later = &self.usage[index + 1..];
            id.is_none() || later.first().is_none_or(|(next, _)| next != id)
        });
        for (_, (_, usage)) in counted {
            transcript.usage.add_tokens(usage);
        }
        transcript.model = self.model;
        transcript.is_cut_off = self.is_cut_off;
        Ok(transcript)
    }
}

/// Whether this is why a model stops at its limit of tokens, in the words of any vendor.
pub fn is_of_limit(reason: &str) -> bool {
    let reasons = ["length", "max_tokens", "max_output_tokens"];
    reasons
        .iter()
        .any(|limit| reason.eq_ignore_ascii_case(limit))
}

/// The conversation of messages at a byte offset.
///
/// # Errors
/// A tool's result without its call, a call that cannot be read, or no message of the assistant.
pub fn conversation_of_messages(
    at: usize,
    messages: impl IntoIterator<Item = Message>,
) -> Result<Transcript, Problem> {
    let mut conversation = Conversation::default();
    for message in messages {
        conversation.add_read(message, || at)?;
    }
    conversation.finish(at)
}

fn misplaced_at(at: usize, misplaced: Misplaced) -> Problem {
    match misplaced {
        Misplaced::UnaskedResult(name) => {
            let description = format!("the tool result {name:?} matches no open call before it");
            let help = "provide the whole conversation, including the message with the call";
            Problem::new(at, ProblemKind::UnaskedResult, description, help)
        }
        Misplaced::Unreadable(why) => {
            let help = "use the format of the messages of a vendor's API";
            Problem::new(at, ProblemKind::BadMessage, why, help)
        }
    }
}
