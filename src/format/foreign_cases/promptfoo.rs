//! Reads the tests of a promptfoo config, or of promptfoo's output.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::assertion::{Translated, rendered, translate};
use super::foreign_case::ForeignCase;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::{json, lenient};

/// The cases of a config (`tests`), or of an output (`results`).
///
/// # Errors
/// A file that has no tests.
pub fn promptfoo_cases(source: &SourceText) -> Result<Vec<ForeignCase>, Diagnostic> {
    let whole: Value = json::whole(source)?;
    let results = whole.get("results").map(|results| results.get("results").unwrap_or(results));
    let mut cases = Vec::new();
    let mut seen = BTreeSet::new();
    if let Some(results) = results.and_then(Value::as_array) {
        for result in results {
            let Some(test) = result.get("testCase") else { continue };
            let id = case_id(test, result.get("testIdx").and_then(Value::as_u64).unwrap_or(0));
            let query = result.get("prompt").and_then(|prompt| asked(prompt.get("raw")?)).unwrap_or_default();
            if seen.insert(id.clone()) {
                cases.push(case_of(test, id, query));
            }
        }
        return Ok(cases);
    }
    let Some(tests) = whole.get("tests").and_then(Value::as_array) else {
        let what = "this config has no list of tests";
        let help = "write the tests into the config, or import the output of promptfoo eval -o out.json";
        return Err(source.problem(0, Code::NO_RUN, what, help));
    };
    let prompt = whole.get("prompts").and_then(|prompts| prompts.get(0).or(Some(prompts)));
    let prompt = prompt.and_then(|prompt| prompt.get("raw").unwrap_or(prompt).as_str()).unwrap_or_default();
    for (index, test) in (0..).zip(tests) {
        let test = with_defaults(test, whole.get("defaultTest"));
        let vars = test.get("vars").and_then(Value::as_object).cloned().unwrap_or_default();
        let id = case_id(&test, index);
        let whole = rendered(prompt, &vars).unwrap_or_else(|| prompt.to_owned());
        let query = asked(&Value::String(whole)).unwrap_or_default();
        if seen.insert(id.clone()) {
            cases.push(case_of(&test, id, query));
        }
    }
    Ok(cases)
}

/// The test with the variables and assertions of all tests.
fn with_defaults(test: &Value, defaults: Option<&Value>) -> Value {
    let (mut test, Some(defaults)) = (test.clone(), defaults) else { return test.clone() };
    let Some(fields) = test.as_object_mut() else { return test };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let asserted = [list(defaults.get("assert")), list(fields.get("assert"))].concat();
    fields.insert("assert".to_owned(), Value::Array(asserted));
    let mut vars = defaults.get("vars").and_then(Value::as_object).cloned().unwrap_or_default();
    vars.extend(fields.get("vars").and_then(Value::as_object).cloned().unwrap_or_default());
    fields.insert("vars".to_owned(), Value::Object(vars));
    if let Some(threshold) = defaults.get("threshold") {
        fields.entry("threshold").or_insert_with(|| threshold.clone());
    }
    test
}

/// The id of a test's case: that of its metadata, else the words of its description, else its number.
pub fn case_id(test: &Value, index: u64) -> String {
    let named = test.get("metadata").and_then(|metadata| metadata.get("id")?.as_str());
    let words = |text: &str| {
        let kept = text.chars().map(|one| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { ' ' });
        let words: Vec<String> = kept.collect::<String>().split_whitespace().map(str::to_owned).collect();
        words.join("-").chars().take(80).collect::<String>()
    };
    let described = test.get("description").and_then(Value::as_str).map(words);
    let id = named.map(str::to_owned).or(described).filter(|id| !id.is_empty());
    id.unwrap_or_else(|| format!("test-{}", index + 1))
}

/// What a prompt asks: its text, or the last message of the user in it.
pub fn asked(prompt: &Value) -> Option<String> {
    let messages = lenient::embedded(prompt);
    let of_user = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("user");
    let last = messages.as_array().and_then(|messages| messages.iter().rfind(of_user)?.get("content")?.as_str());
    last.or(prompt.as_str()).map(str::to_owned)
}

fn case_of(test: &Value, id: String, query: String) -> ForeignCase {
    let vars: Map<String, Value> = test.get("vars").and_then(Value::as_object).cloned().unwrap_or_default();
    let asserted = test.get("assert").and_then(Value::as_array).cloned().unwrap_or_default();
    let Translated { entries, left_out } = translate(&asserted, &vars);
    let threshold = test.get("threshold").and_then(Value::as_f64).filter(|threshold| *threshold > 0.0);
    let answer = match threshold {
        Some(threshold) if !entries.is_empty() => vec![json!({ "checks": entries, "min_score": threshold.min(1.0) })],
        Some(_) | None => entries,
    };
    ForeignCase::decided(id, query, answer, left_out)
}
