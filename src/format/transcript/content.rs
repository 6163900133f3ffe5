//! What messages of all vendors have in common: texts in parts, counts of tokens, names beside them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Transcript;
use super::conversation_builder::{ConversationBuilder, NoAssistantMessage, UnmatchedResult};
use crate::diag::Diagnostic;
use crate::format::source::SourceText;
use crate::format::{json, lenient};
use crate::model::{Json, Measures};

/// A text, or the texts of a list's parts one after the other; parts of another type are counted as left out.
pub fn text(source: &SourceText, raw: &RawValue, telling: &mut ConversationBuilder) -> Result<String, Diagnostic> {
    match raw.get().as_bytes().first() {
        Some(b'"') => plain(source, raw),
        Some(b'n') => Ok(String::new()),
        Some(b'[') => {
            let mut whole = String::new();
            for part in json::part::<Vec<&RawValue>>(source, raw)? {
                let form: PartForm<'_> = fields(source, part)?;
                match form.text.or(form.refusal).filter(|_| form.is_text()) {
                    Some(text) => whole.push_str(&plain(source, text)?),
                    None => telling.left_out(&form.kind),
                }
            }
            Ok(whole)
        }
        _ => {
            let help = "write a text, or a list of parts";
            Err(source.problem(json::offset_of(source, raw), "wrong-type", "this content is no text", help))
        }
    }
}

/// An object's fields. A list would be read as the same fields in their order: nobody means that.
pub fn fields<'a, T: Deserialize<'a>>(source: &'a SourceText, raw: &'a RawValue) -> Result<T, Diagnostic> {
    match raw.get().starts_with('{') {
        true => json::part(source, raw),
        false => {
            Err(source.problem(json::offset_of(source, raw), "wrong-type", "this is no object", "write an object"))
        }
    }
}

/// The same, for a look ahead: whether it is an object with such fields.
pub fn has<'a, T: Deserialize<'a>>(raw: &'a RawValue, such: impl FnOnce(T) -> bool) -> bool {
    raw.get().starts_with('{') && serde_json::from_str(raw.get()).is_ok_and(such)
}

/// A JSON text, in which half of a surrogate pair is no error: a cut emoji leaves one.
pub fn plain(source: &SourceText, raw: &RawValue) -> Result<String, Diagnostic> {
    match lenient::any(raw.get()) {
        Ok(Value::String(text)) => Ok(text),
        Ok(_) | Err(_) => json::part(source, raw),
    }
}

#[derive(Deserialize)]
struct PartForm<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

impl PartForm<'_> {
    fn is_text(&self) -> bool {
        matches!(self.kind.as_str(), "text" | "input_text" | "output_text" | "refusal")
    }
}

/// What a tool answered: its text where that is all, else the parts as they were written.
pub fn result(raw: Option<&RawValue>) -> Json {
    let Some(raw) = raw else { return Json::null() };
    let parts: Vec<PartForm<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    match parts.as_slice() {
        [only] if only.is_text() => only.text.map_or_else(Json::null, |text| Json::from(text.get())),
        _ => Json::from(raw.get()),
    }
}

/// Arguments that were written as JSON in a text; a text that holds none stays one.
pub fn arguments(source: &SourceText, raw: Option<&RawValue>) -> Result<Json, Diagnostic> {
    let Some(raw) = raw else { return Ok(Json::default()) };
    if !raw.get().starts_with('"') {
        return Ok(Json::from(raw.get()));
    }
    let text = plain(source, raw)?;
    Ok(match serde_json::from_str::<&RawValue>(&text) {
        Ok(_) => Json::from(text),
        Err(_) if text.trim().is_empty() => Json::default(),
        Err(_) => Json::from(raw.get()),
    })
}

/// Tokens, as every vendor counts them.
#[derive(Deserialize, Default, Clone, Copy)]
pub struct VendorUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl VendorUsage {
    /// Adds what one answer took.
    pub fn add_to(self, metrics: &mut Measures) {
        // Anthropic counts what it read from its cache, or wrote there, beside the input.
        let cached = [self.cache_creation_input_tokens, self.cache_read_input_tokens].into_iter().flatten();
        let input = self.prompt_tokens.or(self.input_tokens).map(|input| cached.fold(input, u64::saturating_add));
        let output = self.completion_tokens.or(self.output_tokens);
        let both = (input.is_some() || output.is_some()).then(|| sum(input, output));
        add(&mut metrics.input_tokens, input);
        add(&mut metrics.output_tokens, output);
        add(&mut metrics.total_tokens, self.total_tokens.or(both));
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> u64 {
    one.unwrap_or(0).saturating_add(other.unwrap_or(0))
}

/// Adds a count where there is one; what was never counted stays unknown.
pub fn add(total: &mut Option<u64>, more: Option<u64>) {
    if more.is_some() {
        *total = Some(sum(*total, more));
    }
}

/// Names that stand beside the messages: `agent` and `case`, or the same in `metadata`.
pub fn name(stated: Option<&str>, metadata: Option<&RawValue>, key: &str) -> Option<String> {
    let inner = || Some(lenient::any(metadata?.get()).ok()?.get(key)?.as_str()?.to_owned());
    stated.map(str::to_owned).or_else(inner)
}

/// A transcript that ends without an answer.
pub fn finish_transcript(
    source: &SourceText,
    at: usize,
    telling: ConversationBuilder,
) -> Result<Transcript, Diagnostic> {
    telling.finish(at).map_err(|NoAssistantMessage| {
        let help = "give the whole conversation, with what the model answered";
        source.problem(at, "no-answer", "there is no message of an assistant in this transcript", help)
    })
}

/// An answer of a tool that no call waits for.
pub fn unasked(source: &SourceText, raw: &RawValue, name: &str) -> impl FnOnce(UnmatchedResult) -> Diagnostic {
    let what = format!("the tool answer {name:?} belongs to no open call before it");
    let problem = source.problem(
        json::offset_of(source, raw),
        "answer-without-call",
        what,
        "give the whole conversation, with the message that made the call",
    );
    |UnmatchedResult| problem
}
