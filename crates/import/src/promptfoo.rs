//! Reads the output of promptfoo (`promptfoo eval -o out.json`): each result is a run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::calls::{calls_within, each_once};
use crate::case_key::as_id;
use crate::conversations::conversation_of_messages;
use crate::loose;
use crate::message::{CallPart, Message, Part, Role, plain, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::{Source, element_offsets};
use crate::transcript::{Ending, Transcript, Usage};

/// Why an answer is of no use.
const CACHED: &str = "promptfoo answered from its cache, so perhaps with what an earlier agent answered: run `promptfoo eval --no-cache`";

/// Reads the results of an output; a config has none.
pub(crate) fn read_promptfoo(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut runs = Vec::new();
    for document in &source.documents {
        let outer = document.value.get("results");
        let inner = outer.and_then(|outer| outer.get("results"));
        let Some(results) = inner.or(outer).and_then(Value::as_array) else {
            continue;
        };
        let keys = ["results"; 2];
        let keys = &keys[..if inner.is_some() { 2 } else { 1 }];
        let places = element_offsets(source.text, document.raw, keys);
        let ids = CaseIds::of_results(results);
        for (result, at) in results.iter().zip(places) {
            runs.push(run(at, result, &ids));
        }
    }
    all_or_problems(runs)
}

fn run(at: usize, result: &Value, ids: &CaseIds) -> Result<Transcript, Problem> {
    let null = Value::Null;
    let (response, provider) = (&result["response"], &result["provider"]);
    let prompt = &result["prompt"]["raw"];
    let input = asked(prompt, result["testCase"].get("vars")).unwrap_or_default();
    let mut messages = Vec::new();
    let whole = prompt.as_str().filter(|whole| *whole != input);
    if let Some(whole) = whole.filter(|_| loose::embedded(prompt).is_string()) {
        messages.push(Message::of(&json!({ "content": whole }), Role::System));
    }
    messages.push(Message::of(&json!({ "content": input }), Role::User));
    let output = response.get("output").filter(|output| !output.is_null());
    // A failed assertion is written as an error, too; then there is an output.
    let of_provider = response.get("error").filter(|error| !error.is_null());
    let is_failed = output.is_none()
        || of_provider.is_some()
        || result["failureReason"].as_u64() == Some(FAILED);
    let failed = of_provider
        .or_else(|| result.get("error"))
        .and_then(Value::as_str)
        .filter(|_| is_failed);
    // What is behind an address may have changed since; another provider is asked again where its prompt or its file did.
    let is_of_server = text_at(provider, &["id"]).is_some_and(|id| id.starts_with("http"));
    let is_cached = is_of_server && response.get("cached").and_then(Value::as_bool) == Some(true);
    let failed = if is_cached { Some(CACHED) } else { failed };
    let said = output.map(|output| Part::Text(plain(output)));
    messages.push(Message {
        role: Role::Assistant,
        parts: said
            .into_iter()
            .chain(calls(response).into_iter().map(Part::Call))
            .collect(),
    });
    let transcript = conversation_of_messages(at, messages)?;
    let mut usage = Usage {
        cost_usd: result["cost"].as_f64(),
        latency_ms: result["latencyMs"].as_u64(),
        ..Usage::default()
    };
    usage.add_tokens(response.get("tokenUsage").unwrap_or(&null));
    let named = text_at(provider, &["label", "id"]);
    let prompt = result["promptIdx"].as_u64();
    Ok(Transcript {
        agent: named.map(as_id),
        variant: prompt.map(|index| format!("prompt {}", index + 1)),
        case: Some(ids.id(&result["testCase"], index_of(result))),
        ending: if is_failed || is_cached {
            Ending::Error
        } else {
            Ending::Completed
        },
        error: failed.map(str::to_owned),
        usage,
        ..transcript
    })
}

/// What promptfoo writes as the reason of a failure that is an error (`ResultFailureReason.ERROR`), in place of a failed assertion.
const FAILED: u64 = 2;

/// The calls of a response: providers give them as the output, in the answer of the API as it was, or in their metadata.
fn calls(response: &Value) -> Vec<CallPart> {
    let raw = response
        .get("raw")
        .filter(|raw| Some(*raw) != response.get("output"));
    let raw = calls_within(&raw.map(loose::embedded).unwrap_or_default());
    let others = response
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != "raw");
    each_once(others.flat_map(|(_, value)| calls_within(value)).chain(raw))
}

/// The ids of the cases of a list of tests. Tests with the same words get different ids, in their order: `refund`, `refund-2`.
pub struct CaseIds(BTreeMap<(u64, String), String>);

impl CaseIds {
    /// The ids of tests, each with its index.
    pub fn of<'a>(tests: impl Iterator<Item = (u64, &'a Value)>) -> Self {
        let stated: BTreeSet<(u64, String)> = tests
            .map(|(index, test)| (index, case_id(test, index)))
            .collect();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let words: BTreeSet<String> = stated.iter().map(|(_, id)| id.clone()).collect();
        let mut ids = BTreeMap::new();
        for (index, words_of_test) in stated {
            let numbered = (2..).map(|number: u32| format!("{words_of_test}-{number}"));
            // A number that another test has in its own words is not used.
            let numbered = numbered.filter(|id| !words.contains(id));
            let id = std::iter::once(words_of_test.clone())
                .chain(numbered)
                .find(|id| !taken.contains(id));
            let id = id.unwrap_or_else(|| words_of_test.clone());
            taken.insert(id.clone());
            ids.insert((index, words_of_test), id);
        }
        Self(ids)
    }

    /// The ids of the tests of results; several results may be of one test.
    pub fn of_results<'a>(results: impl IntoIterator<Item = &'a Value>) -> Self {
        let tests = results
            .into_iter()
            .filter_map(|result| Some((index_of(result), result.get("testCase")?)));
        Self::of(tests)
    }

    /// The id of the case of a test.
    pub fn id(&self, test: &Value, index: u64) -> String {
        let words = case_id(test, index);
        self.0
            .get(&(index, words.clone()))
            .cloned()
            .unwrap_or(words)
    }
}

/// The index of the test of a result.
pub fn index_of(result: &Value) -> u64 {
    result.get("testIdx").and_then(Value::as_u64).unwrap_or(0)
}

/// The id of a test's case: that of its metadata, else the words of its description, else its number.
fn case_id(test: &Value, index: u64) -> String {
    let named = test
        .get("metadata")
        .and_then(|metadata| metadata.get("id")?.as_str());
    let described = test
        .get("description")
        .and_then(Value::as_str)
        .map(id_of_words);
    let id = named
        .map(str::to_owned)
        .or(described)
        .filter(|id| !id.is_empty());
    id.unwrap_or_else(|| format!("test-{}", index + 1))
}

/// The words of a description in lower case, such as `a-refund-is-refused`.
fn id_of_words(text: &str) -> String {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-").chars().take(80).collect()
}

/// What a prompt asks: its text, or the last message of the user in it.
pub fn asked(prompt: &Value, vars: Option<&Value>) -> Option<String> {
    let messages = loose::embedded(prompt);
    let last = messages.as_array().and_then(|messages| {
        let of_user = messages
            .iter()
            .rfind(|message| message.get("role").and_then(Value::as_str) == Some("user"));
        of_user?.get("content")?.as_str()
    });
    match last {
        Some(last) => Some(last.to_owned()),
        None => prompt
            .as_str()
            .map(|whole| variables_in(whole, vars).unwrap_or_else(|| whole.to_owned())),
    }
}

/// The variables of a test that the prompt has: these are the input, and the rest is the agent's own prompt. One is its value alone, several
/// are lines with their names. `None` if it has none.
fn variables_in(prompt: &str, vars: Option<&Value>) -> Option<String> {
    let mut variables: Vec<(&String, String)> = Vec::new();
    for (name, value) in vars?.as_object()? {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        if !text.trim().is_empty() && prompt.contains(text.as_str()) {
            variables.push((name, text));
        }
    }
    match variables.as_slice() {
        [] => None,
        [(_, value)] => Some(value.clone()),
        several => Some(
            several
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::asked;

    #[test]
    fn the_input_is_what_the_variables_say() {
        let prompt = json!("Answer kindly. Ada asks in 2 lines: who won?");
        for (vars, input) in [
            (json!({ "q": "who won?" }), "who won?"),
            (
                json!({ "q": "who won?", "expected": "Subject B" }),
                "who won?",
            ),
            (
                json!({ "name": "Ada", "lines": 2, "q": "who won?" }),
                "lines: 2\nname: Ada\nq: who won?",
            ),
            (
                json!({ "q": "something else", "empty": " ", "list": ["Ada"] }),
                "Answer kindly. Ada asks in 2 lines: who won?",
            ),
        ] {
            assert_eq!(
                asked(&prompt, Some(&vars)).as_deref(),
                Some(input),
                "{vars}"
            );
        }
    }
}
