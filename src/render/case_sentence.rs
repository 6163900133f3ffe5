//! A case in sentences, whole: what is asked, which calls it expects, and what the answer must have.

use serde_json::{Map, Value};

use super::plain::line;

/// The keys that a review shows first, in this order.
const FIRST: [&str; 5] = [
    "trajectory",
    "expected_tools",
    "tools",
    "expected_output_contains",
    "answer",
];
/// The keys that it shows elsewhere, or that expect nothing of the agent.
const ELSEWHERE: [&str; 6] = ["id", "draft", "category", "query", "turns", "user"];

/// The sentences of a case; `None` for a case that asks nothing itself.
pub fn sentences(case: &Value) -> Option<Vec<String>> {
    let fields = case.as_object()?;
    let mut out = Vec::new();
    if let Some(query) = fields.get("query").and_then(Value::as_str) {
        out.push(format!("asked {}", quoted(query)));
    } else {
        for turn in fields.get("turns")?.as_array()? {
            add_turn(turn.as_object()?, &mut out);
        }
    }
    add_expectations(fields, &mut out);
    Some(out)
}

fn add_turn(turn: &Map<String, Value>, out: &mut Vec<String>) {
    let user = turn.get("user").and_then(Value::as_str).unwrap_or_default();
    out.push(format!("asked {}", quoted(user)));
    let mut expectations = Vec::new();
    add_expectations(turn, &mut expectations);
    for expectation in expectations {
        out.push(format!("  {expectation}"));
    }
}

fn add_expectations(fields: &Map<String, Value>, out: &mut Vec<String>) {
    let has_trajectory = fields.contains_key("trajectory");
    let listed = FIRST
        .iter()
        .filter_map(|key| Some((*key, fields.get(*key)?)));
    for (key, value) in listed {
        match key {
            "trajectory" => out.push(trajectory_sentence(value)),
            "expected_output_contains" => {
                let phrases = texts(value);
                if !phrases.is_empty() {
                    out.push(format!("answer has {}", phrases.join(" or ")));
                }
            }
            "answer" => match value {
                Value::Array(entries) => out.extend(entries.iter().map(answer_sentence)),
                entry => out.push(answer_sentence(entry)),
            },
            // The trajectory names them as well.
            _ if has_trajectory => {}
            _ => out.push(tools_sentence(value)),
        }
    }
    let others = fields
        .iter()
        .filter(|(key, _)| !FIRST.contains(&key.as_str()) && !ELSEWHERE.contains(&key.as_str()));
    out.extend(others.map(|(key, value)| format!("{}: {}", line(key, key.len()), bare(value))));
}

fn tools_sentence(tools: &Value) -> String {
    match texts(tools).as_slice() {
        [] => "calls no tool".to_owned(),
        names => format!("calls {}", names.join(", ")),
    }
}

/// The calls, and what else the trajectory states.
fn trajectory_sentence(trajectory: &Value) -> String {
    let steps: Vec<String> = trajectory
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(step)
        .collect();
    let mode = trajectory.get("mode").and_then(Value::as_str);
    let calls = match (steps.as_slice(), mode) {
        ([], _) => "calls nothing".to_owned(),
        (steps, Some("in_order")) => format!("calls {}", steps.join(", then ")),
        (steps, Some("exact")) => format!("calls {}, and nothing else", steps.join(", then ")),
        (steps, Some("superset")) => format!("calls {}, in any order", steps.join(", ")),
        (steps, mode) => format!("calls ({}) {}", mode.unwrap_or_default(), steps.join(", ")),
    };
    let rest = trajectory.as_object().into_iter().flatten();
    let rest = rest.filter(|(key, _)| !["mode", "tools"].contains(&key.as_str()));
    rest.fold(calls, |calls, (key, value)| {
        format!("{calls}; {key}: {}", shown(value))
    })
}

fn step(step: &Value) -> String {
    if let Some(calls) = list(step, "parallel") {
        return joined_steps(calls, " and ");
    }
    if let Some(calls) = list(step, "any_of") {
        return joined_steps(calls, " or ");
    }
    let name = step.get("name").and_then(Value::as_str).unwrap_or_default();
    let Some(args) = step.get("args") else {
        return line(name, name.len());
    };
    let values = args.get("values").and_then(Value::as_object);
    let fields = args.get("fields").and_then(Value::as_object);
    let listed: Vec<String> = values
        .into_iter()
        .chain(fields)
        .flatten()
        .map(|(name, value)| format!("{}={}", line(name, name.len()), bare(value)))
        .collect();
    format!("{}({})", line(name, name.len()), listed.join(", "))
}

fn list<'v>(step: &'v Value, key: &str) -> Option<&'v Vec<Value>> {
    step.get(key).and_then(Value::as_array)
}

fn joined_steps(calls: &[Value], separator: &str) -> String {
    let calls: Vec<String> = calls.iter().map(step).collect();
    format!("({})", calls.join(separator))
}

/// One entry of `answer`.
fn answer_sentence(entry: &Value) -> String {
    let Some(fields) = entry.as_object() else {
        return format!("answer: {}", shown(entry));
    };
    let parts: Vec<String> = fields
        .iter()
        .filter(|(key, _)| !["whole_words", "case_sensitive"].contains(&key.as_str()))
        .map(|(key, value)| condition(key, value))
        .collect();
    format!("answer {}", parts.join(", "))
}

fn condition(key: &str, value: &Value) -> String {
    match (key, value) {
        ("all_of", _) => format!("has {}", texts(value).join(" and ")),
        ("any_of", _) => match texts(value).as_slice() {
            [] => "has nothing".to_owned(),
            [only] => format!("has {only}"),
            [first, others @ ..] => format!("has {first} (or {})", others.join(", ")),
        },
        ("none_of", _) => format!("has none of {}", texts(value).join(", ")),
        ("equals", _) => format!("is {}", shown(value)),
        ("whole_json", Value::Bool(true)) => "is JSON and nothing else".to_owned(),
        ("json", Value::Object(fields)) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(path, matcher)| format!("{}{}", line(path, path.len()), matched(matcher)))
                .collect();
            format!("has in its JSON {}", fields.join(", "))
        }
        (key, value) => format!("{key}: {}", shown(value)),
    }
}

/// The condition on a field of JSON.
fn matched(matcher: &Value) -> String {
    match (matcher.get("equals"), matcher.get("type")) {
        (Some(value), _) => format!("={}", bare(value)),
        (None, Some(kind)) => format!(" ({})", bare(kind)),
        (None, None) => format!(" {}", shown(matcher)),
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(bare).collect()
}

/// A value without the quotes of a text.
fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => line(text, text.len()),
        _ => shown(value),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    line(&text, text.len())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", line(text, text.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sentences;

    #[test]
    fn a_case_is_read_in_sentences() {
        let case = json!({
            "id": "late", "draft": true, "query": "Where is\nHO-10990?",
            "expected_tools": ["get_order", "escalate"],
            "trajectory": { "mode": "in_order", "tools": [
                { "name": "get_order", "args": { "match": "superset", "values": { "order_id": "HO-10990" } } },
                { "parallel": [{ "name": "escalate" }, { "name": "note", "args": { "values": { "n": 1 } } }] }] },
            "answer": [
                { "any_of": ["25.50", "25.5"], "whole_words": true },
                { "json": { "total": { "equals": 5 }, "note": { "type": "string" } }, "whole_json": true },
                { "expr": "text != ''" }] });
        let expected = [
            "asked \"Where is HO-10990?\"",
            "calls get_order(order_id=HO-10990), then (escalate and note(n=1))",
            "answer has 25.50 (or 25.5)",
            "answer has in its JSON note (string), total=5, is JSON and nothing else",
            "answer expr: \"text != ''\"",
        ];
        assert_eq!(sentences(&case).unwrap(), expected);
        let turns = json!({ "turns": [{ "user": "Hi", "tools": [] }, { "user": "So?", "answer": { "equals": "x" } }] });
        let expected = [
            "asked \"Hi\"",
            "  calls no tool",
            "asked \"So?\"",
            "  answer is \"x\"",
        ];
        assert_eq!(sentences(&turns).unwrap(), expected);
        assert_eq!(sentences(&json!({ "expected_findings": [] })), None);
    }
}
