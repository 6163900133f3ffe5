//! The evaluation cases of Google's Agent Development Kit.

use import::{Call, Transcript};
use serde_json::{Map, Value, json};

use super::foreign_case::ForeignCase;
use crate::diag::Diagnostic;
use crate::files::{Files, SourceText};
use crate::format::json;

/// What the kit requires where no `test_config.json` says otherwise: these calls and no others, and an answer with these words.
const CALLS: f64 = 1.0;
const WORDS: f64 = 0.8;

/// A case of each run that a set of cases expects; sessions have none.
///
/// # Errors
/// A `test_config.json` that cannot be read.
pub fn adk_cases(
    source: &SourceText,
    runs: &[Transcript],
    files: Option<&dyn Files>,
) -> Result<Vec<ForeignCase>, Diagnostic> {
    let whole: Value = json::whole(source)?;
    if whole.get("events").is_some() {
        return Ok(Vec::new());
    }
    let criteria = criteria(source, files)?;
    let file_stem = source.file.name().split('.').next().unwrap_or_default();
    let mut cases = Vec::new();
    for run in runs {
        let id = run.case.as_deref().unwrap_or(file_stem);
        cases.push(case_of(id.to_owned(), run, &criteria));
    }
    Ok(cases)
}

/// The least scores that the file next to the cases requires; it names each that counts.
fn criteria(
    source: &SourceText,
    files: Option<&dyn Files>,
) -> Result<Map<String, Value>, Diagnostic> {
    let file = source.file.parent().child("test_config.json");
    let config = files.and_then(|files| files.text(&file).ok());
    let stated = config
        .map(|config| json::whole::<Value>(&config))
        .transpose()?;
    if let Some(Value::Object(criteria)) = stated.as_ref().and_then(|config| config.get("criteria"))
    {
        return Ok(criteria.clone());
    }
    let mut defaults = Map::new();
    defaults.insert("tool_trajectory_avg_score".to_owned(), json!(CALLS));
    defaults.insert("response_match_score".to_owned(), json!(WORDS));
    Ok(defaults)
}

fn case_of(id: String, run: &Transcript, criteria: &Map<String, Value>) -> ForeignCase {
    let mut left_out = Vec::new();
    let (mut are_calls_exact, mut least_words) = (false, None);
    for (name, criterion) in criteria {
        let least = criterion.get("threshold").unwrap_or(criterion).as_f64();
        match name.as_str() {
            "tool_trajectory_avg_score" if least >= Some(CALLS) => are_calls_exact = true,
            "tool_trajectory_avg_score" if least <= Some(0.0) => {}
            "tool_trajectory_avg_score" => left_out.push(format!("{name}: it is an average")),
            "response_match_score" => least_words = least.filter(|least| *least > 0.0),
            _ => left_out.push(format!("{name}: it has no counterpart")),
        }
    }
    let mut said = Map::new();
    match run.turns.as_slice() {
        [_, _, ..] => {
            let mut turns = Vec::new();
            for (index, turn) in (0_u32..).zip(&run.turns) {
                let calls: Vec<&Call> = run
                    .calls
                    .iter()
                    .filter(|call| call.turn == Some(index))
                    .collect();
                let mut of_turn = Map::new();
                of_turn.insert("user".to_owned(), json!(turn.user));
                if are_calls_exact {
                    add_calls(&mut of_turn, "tools", &calls);
                }
                add_answer(&mut of_turn, &turn.text, least_words);
                turns.push(Value::Object(of_turn));
            }
            said.insert("turns".to_owned(), Value::Array(turns));
        }
        _ => {
            said.insert("query".to_owned(), json!(run.query));
            if are_calls_exact {
                add_calls(
                    &mut said,
                    "expected_tools",
                    &run.calls.iter().collect::<Vec<_>>(),
                );
            }
            let text = run.text.as_deref().unwrap_or_default();
            add_answer(&mut said, text, least_words);
        }
    }
    let case = ForeignCase::stated(id, said, left_out);
    if are_calls_exact || least_words.is_some() {
        case
    } else {
        case.into_draft()
    }
}

/// Requires at least this share of the words of an answer.
fn add_answer(fields: &mut Map<String, Value>, text: &str, least_words: Option<f64>) {
    if let Some(least) = least_words
        && !text.trim().is_empty()
    {
        let answer = json!({ "similar": { "to": text, "token_f1": least.min(1.0) } });
        fields.insert("answer".to_owned(), answer);
    }
}

/// Requires these calls in this order, and no others.
fn add_calls(fields: &mut Map<String, Value>, key: &str, calls: &[&Call]) {
    let mut names: Vec<&str> = Vec::new();
    for call in calls {
        if !names.contains(&call.name.as_str()) {
            names.push(&call.name);
        }
    }
    fields.insert(key.to_owned(), json!(names));
    if !calls.is_empty() {
        let tools = calls.iter().map(|call| {
            json!({ "name": call.name, "args": { "match": "exact", "values": call.arguments } })
        });
        let trajectory = json!({ "mode": "exact", "tools": tools.collect::<Vec<_>>() });
        fields.insert("trajectory".to_owned(), trajectory);
    }
}
