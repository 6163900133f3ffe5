//! A case of kind `custom`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::model::SuiteConfig;
use crate::suites::shared::answer::form::{AnswerChecksForm, CaseCheckForm};
use crate::suites::shared::case_marks::{CaseMarks, CaseStage};
use crate::suites::shared::folder::{GoldenCase, StatedName};
use crate::suites::shared::quarantine::QuarantineForm;

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
    /// What the case requires of the answer's text.
    answer: Option<AnswerChecksForm>,
    /// A note for people; grading ignores it.
    #[serde(default, rename = "notes")]
    _notes: Option<String>,
    /// Why the case is excluded from gating for now.
    quarantine: Option<QuarantineForm>,
    /// Whether the case is a draft: it runs and is shown, and counts for nothing until `draft` is removed.
    #[serde(default)]
    draft: CaseStage,
    /// Words that select the case: `run --tag`.
    #[serde(default)]
    tags: Vec<String>,
}

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
    let form: CustomCaseForm = json::golden(source)?;
    let CustomCaseForm {
        id,
        input,
        _expected: _,
        checks,
        answer,
        _notes: _,
        quarantine,
        draft,
        tags,
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
    if checks.is_empty() && answer.is_none() && suite.expressions.checks.is_empty() {
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
    let marks = CaseMarks::read(draft, &tags, &cursor)?;
    let quarantine = quarantine.map(|form| form.stated(&cursor));
    Ok(GoldenCase {
        id,
        checks,
        marks,
        quarantine,
        answer,
        ..GoldenCase::plain(CustomCase { input })
    })
}
