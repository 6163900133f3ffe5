//! The tests in a table of promptfoo: a row is a test, a column is a variable, or `__expected` and the like.

use serde_json::{Map, Value, json};

/// The test in a row.
pub fn test_of_row(row: Map<String, Value>) -> Value {
    let mut test = json!({ "vars": {}, "metadata": {} });
    let mut assertions = Vec::new();
    let (mut asserted, mut thresholds) = (Vec::new(), Vec::new());
    for (column, value) in row {
        let text = value.as_str().unwrap_or_default().to_owned();
        let number = text.trim().parse::<f64>().ok();
        match column.as_str() {
            "__description" => test["description"] = value,
            "__threshold" => {
                if let Some(number) = number {
                    test["threshold"] = json!(number);
                }
            }
            // What is put around the prompt, who grades, and what an answer would be require nothing of an answer.
            "__prefix" | "__suffix" | "__metric" | "__providerOutput" => {}
            column => {
                if let Some(key) = column.strip_prefix("__metadata:") {
                    test["metadata"][key] = value;
                } else if let Some(config) = column.strip_prefix("__config:") {
                    let column = config.strip_suffix(":threshold").map(str::to_owned);
                    thresholds.extend(column.zip(number));
                } else if !column.starts_with("__expected") {
                    test["vars"][column] = value;
                } else if !text.trim().is_empty() {
                    asserted.push((column.to_owned(), assertion_of_text(text.trim())));
                }
            }
        }
    }
    for (column, mut assertion) in asserted {
        for (name, threshold) in &thresholds {
            // The first one has a number or not.
            if *name == column || format!("{name}1") == column || *name == format!("{column}1") {
                assertion["threshold"] = json!(threshold);
                break;
            }
        }
        assertions.push(assertion);
    }
    test["assert"] = Value::Array(assertions);
    test
}

/// The assertion in a field: `type:value`, `type(threshold):value`, or the text that the answer must be.
fn assertion_of_text(text: &str) -> Value {
    if text.starts_with("file://") {
        return json!({ "type": "javascript", "value": text });
    }
    let (head, value) = match text.split_once(':') {
        Some((head, value)) => (head, Some(value)),
        None => (text, None),
    };
    let (kind, threshold) = match head.strip_suffix(')').and_then(|head| head.split_once('(')) {
        Some((kind, number)) => match number.parse::<f64>() {
            Ok(number) => (kind, Some(number)),
            Err(_) => return equality(text),
        },
        None => (head, None),
    };
    let kind = match kind {
        "fn" | "eval" => "javascript",
        "grade" => "llm-rubric",
        kind => kind,
    };
    let plain = kind.strip_prefix("not-").unwrap_or(kind);
    if !KINDS.split(' ').any(|known| known == plain) {
        return equality(text);
    }
    let mut assertion = json!({ "type": kind });
    // A schema is JSON in the field.
    let schema = value
        .filter(|_| plain.ends_with("-json"))
        .and_then(|text| serde_json::from_str(text).ok());
    if let Some(value) = schema.or_else(|| value.map(|text| json!(text))) {
        assertion["value"] = value;
    }
    let default = match plain {
        "similar" => Some(0.8),
        "levenshtein" | "rouge-n" | "cost" | "latency" | "starts-with" | "perplexity" => Some(0.75),
        _ => None,
    };
    if let Some(threshold) = threshold.filter(|number| *number != 0.0).or(default) {
        assertion["threshold"] = json!(threshold);
    }
    assertion
}

fn equality(text: &str) -> Value {
    json!({ "type": "equals", "value": text })
}

/// The types of assertions that a field can name; with another word before the colon it is the text that the answer must be.
const KINDS: &str = "\
    agent-rubric answer-relevance bleu classifier contains contains-all contains-any contains-html contains-json \
    contains-sql contains-xml context-faithfulness context-recall context-relevance conversation-relevance cost \
    equals factuality finish-reason g-eval gleu guardrails icontains icontains-all icontains-any is-html is-json \
    is-refusal is-sql is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml \
    javascript latency levenshtein llm-rubric meteor model-graded-closedqa model-graded-factuality moderation \
    perplexity perplexity-score pi python regex rouge-n ruby search-rubric similar skill-used starts-with \
    tool-call-f1 trace-error-spans trace-span-count trace-span-duration trajectory webhook word-count";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{assertion_of_text, test_of_row};

    #[test]
    fn a_field_is_an_assertion_or_the_answer() {
        for (text, assertion) in [
            ("Paris", json!({ "type": "equals", "value": "Paris" })),
            (
                "Note: Paris",
                json!({ "type": "equals", "value": "Note: Paris" }),
            ),
            (
                "contains:Paris",
                json!({ "type": "contains", "value": "Paris" }),
            ),
            (
                "not-icontains:as an AI",
                json!({ "type": "not-icontains", "value": "as an AI" }),
            ),
            (
                "contains-any:a, b",
                json!({ "type": "contains-any", "value": "a, b" }),
            ),
            ("is-json", json!({ "type": "is-json" })),
            (
                "is-json:{\"type\": \"array\"}",
                json!({ "type": "is-json", "value": { "type": "array" } }),
            ),
            (
                "levenshtein(3):Paris",
                json!({ "type": "levenshtein", "value": "Paris", "threshold": 3.0 }),
            ),
            (
                "latency(900)",
                json!({ "type": "latency", "threshold": 900.0 }),
            ),
            (
                "grade:is kind",
                json!({ "type": "llm-rubric", "value": "is kind" }),
            ),
            ("f(x):y", json!({ "type": "equals", "value": "f(x):y" })),
            (
                "file://check.py",
                json!({ "type": "javascript", "value": "file://check.py" }),
            ),
        ] {
            assert_eq!(assertion_of_text(text), assertion, "{text}");
        }
    }

    #[test]
    fn a_column_is_a_variable_unless_it_has_two_underscores() {
        let row = json!({ "q": "who?", "__expected": "contains:Ada", "__expected2": "rouge-n:Ada", "__expected3": " ",
            "__config:__expected2:threshold": "0.5", "__description": "who", "__metadata:id": "w1", "__threshold": "0.6", "__metric": "m" });
        let Value::Object(row) = row else { panic!() };
        let expected = json!({ "description": "who", "vars": { "q": "who?" }, "metadata": { "id": "w1" }, "threshold": 0.6,
            "assert": [{ "type": "contains", "value": "Ada" }, { "type": "rouge-n", "value": "Ada", "threshold": 0.5 }] });
        assert_eq!(test_of_row(row), expected);
    }
}
