//! Reads Anthropic transcripts: messages with content blocks.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::VendorUsage;
use super::conversation_builder::{Asker, ConversationBuilder};
use super::{Transcript, content};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::json;
use crate::model::{Json, RunStatus};

/// An object that contains messages.
#[derive(Deserialize)]
struct AnthropicConversation<'a> {
    agent: Option<String>,
    case: Option<String>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    model: Option<String>,
    system: Option<&'a RawValue>,
    messages: Option<Vec<&'a RawValue>>,
    usage: Option<VendorUsage>,
    error: Option<AnthropicErrorForm>,
}

#[derive(Deserialize)]
struct AnthropicErrorForm {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

/// A message, in a conversation or as a response.
#[derive(Deserialize)]
struct AnthropicMessage<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    model: Option<String>,
    usage: Option<VendorUsage>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    id: Option<String>,
    name: Option<String>,
    server_name: Option<String>,
    input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

/// Distinguishes a message from an object that contains messages.
#[derive(Deserialize)]
struct AnthropicMessageProbe<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
}

/// Reads the runs of a file: a list of messages, an object that contains one, one of either per line, or one message per line.
pub fn read_anthropic(
    source: &SourceText,
    documents: &[&RawValue],
) -> Result<Vec<Transcript>, Diagnostics> {
    let lone =
        |raw: &&RawValue| content::has(raw, |lone: AnthropicMessageProbe<'_>| lone.role.is_some());
    if documents.iter().all(lone) {
        let reading = AnthropicReader::new(source);
        return Ok(vec![reading.build_transcript(
            json::offset_of(source, documents[0]),
            documents,
            None,
        )?]);
    }
    let mut problems = Diagnostics::default();
    let all: Vec<_> = documents
        .iter()
        .filter_map(|raw| problems.keep(one(source, raw)))
        .collect();
    problems.or(all)
}

fn one(source: &SourceText, raw: &RawValue) -> Result<Transcript, Diagnostic> {
    let at = json::offset_of(source, raw);
    let mut reading = AnthropicReader::new(source);
    if raw.get().starts_with('[') {
        return reading.build_transcript(at, &json::part::<Vec<&RawValue>>(source, raw)?, None);
    }
    let whole: AnthropicConversation<'_> = content::fields(source, raw)?;
    let Some(messages) = whole
        .messages
        .or_else(|| whole.error.is_some().then(Vec::new))
    else {
        let help = "provide a list of messages, or an object with \"messages\"";
        return Err(source.problem(
            at,
            Code::NO_MESSAGES,
            "this object has no \"messages\"",
            help,
        ));
    };
    if let Some(system) = whole.system {
        let text = content::text(source, system, &mut reading.builder)?;
        reading.builder.add_question(Asker::System, text);
    }
    let failed = whole.error.map(|error| error.message.or(error.kind));
    if failed.is_some() {
        // A failed run is valid without an answer.
        messages.iter().try_for_each(|raw| reading.message(raw))?;
        reading.builder.add_answer(String::new());
    }
    let rest = if failed.is_some() {
        &[]
    } else {
        messages.as_slice()
    };
    let transcript = reading.build_transcript(at, rest, whole.usage)?;
    Ok(Transcript {
        status: if failed.is_some() {
            RunStatus::Error
        } else {
            RunStatus::Completed
        },
        error: failed.flatten(),
        agent: content::name(whole.agent.as_deref(), whole.metadata, "agent"),
        case: content::name(whole.case.as_deref(), whole.metadata, "case"),
        model: whole.model.or(transcript.model),
        ..transcript
    })
}

struct AnthropicReader<'a> {
    source: &'a SourceText,
    builder: ConversationBuilder,
    usage: Vec<VendorUsage>,
    model: Option<String>,
}

impl<'a> AnthropicReader<'a> {
    fn new(source: &'a SourceText) -> Self {
        Self {
            source,
            builder: ConversationBuilder::default(),
            usage: Vec::new(),
            model: None,
        }
    }

    fn build_transcript(
        mut self,
        at: usize,
        messages: &[&RawValue],
        whole: Option<VendorUsage>,
    ) -> Result<Transcript, Diagnostic> {
        messages.iter().try_for_each(|raw| self.message(raw))?;
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
        let message: AnthropicMessage<'_> = content::fields(self.source, raw)?;
        content::refuse_foreign_calls(self.source, raw)?;
        self.usage.extend(message.usage);
        if message.model.is_some() {
            self.model = message.model;
        }
        let blocks: Vec<&RawValue> = match message.content {
            Some(content) if content.get().starts_with('[') => json::part(self.source, content)?,
            Some(_) | None => Vec::new(),
        };
        let text = match (message.content, blocks.is_empty()) {
            (Some(content), true) => content::text(self.source, content, &mut self.builder)?,
            (Some(_), false) => self.texts(&blocks)?,
            (None, _) => return Err(self.refuse(raw, "this message has no \"content\"")),
        };
        match message.role.as_deref() {
            Some("assistant") => self.builder.add_answer(text),
            Some("system") => self.builder.add_question(Asker::System, text),
            Some("user") => self.builder.add_question(Asker::User, text),
            Some(other) => return Err(self.refuse(raw, &format!("unknown role {other:?}"))),
            None => return Err(self.refuse(raw, "this message has no \"role\"")),
        }
        blocks.iter().try_for_each(|raw| self.block(raw))
    }

    fn texts(&self, blocks: &[&RawValue]) -> Result<String, Diagnostic> {
        let mut whole = String::new();
        for raw in blocks {
            let block: ContentBlock<'_> = content::fields(self.source, raw)?;
            if let Some(text) = block.text.filter(|_| block.kind == "text") {
                whole.push_str(&content::plain(self.source, text)?);
            }
        }
        Ok(whole)
    }

    /// Reads a tool call or its result. Server tools and MCP tools have the same keys under longer type names.
    fn block(&mut self, raw: &RawValue) -> Result<(), Diagnostic> {
        let block: ContentBlock<'_> = content::fields(self.source, raw)?;
        let kind = block.kind.as_str();
        if kind == "tool_use" || kind.ends_with("_tool_use") {
            let Some(name) = block.name else {
                return Err(self.refuse(raw, "this call has no \"name\""));
            };
            let input = block
                .input
                .map_or_else(Json::default, |input| Json::from(input.get()));
            self.builder.called(block.id, name, input);
            self.builder.served_by(block.server_name);
        } else if kind == "tool_result" || kind.ends_with("_tool_result") {
            let Some(id) = block.tool_use_id else {
                return Err(self.refuse(raw, "this tool result has no \"tool_use_id\""));
            };
            let result = content::result(block.content);
            let error = block
                .is_error
                .filter(|error| *error)
                .map(|_| content::error_text(result.text()));
            let answered = self.builder.answered(&id, result, error);
            answered.map_err(content::unasked(self.source, raw, &id))?;
        } else if kind != "text" {
            content::refuse_foreign_call(self.source, raw, kind)?;
            self.builder.left_out(kind);
        }
        Ok(())
    }

    fn refuse(&self, raw: &RawValue, what: &str) -> Diagnostic {
        let help = "use the format of the messages API";
        self.source.problem(
            json::offset_of(self.source, raw),
            Code::BAD_MESSAGE,
            what,
            help,
        )
    }
}
