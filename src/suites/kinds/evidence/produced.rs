//! The output of an inspecting agent: inspected files, its result, and counts of the runtime.

use recover::recover_any;
use serde_json::{Map, Value};

use super::repository::tidied;
use crate::format::{JsonSchemaValidator, lenient};
use crate::model::{Layer, Run};
use crate::suites::shared::calls::{ObservedCall, calls, intermediate};
use crate::text::norm;

pub struct EvidenceOutput {
    /// The inspected files: normalized paths, or the original text (`Err`) if a path leaves the repository.
    pub files: Vec<Result<String, String>>,
    /// The result's text in the normal form; for an object, its JSON and every text in it.
    pub result: Vec<String>,
    /// Everything else that the agent said: the text around the JSON, and other keys of its outputs.
    pub aside: Vec<String>,
    /// How the outputs were parsed.
    pub layer: Layer,
    /// Calls outside the policy.
    pub invalid_calls: u64,
    /// The violations that the outputs list; `None` without a list.
    pub violations: Option<Vec<ViolationCategory>>,
    /// The events; `None` if the record has no list of them.
    pub events: Option<Vec<ObservedEvent>>,
    pub calls: Vec<ObservedCall>,
    /// Parts with the wrong format.
    pub flaws: Vec<String>,
}

struct ReadOutputs {
    /// The outputs; if they have only a text, the object in it.
    main: Value,
    /// How they were parsed.
    layer: Layer,
    /// All that the agent said apart from the result.
    aside: Vec<String>,
    /// The counts of calls outside the policy: those of the outputs and those of the object in their text.
    invalid_calls: Vec<Value>,
    /// The lists of violations, of the same two.
    violations: Vec<Value>,
}

fn outputs(run: &Run) -> ReadOutputs {
    let given = lenient::any(&run.outputs).unwrap_or_default();
    let recovered = if has_result_keys(&given) {
        None
    } else {
        given
            .get("text")
            .and_then(Value::as_str)
            .and_then(recover_any)
            .filter(|recovered| has_result_keys(&recovered.value))
    };
    let (mut aside, mut invalid_calls, mut violations) = (Vec::new(), Vec::new(), Vec::new());
    let of_text = recovered.as_ref().map(|recovered| &recovered.value);
    for side in std::iter::once(&given).chain(of_text) {
        let mut others = others(side);
        others.remove("result");
        for value in others.values() {
            texts(value, &mut aside);
        }
        violations.extend(side.get(VIOLATIONS).filter(|list| !list.is_null()).cloned());
        for key in INVALID_CALLS {
            invalid_calls.extend(side.get(key).filter(|count| !count.is_null()).cloned());
        }
    }
    match recovered {
        Some(recovered) => ReadOutputs {
            main: recovered.value,
            layer: Layer::from(recovered.layer),
            aside,
            invalid_calls,
            violations,
        },
        None => ReadOutputs {
            main: given,
            layer: Layer::Structured,
            aside,
            invalid_calls,
            violations,
        },
    }
}

fn has_result_keys(outputs: &Value) -> bool {
    outputs.get("files_inspected").is_some() || outputs.get("result").is_some()
}

/// The largest of the counts: the runtime states one, and the model may state another.
fn largest_count(counts: &[Value], flaws: &mut Vec<String>) -> u64 {
    let whole = counts.iter().map(whole);
    if whole.clone().any(|count| count.is_none()) {
        flaws.push("\"invalid_tool_call_count\" is not a count".to_owned());
    }
    whole.flatten().max().unwrap_or(0)
}

/// The count of calls outside the policy, in the two spellings of keys that records have.
const INVALID_CALLS: [&str; 2] = ["invalid_tool_call_count", "invalidToolCallCount"];

/// The list of violations of the policy: each is a call outside it.
const VIOLATIONS: &str = "violations";

/// The outputs without the counts and the list of the runtime.
fn of_the_agent(outputs: &Value) -> Map<String, Value> {
    let mut fields = outputs.as_object().cloned().unwrap_or_default();
    fields.retain(|key, _| !INVALID_CALLS.contains(&&**key) && key != VIOLATIONS);
    fields
}

/// What the agent said apart from the files that it inspected.
fn others(outputs: &Value) -> Map<String, Value> {
    let mut others = of_the_agent(outputs);
    others.remove("files_inspected");
    others
}

/// The listed violations, by reason; `None` without a list.
fn listed_violations(lists: &[Value], flaws: &mut Vec<String>) -> Option<Vec<ViolationCategory>> {
    let mut violations = Vec::new();
    for list in lists {
        let Some(list) = list.as_array() else {
            flaws.push("\"violations\" is not a list".to_owned());
            continue;
        };
        for violation in list {
            let reason = violation.get("reason").unwrap_or(violation);
            violations.push(ViolationCategory::of(reason.as_str()));
        }
    }
    (!lists.is_empty()).then_some(violations)
}

/// A count; `2.0` is accepted, too.
fn whole(count: &Value) -> Option<u64> {
    if let Some(count) = count.as_u64() {
        return Some(count);
    }
    let count = count.as_f64()?;
    (count >= 0.0 && count.fract() == 0.0).then_some(count as u64)
}

/// Appends every text, key and number of a value in the normal form.
pub fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(norm(text)),
        Value::Array(list) => {
            for item in list {
                texts(item, out);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                out.push(norm(key));
                texts(field, out);
            }
        }
        Value::Number(number) => out.push(norm(&number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether an event of this name is a violation of the policy, in any spelling: `policy_violation`, `policyViolation`.
fn is_violation(name: &str) -> bool {
    let letters = name
        .chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase);
    letters.eq("policyviolation".chars())
}

fn files_inspected<'a>(outputs: &'a Value, flaws: &mut Vec<String>) -> Vec<&'a str> {
    let flaw = match outputs.get("files_inspected") {
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
            return list.iter().filter_map(Value::as_str).collect();
        }
        Some(Value::Array(_)) => "\"files_inspected\" has an entry that is not a string",
        Some(_) => "\"files_inspected\" is not a list",
        None => "the list \"files_inspected\" is missing",
    };
    flaws.push(flaw.to_owned());
    Vec::new()
}

/// The result as texts to search: a text, or the JSON of an object and every text in it, so that escapes hide nothing. Without `result`,
/// it is the object of all other outputs.
fn result_texts(outputs: &Value, flaws: &mut Vec<String>) -> Vec<String> {
    let others = Value::Object(others(outputs));
    match outputs.get("result").unwrap_or(&others) {
        Value::String(text) if !text.trim().is_empty() => vec![norm(text)],
        object @ Value::Object(fields) if !fields.is_empty() => {
            let mut spoken = vec![norm(&object.to_string())];
            texts(object, &mut spoken);
            spoken
        }
        _ => {
            let keys = outputs.as_object().into_iter().flat_map(Map::keys);
            let keys: Vec<&str> = keys.map(String::as_str).collect();
            flaws.push(match (outputs.get("result"), keys.is_empty()) {
                (Some(_), _) => format!(
                    "\"result\" is neither a text nor an object, or is empty; the outputs have {}",
                    keys.join(", ")
                ),
                (None, false) => {
                    format!(
                        "the result is missing; the outputs have only {}",
                        keys.join(", ")
                    )
                }
                (None, true) => "the result is missing; the outputs are empty".to_owned(),
            });
            Vec::new()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedEvent {
    /// Its name; `None` if the record does not tell it.
    pub name: Option<String>,
    /// What it violates, if it is a policy violation.
    pub violation: Option<ViolationCategory>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViolationCategory {
    /// The policy of this category.
    Named(String),
    /// The record does not tell; it may be any.
    Unknown,
}

impl ViolationCategory {
    fn of(stated: Option<&str>) -> Self {
        match stated.filter(|category| !norm(category).is_empty()) {
            Some(category) => Self::Named(category.to_owned()),
            None => Self::Unknown,
        }
    }

    /// Whether it is of a category; a violation of an unknown category may be of any.
    pub fn may_be(&self, category: &str) -> bool {
        match self {
            Self::Named(name) => norm(name) == norm(category),
            Self::Unknown => true,
        }
    }
}

fn observed_event(event: &Value) -> ObservedEvent {
    let name = match text_of_event(event, "name") {
        Some(name) => Some(name),
        None => event.as_str().map(str::to_owned),
    };
    let violation = name
        .as_deref()
        .filter(|name| is_violation(name))
        .map(|_| ViolationCategory::of(text_of_event(event, "category").as_deref()));
    ObservedEvent { name, violation }
}

fn text_of_event(event: &Value, key: &str) -> Option<String> {
    event.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Reads the output of a run; `schema` is that of its answer.
pub fn produced(run: &Run, schema: Option<&JsonSchemaValidator>) -> EvidenceOutput {
    let ReadOutputs {
        main,
        layer,
        aside,
        mut invalid_calls,
        violations,
    } = outputs(run);
    let mut flaws = schema.map_or(Vec::new(), |schema| {
        schema.reasons(&Value::Object(of_the_agent(&main)))
    });
    let files = files_inspected(&main, &mut flaws);
    let result = result_texts(&main, &mut flaws);
    let violations = listed_violations(&violations, &mut flaws);
    invalid_calls.extend(violations.as_ref().map(|list| Value::from(list.len())));
    let invalid_calls = largest_count(&invalid_calls, &mut flaws);
    let intermediate = intermediate(run).unwrap_or_default();
    // Without events the violations are unknown; that is not the same as none.
    match intermediate.get("events") {
        None | Some(Value::Null | Value::Array(_)) => {}
        Some(_) => flaws.push("\"events\" is not a list".to_owned()),
    }
    let events = intermediate.get("events").and_then(Value::as_array);
    let (calls, broken) = calls(run);
    flaws.extend(broken);
    EvidenceOutput {
        files: files
            .into_iter()
            .map(|file| tidied(file).ok_or_else(|| file.to_owned()))
            .collect(),
        result,
        aside,
        layer,
        invalid_calls,
        violations,
        events: events.map(|events| events.iter().map(observed_event).collect()),
        calls,
        flaws,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::produced;
    use crate::model::Run;

    #[test]
    fn the_largest_count_of_calls_outside_the_policy_counts() {
        let count = |outputs: Value| {
            let read = produced(&Run::of(outputs.to_string()), None);
            (read.invalid_calls, read.flaws.len())
        };
        let text = r#"{"files_inspected": ["a.py"], "result": "x"}"#;
        let counted =
            r#"{"files_inspected": ["a.py"], "result": "x", "invalid_tool_call_count": 1}"#;
        assert_eq!(count(json!({ "text": text })), (0, 0));
        assert_eq!(
            count(json!({ "text": text, "invalid_tool_call_count": 2 })),
            (2, 0)
        );
        assert_eq!(
            count(json!({ "text": counted, "invalid_tool_call_count": 0 })),
            (1, 0)
        );
        assert_eq!(
            count(json!({ "text": counted, "invalidToolCallCount": 2.0 })),
            (2, 0)
        );
        let both = json!({ "files_inspected": [], "result": "x", "invalid_tool_call_count": 0, "invalidToolCallCount": 3 });
        assert_eq!(count(both), (3, 0));
        assert_eq!(
            count(json!({ "text": counted, "invalid_tool_call_count": "many" })),
            (1, 1)
        );
        assert_eq!(
            count(json!({ "text": counted, "invalid_tool_call_count": null })),
            (1, 0)
        );
    }
}
