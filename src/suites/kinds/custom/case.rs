//! A case of kind `custom`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::model::SuiteConfig;
use crate::suites::shared::answer::form::CaseCheckForm;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::entries::CaseIdText;
use crate::suites::shared::folder::{GoldenCase, stated_id};

/// `{case}.json`: what the agent is asked, what is expected, and the checks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "custom case")]
pub struct CustomCaseForm {
    /// Its id; the name of the file by default.
    id: Option<CaseIdText>,
    /// What the agent is asked: a text, or any JSON.
    input: Value,
    /// What is expected, in any form; expressions use it as `expected`.
    #[serde(default, rename = "expected")]
    _expected: Value,
    /// The checks of this case, in addition to those of the suite.
    #[serde(default)]
    checks: Vec<CaseCheckForm>,
}

impl CaseForm for CustomCaseForm {
    const DESCRIPTION: DescriptionKeys = DescriptionKeys::NONE;
}

/// A case without `input`: a line of a flat golden set, with keys of its own. They are what is expected, unless it has a key `expected`.
#[derive(Deserialize)]
struct FlatCaseForm {
    id: Option<CaseIdText>,
    #[serde(default)]
    checks: Vec<CaseCheckForm>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl CaseForm for FlatCaseForm {
    const DESCRIPTION: DescriptionKeys = DescriptionKeys::NONE;
}

/// The keys under which flat golden sets have what the agent is asked.
const QUESTIONS: [&str; 5] = ["question", "query", "prompt", "message", "text"];

impl FlatCaseForm {
    /// What the agent is asked: its question, or all that is not expected of it.
    fn input(&self) -> Value {
        for key in QUESTIONS {
            if let Some(Value::String(question)) = self.others.get(key) {
                return Value::String(question.clone());
            }
        }
        let mut others = self.others.clone();
        others.remove("expected");
        Value::Object(others)
    }
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
    let cursor = JsonCursor::whole(source);
    let fields: BTreeMap<String, IgnoredAny> = json::golden(source)?;
    let (frame, id, input, checks) = if fields.contains_key("input") {
        let Framed { frame, form } = json::golden::<Framed<CustomCaseForm>>(source)?;
        (frame, form.id, form.input, form.checks)
    } else {
        let Framed { frame, form } = json::golden::<Framed<FlatCaseForm>>(source)?;
        let input = form.input();
        (frame, form.id, input, form.checks)
    };
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
    let id = stated_id(id, None, &cursor)?;
    Ok(GoldenCase {
        id,
        checks,
        ..frame.case(&cursor, CustomCase { input })?
    })
}
