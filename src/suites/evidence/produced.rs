//! What an inspecting agent produced: the files that it looked at, its result, and what the runtime counted.

use serde_json::Value;

use super::tidied;
use crate::model::Run;
use crate::suites::calls::Call;
use crate::suites::calls::calls;
use crate::text::norm;

/// What one run produced.
pub struct Produced {
    /// The files that it looked at: tidied, or as written where a path leaves the repository.
    pub files: Vec<Result<String, String>>,
    /// The result's text in the normal form; of an object its JSON.
    pub result: String,
    /// Calls outside the policy.
    pub invalid_calls: u64,
    /// The names of its events, and the categories of those that are policy violations.
    pub events: Vec<(String, Option<String>)>,
    /// Its tool calls.
    pub calls: Vec<Call>,
    /// What does not have the form that it should have.
    pub flaws: Vec<String>,
}

/// Reads one run.
pub fn produced(run: &Run) -> Produced {
    let outputs: Value = serde_json::from_str(&run.outputs).unwrap_or_default();
    let mut flaws = Vec::new();
    let files = match outputs.get("files_inspected") {
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).collect()
        }
        Some(Value::Array(_)) => {
            flaws.push("\"files_inspected\" has something that is no text".to_owned());
            Vec::new()
        }
        Some(_) => {
            flaws.push("\"files_inspected\" is no list".to_owned());
            Vec::new()
        }
        None => {
            flaws.push("there is no list \"files_inspected\"".to_owned());
            Vec::new()
        }
    };
    let result = match outputs.get("result") {
        Some(Value::String(text)) if !text.trim().is_empty() => norm(text),
        Some(Value::Object(fields)) if !fields.is_empty() => norm(&outputs["result"].to_string()),
        _ => {
            flaws.push("\"result\" is neither a text nor an object that says something".to_owned());
            String::new()
        }
    };
    let invalid_calls = match outputs.get("invalid_tool_call_count") {
        None | Some(Value::Null) => 0,
        Some(count) => count.as_u64().unwrap_or_else(|| {
            flaws.push("\"invalid_tool_call_count\" is no count".to_owned());
            0
        }),
    };
    let intermediate: Value =
        run.intermediate.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let events = intermediate.get("events").and_then(Value::as_array).into_iter().flatten().map(|event| {
        let text = |key: &str| event.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").or_else(|| event.as_str().map(str::to_owned)).unwrap_or_default();
        let category = text("category").filter(|_| name == "policy_violation");
        (name, category)
    });
    let (calls, _) = calls(run);
    let tidy = |file: &str| tidied(file).ok_or_else(|| file.to_owned());
    Produced {
        files: files.into_iter().map(tidy).collect(),
        result,
        invalid_calls,
        events: events.collect(),
        calls,
        flaws,
    }
}
