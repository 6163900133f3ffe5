//! Reads lists of questions with their answers: samples of OpenAI's evals, goldens of deepeval, and tables with a header.

use import::Source;
use import::goldens::{expected_of, golden_id, input_of, tools_of};
use import::promptfoo::asked;
use serde_json::{Map, Value, json};

use super::foreign_case::ForeignCase;

/// A case of each entry. They do not say how answers are compared, so each is a draft that requires one of the right answers, and the calls
/// of the tools that it expects.
pub fn golden_cases(file: &Source<'_>) -> Vec<ForeignCase> {
    let entries = file.values().into_iter().enumerate();
    entries
        .map(|(index, entry)| golden_case(index, entry))
        .collect()
}

fn golden_case(index: usize, entry: &Value) -> ForeignCase {
    let query = input_of(entry).and_then(|input| asked(input, None));
    let right: Vec<&str> = match expected_of(entry) {
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
        Some(text) => text.as_str().into_iter().collect(),
        None => Vec::new(),
    };
    let right: Vec<&str> = right
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut said = Map::from_iter([("query".to_owned(), json!(query.unwrap_or_default()))]);
    let tools = tools_of(entry, "expected_tools");
    if !tools.is_empty() {
        let names: Vec<&str> = tools.iter().map(|call| call.name.as_str()).collect();
        said.insert("expected_tools".to_owned(), json!(names));
    }
    if !right.is_empty() {
        said.insert("answer".to_owned(), json!([{ "any_of": right }]));
    }
    ForeignCase::stated(golden_id(entry, index), said, Vec::new()).into_draft()
}
