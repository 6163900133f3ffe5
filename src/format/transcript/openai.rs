//! Reads OpenAI transcripts: lists of chat messages, and items of the Responses API.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::VendorUsage;
use super::conversation_builder::{Asker, ConversationBuilder};
use super::{Transcript, content};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::json;
use crate::model::{Json, Measures, RunStatus};

/// An object that contains messages or items: a request, a response, or both in one.
#[derive(Deserialize)]
struct OpenAiConversation<'a> {
    agent: Option<String>,
    case: Option<String>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    model: Option<String>,
    messages: Option<Vec<&'a RawValue>>,
    choices: Option<Vec<Choice<'a>>>,
    instructions: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    output: Option<Vec<&'a RawValue>>,
    usage: Option<VendorUsage>,
    status: Option<String>,
    error: Option<OpenAiErrorForm>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiErrorForm {
    message: Option<String>,
}

/// A chat message or an item: they share their keys.
#[derive(Deserialize)]
struct OpenAiMessage<'a> {
    role: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    refusal: Option<&'a RawValue>,
    tool_calls: Option<Vec<&'a RawValue>>,
    function_call: Option<Function<'a>>,
    tool_call_id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    usage: Option<VendorUsage>,
    model: Option<String>,
}

/// A call of an MCP server or of one of the vendor's tools.
#[derive(Deserialize)]
struct VendorCallForm<'a> {
    server_label: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    outputs: Option<&'a RawValue>,
    results: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct OpenAiCallForm<'a> {
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    custom: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
}

/// Reads the runs of a file: a list of messages, an object that contains one, one of either per line, or one message per line.
pub fn read_openai(
    source: &SourceText,
    documents: &[&RawValue],
) -> Result<Vec<Transcript>, Diagnostics> {
    let lone = |raw: &&RawValue| {
        content::has(raw, |lone: OpenAiMessageProbe<'_>| {
            lone.role.is_some() || lone.kind.is_some()
        })
    };
    if documents.iter().all(lone) {
        return Ok(vec![conversation(
            source,
            json::offset_of(source, documents[0]),
            documents,
        )?]);
    }
    let mut problems = Diagnostics::default();
    let all: Vec<_> = documents
        .iter()
        .filter_map(|raw| problems.keep(samples(source, raw)))
        .flatten()
        .collect();
    problems.or(all)
}

/// The number of alternatives of an answer.
#[derive(Deserialize)]
struct ChoiceCount<'a> {
    #[serde(borrow)]
    choices: Option<Vec<&'a RawValue>>,
}

/// The runs of one object: each alternative of the answer is a sample. Tokens are counted once.
fn samples(source: &SourceText, raw: &RawValue) -> Result<Vec<Transcript>, Diagnostic> {
    let mut several = 0;
    content::has(raw, |count: ChoiceCount<'_>| {
        several = count.choices.map_or(0, |choices| choices.len());
        true
    });
    let mut runs = vec![one(source, raw, 0)?];
    for choice in 1..several {
        runs.push(Transcript {
            metrics: Measures::default(),
            ..one(source, raw, choice)?
        });
    }
    Ok(runs)
}

/// Distinguishes a message from an object that contains messages.
#[derive(Deserialize)]
struct OpenAiMessageProbe<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
}

fn one(source: &SourceText, raw: &RawValue, choice: usize) -> Result<Transcript, Diagnostic> {
    let at = json::offset_of(source, raw);
    if raw.get().starts_with('[') {
        return conversation(source, at, &json::part::<Vec<&RawValue>>(source, raw)?);
    }
    let whole: OpenAiConversation<'_> = content::fields(source, raw)?;
    let mut reading = OpenAiReader {
        source,
        builder: ConversationBuilder::default(),
        usage: Vec::new(),
        model: None,
    };
    if let Some(instructions) = whole.instructions {
        let text = content::text(source, instructions, &mut reading.builder)?;
        reading.builder.add_question(Asker::System, text);
    }
    match whole.input {
        Some(input) if input.get().starts_with('"') => {
            reading
                .builder
                .add_question(Asker::User, content::plain(source, input)?);
        }
        Some(input) => reading.all(&json::part::<Vec<&RawValue>>(source, input)?)?,
        None => {}
    }
    let has_messages = whole.messages.is_some()
        || whole.choices.is_some()
        || whole.output.is_some()
        || whole.input.is_some();
    if !has_messages && whole.error.is_none() {
        let help = "provide a list of messages, or an object with \"messages\", or with \"input\" and \"output\"";
        return Err(source.problem(
            at,
            Code::NO_MESSAGES,
            "this object has no \"messages\"",
            help,
        ));
    }
    reading.all(&whole.messages.unwrap_or_default())?;
    reading.all(&whole.output.unwrap_or_default())?;
    let chosen = whole
        .choices
        .as_deref()
        .and_then(|choices| choices.get(choice));
    let unanswered = match chosen.map(|chosen| (chosen.message, chosen.finish_reason.as_deref())) {
        Some((Some(message), _)) => {
            reading.all(&[message])?;
            None
        }
        Some((None, reason)) => Some(format!(
            "the choice has no message: {}",
            reason.unwrap_or("no reason given")
        )),
        None => None,
    };
    let (status, error) = match (whole.status.as_deref(), whole.error, unanswered) {
        (Some("failed"), error, _) => (RunStatus::Error, error.and_then(|error| error.message)),
        (Some("cancelled"), ..) => (RunStatus::Cancelled, None),
        (Some(status @ ("queued" | "in_progress")), ..) => {
            (RunStatus::Error, Some(format!("still {status}")))
        }
        (_, Some(error), _) => (RunStatus::Error, error.message),
        (_, None, Some(unanswered)) => (RunStatus::Error, Some(unanswered)),
        (_, None, None) => (RunStatus::Completed, None),
    };
    if status != RunStatus::Completed {
        // A failed run is valid without an answer.
        reading.builder.add_answer(String::new());
    }
    let transcript = reading.build_transcript(at, whole.usage)?;
    Ok(Transcript {
        agent: content::name(whole.agent.as_deref(), whole.metadata, "agent"),
        case: content::name(whole.case.as_deref(), whole.metadata, "case"),
        model: whole.model.or(transcript.model),
        status,
        error,
        ..transcript
    })
}

fn conversation(
    source: &SourceText,
    at: usize,
    messages: &[&RawValue],
) -> Result<Transcript, Diagnostic> {
    let mut reading = OpenAiReader {
        source,
        builder: ConversationBuilder::default(),
        usage: Vec::new(),
        model: None,
    };
    reading.all(messages)?;
    reading.build_transcript(at, None)
}

struct OpenAiReader<'a> {
    source: &'a SourceText,
    builder: ConversationBuilder,
    usage: Vec<VendorUsage>,
    model: Option<String>,
}

impl OpenAiReader<'_> {
    fn all(&mut self, messages: &[&RawValue]) -> Result<(), Diagnostic> {
        messages.iter().try_for_each(|raw| self.message(raw))
    }

    fn build_transcript(
        self,
        at: usize,
        whole: Option<VendorUsage>,
    ) -> Result<Transcript, Diagnostic> {
        let mut transcript = content::finish_transcript(self.source, at, self.builder)?;
        let counted = whole.map_or(self.usage, |usage| vec![usage]);
        counted
            .into_iter()
            .for_each(|usage| usage.add_to(&mut transcript.metrics));
        Ok(Transcript {
            model: self.model,
            ..transcript
        })
    }

    fn message(&mut self, raw: &RawValue) -> Result<(), Diagnostic> {
        let message: OpenAiMessage<'_> = content::fields(self.source, raw)?;
        content::refuse_foreign_calls(self.source, raw)?;
        self.usage.extend(message.usage);
        if message.model.is_some() {
            self.model.clone_from(&message.model);
        }
        match message.kind.as_deref() {
            None | Some("message") => self.chat(raw, message),
            Some(_) => self.item(raw, message),
        }
    }

    fn chat(&mut self, raw: &RawValue, message: OpenAiMessage<'_>) -> Result<(), Diagnostic> {
        let role = message.role.as_deref();
        if let (Some("tool"), Some(id)) = (role, &message.tool_call_id) {
            let answered = self
                .builder
                .answered(id, content::result(message.content), None);
            return answered.map_err(content::unasked(self.source, raw, id));
        }
        if let (Some("function"), Some(name)) = (role, &message.name) {
            let answered = self
                .builder
                .answered_by_name(name, content::result(message.content));
            return answered.map_err(content::unasked(self.source, raw, name));
        }
        let asker = match role {
            Some("assistant") => return self.assistant(message),
            Some("system" | "developer") => Asker::System,
            Some("user") => Asker::User,
            Some("tool") => {
                return Err(self.refuse(raw, "this tool result has no \"tool_call_id\""));
            }
            Some("function") => {
                return Err(self.refuse(raw, "this function result has no \"name\""));
            }
            Some(other) => return Err(self.refuse(raw, &format!("unknown role {other:?}"))),
            None => return Err(self.refuse(raw, "this message has no \"role\"")),
        };
        let text = self.text(message.content)?;
        self.builder.add_question(asker, text);
        Ok(())
    }

    fn assistant(&mut self, message: OpenAiMessage<'_>) -> Result<(), Diagnostic> {
        let text = match self.text(message.content)? {
            text if text.is_empty() => self.text(message.refusal)?,
            text => text,
        };
        self.builder.add_answer(text);
        for raw in message.tool_calls.unwrap_or_default() {
            let call: OpenAiCallForm<'_> = content::fields(self.source, raw)?;
            let Some(function) = call.function.or(call.custom) else {
                return Err(self.refuse(raw, "this tool call has no \"function\""));
            };
            self.call(call.id, function)?;
        }
        match message.function_call {
            Some(function) => self.call(None, function),
            None => Ok(()),
        }
    }

    fn call(&mut self, id: Option<String>, function: Function<'_>) -> Result<(), Diagnostic> {
        let arguments = content::arguments(self.source, function.arguments.or(function.input))?;
        self.builder.called(id, function.name, arguments);
        Ok(())
    }

    fn item(&mut self, raw: &RawValue, message: OpenAiMessage<'_>) -> Result<(), Diagnostic> {
        match (message.kind.as_deref(), message.name, message.call_id) {
            (Some("function_call" | "custom_tool_call"), Some(name), id) => {
                let (arguments, input) = (message.arguments, message.input);
                self.call(
                    id,
                    Function {
                        name,
                        arguments,
                        input,
                    },
                )?;
            }
            (Some("reasoning"), ..) => self.builder.left_out("reasoning"),
            (Some(kind @ ("function_call" | "custom_tool_call")), None, _) => {
                return Err(self.refuse(raw, &format!("this {kind} has no \"name\"")));
            }
            (Some(kind @ ("function_call_output" | "custom_tool_call_output")), _, None) => {
                return Err(self.refuse(raw, &format!("this {kind} has no \"call_id\"")));
            }
            (Some(kind), name, id) if kind.ends_with("_call") => {
                self.vendor_call(kind, name, id, raw)?
            }
            (Some(kind), _, Some(id)) if kind.ends_with("_call_output") => {
                let answered = self
                    .builder
                    .answered(&id, content::result(message.output), None);
                answered.map_err(content::unasked(self.source, raw, &id))?;
            }
            (Some(kind), ..) => {
                content::refuse_foreign_call(self.source, raw, kind)?;
                self.builder.kept(Json::from(raw.get()));
            }
            (None, ..) => self.builder.kept(Json::from(raw.get())),
        }
        Ok(())
    }

    /// A call of an MCP server, or of one of the vendor's own tools. Each of these has other keys: all but those of the result are its
    /// arguments.
    fn vendor_call(
        &mut self,
        kind: &str,
        name: Option<String>,
        id: Option<String>,
        raw: &RawValue,
    ) -> Result<(), Diagnostic> {
        let VendorCallForm {
            server_label,
            arguments,
            output,
            outputs,
            results,
            result,
            error,
            mut others,
        } = content::fields(self.source, raw)?;
        let name = name.unwrap_or_else(|| kind.trim_end_matches("_call").to_owned());
        ["type", "id", "call_id", "name", "status"]
            .iter()
            .for_each(|key| drop(others.remove(*key)));
        let arguments = match arguments {
            Some(arguments) => content::arguments(self.source, Some(arguments))?,
            None => Json::from(serde_json::Value::Object(others).to_string()),
        };
        let is_answered_later = id.is_some();
        self.builder.called(id, name, arguments);
        self.builder.served_by(server_label);
        if !is_answered_later {
            let error = error
                .filter(|error| error.get() != "null")
                .map(|error| content::error_text(error.get()));
            self.builder.answered_at_once(
                content::result(output.or(outputs).or(results).or(result)),
                error,
            );
        }
        Ok(())
    }

    fn text(&mut self, raw: Option<&RawValue>) -> Result<String, Diagnostic> {
        raw.map_or(Ok(String::new()), |raw| {
            content::text(self.source, raw, &mut self.builder)
        })
    }

    fn refuse(&self, raw: &RawValue, what: &str) -> Diagnostic {
        let help = "use the format of the chat completions or the Responses API";
        self.source.problem(
            json::offset_of(self.source, raw),
            Code::BAD_MESSAGE,
            what,
            help,
        )
    }
}
