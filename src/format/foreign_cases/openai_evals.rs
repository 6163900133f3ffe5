//! Reads the samples of OpenAI's evals.

use import::promptfoo::asked;
use serde_json::{Value, json};

use super::foreign_case::ForeignCase;
use crate::diag::Diagnostics;
use crate::files::SourceText;
use crate::format::json;

/// Reads the samples of OpenAI's evals, one per line: `input` and `ideal`. They do not say how answers are compared, so each is a draft
/// that requires one of the ideal answers.
///
/// # Errors
/// Invalid JSON with its position.
pub fn openai_evals_cases(source: &SourceText) -> Result<Vec<ForeignCase>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut cases = Vec::new();
    let mut start = 0;
    for text in source.text.split_inclusive('\n') {
        let at = start;
        start += text.len();
        if text.trim().is_empty() {
            continue;
        }
        let Some(sample) = problems.keep(json::read_json_part::<Value>(source, at, text)) else {
            continue;
        };
        let ideal = match sample.get("ideal") {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(texts)) => texts
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Some(_) | None => Vec::new(),
        };
        let query = sample
            .get("input")
            .and_then(|input| asked(input, None))
            .unwrap_or_default();
        let ideal: Vec<String> = ideal
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        let answer = if ideal.is_empty() {
            Vec::new()
        } else {
            vec![json!({ "any_of": ideal })]
        };
        let id = format!("sample-{}", cases.len() + 1);
        cases.push(ForeignCase::decided(id, query, answer, Vec::new()).into_draft());
    }
    problems.or(cases)
}
