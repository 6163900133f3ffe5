//! Reads the key `answer` of a golden file, or says what is wrong with it.

use std::sync::Arc;

use regex::Regex;
use serde_json::Value;
use serde_json::value::RawValue;

use super::case_checks::{expression, own_checks};
use super::checks::{
    AnswerChecks, AnswerEntry, AnswerRequirement, AnswerScope, EntryListing, TurnAnswer,
};
use super::condition::{AnswerCondition, JsonPlace, SimilarText, SimilarityMeasure};
use super::form::{AnswerChecksForm, AnswerEntryForm, CaseCheckForm, LengthForm, SimilarForm};
use super::phrase::{AnswerPhrase, LetterCase, WordEdge};
use crate::diag::{Code, Diagnostic};
use crate::files::Files;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, JsonSchemaValidator, Step, json};
use crate::model::SuiteConfig;
use crate::suites::shared::field_matcher::{FieldMatcher, last_line};
use crate::suites::shared::field_path::FieldPath;
use crate::suites::shared::terms::{BuiltInTerms, TermList};
use crate::suites::shared::turns::turn_name;
use crate::text::norm;

/// The phrases by which an answer refuses.
pub const REFUSAL: BuiltInTerms = BuiltInTerms {
    name: "refusal",
    text: include_str!("terms/refusal.txt"),
};

/// The longest text of `similar`, in characters: it bounds the time of the comparison.
const LONGEST: usize = 4000;

/// Reads the checks of the cases of one suite.
#[derive(Clone, Copy)]
pub struct AnswerReader<'a> {
    suite: &'a SuiteConfig,
    files: &'a dyn Files,
    scope: AnswerScope,
}

/// The content of files and lists that the checks of a case use.
type MeasuredWith = String;

impl<'a> AnswerReader<'a> {
    /// For a suite with these files.
    pub fn new(suite: &'a SuiteConfig, files: &'a dyn Files) -> Self {
        Self {
            suite,
            files,
            scope: AnswerScope::Run,
        }
    }

    /// The checks of the case at a cursor, under its key `answer`; `None` if it states none.
    ///
    /// # Errors
    /// An invalid value, with its position, or a file that cannot be read.
    pub fn read(
        &self,
        form: Option<AnswerChecksForm>,
        case: &JsonCursor<'_>,
    ) -> Result<Option<Arc<AnswerChecks>>, Diagnostic> {
        self.read_all(Vec::new(), form, Vec::new(), case)
    }

    /// The same, with the checks that the case names itself under its key `checks`, and those of the turns of a conversation, in their
    /// order.
    pub fn read_all(
        &self,
        checks: Vec<CaseCheckForm>,
        form: Option<AnswerChecksForm>,
        turns: Vec<Option<AnswerChecksForm>>,
        case: &JsonCursor<'_>,
    ) -> Result<Option<Arc<AnswerChecks>>, Diagnostic> {
        let is_stated = form.is_some() || !checks.is_empty() || turns.iter().any(Option::is_some);
        if !is_stated && self.suite.expressions.is_empty() {
            return Ok(None);
        }
        let mut read = AnswerChecks {
            line: case.line(),
            length: turns.len(),
            ..AnswerChecks::default()
        };
        if let Some(form) = form {
            (read.entries, read.listing) =
                self.answer(form, &case.inner(&[Key("answer")]), &mut read)?;
        }
        let of_turn = Self {
            scope: AnswerScope::Turn,
            ..*self
        };
        for (turn, form) in (0_u32..).zip(turns) {
            let Some(form) = form else { continue };
            read.stated.push_str(&turn_name(turn));
            let cursor = case.inner(&[Key("turns"), At(turn as usize), Key("answer")]);
            let (entries, listing) = of_turn.answer(form, &cursor, &mut read)?;
            read.turns.push(TurnAnswer {
                turn,
                entries,
                listing,
            });
        }
        read.entries.extend(own_checks(checks, case)?);
        if !self.suite.expressions.is_empty()
            || read.entries.iter().any(AnswerEntry::has_expression)
        {
            read.case = text_at(case).into();
        }
        Ok(Some(Arc::new(read)))
    }

    /// The checks of one answer. Adds their text, and what they are measured with, to those of the case.
    fn answer(
        &self,
        form: AnswerChecksForm,
        cursor: &JsonCursor<'_>,
        checks: &mut AnswerChecks,
    ) -> Result<(Vec<AnswerEntry>, EntryListing), Diagnostic> {
        let measured_with = &mut checks.measured_with;
        let read = match form {
            AnswerChecksForm::One(form) => (
                vec![self.entry(*form, cursor, measured_with)?],
                EntryListing::Single,
            ),
            AnswerChecksForm::Many(forms) if forms.is_empty() => {
                return Err(cursor.problem(
                    &[],
                    Code::EMPTY_SET,
                    "the list of checks is empty",
                    "state a check",
                ));
            }
            AnswerChecksForm::Many(forms) => (
                self.entries(forms, cursor, measured_with)?,
                EntryListing::Listed,
            ),
        };
        checks.stated.push_str(text_at(cursor));
        Ok(read)
    }

    fn entries(
        &self,
        forms: Vec<AnswerEntryForm>,
        cursor: &JsonCursor<'_>,
        measured_with: &mut MeasuredWith,
    ) -> Result<Vec<AnswerEntry>, Diagnostic> {
        let mut entries = Vec::new();
        for (at, form) in forms.into_iter().enumerate() {
            entries.push(self.entry(form, &cursor.inner(&[At(at)]), measured_with)?);
        }
        if entries.iter().all(|entry| entry.weight <= 0.0) {
            let help = "give an entry a weight above 0";
            return Err(cursor.problem(&[], Code::BAD_NUMBER, "all weights are 0", help));
        }
        Ok(entries)
    }

    fn entry(
        &self,
        mut form: AnswerEntryForm,
        cursor: &JsonCursor<'_>,
        measured_with: &mut MeasuredWith,
    ) -> Result<AnswerEntry, Diagnostic> {
        let weight = form.weight.unwrap_or(1.0);
        if !(0.0..=1e6).contains(&weight) {
            let description = format!("the weight is {weight}");
            return Err(cursor.problem(
                &[Key("weight")],
                Code::BAD_NUMBER,
                description,
                "write a number from 0 to 1000000",
            ));
        }
        let rule = cursor.rule(form.rule.take())?;
        let letter_case = if form.case_sensitive {
            LetterCase::Counts
        } else {
            LetterCase::Ignored
        };
        let (checks, min_score) = (form.checks.take(), form.min_score);
        if let (AnswerScope::Turn, Some(_)) = (self.scope, &form.expr) {
            let description = "expr has no effect on a turn: an expression is about the whole run";
            let help = "state it in the answer of the case, where output.turns has the turns";
            return Err(cursor.problem_of_key(&[Key("expr")], Code::NO_EFFECT, description, help));
        }
        let expression = form
            .expr
            .take()
            .map(|text| expression(None, &text, cursor, &[Key("expr")]))
            .transpose()?;
        let conditions = ConditionReader {
            reader: self,
            cursor,
            letter_case,
        }
        .conditions(form, measured_with)?;
        let requires = match (checks, min_score) {
            (None, None) if conditions.is_empty() && expression.is_none() => {
                let help = "state a condition, such as all_of, regex or json_schema";
                return Err(cursor.problem(
                    &[],
                    Code::ASKS_NOTHING,
                    "an entry of answer states no condition",
                    help,
                ));
            }
            (None, None) => AnswerRequirement::All {
                conditions,
                letter_case,
                expression,
            },
            (Some(forms), Some(min_score))
                if conditions.is_empty() && expression.is_none() && rule.is_none() =>
            {
                if !(min_score > 0.0 && min_score <= 1.0) {
                    let description = format!("min_score is {min_score}");
                    let help = "write a number above 0 and up to 1";
                    return Err(cursor.problem(
                        &[Key("min_score")],
                        Code::BAD_NUMBER,
                        description,
                        help,
                    ));
                }
                let inner = cursor.inner(&[Key("checks")]);
                if forms.is_empty() {
                    let (description, help) = ("the list of checks is empty", "state a check");
                    return Err(cursor.problem(
                        &[Key("checks")],
                        Code::EMPTY_SET,
                        description,
                        help,
                    ));
                }
                AnswerRequirement::Share {
                    entries: self.entries(forms, &inner, measured_with)?,
                    min_score,
                }
            }
            (Some(_), Some(_)) => {
                let description = "an entry with checks has conditions or a rule of its own";
                let help = "move them into one of its checks, or into another entry of the list";
                return Err(cursor.problem_of_key(
                    &[Key("checks")],
                    Code::NO_EFFECT,
                    description,
                    help,
                ));
            }
            (Some(_), None) => {
                let help = "state min_score, or write the checks as entries of a list: all entries of a list must hold";
                return Err(cursor.problem_of_key(
                    &[Key("checks")],
                    Code::NO_EFFECT,
                    "checks without min_score",
                    help,
                ));
            }
            (None, Some(_)) => {
                let help = "state the entries that it counts under checks";
                return Err(cursor.problem_of_key(
                    &[Key("min_score")],
                    Code::NO_EFFECT,
                    "min_score without checks",
                    help,
                ));
            }
        };
        Ok(AnswerEntry {
            line: cursor.line(),
            weight,
            rule,
            requires,
        })
    }
}

fn text_at<'c>(cursor: &JsonCursor<'c>) -> &'c str {
    cursor.read::<&RawValue>().map_or("", |raw| raw.get())
}

/// Reads the conditions of one entry.
struct ConditionReader<'a, 'c> {
    reader: &'a AnswerReader<'a>,
    cursor: &'a JsonCursor<'c>,
    letter_case: LetterCase,
}

impl ConditionReader<'_, '_> {
    fn conditions(
        &self,
        form: AnswerEntryForm,
        measured_with: &mut MeasuredWith,
    ) -> Result<Vec<AnswerCondition>, Diagnostic> {
        let edge = if form.whole_words {
            WordEdge::Whole
        } else {
            WordEdge::Free
        };
        let texts = [
            self.stated_phrase("equals", form.equals, WordEdge::Free)?
                .map(AnswerCondition::Equals),
            self.stated_phrases("one_of", form.one_of, WordEdge::Free)?
                .map(AnswerCondition::OneOf),
        ];
        let words = [
            self.stated_phrases("all_of", form.all_of, edge)?
                .map(AnswerCondition::AllOf),
            self.stated_phrases("any_of", form.any_of, edge)?
                .map(AnswerCondition::AnyOf),
            self.stated_phrases("none_of", form.none_of, edge)?
                .map(AnswerCondition::NoneOf),
            self.stated_phrase("starts_with", form.starts_with, edge)?
                .map(AnswerCondition::StartsWith),
            self.stated_phrase("ends_with", form.ends_with, edge)?
                .map(AnswerCondition::EndsWith),
        ];
        let has_words = words.iter().any(Option::is_some);
        let has_texts = texts.iter().any(Option::is_some);
        let idle_key = if form.whole_words && !has_words {
            Some("whole_words")
        } else if form.case_sensitive && !has_words && !has_texts {
            Some("case_sensitive")
        } else {
            None
        };
        if let Some(key) = idle_key {
            let description = format!("{key} has no effect on this entry");
            let help = "remove it, or state a text that it applies to, such as all_of; in a regex, write (?i) or \\b";
            return Err(self.cursor.problem_of_key(
                &[Key(key)],
                Code::NO_EFFECT,
                description,
                help,
            ));
        }
        let place = if form.whole_json {
            JsonPlace::Whole
        } else {
            JsonPlace::Anywhere
        };
        if form.whole_json && form.json_schema.is_none() && form.json.is_none() {
            let (description, help) = (
                "whole_json has no effect on this entry",
                "remove it, or state json_schema or json",
            );
            return Err(self.cursor.problem_of_key(
                &[Key("whole_json")],
                Code::NO_EFFECT,
                description,
                help,
            ));
        }
        let rest = [
            self.stated_pattern("regex", form.regex)?
                .map(AnswerCondition::Regex),
            self.stated_pattern("not_regex", form.not_regex)?
                .map(AnswerCondition::NotRegex),
            form.json_schema
                .map(|schema| self.schema(schema, place, measured_with))
                .transpose()?,
            form.json
                .map(|fields| self.fields(fields, place))
                .transpose()?,
            form.length.map(|length| self.length(length)).transpose()?,
            form.similar
                .map(|similar| self.similar(similar))
                .transpose()?,
            form.refusal
                .map(|refuses| self.refusal(refuses, measured_with))
                .transpose()?,
            self.limit("max_latency_ms", form.max_latency_ms)?
                .map(AnswerCondition::Latency),
            self.limit("max_cost_usd", form.max_cost_usd)?
                .map(AnswerCondition::Cost),
            form.not
                .map(|inner| self.not(*inner, measured_with))
                .transpose()?,
        ];
        Ok(texts
            .into_iter()
            .chain(words)
            .chain(rest)
            .flatten()
            .collect())
    }

    fn stated_phrase(
        &self,
        key: &str,
        text: Option<String>,
        edge: WordEdge,
    ) -> Result<Option<AnswerPhrase>, Diagnostic> {
        text.map(|text| self.phrase(&[Key(key)], &text, edge))
            .transpose()
    }

    fn stated_phrases(
        &self,
        key: &str,
        texts: Option<Vec<String>>,
        edge: WordEdge,
    ) -> Result<Option<Vec<AnswerPhrase>>, Diagnostic> {
        texts
            .map(|texts| self.phrases(key, &texts, edge))
            .transpose()
    }

    fn stated_pattern(&self, key: &str, text: Option<String>) -> Result<Option<Regex>, Diagnostic> {
        text.map(|text| self.pattern(key, &text)).transpose()
    }

    fn limit(&self, key: &str, most: Option<f64>) -> Result<Option<f64>, Diagnostic> {
        match most {
            Some(_) if self.reader.scope == AnswerScope::Turn => {
                let description = format!(
                    "{key} has no effect on a turn: time and cost are known of the whole run"
                );
                let help = "state it in the answer of the case";
                Err(self
                    .cursor
                    .problem_of_key(&[Key(key)], Code::NO_EFFECT, description, help))
            }
            Some(most) if most < 0.0 => {
                let description = format!("{key} is {most}");
                Err(self.cursor.problem(
                    &[Key(key)],
                    Code::BAD_NUMBER,
                    description,
                    "write a number that is not below 0",
                ))
            }
            most => Ok(most),
        }
    }

    /// Conditions that do not all hold. They have no scores, weights or rules of their own.
    fn not(
        &self,
        form: AnswerEntryForm,
        measured_with: &mut MeasuredWith,
    ) -> Result<AnswerCondition, Diagnostic> {
        let cursor = self.cursor.inner(&[Key("not")]);
        let entry_keys = [
            ("checks", form.checks.is_some()),
            ("min_score", form.min_score.is_some()),
            ("weight", form.weight.is_some()),
            ("rule", form.rule.is_some()),
            ("not", form.not.is_some()),
            ("expr", form.expr.is_some()),
        ];
        if let Some((key, _)) = entry_keys.into_iter().find(|(_, is_stated)| *is_stated) {
            let description = format!("{key} has no effect in not");
            return Err(cursor.problem_of_key(
                &[Key(key)],
                Code::NO_EFFECT,
                description,
                "state it next to not",
            ));
        }
        let letter_case = if form.case_sensitive {
            LetterCase::Counts
        } else {
            LetterCase::Ignored
        };
        let inner = ConditionReader {
            reader: self.reader,
            cursor: &cursor,
            letter_case,
        };
        let conditions = inner.conditions(form, measured_with)?;
        if conditions.is_empty() {
            let help = "state a condition, such as equals or json_schema";
            return Err(cursor.problem(&[], Code::ASKS_NOTHING, "not states no condition", help));
        }
        Ok(AnswerCondition::Not(conditions, letter_case))
    }

    fn phrase(
        &self,
        path: &[Step<'_>],
        text: &str,
        edge: WordEdge,
    ) -> Result<AnswerPhrase, Diagnostic> {
        AnswerPhrase::new(text, self.letter_case, edge).ok_or_else(|| {
            let help = "write a text, or remove it: an empty one would be in every answer";
            self.cursor.problem(
                path,
                Code::EMPTY_KEYWORD,
                format!("the text {text:?} is empty"),
                help,
            )
        })
    }

    fn phrases(
        &self,
        key: &str,
        texts: &[String],
        edge: WordEdge,
    ) -> Result<Vec<AnswerPhrase>, Diagnostic> {
        if texts.is_empty() {
            let description = format!("the list {key} is empty");
            return Err(self.cursor.problem(
                &[Key(key)],
                Code::EMPTY_SET,
                description,
                "state a text, or remove the list",
            ));
        }
        texts
            .iter()
            .enumerate()
            .map(|(at, text)| self.phrase(&[Key(key), At(at)], text, edge))
            .collect()
    }

    fn pattern(&self, key: &str, text: &str) -> Result<Regex, Diagnostic> {
        let description = if text.is_empty() {
            "the regular expression is empty".to_owned()
        } else {
            match Regex::new(text) {
                Ok(pattern) => return Ok(pattern),
                Err(error) => format!(
                    "invalid regular expression \"{text}\": {}",
                    last_line(&error.to_string())
                ),
            }
        };
        let help = "write a regular expression of the crate regex; it has no look-around and no back-references";
        Err(self
            .cursor
            .problem(&[Key(key)], Code::BAD_PATTERN, description, help))
    }

    /// The schema itself, or that in the file with this path, relative to the golden file.
    fn schema(
        &self,
        stated: Value,
        place: JsonPlace,
        measured_with: &mut MeasuredWith,
    ) -> Result<AnswerCondition, Diagnostic> {
        let path = [Key("json_schema")];
        let schema = match stated {
            Value::String(file) => {
                let folder = self.cursor.source.file.parent();
                let file = folder.join(&file).map_err(|bad| {
                    let help = "write a path inside the repository, relative to this file";
                    self.cursor
                        .problem(&path, Code::PATH_OUTSIDE, format!("{file:?}: {bad}"), help)
                })?;
                let source = self.reader.files.values_text(&file)?;
                measured_with.push_str(&source.text);
                json::golden::<Value>(&source)?
            }
            schema => schema,
        };
        let validator = JsonSchemaValidator::new(&schema).map_err(|reason| {
            let help =
                "write a JSON Schema, or the path of a file with one; a $ref to another document is not resolved";
            self.cursor.problem(&path, Code::BAD_JSON_SCHEMA, format!("invalid JSON Schema: {reason}"), help)
        })?;
        Ok(AnswerCondition::JsonSchema(validator, place))
    }

    fn fields(
        &self,
        fields: std::collections::BTreeMap<String, crate::suites::shared::field_matcher::FieldForm>,
        place: JsonPlace,
    ) -> Result<AnswerCondition, Diagnostic> {
        if fields.is_empty() {
            let help = "state a path, such as \"order.id\": { \"equals\": 1 }";
            return Err(self.cursor.problem(
                &[Key("json")],
                Code::EMPTY_SET,
                "json has no path",
                help,
            ));
        }
        let mut matchers = Vec::new();
        for (name, form) in fields {
            let path = [Key("json"), Key(&name)];
            let steps: FieldPath = name.split('.').map(str::to_owned).collect();
            if steps.iter().any(String::is_empty) {
                let (description, help) = (
                    format!("invalid path \"{name}\""),
                    "write keys, separated by dots",
                );
                return Err(self
                    .cursor
                    .problem_of_key(&path, Code::BAD_PATH, description, help));
            }
            let matcher = FieldMatcher::read(form, &name, self.cursor, &path)?;
            matchers.push((name.clone(), steps, matcher));
        }
        Ok(AnswerCondition::Json(matchers, place))
    }

    fn length(&self, length: LengthForm) -> Result<AnswerCondition, Diagnostic> {
        let LengthForm {
            chars,
            words,
            lines,
        } = length;
        let stated = [("chars", chars), ("words", words), ("lines", lines)];
        let stated: Vec<_> = stated
            .into_iter()
            .filter_map(|(unit, range)| Some((unit, range?)))
            .collect();
        if stated.is_empty() {
            let (description, help) = ("length states no unit", "state chars, words or lines");
            return Err(self.cursor.problem(
                &[Key("length")],
                Code::ASKS_NOTHING,
                description,
                help,
            ));
        }
        for (unit, range) in stated {
            range.checked(self.cursor, &[Key("length"), Key(unit)])?;
        }
        Ok(AnswerCondition::Length(length))
    }

    fn similar(&self, form: SimilarForm) -> Result<AnswerCondition, Diagnostic> {
        let SimilarForm {
            to,
            rouge_l,
            token_f1,
            levenshtein,
            max_edits,
        } = form;
        let path = [Key("similar"), Key("to")];
        self.cursor.filled(&path, "the text to compare with", &to)?;
        let length = to.chars().count();
        if length > LONGEST {
            let description = format!("the text to compare with has {length} characters");
            let help = format!("write at most {LONGEST}");
            return Err(self
                .cursor
                .problem(&path, Code::BAD_NUMBER, description, help));
        }
        let stated = [
            (SimilarityMeasure::RougeL, rouge_l),
            (SimilarityMeasure::TokenF1, token_f1),
            (SimilarityMeasure::Levenshtein, levenshtein),
        ];
        let measures: Vec<_> = stated
            .into_iter()
            .filter_map(|(measure, minimum)| Some((measure, minimum?)))
            .collect();
        if measures.is_empty() && max_edits.is_none() {
            let (description, help) = (
                "similar states no minimum",
                "state rouge_l, token_f1, levenshtein or max_edits",
            );
            return Err(self.cursor.problem(
                &[Key("similar")],
                Code::ASKS_NOTHING,
                description,
                help,
            ));
        }
        if let Some((measure, minimum)) = measures
            .iter()
            .find(|(_, minimum)| !(*minimum > 0.0 && *minimum <= 1.0))
        {
            let description = format!("the minimum of {} is {minimum}", measure.as_str());
            let path = [Key("similar"), Key(measure.as_str())];
            return Err(self.cursor.problem(
                &path,
                Code::BAD_NUMBER,
                description,
                "write a number above 0 and up to 1",
            ));
        }
        let max_edits = max_edits.map(|most| (to.clone(), most));
        Ok(AnswerCondition::Similar(SimilarText {
            to: norm(&to),
            measures,
            max_edits,
        }))
    }

    fn refusal(
        &self,
        refuses: bool,
        measured_with: &mut MeasuredWith,
    ) -> Result<AnswerCondition, Diagnostic> {
        let phrases = TermList::open(&REFUSAL, self.reader.suite, self.reader.files)?;
        measured_with.push_str(phrases.text());
        Ok(if refuses {
            AnswerCondition::Refuses(phrases)
        } else {
            AnswerCondition::DoesNotRefuse(phrases)
        })
    }
}
