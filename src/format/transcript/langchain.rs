//! Reads dumps of LangChain's messages: `messages_to_dict`, `dumpd`, `model_dump`, and states with a list of messages.

use serde_json::Value;
use serde_json::value::RawValue;

use super::loose_message::{LooseMessage, add_tokens, conversation};
use super::recorded_run::Transcript;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::json;
use crate::model::Measures;

/// Reads one conversation for each document.
pub fn read_langchain(
    source: &SourceText,
    documents: &[&RawValue],
) -> Result<Vec<Transcript>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let runs: Vec<Transcript> = documents
        .iter()
        .filter_map(|raw| problems.keep(run(source, raw)))
        .collect();
    problems.or(runs)
}

fn run(source: &SourceText, raw: &RawValue) -> Result<Transcript, Diagnostic> {
    let at = json::offset_of(source, raw);
    let value: Value = json::part(source, raw)?;
    let whole = value
        .get("kwargs")
        .filter(|_| value.get("messages").is_none())
        .unwrap_or(&value);
    let messages = whole
        .as_array()
        .or_else(|| whole.get("messages")?.as_array())
        .ok_or_else(|| {
            let help = "provide a list of messages, or an object with \"messages\"";
            source.problem(
                at,
                Code::NO_MESSAGES,
                "this object has no \"messages\"",
                help,
            )
        })?;
    let read: Vec<LooseMessage> = messages
        .iter()
        .map(|message| LooseMessage::of(message, "user"))
        .collect();
    let (mut metrics, mut model) = (Measures::default(), None);
    for message in messages {
        let fields = ["kwargs", "data"]
            .iter()
            .find_map(|key| message.get(*key))
            .unwrap_or(message);
        if let Some(usage) = fields.get("usage_metadata") {
            add_tokens(&mut metrics, usage);
        }
        let named = fields
            .get("response_metadata")
            .and_then(|metadata| metadata.get("model_name")?.as_str());
        model = named.map(str::to_owned).or(model);
    }
    let text = |key: &str| whole.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(Transcript {
        agent: text("agent"),
        case: text("case"),
        metrics,
        model,
        ..conversation(source, at, &read)?
    })
}
