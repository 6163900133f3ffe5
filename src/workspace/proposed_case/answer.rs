//! The conditions that a proposed case states on an answer: the shape of JSON, facts that every sample states, and ids that its own call made.

use import::Call;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::calls::is_same;
use super::evidence::{Evidence, ToolEffect, decoded};
use super::fixed_value::{Support, ValuePlace, is_fixed};
use crate::format::lenient;
use crate::text::{FactSort, FactWeight, Keyword, StatedFact, facts, norm, pattern};

/// The answer of one sample, or of one turn of it.
pub struct SampleAnswer<'a> {
    pub text: &'a str,
    pub calls: Vec<&'a Call>,
    pub evidence: &'a Evidence,
}

/// With this number of samples, chance does not explain a fact that all of them state.
pub const ENOUGH: usize = 3;
/// How deep objects in answers are looked into.
const DEEPEST: usize = 4;

/// The conditions that every sample meets.
pub fn conditions(samples: &[SampleAnswer<'_>]) -> Vec<Value> {
    let of_json: Option<Vec<Value>> = samples.iter().map(json_answer).collect();
    match of_json {
        Some(values) => shape(samples, &values).into_iter().collect(),
        None => {
            let mut conditions: Vec<Value> = stated_facts(samples)
                .iter()
                .map(|stated| json!({ "any_of": stated.forms(), "whole_words": true }))
                .collect();
            conditions.extend(made_ids(samples));
            conditions
        }
    }
}

/// The answer as JSON, if it is an object or an array.
fn json_answer(sample: &SampleAnswer<'_>) -> Option<Value> {
    let value = lenient::any(sample.text).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// The shape of answers in JSON.
fn shape(samples: &[SampleAnswer<'_>], values: &[Value]) -> Option<Value> {
    let kinds: Option<&str> = values.first().map(type_of);
    let kind = kinds.filter(|kind| values.iter().all(|value| type_of(value) == *kind))?;
    let mut fields = Map::new();
    let evidence = samples.first()?.evidence;
    add_fields(
        "",
        &values.iter().collect::<Vec<_>>(),
        evidence,
        &mut fields,
    );
    if fields.is_empty() {
        return Some(json!({ "json_schema": { "type": kind }, "whole_json": true }));
    }
    Some(json!({ "json": fields, "whole_json": true }))
}

/// Adds a condition for each field that all samples have: its value if another run has to repeat it, else its type.
fn add_fields(path: &str, values: &[&Value], evidence: &Evidence, fields: &mut Map<String, Value>) {
    let Some((Value::Object(first), others)) = values.split_first() else {
        return;
    };
    let support = if others.is_empty() {
        Support::OneSample
    } else {
        Support::SeveralSamples
    };
    for (name, value) in first {
        let of_field: Option<Vec<&Value>> = values.iter().map(|value| value.get(name)).collect();
        let Some(of_field) = of_field.filter(|_| !name.is_empty() && !name.contains('.')) else {
            continue;
        };
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let is_equal = of_field
            .iter()
            .all(|sample_value| is_same(value, sample_value));
        let is_of_type = of_field
            .iter()
            .all(|sample_value| type_of(sample_value) == type_of(value));
        if is_equal && is_fixed(name, value, ValuePlace::AnswerField, evidence, support) {
            fields.insert(path, json!({ "equals": value }));
        } else if value.is_object() && is_of_type && path.split('.').count() < DEEPEST {
            let count = fields.len();
            add_fields(&path, &of_field, evidence, fields);
            if fields.len() == count {
                fields.insert(path, json!({ "type": "object" }));
            }
        } else if is_of_type {
            fields.insert(path, json!({ "type": type_of(value) }));
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The facts that every sample states and that its evidence has. A number that no evidence has was computed, and is a fact only if several
/// samples agree; the numbers that an amount was computed from need not be said.
fn stated_facts(samples: &[SampleAnswer<'_>]) -> Vec<StatedFact> {
    let Some((first, others)) = samples.split_first() else {
        return Vec::new();
    };
    let evidence = first.evidence;
    let is_selection = is_selection(first);
    let (mut proposed, mut computed) = (Vec::new(), Vec::new());
    for stated in facts(first.text) {
        if !samples.iter().all(|sample| stated.is_in(sample.text)) {
            continue;
        }
        let is_said = evidence.is_said(&stated.fact);
        if evidence.has(&stated.fact) || (is_said && is_selection) {
            proposed.push(stated);
        } else if !is_said && stated.fact.sort() == FactSort::Number {
            computed.push(stated);
        }
    }
    if computed
        .iter()
        .any(|stated| stated.weight == FactWeight::Exact)
    {
        proposed.retain(|stated| stated.fact.sort() != FactSort::Number);
    }
    if !others.is_empty() {
        proposed.extend(computed);
    }
    if samples.len() < ENOUGH {
        proposed = main_facts(proposed, evidence);
    }
    let proposed = proposed.into_iter();
    proposed.map(|stated| evidence.with_year(stated)).collect()
}

/// Of what few samples say, perhaps by chance, what another wording does not leave out: first what was looked up, then what the instructions say,
/// and one fact of a sort. That is the last date and time, because earlier ones are history, and the first number of the last results, which are
/// the outcome. With a date or a time, that number is an amount.
fn main_facts(mut stated: Vec<StatedFact>, evidence: &Evidence) -> Vec<StatedFact> {
    if stated
        .iter()
        .any(|stated| evidence.last_group_with(&stated.fact).is_some())
    {
        stated.retain(|stated| evidence.last_group_with(&stated.fact).is_some());
    }
    let last = stated
        .iter()
        .filter(|stated| stated.fact.sort() == FactSort::Number)
        .filter_map(|stated| evidence.last_group_with(&stated.fact))
        .max();
    stated.retain(|stated| {
        stated.fact.sort() != FactSort::Number || evidence.last_group_with(&stated.fact) == last
    });
    let has_moment = stated.iter().any(|stated| match stated.fact.sort() {
        FactSort::Date | FactSort::Time => true,
        FactSort::Number | FactSort::Telephone => false,
    });
    if has_moment {
        stated.retain(|stated| stated.weight == FactWeight::Exact);
    }
    one_of_each_sort(stated)
}

/// Whether an answer without calls picks some of many facts that the user states, as from a document.
fn is_selection(sample: &SampleAnswer<'_>) -> bool {
    let said = sample.evidence.said.len();
    let repeated = facts(sample.text)
        .iter()
        .filter(|stated| sample.evidence.is_said(&stated.fact))
        .count();
    sample.calls.is_empty() && repeated * 2 <= said
}

fn one_of_each_sort(stated: Vec<StatedFact>) -> Vec<StatedFact> {
    let mut kept: Vec<StatedFact> = Vec::new();
    for next in stated {
        let known = kept
            .iter_mut()
            .find(|known| known.fact.sort() == next.fact.sort());
        match known {
            None => kept.push(next),
            Some(known) if next.fact.is_later_than(&known.fact) => *known = next,
            Some(_) => {}
        }
    }
    kept
}

/// Keys that an expression can name.
static FIELD: std::sync::LazyLock<Regex> =
    std::sync::LazyLock::new(|| pattern(r"^[A-Za-z][A-Za-z0-9_]*$"));
/// Words that are no keys in an expression.
const RESERVED: [&str; 8] = ["in", "as", "for", "if", "null", "true", "false", "package"];

/// For each id that a call of the sample made and that every answer states: the answer states the one of its own run.
fn made_ids(samples: &[SampleAnswer<'_>]) -> Option<Value> {
    let (first, others) = samples.split_first()?;
    for call in &first.calls {
        if ToolEffect::of(&call.name) == ToolEffect::Reads {
            continue;
        }
        for path in ids(&decoded(&call.result), first, Vec::new()) {
            if others
                .iter()
                .all(|sample| states_id(sample, &call.name, &path))
            {
                let name = Value::from(call.name.as_str());
                let path = path.join(".");
                return Some(
                    json!({ "expr": format!("calls.exists(call, call.name == {name} && text.contains(call.result.{path}))") }),
                );
            }
        }
    }
    None
}

/// Whether the answer states what a call of the tool returned at this path.
fn states_id(sample: &SampleAnswer<'_>, tool: &str, path: &[String]) -> bool {
    let mut calls = sample.calls.iter().filter(|call| call.name == tool);
    calls.any(|call| is_stated_at(&decoded(&call.result), path, sample))
}

/// The paths of ids in a result that the answer states and that were not there before.
fn ids(result: &Value, sample: &SampleAnswer<'_>, path: Vec<String>) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (name, value) in result.as_object().into_iter().flatten() {
        let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        if !FIELD.is_match(name) || RESERVED.contains(&name.as_str()) || path.len() > DEEPEST {
            continue;
        }
        let is_id = value
            .as_str()
            .is_some_and(|text| is_id(text) && sample.evidence.is_made(text));
        if is_id && is_stated_at(value, &[], sample) {
            paths.push(path);
        } else {
            paths.extend(ids(value, sample, path));
        }
    }
    paths
}

/// Whether an answer states the text at a path of a result.
fn is_stated_at(result: &Value, path: &[String], sample: &SampleAnswer<'_>) -> bool {
    let value = path.iter().try_fold(result, |value, name| value.get(name));
    value
        .and_then(Value::as_str)
        .filter(|text| sample.text.contains(*text))
        .and_then(Keyword::new)
        .is_some_and(|keyword| keyword.is_word_of(&norm(sample.text)))
}

/// Whether a text is an id: one word of letters and digits, or of many digits.
fn is_id(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let has_letter = text.contains(char::is_alphabetic);
    !text.contains(char::is_whitespace)
        && facts(text).is_empty()
        && (has_letter && digits > 0 || digits >= 5)
}
