//! Parses what messages of all vendors share: text parts, token counts, names.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Transcript;
use super::conversation_builder::{ConversationBuilder, NoAssistantMessage, UnmatchedResult};
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::{json, lenient};
use crate::model::{Json, Measures};

/// The text of a content: a text, or the joined text parts of a list. Parts of other types are counted as left out.
pub fn text(
    source: &SourceText,
    raw: &RawValue,
    builder: &mut ConversationBuilder,
) -> Result<String, Diagnostic> {
    match raw.get().as_bytes().first() {
        Some(b'"') => plain(source, raw),
        Some(b'n') => Ok(String::new()),
        Some(b'[') => {
            let mut whole = String::new();
            for part in json::part::<Vec<&RawValue>>(source, raw)? {
                let form: PartForm<'_> = fields(source, part)?;
                match form.text.or(form.refusal).filter(|_| form.is_text()) {
                    Some(text) => whole.push_str(&plain(source, text)?),
                    None => {
                        refuse_foreign_call(source, part, &form.kind)?;
                        builder.left_out(&form.kind);
                    }
                }
            }
            Ok(whole)
        }
        _ => {
            let help = "write a text, or a list of parts";
            Err(source.problem(
                json::offset_of(source, raw),
                Code::WRONG_TYPE,
                "this content is not a string",
                help,
            ))
        }
    }
}

/// The error for a call in the form of another library: left out, the recording would say that it was never made.
pub fn foreign_call(source: &SourceText, raw: &RawValue, form: &str) -> Diagnostic {
    let what = format!("{form:?} is a call in a form that this format does not have");
    let help = "dump the messages as they were sent to the model, or import them as langchain";
    source.problem(json::offset_of(source, raw), Code::BAD_MESSAGE, what, help)
}

/// Refuses a part whose type is one of calls.
pub fn refuse_foreign_call(
    source: &SourceText,
    raw: &RawValue,
    kind: &str,
) -> Result<(), Diagnostic> {
    if is_type_of_call(kind) {
        Err(foreign_call(source, raw, kind))
    } else {
        Ok(())
    }
}

/// Refuses a message that has calls in a form of its own: `toolInvocations`, `toolCalls`, or `parts`.
pub fn refuse_foreign_calls(source: &SourceText, raw: &RawValue) -> Result<(), Diagnostic> {
    let own: ForeignCalls<'_> = fields(source, raw)?;
    let is_filled =
        |list: &Option<&RawValue>| list.is_some_and(|list| !matches!(list.get(), "null" | "[]"));
    let lists = [
        ("toolInvocations", own.tool_invocations),
        ("toolCalls", own.tool_calls),
    ];
    if let Some((key, _)) = lists.iter().find(|(_, list)| is_filled(list)) {
        return Err(foreign_call(source, raw, key));
    }
    let parts: Vec<Value> = own
        .parts
        .and_then(|parts| lenient::any(parts.get()).ok()?.as_array().cloned())
        .unwrap_or_default();
    parts
        .iter()
        .filter_map(|part| part.get("type")?.as_str())
        .try_for_each(|kind| refuse_foreign_call(source, raw, kind))
}

/// The keys under which other libraries keep calls.
#[derive(Deserialize)]
struct ForeignCalls<'a> {
    #[serde(borrow, rename = "toolInvocations")]
    tool_invocations: Option<&'a RawValue>,
    #[serde(rename = "toolCalls")]
    tool_calls: Option<&'a RawValue>,
    parts: Option<&'a RawValue>,
}

/// Reads an object. A list is refused: serde would read it as the fields in order.
pub fn fields<'a, T: Deserialize<'a>>(
    source: &'a SourceText,
    raw: &'a RawValue,
) -> Result<T, Diagnostic> {
    match raw.get().starts_with('{') {
        true => json::part(source, raw),
        false => Err(source.problem(
            json::offset_of(source, raw),
            Code::WRONG_TYPE,
            "this is not an object",
            "write an object",
        )),
    }
}

/// Whether the value is an object for which `such` is true.
pub fn has<'a, T: Deserialize<'a>>(raw: &'a RawValue, such: impl FnOnce(T) -> bool) -> bool {
    raw.get().starts_with('{') && serde_json::from_str(raw.get()).is_ok_and(such)
}

/// Reads a JSON string; half a surrogate pair, which a truncated emoji leaves, is accepted.
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
    refusal: Option<&'a RawValue>,
}

impl PartForm<'_> {
    fn is_text(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "text" | "input_text" | "output_text" | "refusal"
        )
    }
}

/// A tool's result: its text if that is all, else the parts as written.
pub fn result(raw: Option<&RawValue>) -> Json {
    let Some(raw) = raw else { return Json::null() };
    let parts: Vec<PartForm<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    match parts.as_slice() {
        [only] if only.is_text() => only
            .text
            .map_or_else(Json::null, |text| Json::from(text.get())),
        _ => Json::from(raw.get()),
    }
}

/// The error text of a failed tool, from its JSON.
pub fn error_text(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// Arguments that are JSON inside a string; a string without valid JSON stays a string.
pub fn arguments(source: &SourceText, raw: Option<&RawValue>) -> Result<Json, Diagnostic> {
    let Some(raw) = raw else {
        return Ok(Json::default());
    };
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

/// Token counts under the vendors' names.
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
    /// Adds the tokens of one answer.
    pub fn add_to(self, metrics: &mut Measures) {
        // Anthropic counts tokens read from or written to its cache separately from the input.
        let cached = [
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        ]
        .into_iter()
        .flatten();
        let input = self
            .prompt_tokens
            .or(self.input_tokens)
            .map(|input| cached.fold(input, u64::saturating_add));
        let output = self.completion_tokens.or(self.output_tokens);
        let both = input
            .zip(output)
            .map(|(input, output)| input.saturating_add(output));
        add(&mut metrics.input_tokens, input);
        add(&mut metrics.output_tokens, output);
        add(&mut metrics.total_tokens, self.total_tokens.or(both));
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> u64 {
    one.unwrap_or(0).saturating_add(other.unwrap_or(0))
}

/// Adds a count; a total that was never counted stays `None`.
pub fn add(total: &mut Option<u64>, more: Option<u64>) {
    if more.is_some() {
        *total = Some(sum(*total, more));
    }
}

/// The value of `agent` or `case` next to the messages or in `metadata`.
pub fn name(stated: Option<&str>, metadata: Option<&RawValue>, key: &str) -> Option<String> {
    let inner = || {
        Some(
            lenient::any(metadata?.get())
                .ok()?
                .get(key)?
                .as_str()?
                .to_owned(),
        )
    };
    stated.map(str::to_owned).or_else(inner)
}

/// Ends a transcript; one without an answer is an error.
pub fn finish_transcript(
    source: &SourceText,
    at: usize,
    builder: ConversationBuilder,
) -> Result<Transcript, Diagnostic> {
    builder.finish(at).map_err(|NoAssistantMessage| {
        let help = match source.text.contains("\"human\"") {
            true => {
                "these look like messages of LangChain: dump them with `convert_to_openai_messages`"
            }
            false => "provide the whole conversation, including the model's answer",
        };
        source.problem(
            at,
            Code::NO_ANSWER,
            "this transcript has no assistant message",
            help,
        )
    })
}

/// A time in UTC, as recordings have it; `None` if it is not RFC 3339. A time without a zone is one in UTC.
pub fn in_utc(text: &str) -> Option<String> {
    Some(moment(text)?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The moment of an RFC 3339 time.
pub fn moment(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

/// The error for a tool result without an open call.
pub fn unasked(
    source: &SourceText,
    raw: &RawValue,
    name: &str,
) -> impl FnOnce(UnmatchedResult) -> Diagnostic {
    let what = format!("the tool result {name:?} matches no open call before it");
    let problem = source.problem(
        json::offset_of(source, raw),
        Code::ANSWER_WITHOUT_CALL,
        what,
        "provide the whole conversation, including the message with the call",
    );
    |UnmatchedResult| problem
}

/// Whether parts of this type are calls. The Vercel AI SDK has `tool-call`, `tool-invocation`, `dynamic-tool` and `tool-NAME`.
pub fn is_type_of_call(kind: &str) -> bool {
    ["tool_use", "_call", "tool-call", "dynamic-tool"]
        .iter()
        .any(|ending| kind.ends_with(ending))
        || (kind.starts_with("tool-") && !kind.ends_with("tool-result"))
}
