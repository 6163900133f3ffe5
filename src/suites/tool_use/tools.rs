//! The tools that a suite declares, with canned results: a model without a program of its own can call them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::diag::{Diagnostic, Diagnostics};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, SourceText, json};
use crate::model::{CannedResult, CannedTool, ToolSpec};
use crate::suites::calls::contains;

/// One tool of the suite's `tools` file, which is a list of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "declared tool")]
pub struct ToolForm {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    name: String,
    /// What it does, as a model is told.
    description: String,
    /// The JSON Schema of its arguments, an object.
    parameters: Map<String, Value>,
    /// Its results; the first whose `when` is contained in the arguments is given.
    #[serde(default)]
    results: Vec<ResultForm>,
}

/// One result of a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResultForm {
    /// Arguments that have to be there, nested objects by subset; any where absent.
    #[serde(default)]
    when: Map<String, Value>,
    /// What the tool then says.
    says: Value,
}

/// Reads the tools of a suite.
///
/// # Errors
/// Everything in the file that cannot be, with its place.
pub fn tools(source: &SourceText) -> Result<Vec<CannedTool>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let raws: Vec<&RawValue> = json::golden(source)?;
    let mut tools: Vec<CannedTool> = Vec::new();
    for raw in raws {
        let Some(tool) = problems.keep(tool(source, raw)) else { continue };
        if tools.iter().any(|other| other.spec.name == tool.spec.name) {
            let what = format!("the tool \"{}\" stands here twice", tool.spec.name);
            let cursor = JsonCursor::part(source, raw);
            problems.push(cursor.problem(&[Key("name")], "duplicate-id", what, "give each tool its own name"));
        }
        tools.push(tool);
    }
    if tools.is_empty() && problems.is_empty() {
        problems.push(source.problem(0, "no-tools", "no tool is declared", "declare one, or remove the key tools"));
    }
    problems.or(tools)
}

fn tool(source: &SourceText, raw: &RawValue) -> Result<CannedTool, Diagnostic> {
    let ToolForm { name, description, parameters, results } = json::part(source, raw)?;
    let cursor = JsonCursor::part(source, raw);
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if !(1..=64).contains(&name.len()) || !name.chars().all(fits) {
        let help = "write 1 to 64 letters, digits, _ and -: the vendors take no others";
        return Err(cursor.problem(&[Key("name")], "bad-tool", format!("{name:?} is no name of a tool"), help));
    }
    cursor.filled(&[Key("description")], "the description of a tool", &description)?;
    if parameters.get("type").and_then(Value::as_str) != Some("object") {
        let help = "write {\"type\": \"object\", \"properties\": {}}, with the arguments as properties";
        return Err(cursor.problem(&[Key("parameters")], "bad-tool", "parameters is no schema of an object", help));
    }
    let results: Vec<CannedResult> =
        results.into_iter().map(|ResultForm { when, says }| CannedResult { when: Value::Object(when), says }).collect();
    for (at, result) in results.iter().enumerate() {
        if results[..at].iter().any(|earlier| contains(&result.when, &earlier.when)) {
            let help = "put it before the more general one, or remove it";
            let what = "this result is never given: an earlier one fits whenever it does";
            return Err(cursor.problem(&[Key("results"), At(at)], "no-effect", what, help));
        }
    }
    Ok(CannedTool { spec: ToolSpec { name, description, parameters: Value::Object(parameters) }, results })
}
