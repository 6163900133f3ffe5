//! The instructions for a revision: `cases/{case}/instructions.json`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::draft::{Draft, number};
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::golden::step;
use crate::text::norm;

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
    /// Sections, by their numbers in the original, that may change although no other instruction mentions them.
    #[serde(default)]
    pub allowed_changes: Vec<String>,
    /// The rule of the prompt package that this case tests, by id or text.
    pub rule: Option<String>,
}

impl CaseForm for Instructions {}

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
    pub section: String,
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
    Edit,
}

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
    for (at, section) in asked.allowed_changes.iter().enumerate() {
        is_number(&cursor, &[Key("allowed_changes"), At(at)], section)?;
    }
    agree(&cursor, &asked.clauses)?;
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

/// The section of the original that an instruction refers to: by number, otherwise by heading.
pub fn named(original: &Draft, clause: &Clause) -> Option<usize> {
    original.section(&number(&clause.section)?).or_else(|| {
        let heading = norm(clause.heading.as_deref()?);
        original
            .sections
            .iter()
            .position(|section| section.heading == heading)
    })
}
