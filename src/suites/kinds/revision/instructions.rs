//! The instructions for a revision: `cases/{case}/instructions.json`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::draft::{Draft, number};
use super::fault::Criterion;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::EPSILON;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::golden::step;
use crate::text::{line, norm};

/// Instructions for the revision of a contract. A part that is left out requests nothing.
#[derive(Deserialize, JsonSchema, Debug, Default)]
#[serde(deny_unknown_fields)]
#[schemars(title = "instructions of a contract's revision")]
pub struct Instructions {
    /// Parties and other names to replace everywhere.
    #[serde(default)]
    pub entities: Vec<Entity>,
    /// The law and the courts to replace.
    pub jurisdiction: Option<Jurisdiction>,
    /// The direction of indemnities in the revised contract.
    pub liability: Option<Liability>,
    /// Operations on single clauses.
    #[serde(default)]
    pub clauses: Vec<Clause>,
    /// What may change although no other instruction mentions it.
    #[serde(default)]
    pub allowed_changes: Vec<AllowedChange>,
    /// Weights of the criteria and the quality gate of this case, in place of the suite's.
    pub acceptance_criteria: Option<Acceptance>,
    /// The rule of the prompt package that this case tests, by id or text.
    pub rule: Option<String>,
}

/// Weights and the quality gate of one case.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The limits.
    pub thresholds: Option<Thresholds>,
    /// Criteria under names of the case's own, each with the word of a criterion in it: entity, jurisdiction, liability, clause or coherence.
    /// The weights sum to 1.
    #[serde(default)]
    pub criteria: BTreeMap<String, WeightedCriterion>,
}

/// The limits of one case.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Lowest overall score that satisfies, 0 to 1.
    pub overall_score_min: f64,
}

/// A criterion with its weight.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct WeightedCriterion {
    /// The weight, 0 to 1.
    pub weight: f64,
}

impl CaseForm for Instructions {}

/// A part of the contract that may change.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(untagged)]
pub enum AllowedChange {
    /// A section, by its number in the original.
    Section(String),
    /// The paragraphs with a text, also new ones.
    Text(AllowedText),
}

/// The paragraphs that may change or be new.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct AllowedText {
    /// What they contain, whatever is replaced in it.
    pub text: String,
}

/// One name to replace.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// Further forms of the old name, such as its defined short name; they must be replaced too.
    #[serde(default)]
    pub defined_as: Vec<String>,
    /// Further forms of the new name.
    #[serde(default)]
    pub becomes: Vec<String>,
}

/// One law to replace.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Jurisdiction {
    /// The old law.
    pub from: String,
    /// The new law.
    pub to: String,
    /// Related phrases to replace, such as the names of courts.
    #[serde(default)]
    pub phrases: Vec<PhraseChange>,
}

/// One phrase to replace.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct PhraseChange {
    /// The old phrase.
    pub from: String,
    /// The new phrase.
    pub to: String,
}

/// The direction of indemnities.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Liability {
    /// The party that gives the indemnity.
    pub indemnifier: String,
    /// The party that is indemnified.
    pub indemnitee: String,
}

/// One operation on a clause.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// The operation.
    pub operation: ClauseOperation,
    /// The clause's number in the original; for an added clause, its number in the revised document.
    #[serde(default)]
    pub section: String,
    /// Instead of `section`: the words of the original to delete or to change, within one paragraph.
    #[serde(alias = "old_text")]
    pub text: Option<String>,
    /// The words that take the place of `text`.
    pub new_text: Option<String>,
    /// Its heading.
    pub heading: Option<String>,
    /// For an added clause: the number in the original of the section before it.
    pub after: Option<String>,
    /// Texts that the clause must contain after the revision.
    #[serde(default)]
    pub must_contain: Vec<String>,
    /// Texts that the clause must not contain after the revision.
    #[serde(default)]
    pub must_not_contain: Vec<String>,
}

/// What to do with a clause.
#[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ClauseOperation {
    /// Add a new clause.
    Add,
    /// Delete the clause and its sub-clauses.
    Delete,
    /// Replace the clause by other words.
    Replace,
    /// Change some of its words.
    #[serde(alias = "modify")]
    Edit,
}

impl Clause {
    /// What the operation is on, for messages.
    pub fn target(&self) -> String {
        match &self.text {
            Some(text) => format!("\"{}\"", line(text, QUOTED)),
            None => format!("section {}", self.section),
        }
    }
}

/// The longest quotation of a text to find, in characters.
const QUOTED: usize = 60;

impl ClauseOperation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Edit => "edit",
        }
    }
}

/// Reads instructions and rejects those that cannot be followed.
pub fn read_instructions(source: &SourceText) -> Result<Framed<Instructions>, Diagnostic> {
    let framed: Framed<Instructions> = json::golden(source)?;
    let asked = &framed.form;
    let cursor = JsonCursor::whole(source);
    for (at, one) in asked.entities.iter().enumerate() {
        let path = [Key("entities"), At(at)];
        becomes(&cursor, &path, &one.from, &one.to)?;
        for (key, list) in [("defined_as", &one.defined_as), ("becomes", &one.becomes)] {
            words(&cursor, &step(&path, Key(key)), list)?;
        }
    }
    if let Some(law) = &asked.jurisdiction {
        becomes(&cursor, &[Key("jurisdiction")], &law.from, &law.to)?;
        for (at, phrase) in law.phrases.iter().enumerate() {
            becomes(
                &cursor,
                &[Key("jurisdiction"), Key("phrases"), At(at)],
                &phrase.from,
                &phrase.to,
            )?;
        }
    }
    if let Some(Liability {
        indemnifier,
        indemnitee,
    }) = &asked.liability
    {
        cursor.keyword(&[Key("liability"), Key("indemnifier")], indemnifier)?;
        cursor.keyword(&[Key("liability"), Key("indemnitee")], indemnitee)?;
        if norm(indemnifier) == norm(indemnitee) {
            let what = format!("\"{indemnifier}\" would indemnify itself");
            let path = [Key("liability"), Key("indemnitee")];
            return Err(cursor.problem(&path, Code::NO_EFFECT, what, "name the two parties"));
        }
    }
    reject_ambiguous_names(&cursor, asked)?;
    for (at, clause) in asked.clauses.iter().enumerate() {
        possible(&cursor, &[Key("clauses"), At(at)], clause)?;
    }
    for (at, change) in asked.allowed_changes.iter().enumerate() {
        let path = [Key("allowed_changes"), At(at)];
        match change {
            AllowedChange::Section(section) => is_number(&cursor, &path, section)?,
            AllowedChange::Text(AllowedText { text }) => {
                cursor
                    .keyword(&step(&path, Key("text")), text)
                    .map(|_| ())?;
            }
        }
    }
    agree(&cursor, &asked.clauses)?;
    if let Some(acceptance) = &asked.acceptance_criteria {
        weighted(&cursor, acceptance)?;
    }
    Ok(framed)
}

/// Rejects a name that is both an old and a new name: an occurrence of it could be either.
fn reject_ambiguous_names(cursor: &JsonCursor<'_>, asked: &Instructions) -> Result<(), Diagnostic> {
    let mut old: Vec<(String, &str)> = Vec::new();
    for (at, one) in asked.entities.iter().enumerate() {
        if old
            .iter()
            .any(|(name, to)| *name == norm(&one.from) && *to != one.to)
        {
            let what = format!("\"{}\" would become two names", one.from);
            let path = [Key("entities"), At(at), Key("from")];
            return Err(cursor.problem(
                &path,
                Code::CONTRADICTION,
                what,
                "keep one of the entries",
            ));
        }
        old.push((norm(&one.from), &one.to));
    }
    let names = asked
        .entities
        .iter()
        .flat_map(|one| std::iter::once(&one.from).chain(&one.defined_as));
    let names: BTreeSet<String> = names.map(|name| norm(name)).collect();
    let both = |path: &[Step<'_>], name: &str| {
        let what = format!("\"{name}\" is both an old name and a new name");
        let help = "remove the entry of a name that stays; a replaced name cannot be the new name of another";
        Err(cursor.problem(path, Code::CONTRADICTION, what, help))
    };
    for (at, one) in asked.entities.iter().enumerate() {
        if names.contains(&norm(&one.to)) {
            return both(&[Key("entities"), At(at), Key("to")], &one.to);
        }
        if let Some((nth, name)) = one
            .becomes
            .iter()
            .enumerate()
            .find(|(_, name)| names.contains(&norm(name)))
        {
            return both(&[Key("entities"), At(at), Key("becomes"), At(nth)], name);
        }
    }
    Ok(())
}

/// Rejects operations that contradict each other.
fn agree(cursor: &JsonCursor<'_>, clauses: &[Clause]) -> Result<(), Diagnostic> {
    for (at, clause) in clauses.iter().enumerate() {
        let Some(own) = number(&clause.section) else {
            continue;
        };
        let clashes = |(other, one): &(usize, &Clause)| match (one.operation, clause.operation) {
            (ClauseOperation::Add, ClauseOperation::Add) => {
                *other < at && number(&one.section).as_ref() == Some(&own)
            }
            // A new section may reuse the number of a deleted one.
            (_, ClauseOperation::Add) => false,
            // Two deletions of one section conflict once, at the second. Any other operation inside a deleted section always conflicts.
            (ClauseOperation::Delete, operation) => number(&one.section).is_some_and(|gone| {
                own.starts_with(&gone)
                    && (own != gone || operation != ClauseOperation::Delete || *other < at)
            }),
            _ => false,
        };
        if let Some((_, first)) = clauses.iter().enumerate().find(clashes) {
            let (word, section) = (clause.operation.as_str(), &clause.section);
            let what = format!(
                "{word} of section {section} conflicts with {} of section {}",
                first.operation.as_str(),
                first.section
            );
            let path = [Key("clauses"), At(at), Key("section")];
            return Err(cursor.problem(&path, Code::CONTRADICTION, what, "keep one of them"));
        }
    }
    Ok(())
}

/// Rejects weights that do not sum to 1, names without the word of a criterion, and an impossible limit.
fn weighted(cursor: &JsonCursor<'_>, acceptance: &Acceptance) -> Result<(), Diagnostic> {
    let top = Key("acceptance_criteria");
    let mut names = acceptance.criteria.keys();
    if let Some(name) = names.find(|name| Criterion::in_name(name).is_none()) {
        let what = format!("\"{name}\" has no word of a criterion");
        let help = "write entity, jurisdiction, liability, clause or coherence in its name";
        let path = [top, Key("criteria"), Key(name)];
        return Err(cursor.problem_of_key(&path, Code::BAD_NUMBER, what, help));
    }
    let mut weights = acceptance.criteria.values().map(|one| one.weight);
    let sum: f64 = weights.clone().sum();
    let fits = weights.all(|weight| (0.0..=1.0).contains(&weight));
    let is_whole = fits && (sum - 1.0).abs() <= EPSILON;
    if !is_whole && !acceptance.criteria.is_empty() {
        let what = format!("the weights sum to {}", (sum * 1e9).round() / 1e9);
        let help = "write weights from 0 to 1 that sum to 1";
        return Err(cursor.problem(&[top, Key("criteria")], Code::BAD_NUMBER, what, help));
    }
    let least = acceptance
        .thresholds
        .as_ref()
        .map(|one| one.overall_score_min);
    match least.filter(|least| !(0.0..=1.0).contains(least)) {
        Some(least) => {
            let path = [top, Key("thresholds"), Key("overall_score_min")];
            let what = format!("overall_score_min is {least}");
            Err(cursor.problem(&path, Code::BAD_NUMBER, what, "write a number from 0 to 1"))
        }
        None => Ok(()),
    }
}

/// Rejects a replacement of a text by itself, and an empty text.
fn becomes(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    from: &str,
    to: &str,
) -> Result<(), Diagnostic> {
    let (old, new) = (
        cursor.keyword(&step(path, Key("from")), from)?,
        cursor.keyword(&step(path, Key("to")), to)?,
    );
    match old == new {
        true => {
            let what = format!("\"{from}\" would become itself");
            Err(cursor.problem(
                &step(path, Key("to")),
                Code::NO_EFFECT,
                what,
                "correct from or to, or remove the entry",
            ))
        }
        false => Ok(()),
    }
}

fn words(cursor: &JsonCursor<'_>, path: &[Step<'_>], list: &[String]) -> Result<(), Diagnostic> {
    cursor.keywords(path, list).map(|_| ())
}

fn is_number(cursor: &JsonCursor<'_>, path: &[Step<'_>], section: &str) -> Result<(), Diagnostic> {
    match number(section) {
        Some(_) => Ok(()),
        None => {
            let what = format!("\"{section}\" is not a section number");
            Err(cursor.problem(
                path,
                Code::BAD_SECTION,
                what,
                "write it as in the original, such as \"4.2\"",
            ))
        }
    }
}

/// Rejects an operation whose success cannot be checked, and keys that have no effect on it.
fn possible(cursor: &JsonCursor<'_>, path: &[Step<'_>], clause: &Clause) -> Result<(), Diagnostic> {
    if let Some(text) = &clause.text {
        return possible_by_text(cursor, path, clause, text);
    }
    let (word, section) = (clause.operation.as_str(), &clause.section);
    is_number(cursor, &step(path, Key("section")), section)?;
    words(
        cursor,
        &step(path, Key("must_contain")),
        &clause.must_contain,
    )?;
    words(
        cursor,
        &step(path, Key("must_not_contain")),
        &clause.must_not_contain,
    )?;
    if let Some(after) = &clause.after {
        is_number(cursor, &step(path, Key("after")), after)?;
    }
    let deletes = clause.operation == ClauseOperation::Delete;
    let without_effect = [
        (
            "after",
            clause.after.is_some() && clause.operation != ClauseOperation::Add,
        ),
        ("must_contain", deletes && !clause.must_contain.is_empty()),
        (
            "must_not_contain",
            deletes && !clause.must_not_contain.is_empty(),
        ),
        ("new_text", clause.new_text.is_some()),
    ];
    if let Some((key, _)) = without_effect.into_iter().find(|(_, stated)| *stated) {
        let what = format!("{key} has no effect on the operation {word} of section {section}");
        return Err(cursor.problem_of_key(
            &step(path, Key(key)),
            Code::NO_EFFECT,
            what,
            format!("remove {key}"),
        ));
    }
    if clause.operation == ClauseOperation::Add
        && clause.heading.is_none()
        && clause.must_contain.is_empty()
    {
        let what = format!("an added section {section} cannot be recognized");
        return Err(cursor.problem(path, Code::CANNOT_FAIL, what, "add heading or must_contain"));
    }
    let both = clause
        .must_contain
        .iter()
        .find(|text| clause.must_not_contain.contains(text));
    match both {
        Some(text) => {
            let what = format!("section {section} both must and must not contain \"{text}\"");
            Err(cursor.problem(
                &step(path, Key("must_not_contain")),
                Code::CONTRADICTION,
                what,
                "keep one of them",
            ))
        }
        None => Ok(()),
    }
}

/// Rejects an operation on a text whose success cannot be checked, and keys that have no effect on it.
fn possible_by_text(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    clause: &Clause,
    text: &str,
) -> Result<(), Diagnostic> {
    let word = clause.operation.as_str();
    let old = cursor.keyword(&step(path, Key("text")), text)?;
    let has_new = match clause.operation {
        ClauseOperation::Delete => false,
        ClauseOperation::Replace | ClauseOperation::Edit => true,
        ClauseOperation::Add => {
            let help = "state section and must_contain instead of text";
            let what = "a new clause is not found by a text of the original";
            return Err(cursor.problem(path, Code::NO_EFFECT, what, help));
        }
    };
    let without_effect = [
        ("section", !clause.section.is_empty()),
        ("heading", clause.heading.is_some()),
        ("after", clause.after.is_some()),
        ("must_contain", !clause.must_contain.is_empty()),
        ("must_not_contain", !clause.must_not_contain.is_empty()),
        ("new_text", clause.new_text.is_some() && !has_new),
    ];
    if let Some((key, _)) = without_effect.into_iter().find(|(_, stated)| *stated) {
        let what = format!("{key} has no effect on the operation {word} of a text");
        let help = format!("remove {key}");
        return Err(cursor.problem_of_key(&step(path, Key(key)), Code::NO_EFFECT, what, help));
    }
    match &clause.new_text {
        Some(new) if cursor.keyword(&step(path, Key("new_text")), new)? == old => {
            let what = format!("{} would become itself", clause.target());
            let path = step(path, Key("new_text"));
            Err(cursor.problem(&path, Code::NO_EFFECT, what, "correct text or new_text"))
        }
        None if has_new => {
            let what = format!("{word} of a text cannot be checked without new_text");
            Err(cursor.problem(path, Code::CANNOT_FAIL, what, "add new_text"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The section of the original that an instruction refers to.
pub fn named(original: &Draft, clause: &Clause) -> Option<usize> {
    original.section(&number(&clause.section)?)
}
