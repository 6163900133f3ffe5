//! How the golden part of one case differs between the two commits.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::edits::{differences, listed};
use crate::files::{SourceText, sha256_hex};
use crate::format::GoldenFormat;
use crate::suites::{CaseUse, EXPRESSION, GoldenForm, MeaningReader};

/// How a case differs. Its quarantine is compared separately, its notes are not compared.
pub struct CaseEdit {
    /// The difference in what its runs are graded by.
    pub judged: Option<JudgedEdit>,
    /// The difference in what describes it, such as its origin, owner or tags.
    pub description: Option<String>,
}

/// A difference in what the runs of a case are graded by.
pub struct JudgedEdit {
    /// In words, which may leave some of it out.
    pub words: String,
    /// The digest of all of it on both sides, where the case's own entries are known. Others edit other cases of the same file.
    pub content: Option<String>,
}

impl JudgedEdit {
    /// An edit of which only these words are known.
    pub fn unread(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            content: None,
        }
    }

    fn of(old: &Value, new: &Value) -> Option<Self> {
        let words = listed(&differences(old, new))?;
        let content = Some(sha256_hex(format!("{old}\n{new}").as_bytes()));
        Some(Self { words, content })
    }
}

impl CaseEdit {
    /// How a case's own part of its golden file differs.
    pub fn of(
        reader: Option<&MeaningReader>,
        used: CaseUse,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> Self {
        let (Some(old), Some(new), Some(reader)) = (old, new, reader) else {
            return Self {
                judged: Some(JudgedEdit::unread("its entry cannot be found")),
                description: None,
            };
        };
        let used = CaseUse::of(CaseUse::of(used, old), new);
        let (old, new) = (
            reader.meaning(&changed(old, new), used),
            reader.meaning(&changed(new, old), used),
        );
        Self {
            judged: JudgedEdit::of(&old.judged, &new.judged),
            description: listed(&differences(&old.description, &new.description)),
        }
    }
}

/// The fields of an object that its counterpart does not have like that. Most of a case is the same on both sides.
fn changed(value: &Value, counterpart: &Value) -> Value {
    let (Value::Object(fields), Value::Object(counterparts)) = (value, counterpart) else {
        return value.clone();
    };
    let mut changed = Map::new();
    for (key, field) in fields {
        if counterparts.get(key) != Some(field) {
            changed.insert(key.clone(), field.clone());
        }
    }
    Value::Object(changed)
}

/// The fields of two files of one case each that are written otherwise in the other one; `None` if the whole files have to be compared. Of a
/// large golden set, most fields of a case are the same text.
pub fn different_fields(form: GoldenForm, files: [&SourceText; 2]) -> Option<(Value, Value)> {
    if matches!(form, GoldenForm::Entries(_)) || !files.into_iter().all(is_one_plain_case) {
        return None;
    }
    let [old, new] = files.map(|file| serde_json::from_str::<FieldTexts<'_>>(&file.text).ok());
    let (old, new) = (old?, new?);
    // A file with this key alone is a list of cases.
    if old.contains_key("cases") || new.contains_key("cases") {
        return None;
    }
    Some((other_fields(&old, &new)?, other_fields(&new, &old)?))
}

/// Whether a file is JSON without expressions, which read the whole case.
fn is_one_plain_case(file: &SourceText) -> bool {
    GoldenFormat::of(file) == GoldenFormat::Json && !file.text.contains(EXPRESSION)
}

/// The fields of an object, each with its text.
type FieldTexts<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

fn other_fields(fields: &FieldTexts<'_>, counterparts: &FieldTexts<'_>) -> Option<Value> {
    let mut different = Map::new();
    for (key, field) in fields {
        let is_same = counterparts
            .get(key)
            .is_some_and(|counterpart| counterpart.get() == field.get());
        if !is_same {
            different.insert(key.to_string(), serde_json::from_str(field.get()).ok()?);
        }
    }
    Some(Value::Object(different))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{JudgedEdit, different_fields};
    use crate::files::SourceText;
    use crate::model::RepoPath;
    use crate::suites::GoldenForm;

    /// An approval is one of all of it, also of what the words leave out.
    #[test]
    fn the_digest_has_what_the_words_cut() {
        let edit = |end: &str| {
            let new = json!({ "text": format!("{}{end}", "long ".repeat(50)) });
            JudgedEdit::of(&json!({ "text": "short" }), &new).unwrap()
        };
        let (one, other) = (edit("a"), edit("b"));
        assert_eq!(one.words, other.words);
        assert_ne!(one.content, other.content);
        assert_eq!(one.content, edit("a").content);
    }

    #[test]
    fn fields_that_are_written_alike_are_left_out() {
        for (old, new, expected) in [
            (
                r#"{"a": 1, "b": [2]}"#,
                r#"{"b": [2], "a": 3}"#,
                Some((json!({ "a": 1 }), json!({ "a": 3 }))),
            ),
            (
                r#"{"a": 1}"#,
                r#"{"b": 1}"#,
                Some((json!({ "a": 1 }), json!({ "b": 1 }))),
            ),
            (
                r#"{"\u0061": 1}"#,
                r#"{"a": 1}"#,
                Some((json!({}), json!({}))),
            ),
            // Whole files are compared.
            (r#"{"cases": []}"#, r#"{"cases": [{}]}"#, None),
            (
                r#"{"a": 1, "b": {"expr": "true"}}"#,
                r#"{"a": 2, "b": {"expr": "true"}}"#,
                None,
            ),
            ("[]", "[1]", None),
            ("a: 1", "a: 2", None),
        ] {
            let [before, after] = [old, new].map(|text| {
                SourceText::from_text(RepoPath::root().child("a.json"), text.to_owned())
            });
            assert_eq!(
                different_fields(GoldenForm::OneCase, [&before, &after]),
                expected,
                "{old} {new}"
            );
        }
    }
}
