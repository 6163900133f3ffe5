//! The tools that a suite declares, with canned results, for models without a program of their own.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{CannedResult, CannedTool, ToolSpec};
use crate::suites::shared::calls::contains;

/// One entry of the list in the suite's `tools` file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "declared tool")]
pub struct ToolForm {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    name: String,
    /// Its description for the model.
    description: String,
    /// The JSON Schema of its arguments, an object.
    parameters: Map<String, Value>,
    /// Its results; a call gets the first one whose `when` is contained in the arguments.
    #[serde(default)]
    results: Vec<ResultForm>,
}

/// One result of a tool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResultForm {
    /// Required arguments, nested objects by subset; by default, any arguments.
    #[serde(default)]
    when: Map<String, Value>,
    /// The result.
    says: Value,
}

pub fn tools(source: &SourceText) -> Result<Vec<CannedTool>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let raws: Vec<&RawValue> = json::golden(source)?;
    let mut tools: Vec<CannedTool> = Vec::new();
    for raw in raws {
        let Some(tool) = problems.keep(tool(source, raw)) else {
            continue;
        };
        if tools
            .iter()
            .any(|earlier| earlier.spec.name == tool.spec.name)
        {
            let message = format!("duplicate tool \"{}\"", tool.spec.name);
            let cursor = JsonCursor::part(source, raw);
            problems.push(cursor.problem(
                &[Key("name")],
                Code::DUPLICATE_ID,
                message,
                "give each tool its own name",
            ));
        }
        tools.push(tool);
    }
    if tools.is_empty() && problems.is_empty() {
        problems.push(source.problem(
            0,
            Code::NO_TOOLS,
            "the list of tools is empty",
            "declare one, or remove the key tools",
        ));
    }
    problems.or(tools)
}

fn tool(source: &SourceText, raw: &RawValue) -> Result<CannedTool, Diagnostic> {
    let ToolForm {
        name,
        description,
        parameters,
        results,
    } = json::part(source, raw)?;
    let cursor = JsonCursor::part(source, raw);
    if !is_tool_name(&name) {
        let help = "use 1 to 64 letters, digits, _ and -, as the vendors require";
        return Err(cursor.problem(
            &[Key("name")],
            Code::BAD_TOOL,
            format!("invalid tool name {name:?}"),
            help,
        ));
    }
    cursor.filled(
        &[Key("description")],
        "the description of a tool",
        &description,
    )?;
    if parameters.get("type").and_then(Value::as_str) != Some("object") {
        let help =
            "write {\"type\": \"object\", \"properties\": {}}, with the arguments as properties";
        return Err(cursor.problem(
            &[Key("parameters")],
            Code::BAD_TOOL,
            "parameters is not a schema of an object",
            help,
        ));
    }
    let results: Vec<CannedResult> = results
        .into_iter()
        .map(|ResultForm { when, says }| CannedResult {
            when: Value::Object(when),
            says,
        })
        .collect();
    for (at, result) in results.iter().enumerate() {
        if results[..at]
            .iter()
            .any(|earlier| contains(&result.when, &earlier.when))
        {
            let help = "put it before the more general one, or remove it";
            let message = "this result is never used: an earlier one matches first";
            return Err(cursor.problem(&[Key("results"), At(at)], Code::NO_EFFECT, message, help));
        }
    }
    Ok(CannedTool {
        spec: ToolSpec {
            name,
            description,
            parameters: Value::Object(parameters),
        },
        results,
    })
}

fn is_tool_name(name: &str) -> bool {
    let mut chars = name.chars();
    (1..=64).contains(&name.len())
        && chars.all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'))
}
