//! Translates promptfoo's assertions to the conditions of `answer`.

use regex::Regex;
use serde_json::{Map, Value, json};

/// The conditions of a test, and the assertions that have none.
#[derive(Default)]
pub struct Translated {
    /// Entries of `answer`.
    pub entries: Vec<Value>,
    /// The other assertions, with the reason.
    pub left_out: Vec<String>,
}

pub fn translate(assertions: &[Value], vars: &Map<String, Value>) -> Translated {
    let mut translated = Translated::default();
    for assertion in assertions {
        let kind = assertion
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let weight = assertion.get("weight").and_then(Value::as_f64);
        match entry(kind, assertion, vars) {
            Ok(_) if weight == Some(0.0) => {
                translated.left_out.push(format!("{kind}: its weight is 0"))
            }
            Ok(mut entry) => {
                if let (Some(fields), Some(weight)) = (entry.as_object_mut(), weight) {
                    fields.insert("weight".to_owned(), json!(weight));
                }
                translated.entries.push(entry);
            }
            Err(why) => translated.left_out.push(format!("{kind}: {why}")),
        }
    }
    translated
}

/// A condition, or why there is none.
type Translation = Result<Value, &'static str>;

fn entry(kind: &str, assertion: &Value, vars: &Map<String, Value>) -> Translation {
    if let Some(kind) = kind.strip_prefix("not-") {
        return Ok(match (kind, entry(kind, assertion, vars)?) {
            ("contains" | "icontains", Value::Object(fields)) => {
                renamed(fields, "all_of", "none_of")
            }
            ("contains-any" | "icontains-any", Value::Object(fields)) => {
                renamed(fields, "any_of", "none_of")
            }
            ("regex", Value::Object(fields)) => renamed(fields, "regex", "not_regex"),
            ("is-refusal", _) => json!({ "refusal": false }),
            (_, condition) => json!({ "not": condition }),
        });
    }
    if assertion
        .get("transform")
        .is_some_and(|transform| !transform.is_null())
    {
        return Err("it is about the result of a transform");
    }
    let value = assertion.get("value").unwrap_or(&Value::Null);
    let threshold = assertion.get("threshold").and_then(Value::as_f64);
    Ok(match kind {
        "equals" if value.is_object() || value.is_array() => {
            json!({ "json_schema": { "const": value }, "whole_json": true })
        }
        "equals" => json!({ "equals": text(value, vars)?, "case_sensitive": true }),
        "contains" => json!({ "all_of": [text(value, vars)?], "case_sensitive": true }),
        "icontains" => json!({ "all_of": [text(value, vars)?] }),
        "contains-any" => json!({ "any_of": texts(value, vars)?, "case_sensitive": true }),
        "icontains-any" => json!({ "any_of": texts(value, vars)? }),
        "contains-all" => json!({ "all_of": texts(value, vars)?, "case_sensitive": true }),
        "icontains-all" => json!({ "all_of": texts(value, vars)? }),
        "starts-with" => json!({ "starts_with": text(value, vars)?, "case_sensitive": true }),
        "regex" => {
            let pattern = text(value, vars)?;
            Regex::new(&pattern)
                .map_err(|_| "its regular expression needs look-around or back-references")?;
            json!({ "regex": pattern })
        }
        "is-json" => json!({ "json_schema": schema(value, json!({}))?, "whole_json": true }),
        "contains-json" => {
            json!({ "json_schema": schema(value, json!({ "type": ["object", "array"] }))? })
        }
        "levenshtein" => {
            json!({ "similar": { "to": text(value, vars)?, "max_edits": whole(threshold.unwrap_or(5.0))? } })
        }
        "rouge-n" => {
            json!({ "similar": { "to": text(value, vars)?, "token_f1": threshold.unwrap_or(0.75) } })
        }
        "is-refusal" => json!({ "refusal": true }),
        "latency" => json!({ "max_latency_ms": threshold.ok_or("it has no threshold")? }),
        "cost" => json!({ "max_cost_usd": threshold.ok_or("it has no threshold")? }),
        "word-count" => json!({ "length": { "words": range(value)? } }),
        "javascript" => javascript(value.as_str().unwrap_or_default())?,
        "assert-set" => {
            let inner = assertion
                .get("assert")
                .and_then(Value::as_array)
                .ok_or("it has no assertions")?;
            let Translated { entries, left_out } = translate(inner, vars);
            if !left_out.is_empty() || entries.is_empty() {
                return Err("one of its assertions has no counterpart");
            }
            json!({ "checks": entries, "min_score": threshold.filter(|share| *share > 0.0).unwrap_or(1.0) })
        }
        _ => return Err("it has no counterpart"),
    })
}

fn renamed(mut fields: Map<String, Value>, from: &str, to: &str) -> Value {
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
    Value::Object(fields)
}

fn text(value: &Value, vars: &Map<String, Value>) -> Result<String, &'static str> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err("its value is not a string");
        }
    };
    if text.starts_with("file://") || text.starts_with("package:") {
        return Err("its value is in another file");
    }
    let text = rendered(&text, vars).ok_or("its value is a template with more than variables")?;
    if text.trim().is_empty() {
        Err("its value is empty")
    } else {
        Ok(text)
    }
}

/// A list of texts, or texts separated by commas.
fn texts(value: &Value, vars: &Map<String, Value>) -> Result<Vec<String>, &'static str> {
    match value {
        Value::Array(list) => list.iter().map(|item| text(item, vars)).collect(),
        Value::String(_) => Ok(text(value, vars)?
            .split(',')
            .map(|item| item.trim().to_owned())
            .collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err("its value is not a list")
        }
    }
}

fn schema(value: &Value, any: Value) -> Translation {
    match value {
        Value::Null => Ok(any),
        Value::Object(_) => Ok(value.clone()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("its schema is not in the test")
        }
    }
}

fn whole(number: f64) -> Result<u32, &'static str> {
    // Only whole numbers reach the cast.
    if (0.0..1e6).contains(&number) && number.fract() == 0.0 {
        Ok(number as u32)
    } else {
        Err("its threshold is not whole")
    }
}

fn range(value: &Value) -> Translation {
    match value {
        Value::Number(_) => Ok(json!({ "min": value, "max": value })),
        Value::Object(fields) if fields.contains_key("min") || fields.contains_key("max") => {
            Ok(value.clone())
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Err("it has no range")
        }
    }
}

/// The expressions that conditions can say: a length, and a text in the output.
fn javascript(code: &str) -> Translation {
    const UNKNOWN: &str = "the code is not a comparison of output.length or output.includes";
    let code = code.trim().trim_end_matches(';');
    if let Some(rest) = code.strip_prefix("output.length") {
        let (operator, number) = rest.trim().split_once(' ').ok_or(UNKNOWN)?;
        let number: u32 = number.trim().parse().map_err(|_| UNKNOWN)?;
        let range = match operator {
            "<" => json!({ "max": number.saturating_sub(1) }),
            "<=" => json!({ "max": number }),
            ">" => json!({ "min": number.saturating_add(1) }),
            ">=" => json!({ "min": number }),
            "==" | "===" => json!({ "min": number, "max": number }),
            _ => return Err(UNKNOWN),
        };
        return Ok(json!({ "length": { "chars": range } }));
    }
    let quoted = code
        .strip_prefix("output.includes(")
        .and_then(|rest| rest.strip_suffix(')'))
        .ok_or(UNKNOWN)?;
    let inner = ['"', '\'']
        .iter()
        .find_map(|quote| quoted.strip_prefix(*quote)?.strip_suffix(*quote));
    let inner = inner
        .filter(|text| !text.is_empty() && !text.contains(['"', '\'', '\\']))
        .ok_or(UNKNOWN)?;
    Ok(json!({ "all_of": [inner], "case_sensitive": true }))
}

/// A template in which variables are replaced; `None` if it has anything else.
pub fn rendered(template: &str, vars: &Map<String, Value>) -> Option<String> {
    let mut whole = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, next) = after.split_once("}}")?;
        let value = vars.get(name.trim())?;
        whole.push_str(before);
        whole.push_str(
            &value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        );
        rest = next;
    }
    whole.push_str(rest);
    (!template.contains("{%")).then_some(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{rendered, translate};

    fn translated(assertion: Value) -> (Vec<Value>, Vec<String>) {
        let vars = Map::from_iter([("name".to_owned(), json!("Acme"))]);
        let translated = translate(&[assertion], &vars);
        (translated.entries, translated.left_out)
    }

    #[test]
    fn what_a_case_cannot_say_is_left_out_with_the_reason() {
        for (assertion, why) in [
            (
                json!({ "type": "llm-rubric", "value": "is polite" }),
                "llm-rubric: it has no counterpart",
            ),
            (
                json!({ "type": "not-contains", "value": "0", "transform": "output.total" }),
                "not-contains: it is about the result of a transform",
            ),
            (
                json!({ "type": "javascript", "value": "output.trim() === 'a'" }),
                "javascript: the code is not",
            ),
            (
                json!({ "type": "regex", "value": "(?=a)b" }),
                "regex: its regular expression needs look-around",
            ),
            (
                json!({ "type": "equals", "value": "file://a.txt" }),
                "equals: its value is in another file",
            ),
            (
                json!({ "type": "contains", "value": "{{ name | upper }}" }),
                "contains: its value is a template",
            ),
            (
                json!({ "type": "contains", "value": "" }),
                "contains: its value is empty",
            ),
            (
                json!({ "type": "levenshtein", "value": "a", "threshold": 0.5 }),
                "levenshtein: its threshold is not whole",
            ),
            (json!({ "type": "latency" }), "latency: it has no threshold"),
            (
                json!({ "type": "contains", "value": "a", "weight": 0 }),
                "contains: its weight is 0",
            ),
            (
                json!({ "type": "assert-set", "assert": [{ "type": "moderation" }] }),
                "assert-set: one of its",
            ),
            (json!({}), ": it has no counterpart"),
        ] {
            let (entries, left_out) = translated(assertion.clone());
            assert!(
                entries.is_empty() && left_out[0].starts_with(why),
                "{assertion}: {left_out:?}"
            );
        }
    }

    #[test]
    fn variables_are_replaced_and_nothing_else_is() {
        let (entries, _) = translated(json!({ "type": "icontains", "value": "by {{name}}" }));
        assert_eq!(entries, [json!({ "all_of": ["by Acme"] })]);
        assert_eq!(rendered("{% if a %}b{% endif %}", &Map::new()), None);
        assert_eq!(rendered("{{ open", &Map::new()), None);
    }
}
