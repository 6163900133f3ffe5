//! A case of kind `custom`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::model::SuiteConfig;
use crate::suites::shared::answer::form::CaseCheckForm;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::folder::{GoldenCase, StatedName};

/// `{case}.json`: what the agent is asked, what is expected, and the checks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "custom case")]
pub struct CustomCaseForm {
    /// Its id; the name of the file by default.
    id: Option<String>,
    /// What the agent is asked: a text, or any JSON.
    input: Value,
    /// What is expected, in any form; expressions use it as `expected`.
    #[serde(default, rename = "expected")]
    _expected: Value,
    /// The checks of this case, in addition to those of the suite.
    #[serde(default)]
    checks: Vec<CaseCheckForm>,
}

impl CaseForm for CustomCaseForm {}

/// A case, prepared for grading.
pub struct CustomCase {
    /// What the agent is asked.
    pub input: Value,
}

/// Reads a case.
///
/// # Errors
/// An invalid part of the file, with its position; or no check, neither of the case nor of the suite.
pub fn read_case(
    suite: &SuiteConfig,
    source: &SourceText,
) -> Result<GoldenCase<CustomCase>, Diagnostic> {
    let Framed { frame, form } = json::golden(source)?;
    let CustomCaseForm {
        id,
        input,
        _expected: _,
        checks,
    } = form;
    let cursor = JsonCursor::whole(source);
    if input.is_null() || input.as_str().is_some_and(|text| text.trim().is_empty()) {
        let help = "write what the agent is asked: a text, or any JSON";
        return Err(cursor.problem(
            &[Key("input")],
            Code::EMPTY_TEXT,
            "the input is empty",
            help,
        ));
    }
    if checks.is_empty() && frame.answer.is_none() && suite.expressions.checks.is_empty() {
        let help = "state checks or answer in the case, or checks in the suite";
        return Err(cursor.problem(
            &[],
            Code::ASKS_NOTHING,
            "the case has no check, so it could not fail",
            help,
        ));
    }
    let id = id.map(|text| StatedName {
        text,
        at: cursor.value(&[Key("id")]),
    });
    Ok(GoldenCase {
        id,
        checks,
        ..frame.case(&cursor, CustomCase { input })?
    })
}
