//! The instructions for a revision: `cases/{case}/instructions.json`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::draft::{Draft, dotted, number};
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
    /// Clauses to add, with their text as RTF.
    #[serde(default)]
    clause_add: Vec<AddedClause>,
    /// Clauses to delete.
    #[serde(default)]
    clause_delete: Vec<DeletedClause>,
    /// New values of a party; the suite's `replaced` has the old ones.
    #[serde(default)]
    counterparty_update: NewParty,
    /// New values of the law; the suite's `replaced` has the old ones.
    #[serde(default)]
    domicile_shift: NewDomicile,
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
    /// Names of criteria, for readers: all of them count by their weight.
    #[serde(default, rename = "required_criteria")]
    _required_criteria: Vec<String>,
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
    /// What it is, for readers.
    #[serde(rename = "description")]
    _description: Option<String>,
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

impl Entity {
    /// All forms of its old name and of its new name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [&self.from, &self.to].into_iter();
        names
            .chain(&self.defined_as)
            .chain(&self.becomes)
            .map(String::as_str)
    }
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
    /// Instead of `section`: the words of the original to delete or to change, or those of the added clause, within one paragraph.
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

/// A clause to add.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
struct AddedClause {
    /// Its name, for readers.
    #[serde(rename = "tag")]
    _tag: Option<String>,
    /// The section of the original before it: its number, with or without its heading.
    insert_after_section: String,
    /// Its text as RTF.
    rtf_text: String,
}

/// A clause to delete.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
struct DeletedClause {
    /// Its number in the original, with or without its heading.
    section: String,
    /// Why, for readers.
    #[serde(rename = "reason")]
    _reason: Option<String>,
}

/// New values of a party.
#[derive(Deserialize, JsonSchema, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields)]
struct NewParty {
    /// Its name.
    name: Option<String>,
    /// Its number in the register.
    registration_code: Option<String>,
    /// Its tax number.
    vat: Option<String>,
    /// Its address.
    address: Option<String>,
    /// Its e-mail address.
    email: Option<String>,
}

/// New values of the law.
#[derive(Deserialize, JsonSchema, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields)]
struct NewDomicile {
    /// The law.
    governing_law: Option<String>,
    /// The court or its place.
    venue: Option<String>,
    /// Who decides disputes.
    arbitration_body: Option<String>,
    /// The rules of disputes.
    arbitration_rules: Option<String>,
}

/// The old values that new ones replace, by their key; null where the originals have none.
pub type ReplacedValues = BTreeMap<String, Option<String>>;

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
    fn of(operation: ClauseOperation) -> Self {
        Self {
            operation,
            section: String::new(),
            text: None,
            new_text: None,
            heading: None,
            after: None,
            must_contain: Vec::new(),
            must_not_contain: Vec::new(),
        }
    }

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
pub fn read_instructions(
    source: &SourceText,
    replaced: &ReplacedValues,
) -> Result<Framed<Instructions>, Diagnostic> {
    let mut framed: Framed<Instructions> = json::golden(source)?;
    let asked = &framed.form;
    let cursor = JsonCursor::whole(source);
    for (at, entity) in asked.entities.iter().enumerate() {
        let path = [Key("entities"), At(at)];
        becomes(&cursor, &path, &entity.from, &entity.to)?;
        for (key, list) in [
            ("defined_as", &entity.defined_as),
            ("becomes", &entity.becomes),
        ] {
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
            let message = format!("\"{indemnifier}\" would indemnify itself");
            let path = [Key("liability"), Key("indemnitee")];
            return Err(cursor.problem(&path, Code::NO_EFFECT, message, "name the two parties"));
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
    framed.form.add_new_values(&cursor, replaced)?;
    framed.form.add_clauses_by_text(&cursor)?;
    Ok(framed)
}

impl Instructions {
    /// The old values that these instructions replace, for a digest; empty if they state no new ones.
    pub fn replaced_values(&self, replaced: &ReplacedValues) -> String {
        let is_plain = self.counterparty_update == NewParty::default()
            && self.domicile_shift == NewDomicile::default();
        if is_plain {
            String::new()
        } else {
            format!("{replaced:?}")
        }
    }

    /// Adds the replacements of which the instructions state only the new values.
    fn add_new_values(
        &mut self,
        cursor: &JsonCursor<'_>,
        replaced: &ReplacedValues,
    ) -> Result<(), Diagnostic> {
        let NewParty {
            name,
            registration_code,
            vat,
            address,
            email,
        } = &self.counterparty_update;
        let party = NewValues {
            cursor,
            replaced,
            object: "counterparty_update",
        };
        let changes = party.changes([
            ("name", name),
            ("registration_code", registration_code),
            ("vat", vat),
            ("address", address),
            ("email", email),
        ])?;
        self.entities.extend(changes.into_iter().map(Entity::from));
        let NewDomicile {
            governing_law,
            venue,
            arbitration_body,
            arbitration_rules,
        } = &self.domicile_shift;
        let domicile = NewValues {
            cursor,
            replaced,
            object: "domicile_shift",
        };
        let law = domicile.changes([("governing_law", governing_law)])?.pop();
        let phrases = domicile.changes([
            ("venue", venue),
            ("arbitration_body", arbitration_body),
            ("arbitration_rules", arbitration_rules),
        ])?;
        match (law, &mut self.jurisdiction) {
            (Some(_), Some(_)) => {
                let message = "the law is stated under jurisdiction, too";
                let path = [Key("domicile_shift"), Key("governing_law")];
                Err(cursor.problem(&path, Code::CONTRADICTION, message, "keep one of them"))
            }
            (Some(PhraseChange { from, to }), stated @ None) => {
                *stated = Some(Jurisdiction { from, to, phrases });
                Ok(())
            }
            (None, Some(law)) => {
                law.phrases.extend(phrases);
                Ok(())
            }
            (None, None) => {
                self.entities.extend(phrases.into_iter().map(Entity::from));
                Ok(())
            }
        }
    }

    /// Adds the operations on clauses that are stated by their text and by a section with its heading.
    fn add_clauses_by_text(&mut self, cursor: &JsonCursor<'_>) -> Result<(), Diagnostic> {
        for (at, added) in self.clause_add.iter().enumerate() {
            let path = [Key("clause_add"), At(at)];
            let after = step(&path, Key("insert_after_section"));
            let after = section_number(cursor, &after, &added.insert_after_section)?;
            let text = Draft::read(added.rtf_text.as_bytes());
            if text.lines.is_empty() {
                let help = "write the words of the clause";
                let path = step(&path, Key("rtf_text"));
                return Err(cursor.problem(&path, Code::CANNOT_FAIL, "it has no text", help));
            }
            self.clauses.extend(text.lines.iter().map(|line| Clause {
                text: Some(line.text[line.words_from..].trim().to_owned()),
                after: Some(after.clone()),
                ..Clause::of(ClauseOperation::Add)
            }));
        }
        for (at, deleted) in self.clause_delete.iter().enumerate() {
            let path = [Key("clause_delete"), At(at), Key("section")];
            self.clauses.push(Clause {
                section: section_number(cursor, &path, &deleted.section)?,
                ..Clause::of(ClauseOperation::Delete)
            });
        }
        Ok(())
    }
}

/// New values that one object of the instructions states.
struct NewValues<'a> {
    cursor: &'a JsonCursor<'a>,
    replaced: &'a ReplacedValues,
    object: &'a str,
}

impl NewValues<'_> {
    /// The changes from the old values to these new ones.
    fn changes<const N: usize>(
        &self,
        values: [(&str, &Option<String>); N],
    ) -> Result<Vec<PhraseChange>, Diagnostic> {
        let mut changes = Vec::new();
        for (key, new) in values {
            let Some(to) = new else { continue };
            let path = [Key(self.object), Key(key)];
            match self.replaced.get(key) {
                Some(Some(from)) if norm(from) != norm(to) => changes.push(PhraseChange {
                    from: from.clone(),
                    to: to.clone(),
                }),
                Some(Some(_)) => {
                    let message = format!("\"{to}\" would become itself");
                    let help = "correct replaced of the suite";
                    return Err(self.cursor.problem(&path, Code::NO_EFFECT, message, help));
                }
                Some(None) => {}
                None => {
                    let message = format!("the config does not say what {key} replaces");
                    let help = format!(
                        "add replaced: {{ {key}: OLD VALUE }} to the suite, or null where the original has none"
                    );
                    return Err(self.cursor.problem(&path, Code::CANNOT_FAIL, message, help));
                }
            }
        }
        Ok(changes)
    }
}

impl From<PhraseChange> for Entity {
    fn from(PhraseChange { from, to }: PhraseChange) -> Self {
        Self {
            from,
            to,
            defined_as: Vec::new(),
            becomes: Vec::new(),
        }
    }
}

/// The number at the start of a section's name, such as 5.1 of "5.1. Amendment".
fn section_number(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    name: &str,
) -> Result<String, Diagnostic> {
    let first = name.split_whitespace().next().unwrap_or_default();
    is_number(cursor, path, first)?;
    Ok(number(first).map_or_else(String::new, |number| dotted(&number)))
}

/// Rejects a name that is both an old and a new name: an occurrence of it could be either.
fn reject_ambiguous_names(cursor: &JsonCursor<'_>, asked: &Instructions) -> Result<(), Diagnostic> {
    let mut old: Vec<(String, &str)> = Vec::new();
    for (at, entity) in asked.entities.iter().enumerate() {
        if old
            .iter()
            .any(|(name, to)| *name == norm(&entity.from) && *to != entity.to)
        {
            let message = format!("\"{}\" would become two names", entity.from);
            let path = [Key("entities"), At(at), Key("from")];
            return Err(cursor.problem(
                &path,
                Code::CONTRADICTION,
                message,
                "keep one of the entries",
            ));
        }
        old.push((norm(&entity.from), &entity.to));
    }
    let names = asked
        .entities
        .iter()
        .flat_map(|entity| std::iter::once(&entity.from).chain(&entity.defined_as));
    let names: BTreeSet<String> = names.map(|name| norm(name)).collect();
    for (at, entity) in asked.entities.iter().enumerate() {
        if names.contains(&norm(&entity.to)) {
            let path = [Key("entities"), At(at), Key("to")];
            return Err(old_and_new(cursor, &path, &entity.to));
        }
        for (index, name) in entity.becomes.iter().enumerate() {
            if names.contains(&norm(name)) {
                let path = [Key("entities"), At(at), Key("becomes"), At(index)];
                return Err(old_and_new(cursor, &path, name));
            }
        }
    }
    Ok(())
}

fn old_and_new(cursor: &JsonCursor<'_>, path: &[Step<'_>], name: &str) -> Diagnostic {
    let message = format!("\"{name}\" is both an old name and a new name");
    let help =
        "remove the entry of a name that stays; a replaced name cannot be the new name of another";
    cursor.problem(path, Code::CONTRADICTION, message, help)
}

/// Rejects operations that contradict each other.
fn agree(cursor: &JsonCursor<'_>, clauses: &[Clause]) -> Result<(), Diagnostic> {
    for (at, clause) in clauses.iter().enumerate() {
        let Some(section_number) = number(&clause.section) else {
            continue;
        };
        for (rival_index, rival) in clauses.iter().enumerate() {
            let is_conflict = match (rival.operation, clause.operation) {
                (ClauseOperation::Add, ClauseOperation::Add) => {
                    rival_index < at && number(&rival.section).as_ref() == Some(&section_number)
                }
                // A new section may reuse the number of a deleted one.
                (_, ClauseOperation::Add) => false,
                // Two deletions of one section conflict once, at the second. Any other operation inside a deleted section always conflicts.
                (ClauseOperation::Delete, operation) => {
                    number(&rival.section).is_some_and(|gone| {
                        section_number.starts_with(&gone)
                            && (section_number != gone
                                || operation != ClauseOperation::Delete
                                || rival_index < at)
                    })
                }
                _ => false,
            };
            if is_conflict {
                let (word, section) = (clause.operation.as_str(), &clause.section);
                let message = format!(
                    "{word} of section {section} conflicts with {} of section {}",
                    rival.operation.as_str(),
                    rival.section
                );
                let path = [Key("clauses"), At(at), Key("section")];
                let help = "keep one of them";
                return Err(cursor.problem(&path, Code::CONTRADICTION, message, help));
            }
        }
    }
    Ok(())
}

/// Rejects weights that do not sum to 1, names without the word of a criterion, and an impossible limit.
fn weighted(cursor: &JsonCursor<'_>, acceptance: &Acceptance) -> Result<(), Diagnostic> {
    let top = Key("acceptance_criteria");
    let mut names = acceptance.criteria.keys();
    if let Some(name) = names.find(|name| Criterion::in_name(name).is_none()) {
        let message = format!("\"{name}\" has no word of a criterion");
        let help = "write entity, jurisdiction, liability, clause or coherence in its name";
        let path = [top, Key("criteria"), Key(name)];
        return Err(cursor.problem_of_key(&path, Code::BAD_NUMBER, message, help));
    }
    let mut weights = acceptance
        .criteria
        .values()
        .map(|criterion| criterion.weight);
    let sum: f64 = weights.clone().sum();
    let fits = weights.all(|weight| (0.0..=1.0).contains(&weight));
    let is_whole = fits && (sum - 1.0).abs() <= EPSILON;
    if !is_whole && !acceptance.criteria.is_empty() {
        let message = format!("the weights sum to {}", (sum * 1e9).round() / 1e9);
        let help = "write weights from 0 to 1 that sum to 1";
        return Err(cursor.problem(&[top, Key("criteria")], Code::BAD_NUMBER, message, help));
    }
    let least = acceptance
        .thresholds
        .as_ref()
        .map(|thresholds| thresholds.overall_score_min);
    match least.filter(|least| !(0.0..=1.0).contains(least)) {
        Some(least) => {
            let path = [top, Key("thresholds"), Key("overall_score_min")];
            let message = format!("overall_score_min is {least}");
            Err(cursor.problem(
                &path,
                Code::BAD_NUMBER,
                message,
                "write a number from 0 to 1",
            ))
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
    if old == new {
        let message = format!("\"{from}\" would become itself");
        let help = "correct from or to, or remove the entry";
        return Err(cursor.problem(&step(path, Key("to")), Code::NO_EFFECT, message, help));
    }
    Ok(())
}

fn words(cursor: &JsonCursor<'_>, path: &[Step<'_>], list: &[String]) -> Result<(), Diagnostic> {
    cursor.keywords(path, list).map(|_| ())
}

fn is_number(cursor: &JsonCursor<'_>, path: &[Step<'_>], section: &str) -> Result<(), Diagnostic> {
    match number(section) {
        Some(_) => Ok(()),
        None => {
            let message = format!("\"{section}\" is not a section number");
            Err(cursor.problem(
                path,
                Code::BAD_SECTION,
                message,
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
        let message = format!("{key} has no effect on the operation {word} of section {section}");
        return Err(cursor.problem_of_key(
            &step(path, Key(key)),
            Code::NO_EFFECT,
            message,
            format!("remove {key}"),
        ));
    }
    if clause.operation == ClauseOperation::Add
        && clause.heading.is_none()
        && clause.must_contain.is_empty()
    {
        let message = format!("an added section {section} cannot be recognized");
        return Err(cursor.problem(
            path,
            Code::CANNOT_FAIL,
            message,
            "add heading or must_contain",
        ));
    }
    let both = clause
        .must_contain
        .iter()
        .find(|text| clause.must_not_contain.contains(text));
    match both {
        Some(text) => {
            let message = format!("section {section} both must and must not contain \"{text}\"");
            Err(cursor.problem(
                &step(path, Key("must_not_contain")),
                Code::CONTRADICTION,
                message,
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
        ClauseOperation::Add | ClauseOperation::Delete => false,
        ClauseOperation::Replace | ClauseOperation::Edit => true,
    };
    if let Some(after) = &clause.after {
        is_number(cursor, &step(path, Key("after")), after)?;
    }
    let without_effect = [
        ("section", !clause.section.is_empty()),
        ("heading", clause.heading.is_some()),
        (
            "after",
            clause.after.is_some() && clause.operation != ClauseOperation::Add,
        ),
        ("must_contain", !clause.must_contain.is_empty()),
        ("must_not_contain", !clause.must_not_contain.is_empty()),
        ("new_text", clause.new_text.is_some() && !has_new),
    ];
    if let Some((key, _)) = without_effect.into_iter().find(|(_, stated)| *stated) {
        let message = format!("{key} has no effect on the operation {word} of a text");
        let help = format!("remove {key}");
        return Err(cursor.problem_of_key(&step(path, Key(key)), Code::NO_EFFECT, message, help));
    }
    match &clause.new_text {
        Some(new) if cursor.keyword(&step(path, Key("new_text")), new)? == old => {
            let message = format!("{} would become itself", clause.target());
            let path = step(path, Key("new_text"));
            Err(cursor.problem(&path, Code::NO_EFFECT, message, "correct text or new_text"))
        }
        None if has_new => {
            let message = format!("{word} of a text cannot be checked without new_text");
            Err(cursor.problem(path, Code::CANNOT_FAIL, message, "add new_text"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The section of the original that an instruction refers to.
pub fn named(original: &Draft, clause: &Clause) -> Option<usize> {
    original.section(&number(&clause.section)?)
}
