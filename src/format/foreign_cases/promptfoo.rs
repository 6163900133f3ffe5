//! Reads the tests of a promptfoo config, or of promptfoo's output.

use std::collections::BTreeSet;

use import::promptfoo::{CaseIds, asked, index_of};
use serde_json::{Map, Value, json};

use super::assertion::{Translated, translate};
use super::foreign_case::ForeignCase;
use super::promptfoo_files::ConfigFiles;
use crate::diag::Diagnostic;
use crate::files::{Files, SourceText};
use crate::format::json;

/// The cases of a config (`tests`), or of an output (`results`); `files` has what a config keeps in other files.
///
/// # Errors
/// A file that has no tests, or that keeps them where they are not read.
pub fn promptfoo_cases(
    source: &SourceText,
    files: Option<&dyn Files>,
) -> Result<Vec<ForeignCase>, Diagnostic> {
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
    let files = ConfigFiles::of(source, files);
    let (tests, scenarios) = (stated(&whole, "tests"), stated(&whole, "scenarios"));
    let mut all = match tests {
        Some(tests) => files.tests(tests)?,
        None if scenarios.is_some() => Vec::new(),
        None => return Err(files.refused("this config has no tests")),
    };
    if let Some(scenarios) = scenarios {
        all.extend(tests_of_scenarios(scenarios, &files)?);
    }
    let prompt = files.prompt(whole.get("prompts"))?;
    let defaults = whole.get("defaultTest").filter(|test| !test.is_null());
    let defaults = defaults
        .map(|test| files.test(test, &source.file.parent()))
        .transpose()?;
    let tests = all
        .iter()
        .map(|test| with_defaults(test, defaults.as_ref()));
    let tests: Vec<(u64, Value)> = (0..).zip(tests.flat_map(expanded)).collect();
    let ids = CaseIds::of(tests.iter().map(|(index, test)| (*index, test)));
    let mut cases = Vec::new();
    for (index, test) in &tests {
        let prompt = filled(&prompt, &object_at(test, "vars"));
        let query = asked(&prompt, test.get("vars")).unwrap_or_default();
        cases.push(case_of(test, ids.id(test, *index), query));
    }
    Ok(cases)
}

/// The object under a key; empty if there is none.
fn object_at(value: &Value, key: &str) -> Map<String, Value> {
    value
        .get(key)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn stated<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// The tests of scenarios: each of a scenario's tests with each of its configs, which are parts of tests.
fn tests_of_scenarios(
    scenarios: &Value,
    files: &ConfigFiles<'_>,
) -> Result<Vec<Value>, Diagnostic> {
    let mut all = Vec::new();
    for scenario in scenarios.as_array().into_iter().flatten() {
        let Some(configs) = stated(scenario, "config") else {
            return Err(files.refused("a scenario has no config"));
        };
        let tests = match stated(scenario, "tests") {
            Some(tests) => files.tests(tests)?,
            None => vec![json!({})],
        };
        for config in files.tests(configs)? {
            for test in &tests {
                let mut test = with_defaults(test, Some(&config));
                // Those of all tests are not in the ids of cases.
                for key in ["description", "metadata"] {
                    if let (None, Some(value)) = (stated(&test, key), stated(&config, key)) {
                        test[key] = value.clone();
                    }
                }
                all.push(test);
            }
        }
    }
    Ok(all)
}

/// A prompt with the variables of a test; a list of messages with them in each text.
fn filled(prompt: &str, vars: &Map<String, Value>) -> Value {
    match serde_json::from_str(prompt) {
        Ok(messages @ (Value::Array(_) | Value::Object(_))) => {
            json!(filled_in(messages, vars).to_string())
        }
        Ok(_) | Err(_) => json!(with_variables(prompt, vars)),
    }
}

fn filled_in(value: Value, vars: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => json!(with_variables(&text, vars)),
        Value::Array(list) => list.into_iter().map(|item| filled_in(item, vars)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(key, value)| (key, filled_in(value, vars)))
                .collect()
        }
        scalar => scalar,
    }
}

/// The value of a variable, or of a key in it.
fn value_at<'v>(vars: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut keys = path.split('.');
    let value = vars.get(keys.next()?)?;
    keys.try_fold(value, |value, key| value.get(key))
}

/// Where the first tag of a template begins.
fn first_tag(template: &str) -> Option<usize> {
    let mut braces = template.match_indices('{').map(|(at, _)| at);
    braces.find(|at| template[at + 1..].starts_with(['{', '%']))
}

/// A template with the variables that its tags mention in place of the tags; filters and conditions are not evaluated.
fn with_variables(template: &str, vars: &Map<String, Value>) -> String {
    let mut whole = String::new();
    let mut rest = template;
    while let Some(start) = first_tag(rest) {
        let (before, tag) = rest.split_at(start);
        let end = if tag.starts_with("{{") { "}}" } else { "%}" };
        let Some((inner, after)) = tag[2..].split_once(end) else {
            break;
        };
        whole.push_str(before);
        for path in inner.split(|letter| !is_of_path(letter)) {
            match value_at(vars, path) {
                None => {}
                Some(Value::String(text)) => whole.push_str(text),
                Some(value) => whole.push_str(&value.to_string()),
            }
        }
        rest = after;
    }
    whole + rest
}

fn is_of_path(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '.'
}

/// The assertions of a test; a single one needs no list.
fn assertions(test: &Value) -> Vec<Value> {
    match test.get("assert") {
        Some(Value::Array(list)) => list.clone(),
        Some(assertion @ Value::Object(_)) => vec![assertion.clone()],
        Some(_) | None => Vec::new(),
    }
}

/// The tests that promptfoo makes of one: a variable with a list of values has each of them in a test of its own.
fn expanded(test: Value) -> Vec<Value> {
    let Some(vars) = test.get("vars").and_then(Value::as_object) else {
        return vec![test];
    };
    let option = test
        .get("options")
        .and_then(|options| options.get("disableVarExpansion"));
    if option.and_then(Value::as_bool) == Some(true) {
        return vec![test];
    }
    let mut tests = vec![test.clone()];
    for (name, value) in vars {
        let Some(values) = value.as_array() else {
            continue;
        };
        // A list of other things than texts is one value.
        if !values.first().is_none_or(Value::is_string) {
            continue;
        }
        let mut with_values = Vec::new();
        for test in &tests {
            for value in values {
                let mut test = test.clone();
                test["vars"][name] = value.clone();
                with_values.push(test);
            }
        }
        tests = with_values;
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
    let mut vars = object_at(defaults, "vars");
    let mut options = object_at(defaults, "options");
    if let Some(Value::Object(stated)) = fields.get("vars") {
        vars.extend(stated.clone());
    }
    if let Some(Value::Object(stated)) = fields.get("options") {
        options.extend(stated.clone());
    }
    fields.insert("vars".to_owned(), Value::Object(vars));
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
    let vars = object_at(test, "vars");
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
        .find(|key| options.get(key).is_some_and(|option| !option.is_null()))
}

/// The option, and the assertions that are about what it makes.
fn transformed(transform: &str, assertions: &[Value]) -> Vec<String> {
    let mut left_out = vec![format!("{transform}: the code is not run")];
    for assertion in assertions {
        if let Some(kind) = assertion.get("type").and_then(Value::as_str) {
            left_out.push(format!("{kind}: it is about the result of {transform}"));
        }
    }
    left_out
}
