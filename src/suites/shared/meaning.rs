//! The meaning of a golden case: what affects grading, without notes for people.

use schemars::Schema;
use serde_json::{Map, Value};

use super::case_keys::{DRAFT, DescriptionKeys, IDS, MARKS, NOTES, TAGS};
use super::entries::ENTRY_AGENT;
use super::finding::Severity;
use crate::format::json::whole_numbers;
use crate::suites::kind::SuiteKind;

/// The parts of a case, compared separately.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseMeaning {
    /// Everything that affects grading, without values that equal their default.
    pub judged: Value,
    /// Origin and owner of the case.
    pub description: Value,
}

/// What reads the values of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseUse {
    /// Its kind: a default may be left out, and 1.0 is 1.
    Kind,
    /// Expressions, which see the case as written: `7.0 / 2.0` and `7 / 2` differ, and so do a default and nothing.
    Expressions,
}

impl CaseUse {
    /// What reads a case; `of_suite` is what reads all cases of its suite.
    pub fn of(of_suite: Self, case: &Value) -> Self {
        if states_expression(case) {
            Self::Expressions
        } else {
            of_suite
        }
    }
}

/// Whether a value or a part of it states an expression that reads the case.
fn states_expression(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            (key == EXPRESSION && value.as_str().is_some_and(reads_case))
                || states_expression(value)
        }),
        Value::Array(list) => list.iter().any(states_expression),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether an expression names what it knows of the case.
pub fn reads_case(expression: &str) -> bool {
    ["expected", "input"]
        .iter()
        .any(|name| expression.contains(name))
}

/// The key of an expression.
pub const EXPRESSION: &str = "expr";

pub struct MeaningReader {
    /// The keys of a case that state origin and owner.
    description: DescriptionKeys,
    /// The key of the agent of an entry, by which it was found.
    agent_key: Option<&'static str>,
    /// The schema of a case; built once, because there are many cases.
    schema: Option<Schema>,
}

impl MeaningReader {
    /// For the cases of `kind`.
    pub fn of(kind: &SuiteKind) -> Self {
        Self {
            description: kind.description,
            agent_key: kind.golden.is_of_agent().then_some(ENTRY_AGENT),
            schema: (kind.schemas)()
                .into_iter()
                .next()
                .map(|(_, schema)| schema),
        }
    }

    /// The meaning of a case's own part of a golden file, without notes and quarantine.
    pub fn meaning(&self, case: &Value, used: CaseUse) -> CaseMeaning {
        let mut judged = case.clone();
        let mut description = Map::new();
        if let Some(fields) = judged.as_object_mut() {
            for key in MARKS {
                fields.remove(key);
            }
            // The case was found by it, also where it is the default.
            for key in IDS.iter().chain(&self.agent_key) {
                fields.remove(*key);
            }
            let keys: Vec<String> = fields
                .keys()
                .filter(|key| *key == TAGS || self.description.has(key))
                .cloned()
                .collect();
            for key in keys {
                description.extend(fields.remove_entry(&key));
            }
        }
        if used == CaseUse::Expressions {
            tell_decimals_apart(&mut judged);
        } else if let Some(schema) = &self.schema {
            Defaults::of(schema.as_value()).leave_out(&mut judged, schema.as_value());
        }
        CaseMeaning {
            judged,
            description: Value::Object(description),
        }
    }
}

/// What a digest of a case's expectations is of: its JSON without its id, notes and marks, in a form that depends on its values alone. So
/// neither a note, nor another order of keys, nor another format changes a digest.
pub fn digested_case(case: &str, description: DescriptionKeys) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(case) else {
        return case.to_owned();
    };
    if let Some(fields) = value.as_object_mut() {
        [NOTES, TAGS, DRAFT]
            .iter()
            .chain(&IDS)
            .for_each(|key| drop(fields.remove(*key)));
        fields.retain(|key, _| !description.has(key));
    }
    whole_numbers(&mut value);
    value.to_string()
}

const DECIMAL: &str = " (decimal)";
const TEXT: &str = " (text)";

/// Writes decimal numbers that are whole as texts, so that 1.0 is not 1.
fn tell_decimals_apart(value: &mut Value) {
    match value {
        Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0) =>
        {
            *value = Value::String(format!("{number}{DECIMAL}"));
        }
        // A text that is written like one stays another value.
        Value::String(text) if [DECIMAL, TEXT].iter().any(|end| text.ends_with(end)) => {
            text.push_str(TEXT)
        }
        Value::Array(list) => list.iter_mut().for_each(tell_decimals_apart),
        Value::Object(fields) => fields.values_mut().for_each(tell_decimals_apart),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

struct Defaults<'a> {
    root: &'a Value,
    /// The schema of a severity.
    severity: Option<&'a Value>,
}

impl<'a> Defaults<'a> {
    fn of(root: &'a Value) -> Self {
        Self {
            root,
            severity: root.pointer("/$defs/Severity"),
        }
    }

    /// Removes every value that equals its default. A severity is written with its word.
    fn leave_out(&self, value: &mut Value, schema: &Value) {
        let schema = self.resolved(schema);
        match value {
            Value::String(text)
                if self
                    .severity
                    .is_some_and(|severity| std::ptr::eq(severity, schema)) =>
            {
                *text = Severity::named(text)
                    .map_or_else(|| text.clone(), |severity| severity.to_string());
            }
            Value::Object(fields) => self.leave_out_of_fields(fields, schema),
            Value::Array(list) => {
                if let Some(items) = schema.get("items") {
                    list.iter_mut().for_each(|item| self.leave_out(item, items));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn leave_out_of_fields(&self, fields: &mut Map<String, Value>, schema: &Value) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        fields.retain(|key, value| {
            let Some(property) = properties.and_then(|properties| properties.get(key)) else {
                // All values of a map have one schema.
                if let Some(inner) = schema
                    .get("additionalProperties")
                    .filter(|inner| inner.is_object())
                {
                    self.leave_out(value, inner);
                }
                return true;
            };
            self.leave_out(value, property);
            let is_default = property
                .get("default")
                .is_some_and(|default| default == value);
            let is_required = required.is_some_and(|keys| keys.iter().any(|name| name == key));
            is_required || !(is_default || value.is_null())
        });
    }

    /// Resolves a reference, and the inner schema of an optional value.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let named = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|path| path.strip_prefix("#/"));
        if let Some(definition) =
            named.and_then(|path| path.split('/').try_fold(self.root, |at, key| at.get(key)))
        {
            return definition;
        }
        match schema
            .get("anyOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([inner, null]) if is_null_schema(null) => self.resolved(inner),
            Some(_) | None => schema,
        }
    }
}

fn is_null_schema(schema: &Value) -> bool {
    schema.as_object().is_some_and(|fields| fields.len() == 1)
        && schema.get("type").is_some_and(|word| word == "null")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CaseUse, DescriptionKeys, MeaningReader, digested_case};
    use crate::format::json::whole_numbers;
    use crate::suites::kind;

    fn judged(name: &str, case: &Value) -> Value {
        MeaningReader::of(kind(name).unwrap())
            .meaning(case, CaseUse::Kind)
            .judged
    }

    #[test]
    fn an_explicit_default_has_the_same_meaning() {
        let bare = json!({"expected_findings": [{"category": "a"}], "min_expected_findings": 1});
        let spelled = json!({
            "expected_findings": [{"category": "a", "required": true, "alternative_categories": [], "rule": null}],
            "expected_gaps": [], "min_expected_findings": 1, "max_expected_findings": null, "notes": "n",
        });
        assert_eq!(judged("findings", &bare), judged("findings", &spelled));
        let other = json!({"expected_findings": [{"category": "a", "required": false}], "min_expected_findings": 1});
        assert_ne!(judged("findings", &bare), judged("findings", &other));
        let severe = |least: &str, most: Value| json!({"expected_findings": [{"category": "a", "min_severity": least, "max_severity": most}]});
        let high = judged(
            "findings",
            &json!({"expected_findings": [{"category": "a", "min_severity": "high"}]}),
        );
        for (least, most) in [("HIGH", "critical"), ("P1", "P0"), ("high", "Critical")] {
            assert_eq!(
                judged("findings", &severe(least, json!(most))),
                high,
                "{least} {most}"
            );
        }
        assert_ne!(judged("findings", &severe("high", json!("high"))), high);
        assert_ne!(judged("findings", &severe("P2", json!("critical"))), high);
        let asked = json!({"contract": "c", "agents": ["a", "b"]});
        let two = json!({"contract": "c", "agents": ["a", "b"], "min_agents": 2, "no_contradictions": true});
        let three = json!({"contract": "c", "agents": ["a", "b"], "min_agents": 3});
        assert_eq!(judged("cross_agent", &asked), judged("cross_agent", &two));
        assert_ne!(judged("cross_agent", &asked), judged("cross_agent", &three));
    }

    #[test]
    fn an_expression_sees_how_a_value_is_written() {
        let reader = MeaningReader::of(kind("custom").unwrap());
        let case = |sum: Value, check: &str| json!({"input": "q", "expected": {"sum": sum}, "checks": [{check: "expected.sum > 1"}]});
        for (check, tells_apart) in [("expr", true), ("other", false)] {
            let cases = [case(json!(7.0), check), case(json!(7), check)];
            let [one, other] = cases.each_ref().map(|case| {
                reader
                    .meaning(case, CaseUse::of(CaseUse::Kind, case))
                    .judged
            });
            let [mut one, mut other] = [one, other];
            whole_numbers(&mut one);
            whole_numbers(&mut other);
            assert_eq!(one != other, tells_apart, "{check}");
            let texts =
                [json!("7.0 (decimal)"), json!("7.0 (decimal) (text)")].map(|sum| case(sum, check));
            let texts = texts.each_ref().map(|case| {
                reader
                    .meaning(case, CaseUse::of(CaseUse::Kind, case))
                    .judged
            });
            assert!(
                texts[0] != texts[1] && texts[0] != one && texts[1] != one,
                "{check}"
            );
        }
    }

    #[test]
    fn a_required_value_is_never_removed() {
        let none = json!({"category": "edge_case", "query": "q", "expected_tools": [], "expected_output_contains": []});
        assert_eq!(judged("tool_use", &none), none);
    }

    #[test]
    fn the_history_of_a_task_is_separate_from_its_expectation() {
        let task =
            |owner: &str| json!({"name": "t", "lifecycle": {"owner": owner}, "why": {"a": "b"}});
        let reader = MeaningReader::of(kind("evidence").unwrap());
        let [one, other] = ["a", "b"].map(|owner| reader.meaning(&task(owner), CaseUse::Kind));
        assert_eq!(
            (&one.judged, &one.judged),
            (&json!({"name": "t"}), &other.judged)
        );
        assert_ne!(one.description, other.description);
    }

    #[test]
    fn the_form_of_a_case_does_not_change_what_is_digested() {
        let expected = r#"{"a":1,"b":{"notes":[2,2.5]}}"#;
        for text in [
            "{\"a\": 1, \"b\": {\"notes\": [2, 2.5]}}",
            "{\n  \"notes\": \"x\",\n  \"b\": { \"notes\": [2.0, 25e-1] },\n \"id\": \"c\", \"a\": 1.0e0, \"tags\": [], \"draft\": true }\n",
        ] {
            assert_eq!(digested_case(text, DescriptionKeys::NONE), expected);
        }
        assert_eq!(
            digested_case("{\"a\": 9007199254740993}", DescriptionKeys::NONE),
            "{\"a\":9007199254740993}"
        );
        assert_eq!(digested_case("no json", DescriptionKeys::NONE), "no json");
    }
}
