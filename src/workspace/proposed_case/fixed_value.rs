//! Which values another run of the agent has to repeat: those of the input or of a result, not those of its own wording.

use serde_json::Value;

use super::evidence::{Evidence, ValueOrigin, name_words};
use crate::text::{Decimal, Fact, facts};

/// What a value is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePlace {
    /// An argument of the call with this index.
    Argument(usize),
    /// A field of an answer in JSON.
    AnswerField,
}

/// Whether one run shows a value, or several do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    OneSample,
    /// Each of several samples has the value.
    SeveralSamples,
}

/// The last words of names under which agents write in their own words.
const WORDING: [&str; 30] = [
    "answer",
    "body",
    "comment",
    "comments",
    "content",
    "description",
    "details",
    "explanation",
    "feedback",
    "instructions",
    "justification",
    "keyword",
    "keywords",
    "message",
    "msg",
    "note",
    "notes",
    "prompt",
    "q",
    "query",
    "question",
    "rationale",
    "reason",
    "reasoning",
    "search",
    "subject",
    "summary",
    "text",
    "thought",
    "title",
];
/// The longest text that is a name or a word of a list, in characters.
const LONGEST: usize = 60;
/// The longest word that is one of a short list, in characters.
const LONGEST_WORD: usize = 24;

/// Whether another run has to repeat a value.
pub fn is_fixed(
    name: &str,
    value: &Value,
    place: ValuePlace,
    evidence: &Evidence,
    support: Support,
) -> bool {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => false,
        Value::Bool(_) => true,
        Value::Number(number) => match (place, support) {
            (_, Support::SeveralSamples) => true,
            (ValuePlace::Argument(index), Support::OneSample) => {
                evidence.origin(&number.to_string(), index) != ValueOrigin::Made
            }
            // What an agent counts or estimates differs from run to run.
            (ValuePlace::AnswerField, Support::OneSample) => Decimal::of_json(number)
                .map(Fact::Number)
                .is_some_and(|fact| evidence.has(&fact) || evidence.is_said(&fact)),
        },
        Value::String(text) => {
            let words = name_words(name);
            let is_wording = words
                .last()
                .is_some_and(|word| WORDING.contains(&word.as_str()));
            let is_short = (1..=LONGEST).contains(&text.trim().chars().count());
            let call = match place {
                ValuePlace::Argument(index) => index,
                ValuePlace::AnswerField => usize::MAX,
            };
            is_short && is_fixed_text(text, is_wording, call, evidence, support)
        }
    }
}

fn is_fixed_text(
    text: &str,
    is_wording: bool,
    call: usize,
    evidence: &Evidence,
    support: Support,
) -> bool {
    let origin = evidence.origin(text, call);
    let is_known = match (origin, support) {
        (ValueOrigin::Input | ValueOrigin::LookedUp, _)
        | (ValueOrigin::Made, Support::SeveralSamples) => true,
        (ValueOrigin::Made, Support::OneSample) | (ValueOrigin::Unknown, _) => false,
    };
    let has_digit = text.contains(|letter: char| letter.is_ascii_digit());
    // A search for an id is a search for this id, whatever its name.
    if is_wording {
        return is_known && has_digit && !text.contains(char::is_whitespace);
    }
    if is_moment(text) {
        return true;
    }
    if text.contains(char::is_whitespace) {
        let is_name = text
            .split_whitespace()
            .all(|word| word.starts_with(|first: char| !first.is_lowercase()));
        return is_known && (is_name || evidence.is_result(text, call));
    }
    let is_word = text.chars().count() <= LONGEST_WORD
        && text
            .chars()
            .all(|letter| letter.is_alphabetic() || matches!(letter, '_' | '-' | '.'));
    let is_made = origin == ValueOrigin::Made;
    is_known || support == Support::SeveralSamples || (is_word && !is_made)
}

/// Whether a text is a number, a date or a time and nothing else.
fn is_moment(text: &str) -> bool {
    let stated_facts = facts(text);
    let length: usize = stated_facts
        .iter()
        .map(|stated| stated.written.len())
        .max()
        .unwrap_or(0);
    let is_number = text.parse::<f64>().is_ok() && text.len() < 4;
    is_number || (length == text.trim().len() && !stated_facts.is_empty())
}
