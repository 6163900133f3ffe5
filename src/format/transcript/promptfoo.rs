//! Reads the output of promptfoo (`promptfoo eval -o out.json`): each result is a run.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content;
use super::conversation_builder::{Asker, ConversationBuilder};
use super::found_calls::{calls_within, each_once};
use super::loose_message::{MessagePart, add_call, add_tokens};
use super::recorded_run::Transcript;
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::foreign_cases::{CaseIds, asked, index_of};
use crate::format::{json, lenient};
use crate::model::{Measures, RunStatus};

/// Why an answer is of no use.
const CACHED: &str = "promptfoo answered from its cache, so perhaps with what an earlier agent answered: run `promptfoo eval --no-cache`";

#[derive(Deserialize)]
struct PromptfooOutput<'a> {
    #[serde(borrow)]
    results: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct PromptfooResults<'a> {
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
}

/// Reads the results of an output; a config has none.
pub fn read_promptfoo(
    source: &SourceText,
    documents: &[&RawValue],
) -> Result<Vec<Transcript>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut runs = Vec::new();
    for document in documents {
        let results =
            content::fields::<PromptfooOutput<'_>>(source, document).and_then(
                |output| match output.results {
                    Some(list) if list.get().starts_with('[') => json::part(source, list),
                    Some(inner) => Ok(json::part::<PromptfooResults<'_>>(source, inner)?.results),
                    None => Ok(Vec::new()),
                },
            );
        let results: Vec<&RawValue> = problems.keep(results).unwrap_or_default();
        let results: Vec<(&RawValue, Value)> = results
            .into_iter()
            .filter_map(|raw| Some((raw, problems.keep(json::part(source, raw))?)))
            .collect();
        let ids = CaseIds::of_results(results.iter().map(|(_, result)| result));
        runs.extend(
            results
                .iter()
                .filter_map(|(raw, result)| problems.keep(run(source, raw, result, &ids))),
        );
    }
    problems.or(runs)
}

fn run(
    source: &SourceText,
    raw: &RawValue,
    result: &Value,
    ids: &CaseIds,
) -> Result<Transcript, Diagnostic> {
    let at = json::offset_of(source, raw);
    let null = Value::Null;
    let get = |key: &str| result.get(key).unwrap_or(&null);
    let (response, provider) = (get("response"), get("provider"));
    let mut builder = ConversationBuilder::default();
    let prompt = get("prompt").get("raw").unwrap_or(&null);
    let input = asked(prompt, get("testCase").get("vars")).unwrap_or_default();
    if let Some(whole) = prompt
        .as_str()
        .filter(|whole| *whole != input && lenient::embedded(prompt).is_string())
    {
        builder.add_question(Asker::System, whole.to_owned());
    }
    builder.add_question(Asker::User, input);
    let output = response.get("output").filter(|output| !output.is_null());
    let text = output.map(|output| {
        output
            .as_str()
            .map_or_else(|| output.to_string(), str::to_owned)
    });
    // A failed assertion is written as an error, too; then there is an output.
    let of_provider = response.get("error").filter(|error| !error.is_null());
    let is_failed =
        text.is_none() || of_provider.is_some() || get("failureReason").as_u64() == Some(FAILED);
    let failed = of_provider
        .or_else(|| result.get("error"))
        .and_then(Value::as_str)
        .filter(|_| is_failed);
    // What is behind an address may have changed since; another provider is asked again where its prompt or its file did.
    let is_of_server = provider
        .get("id")
        .and_then(Value::as_str)
        .is_some_and(|id| id.starts_with("http"));
    let is_cached = is_of_server && response.get("cached").and_then(Value::as_bool) == Some(true);
    let failed = if is_cached { Some(CACHED) } else { failed };
    let is_missing = is_failed || is_cached;
    builder.add_answer(text.unwrap_or_default());
    calls(response)
        .iter()
        .for_each(|part| add_call(&mut builder, part));
    let mut metrics = Measures {
        cost_usd: get("cost").as_f64(),
        ..Measures::default()
    };
    add_tokens(&mut metrics, response.get("tokenUsage").unwrap_or(&null));
    metrics.total_latency_ms = get("latencyMs").as_u64();
    let named = ["label", "id"]
        .iter()
        .find_map(|key| provider.get(*key)?.as_str().filter(|name| !name.is_empty()));
    let valid = |one: char| {
        if one.is_ascii_alphanumeric() || matches!(one, '.' | '_' | '-') {
            one
        } else {
            '-'
        }
    };
    let transcript = content::finish_transcript(source, at, builder)?;
    Ok(Transcript {
        agent: named.map(|name| name.chars().map(valid).collect()),
        variant: get("promptIdx")
            .as_u64()
            .map(|index| format!("prompt {}", index + 1)),
        case: Some(ids.id(get("testCase"), index_of(result))),
        status: if is_missing {
            RunStatus::Error
        } else {
            RunStatus::Completed
        },
        error: failed.map(str::to_owned),
        metrics,
        ..transcript
    })
}

/// What promptfoo writes as the reason of a failure that is an error (`ResultFailureReason.ERROR`), in place of a failed assertion.
const FAILED: u64 = 2;

/// The calls of a response: providers give them as the output, in the answer of the API as it was, or in their metadata.
fn calls(response: &Value) -> Vec<MessagePart> {
    let raw = response
        .get("raw")
        .filter(|raw| Some(*raw) != response.get("output"));
    let raw = calls_within(&raw.map(lenient::embedded).unwrap_or_default());
    let others = response
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != "raw");
    each_once(
        others
            .flat_map(|(_, value)| calls_within(value))
            .chain(raw)
            .collect(),
    )
}
