//! The checks that a case names itself under its key `checks`: expressions about its run.

use std::collections::BTreeSet;

use super::checks::{AnswerEntry, AnswerRequirement};
use super::expression::StatedExpression;
use super::form::CaseCheckForm;
use super::phrase::LetterCase;
use crate::diag::{Code, Diagnostic};
use crate::format::Step::{At, Key};
use crate::format::expression::parsed;
use crate::format::{JsonCursor, Step};
use crate::model::{CaseTag, InputLimit};

/// The checks that a case names itself.
///
/// # Errors
/// An invalid name or expression, with its position.
pub fn own_checks(
    forms: Vec<CaseCheckForm>,
    case: &JsonCursor<'_>,
) -> Result<Vec<AnswerEntry>, Diagnostic> {
    let limit = &InputLimit::OWN_EXPRESSIONS;
    if limit.is_exceeded_by(forms.len()) {
        let description = format!("{} entries in `checks`; the limit is {limit}", forms.len());
        return Err(case.problem(
            &[Key("checks"), At(limit.count())],
            Code::TOO_MANY,
            description,
            limit.help,
        ));
    }
    let mut names = BTreeSet::new();
    let mut entries = Vec::new();
    for (index, CaseCheckForm { name, expr, rule }) in forms.into_iter().enumerate() {
        let cursor = case.inner(&[Key("checks"), At(index)]);
        if let Err(bad) = CaseTag::new(&name) {
            return Err(cursor.problem(&[Key("name")], Code::BAD_ID, bad.to_string(), bad.help()));
        }
        if !names.insert(name.clone()) {
            let description = format!("duplicate name \"{name}\"");
            return Err(cursor.problem(
                &[Key("name")],
                Code::DUPLICATE_NAME,
                description,
                "give each check its own name",
            ));
        }
        let expression = expression(Some(name.into()), &expr, &cursor, &[Key("expr")])?;
        entries.push(AnswerEntry {
            line: cursor.line(),
            weight: 1.0,
            rule: cursor.rule(rule)?,
            requires: AnswerRequirement::All {
                conditions: Vec::new(),
                letter_case: LetterCase::Ignored,
                expression: Some(expression),
            },
        });
    }
    Ok(entries)
}

/// Parses an expression.
pub fn expression(
    name: Option<Box<str>>,
    text: &str,
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
) -> Result<StatedExpression, Diagnostic> {
    match parsed(text) {
        Ok(expression) => Ok(StatedExpression { name, expression }),
        Err(bad) => Err(cursor.problem(path, Code::BAD_EXPRESSION, bad.what, bad.help)),
    }
}
