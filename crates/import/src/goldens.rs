//! Lists of questions with their answers: samples of OpenAI's evals, goldens of deepeval, and tables with a header.

use serde_json::{Value, json};

use crate::conversations::conversation_of_messages;
use crate::loose;
use crate::message::{CallPart, Message, Part, Role, part_of_call, text_at};
use crate::problem::{Problem, all_or_problems};
use crate::source::Source;
use crate::transcript::{Format, Transcript};

const INPUT: [&str; 6] = [
    "input",
    "question",
    "query",
    "prompt",
    "message",
    "user_input",
];
const EXPECTED: [&str; 7] = [
    "expected_output",
    "ideal",
    "expected",
    "expected_answer",
    "answer",
    "reference",
    "ground_truth",
];

/// The format of an entry: of a table all values are texts.
pub fn format_of_golden(entry: &Value) -> Option<Format> {
    let fields = entry.as_object()?;
    let has_input = fields.contains_key("input");
    if has_input && fields.contains_key("ideal") {
        return Some(Format::OpenaiEvals);
    }
    if has_input && fields.contains_key("expected_output") && fields.contains_key("actual_output") {
        return Some(Format::Deepeval);
    }
    let is_table = fields.values().all(Value::is_string);
    (is_table && input_of(entry).is_some() && expected_of(entry).is_some()).then_some(Format::Csv)
}

/// What an entry asks.
#[must_use]
pub fn input_of(entry: &Value) -> Option<&Value> {
    INPUT
        .iter()
        .find_map(|key| entry.get(*key).filter(|input| !input.is_null()))
}

/// The right answer of an entry, or several.
#[must_use]
pub fn expected_of(entry: &Value) -> Option<&Value> {
    EXPECTED
        .iter()
        .find_map(|key| entry.get(*key).filter(|expected| !expected.is_null()))
}

/// The calls that an entry has under a key; a table has them as JSON in a text.
#[must_use]
pub fn tools_of(entry: &Value, key: &str) -> Vec<CallPart> {
    let Some(Value::Array(calls)) = entry.get(key).map(loose::embedded) else {
        return Vec::new();
    };
    let calls = calls.iter().filter_map(|call| match part_of_call(call)? {
        Part::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// The id of an entry, or its number.
#[must_use]
pub fn golden_id(entry: &Value, index: usize) -> String {
    let stated = text_at(entry, &["id", "name", "case"]).map(str::to_owned);
    let number = entry
        .get("id")
        .filter(|id| id.is_u64())
        .map(Value::to_string);
    stated
        .or(number)
        .unwrap_or_else(|| format!("sample-{}", index + 1))
}

/// Reads the answers that entries of deepeval have; others are cases only.
pub fn read_goldens(source: &Source<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let entries = source.records().into_iter().enumerate();
    let answered = entries.filter_map(|(index, (entry, at))| {
        let answer = text_at(entry, &["actual_output"])?;
        Some(run(entry, answer, at).map(|run| Transcript {
            case: Some(golden_id(entry, index)),
            ..run
        }))
    });
    all_or_problems(answered)
}

fn run(entry: &Value, answer: &str, at: usize) -> Result<Transcript, Problem> {
    let asked = Message::of(&json!({ "content": input_of(entry) }), Role::User);
    let calls = tools_of(entry, "tools_called").into_iter().map(Part::Call);
    let parts = calls.chain([Part::Text(answer.to_owned())]).collect();
    conversation_of_messages(
        at,
        [
            asked,
            Message {
                role: Role::Assistant,
                parts,
            },
        ],
    )
}
