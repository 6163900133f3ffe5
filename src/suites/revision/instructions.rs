//! What a revision was asked to do: `cases/{case}/instructions.json`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::draft::{Draft, dotted, number};
use super::liability::Parties;
use crate::diag::Diagnostic;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, SourceText, Step, json};
use crate::suites::golden::step;
use crate::suites::quarantine::QuarantineForm;
use crate::text::{Keyword, norm};

/// What a contract's revision has to do; a part that is left out asks for nothing.
#[derive(Deserialize, JsonSchema, Debug, Default)]
#[serde(deny_unknown_fields)]
#[schemars(title = "instructions of a contract's revision")]
pub struct Instructions {
    /// Parties and others that are replaced everywhere.
    #[serde(default)]
    pub entities: Vec<Entity>,
    /// The law and the courts that are replaced.
    pub jurisdiction: Option<Jurisdiction>,
    /// Who indemnifies whom afterwards.
    pub liability: Option<Liability>,
    /// What happens to single clauses.
    #[serde(default)]
    pub clauses: Vec<Clause>,
    /// Sections, by their numbers in the original, that may change though nothing here names them.
    #[serde(default)]
    pub allowed_changes: Vec<String>,
    /// The rule of the prompt package that this tests, by id or text.
    pub rule: Option<String>,
    /// What people should know of the case; nothing is judged by it.
    #[serde(default, rename = "notes")]
    _notes: Option<String>,
    /// Why the case does not gate for a while.
    pub quarantine: Option<QuarantineForm>,
}

/// One name that becomes another.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// Further names of the old one, such as the short one that the contract defines; they have to go, too.
    #[serde(default)]
    pub defined_as: Vec<String>,
    /// Further names of the new one.
    #[serde(default)]
    pub becomes: Vec<String>,
}

/// One law that becomes another.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Jurisdiction {
    /// The old one.
    pub from: String,
    /// The new one.
    pub to: String,
    /// Phrases that go with it, such as the courts' names.
    #[serde(default)]
    pub phrases: Vec<PhraseChange>,
}

/// One phrase that becomes another.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct PhraseChange {
    /// The old one.
    pub from: String,
    /// The new one.
    pub to: String,
}

/// Who indemnifies whom.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Liability {
    /// Who holds harmless.
    pub indemnifier: String,
    /// Who is held harmless.
    pub indemnitee: String,
}

/// What happens to a clause.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// What is done.
    pub operation: ClauseOperation,
    /// Its number in the original; of a clause that is added, its number in the revised document.
    pub section: String,
    /// Its heading.
    pub heading: Option<String>,
    /// The number in the original of the section that an added one follows.
    pub after: Option<String>,
    /// Texts that it has to have afterwards.
    #[serde(default)]
    pub must_contain: Vec<String>,
    /// Texts that it must not have afterwards.
    #[serde(default)]
    pub must_not_contain: Vec<String>,
}

/// What is done to a clause.
#[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ClauseOperation {
    /// It is new.
    Add,
    /// It goes, with its sub-clauses.
    Delete,
    /// Other words take its place.
    Replace,
    /// Some of its words change.
    Edit,
}

impl ClauseOperation {
    /// The word used in instructions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Edit => "edit",
        }
    }
}

/// Reads instructions and refuses what nobody can follow.
///
/// # Errors
/// What in them cannot be, with its place.
pub fn read_instructions(source: &SourceText) -> Result<Instructions, Diagnostic> {
    let asked: Instructions = json::golden(source)?;
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
            becomes(&cursor, &[Key("jurisdiction"), Key("phrases"), At(at)], &phrase.from, &phrase.to)?;
        }
    }
    if let Some(Liability { indemnifier, indemnitee }) = &asked.liability {
        cursor.keyword(&[Key("liability"), Key("indemnifier")], indemnifier)?;
        cursor.keyword(&[Key("liability"), Key("indemnitee")], indemnitee)?;
        if norm(indemnifier) == norm(indemnitee) {
            let what = format!("\"{indemnifier}\" would indemnify itself");
            let path = [Key("liability"), Key("indemnitee")];
            return Err(cursor.problem(&path, "no-effect", what, "name the two parties"));
        }
    }
    names_part(&cursor, &asked)?;
    for (at, clause) in asked.clauses.iter().enumerate() {
        possible(&cursor, &[Key("clauses"), At(at)], clause)?;
    }
    for (at, section) in asked.allowed_changes.iter().enumerate() {
        is_number(&cursor, &[Key("allowed_changes"), At(at)], section)?;
    }
    agree(&cursor, &asked.clauses)?;
    Ok(asked)
}

/// Refuses a name that is to go and to come: whether what stands there is the old or the new one nobody can tell.
fn names_part(cursor: &JsonCursor<'_>, asked: &Instructions) -> Result<(), Diagnostic> {
    let mut old: Vec<(String, &str)> = Vec::new();
    for (at, one) in asked.entities.iter().enumerate() {
        if old.iter().any(|(name, to)| *name == norm(&one.from) && *to != one.to) {
            let what = format!("\"{}\" would become two names", one.from);
            let path = [Key("entities"), At(at), Key("from")];
            return Err(cursor.problem(&path, "contradiction", what, "keep one of the entries"));
        }
        old.push((norm(&one.from), &one.to));
    }
    let names = asked.entities.iter().flat_map(|one| std::iter::once(&one.from).chain(&one.defined_as));
    let names: BTreeSet<String> = names.map(|name| norm(name)).collect();
    let both = |path: &[Step<'_>], name: &str| {
        let what = format!("\"{name}\" is an old name and a new one");
        let help = "a name that stays needs no entry; one that goes cannot be that of another";
        Err(cursor.problem(path, "contradiction", what, help))
    };
    for (at, one) in asked.entities.iter().enumerate() {
        if names.contains(&norm(&one.to)) {
            return both(&[Key("entities"), At(at), Key("to")], &one.to);
        }
        if let Some((nth, name)) = one.becomes.iter().enumerate().find(|(_, name)| names.contains(&norm(name))) {
            return both(&[Key("entities"), At(at), Key("becomes"), At(nth)], name);
        }
    }
    Ok(())
}

/// Refuses operations of which one undoes the other.
fn agree(cursor: &JsonCursor<'_>, clauses: &[Clause]) -> Result<(), Diagnostic> {
    for (at, clause) in clauses.iter().enumerate() {
        let Some(own) = number(&clause.section) else { continue };
        let clashes = |(other, one): &(usize, &Clause)| match (one.operation, clause.operation) {
            (ClauseOperation::Add, ClauseOperation::Add) => *other < at && number(&one.section).as_ref() == Some(&own),
            // A new section may have the number of one that goes.
            (_, ClauseOperation::Add) => false,
            // Two deletions of one section clash once, at the second; anything else in a section that goes does wherever it stands.
            (ClauseOperation::Delete, operation) => number(&one.section).is_some_and(|gone| {
                own.starts_with(&gone) && (own != gone || operation != ClauseOperation::Delete || *other < at)
            }),
            _ => false,
        };
        if let Some((_, first)) = clauses.iter().enumerate().find(clashes) {
            let (word, section) = (clause.operation.as_str(), &clause.section);
            let what = format!(
                "{word} of section {section}: there is {} of section {} already",
                first.operation.as_str(),
                first.section
            );
            let path = [Key("clauses"), At(at), Key("section")];
            return Err(cursor.problem(&path, "contradiction", what, "keep one of them"));
        }
    }
    Ok(())
}

/// Refuses a text that becomes itself, and one that is empty.
fn becomes(cursor: &JsonCursor<'_>, path: &[Step<'_>], from: &str, to: &str) -> Result<(), Diagnostic> {
    let (old, new) = (cursor.keyword(&step(path, Key("from")), from)?, cursor.keyword(&step(path, Key("to")), to)?);
    match old == new {
        true => {
            let what = format!("\"{from}\" would become itself");
            Err(cursor.problem(&step(path, Key("to")), "no-effect", what, "correct from or to, or remove the entry"))
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
            let what = format!("\"{section}\" is no number of a section");
            Err(cursor.problem(path, "bad-section", what, "write it as in the original, such as \"4.2\""))
        }
    }
}

/// Refuses an operation that cannot be told from its absence, and what has no effect on it.
fn possible(cursor: &JsonCursor<'_>, path: &[Step<'_>], clause: &Clause) -> Result<(), Diagnostic> {
    let (word, section) = (clause.operation.as_str(), &clause.section);
    is_number(cursor, &step(path, Key("section")), section)?;
    words(cursor, &step(path, Key("must_contain")), &clause.must_contain)?;
    words(cursor, &step(path, Key("must_not_contain")), &clause.must_not_contain)?;
    if let Some(after) = &clause.after {
        is_number(cursor, &step(path, Key("after")), after)?;
    }
    let deletes = clause.operation == ClauseOperation::Delete;
    let without_effect = [
        ("after", clause.after.is_some() && clause.operation != ClauseOperation::Add),
        ("must_contain", deletes && !clause.must_contain.is_empty()),
        ("must_not_contain", deletes && !clause.must_not_contain.is_empty()),
    ];
    if let Some((key, _)) = without_effect.into_iter().find(|(_, stated)| *stated) {
        let what = format!("{key} has no effect on the operation {word} of section {section}");
        return Err(cursor.problem_of_key(&step(path, Key(key)), "no-effect", what, format!("remove {key}")));
    }
    if clause.operation == ClauseOperation::Add && clause.heading.is_none() && clause.must_contain.is_empty() {
        let what = format!("nothing tells whether section {section} was added");
        return Err(cursor.problem(path, "cannot-fail", what, "give it heading or must_contain"));
    }
    let both = clause.must_contain.iter().find(|text| clause.must_not_contain.contains(text));
    match both {
        Some(text) => {
            let what = format!("section {section} must contain \"{text}\" and must not");
            Err(cursor.problem(&step(path, Key("must_not_contain")), "contradiction", what, "keep one of them"))
        }
        None => Ok(()),
    }
}

/// What the instructions speak of and the original does not have: nobody can do it.
pub fn unfounded(asked: &Instructions, original: &Draft) -> Vec<String> {
    let mut missing = Vec::new();
    let law = asked.jurisdiction.iter();
    let phrases =
        law.clone().flat_map(|law| std::iter::once(&law.from).chain(law.phrases.iter().map(|phrase| &phrase.from)));
    let names = asked.entities.iter().flat_map(|one| std::iter::once(&one.from).chain(&one.defined_as));
    for name in names.chain(phrases).filter(|name| !original.names(name)) {
        missing.push(format!("\"{name}\" stands nowhere in the original, so replacing it cannot fail"));
    }
    let known = |text: &str| number(text).is_some_and(|number| original.section(&number).is_some());
    for clause in &asked.clauses {
        let named = match clause.operation {
            ClauseOperation::Add => clause.after.as_deref(),
            ClauseOperation::Delete | ClauseOperation::Replace | ClauseOperation::Edit => Some(clause.section.as_str()),
        };
        if let Some(section) = named.filter(|section| !known(section)) {
            let what = match clause.operation {
                ClauseOperation::Add => format!("which section {} is to follow", clause.section),
                other => format!("which is what to {}", other.as_str()),
            };
            missing.push(format!("the original has no section {section}, {what}"));
        }
        missing.extend(misnamed(clause, original));
        missing.extend(done_already(clause, original));
    }
    for section in asked.allowed_changes.iter().filter(|section| !known(section)) {
        missing.push(format!("the original has no section {section}, which may change"));
    }
    let adds = asked.clauses.iter().any(|clause| clause.operation == ClauseOperation::Add);
    if let Some(one) = asked.liability.as_ref().filter(|_| !adds)
        && Parties::of(one).sentences(original).is_empty()
    {
        missing.push(format!(
            "no sentence of the original says that \"{}\" or \"{}\" indemnifies anybody, so the direction cannot be told",
            one.indemnifier, one.indemnitee
        ));
    }
    missing
}

/// A heading that is another section's: one of the two is meant.
fn misnamed(clause: &Clause, original: &Draft) -> Option<String> {
    let heading = norm(clause.heading.as_deref().filter(|_| clause.operation != ClauseOperation::Add)?);
    let own = &original.sections[original.section(&number(&clause.section)?)?];
    let other = original.sections.iter().find(|section| section.heading == heading)?;
    (own.heading != heading).then(|| {
        let (section, other) = (&clause.section, dotted(&other.number));
        format!("section {section} of the original is not \"{heading}\", section {other} is")
    })
}

/// A change of words that the original has already.
fn done_already(clause: &Clause, original: &Draft) -> Option<String> {
    let changes = matches!(clause.operation, ClauseOperation::Replace | ClauseOperation::Edit);
    let words = original.section_words(original.section(&number(&clause.section)?).filter(|_| changes)?);
    let has = |text: &String| Keyword::new(text).is_some_and(|text| text.is_in(&words));
    let asked = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
    let done = clause.must_contain.iter().all(has) && !clause.must_not_contain.iter().any(has);
    (asked && done).then(|| {
        let (word, section) = (clause.operation.as_str(), &clause.section);
        format!("section {section} of the original has the words already, so {word} cannot fail")
    })
}
