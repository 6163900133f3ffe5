//! Reads the tests of a promptfoo config, or of promptfoo's output.

use std::collections::BTreeSet;

use import::promptfoo::{CaseIds, asked, index_of};
use serde_json::{Map, Value, json};

use super::assertion::{Translated, rendered, translate};
use super::foreign_case::ForeignCase;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::json;

/// The cases of a config (`tests`), or of an output (`results`).
///
/// # Errors
/// A file that has no tests.
pub fn promptfoo_cases(source: &SourceText) -> Result<Vec<ForeignCase>, Diagnostic> {
    let whole: Value = json::whole(source)?;
    let results = whole
        .get("results")
        .map(|results| results.get("results").unwrap_or(results));
    if let Some(results) = results.and_then(Value::as_array) {
        let ids = CaseIds::of_results(results);
        let mut seen = BTreeSet::new();
        let mut cases = Vec::new();
        for result in results {
            let Some(test) = result.get("testCase") else {
                continue;
            };
            let id = ids.id(test, index_of(result));
            let query = result
                .get("prompt")
                .and_then(|prompt| asked(prompt.get("raw")?, test.get("vars")));
            let query = query.unwrap_or_default();
            // Each provider and prompt has a result of the same test.
            if seen.insert(id.clone()) {
                cases.push(case_of(test, id, query));
            }
        }
        return Ok(cases);
    }
    let Some(tests) = whole.get("tests").and_then(Value::as_array) else {
        let what = "this config has no list of tests";
        return Err(source.problem(0, Code::NO_RUN, what, INTO_THE_CONFIG));
    };
    if let Some(what) = elsewhere(&whole, tests) {
        return Err(source.problem(0, Code::NO_RUN, what, INTO_THE_CONFIG));
    }
    let prompt = whole
        .get("prompts")
        .and_then(|prompts| prompts.get(0).or(Some(prompts)));
    if prompt.is_some_and(is_in_file) {
        return Err(source.problem(
            0,
            Code::NO_RUN,
            "its prompts are in other files, which are not read",
            INTO_THE_CONFIG,
        ));
    }
    let prompt = prompt
        .and_then(|prompt| prompt.get("raw").unwrap_or(prompt).as_str())
        .unwrap_or_default();
    let tests = tests
        .iter()
        .map(|test| with_defaults(test, whole.get("defaultTest")));
    let tests: Vec<(u64, Value)> = (0..).zip(tests.flat_map(expanded)).collect();
    let ids = CaseIds::of(tests.iter().map(|(index, test)| (*index, test)));
    let case = |(index, test): &(u64, Value)| {
        let vars = test
            .get("vars")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let whole = rendered(prompt, &vars).unwrap_or_else(|| prompt.to_owned());
        let query = asked(&Value::String(whole), test.get("vars")).unwrap_or_default();
        case_of(test, ids.id(test, *index), query)
    };
    Ok(tests.iter().map(case).collect())
}

const INTO_THE_CONFIG: &str =
    "write them into the config, or import the output of promptfoo eval -o out.json";

/// What of a config has tests or assertions that this file does not list. Without them the cases would demand less than promptfoo does.
fn elsewhere(config: &Value, tests: &[Value]) -> Option<&'static str> {
    let is_of_other_file = |value: &Value| value.is_string() || value.get("$ref").is_some();
    let asserted = |test: &Value| {
        test.get("assert")
            .and_then(Value::as_array)
            .is_some_and(|list| list.iter().any(is_of_other_file))
    };
    let defaults = config.get("defaultTest");
    if defaults.is_some_and(is_of_other_file) {
        return Some("defaultTest is in another file, whose assertions are not read");
    }
    if tests.iter().any(is_of_other_file) {
        return Some("an entry of tests is another file, whose tests are not read");
    }
    if tests.iter().chain(defaults).any(asserted) {
        return Some("an assertion is a reference, which is not read");
    }
    let scenarios = config.get("scenarios").and_then(Value::as_array);
    scenarios
        .is_some_and(|scenarios| !scenarios.is_empty())
        .then_some("its scenarios are not read")
}

/// Whether a prompt of a config is the name of a file: `file://…`, or a path with the ending of one.
fn is_in_file(prompt: &Value) -> bool {
    let named = prompt
        .as_str()
        .or_else(|| prompt.get("raw").or_else(|| prompt.get("id"))?.as_str());
    let endings = [
        ".txt", ".md", ".json", ".jsonl", ".yaml", ".yml", ".j2", ".csv", ".py", ".js", ".mjs",
        ".ts",
    ];
    named.is_some_and(|text| {
        let is_path = !text.contains(char::is_whitespace) && !text.contains('{');
        text.starts_with("file://")
            || (is_path && endings.iter().any(|ending| text.ends_with(ending)))
    })
}

/// The assertions of a test; a single one needs no list.
fn assertions(test: &Value) -> Vec<Value> {
    match test.get("assert") {
        Some(Value::Array(list)) => list.clone(),
        Some(one @ Value::Object(_)) => vec![one.clone()],
        Some(_) | None => Vec::new(),
    }
}

/// The tests that promptfoo makes of one: a variable with a list of values has each of them in a test of its own.
fn expanded(test: Value) -> Vec<Value> {
    let option = |key: &str| {
        test.get("options")
            .and_then(|options| options.get(key))
            .and_then(Value::as_bool)
    };
    let Some(vars) = test.get("vars").and_then(Value::as_object) else {
        return vec![test];
    };
    if option("disableVarExpansion") == Some(true) {
        return vec![test];
    }
    let mut tests = vec![test.clone()];
    for (name, values) in vars
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_array()?)))
    {
        let with = |test: &Value, value: &Value| {
            let mut test = test.clone();
            test["vars"][name] = value.clone();
            test
        };
        tests = tests
            .iter()
            .flat_map(|test| values.iter().map(move |value| with(test, value)))
            .collect();
    }
    tests
}

/// The test with the variables and assertions of all tests.
fn with_defaults(test: &Value, defaults: Option<&Value>) -> Value {
    let (mut test, Some(defaults)) = (test.clone(), defaults) else {
        return test.clone();
    };
    let asserted = [assertions(defaults), assertions(&test)].concat();
    let Some(fields) = test.as_object_mut() else {
        return test;
    };
    fields.insert("assert".to_owned(), Value::Array(asserted));
    let mut vars = defaults
        .get("vars")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    vars.extend(
        fields
            .get("vars")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default(),
    );
    fields.insert("vars".to_owned(), Value::Object(vars));
    let mut options = defaults
        .get("options")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    options.extend(
        fields
            .get("options")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default(),
    );
    if !options.is_empty() {
        fields.insert("options".to_owned(), Value::Object(options));
    }
    if let Some(threshold) = defaults.get("threshold") {
        fields
            .entry("threshold")
            .or_insert_with(|| threshold.clone());
    }
    test
}

fn case_of(test: &Value, id: String, query: String) -> ForeignCase {
    let vars: Map<String, Value> = test
        .get("vars")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let asserted = assertions(test);
    let Translated { entries, left_out } = match transform_of(test) {
        Some(transform) => Translated {
            entries: Vec::new(),
            left_out: transformed(transform, &asserted),
        },
        None => translate(&asserted, &vars),
    };
    let threshold = test
        .get("threshold")
        .and_then(Value::as_f64)
        .filter(|threshold| *threshold > 0.0);
    let answer = match threshold {
        Some(threshold) if !entries.is_empty() => {
            vec![json!({ "checks": entries, "min_score": threshold.min(1.0) })]
        }
        Some(_) | None => entries,
    };
    ForeignCase::decided(id, query, answer, left_out)
}

/// The option of a test that changes its output or its variables before they are used.
fn transform_of(test: &Value) -> Option<&'static str> {
    let options = test.get("options")?;
    ["transform", "postprocess", "transformVars"]
        .into_iter()
        .find(|key| options.get(key).is_some_and(|one| !one.is_null()))
}

/// The option, and the assertions that are about what it makes.
fn transformed(transform: &str, assertions: &[Value]) -> Vec<String> {
    let kinds = assertions
        .iter()
        .filter_map(|assertion| assertion.get("type").and_then(Value::as_str));
    let of_kind = |kind: &str| format!("{kind}: it is about the result of {transform}");
    std::iter::once(format!("{transform}: the code is not run"))
        .chain(kinds.map(of_kind))
        .collect()
}
