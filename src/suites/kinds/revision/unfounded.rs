//! Instructions that refer to something that the original does not contain.

use super::draft::{Draft, contains_words, dotted, number};
use super::instructions::{AllowedChange, Clause, ClauseOperation, Instructions};
use super::liability::Parties;
use super::terms::{DefinedTerms, terms};
use crate::text::norm;

/// The parts of the instructions that refer to something that the original does not contain.
pub fn unfounded(asked: &Instructions, original: &Draft) -> Vec<String> {
    let mut missing = Vec::new();
    let law = asked.jurisdiction.iter();
    let phrases = law.clone().flat_map(|law| {
        std::iter::once(&law.from).chain(law.phrases.iter().map(|phrase| &phrase.from))
    });
    let names = asked
        .entities
        .iter()
        .flat_map(|entity| std::iter::once(&entity.from).chain(&entity.defined_as));
    for name in names.chain(phrases).filter(|name| !original.names(name)) {
        missing.push(format!(
            "\"{name}\" does not appear in the original, so replacing it cannot fail"
        ));
    }
    missing.extend(common_phrases(asked, original));
    for clause in &asked.clauses {
        if let Some(text) = &clause.text {
            let is_there = original.names(text);
            if clause.operation == ClauseOperation::Add {
                if is_there {
                    missing.push(format!(
                        "the original contains {} already, so adding it cannot fail",
                        clause.target()
                    ));
                }
                let after = clause.after.as_deref();
                if let Some(section) = after.filter(|section| !has_section(original, section)) {
                    missing.push(format!(
                        "{} is to follow section {section}, but the original has no such section",
                        clause.target()
                    ));
                }
            } else if !is_there {
                missing.push(format!(
                    "no paragraph of the original contains {}, which the instructions {}",
                    clause.target(),
                    clause.operation.as_str()
                ));
            }
            continue;
        }
        let named = match clause.operation {
            ClauseOperation::Add => clause.after.as_deref(),
            ClauseOperation::Delete | ClauseOperation::Replace | ClauseOperation::Edit => {
                Some(clause.section.as_str())
            }
        };
        if let Some(section) = named.filter(|section| !has_section(original, section)) {
            let message = match clause.operation {
                ClauseOperation::Add => {
                    format!(
                        "section {} is to follow section {section}, but the original has no such section",
                        clause.section
                    )
                }
                operation => {
                    format!(
                        "the original has no section {section}, which the instructions {}",
                        operation.as_str()
                    )
                }
            };
            missing.push(message);
        }
        missing.extend(misnamed(clause, original));
        missing.extend(done_already(clause, original));
    }
    for change in &asked.allowed_changes {
        match change {
            AllowedChange::Section(section) if !has_section(original, section) => {
                missing.push(format!(
                    "allowed_changes lists section {section}, but the original has no such section"
                ));
            }
            AllowedChange::Section(_) | AllowedChange::Text(_) => {}
        }
    }
    let adds = asked
        .clauses
        .iter()
        .any(|clause| clause.operation == ClauseOperation::Add);
    if let Some(liability) = asked.liability.as_ref().filter(|_| !adds)
        && Parties::of(liability).sentences(original).is_empty()
    {
        missing.push(format!(
            "no sentence of the original makes \"{}\" or \"{}\" indemnify anybody, so the direction cannot be checked",
            liability.indemnifier, liability.indemnitee
        ));
    }
    missing
}

fn has_section(original: &Draft, text: &str) -> bool {
    number(text).is_some_and(|number| original.section(&number).is_some())
}

/// The forms of names that may mean anybody: they have no word of the name, are not its initials, and the original does not define them.
fn common_phrases(asked: &Instructions, original: &Draft) -> Vec<String> {
    let mut other_forms = Vec::new();
    for entity in &asked.entities {
        for form in &entity.defined_as {
            if !is_form_of(form, &entity.from) {
                other_forms.push((form, &entity.from));
            }
        }
    }
    if other_forms.is_empty() {
        return Vec::new();
    }
    let defined = terms(original);
    let mut messages = Vec::new();
    for (form, name) in other_forms {
        if !is_defined(&defined, form) {
            messages.push(format!("\"{form}\" may mean others than \"{name}\": it has no word of the name, and the original does not define it"));
        }
    }
    messages
}

/// Whether a form has a word of a name, or consists of its initials.
fn is_form_of(form: &str, name: &str) -> bool {
    let (form, name) = (norm(form), norm(name));
    let of_name = significant_words(&name);
    let initials: String = of_name
        .iter()
        .filter_map(|word| word.chars().next())
        .collect();
    let letters: String = form.chars().filter(|char| char.is_alphanumeric()).collect();
    letters == initials
        || significant_words(&form)
            .iter()
            .any(|word| of_name.contains(word))
}

/// The words of a name in normal form without articles and the like.
fn significant_words(text: &str) -> Vec<&str> {
    const SMALL: [&str; 5] = ["the", "a", "an", "of", "and"];
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty() && !SMALL.contains(word))
        .collect()
}

fn is_defined(terms: &DefinedTerms, form: &str) -> bool {
    let form = norm(form);
    let bare = form.strip_prefix("the ").unwrap_or(&form);
    terms.contains_key(&form) || terms.contains_key(bare)
}

/// A problem if the heading belongs to another section of the original than the number.
fn misnamed(clause: &Clause, original: &Draft) -> Option<String> {
    let heading = norm(
        clause
            .heading
            .as_deref()
            .filter(|_| clause.operation != ClauseOperation::Add)?,
    );
    let named = &original.sections[original.section(&number(&clause.section)?)?];
    let headed = original
        .sections
        .iter()
        .find(|section| section.heading == heading)?;
    if named.heading == heading {
        return None;
    }
    Some(format!(
        "in the original, \"{heading}\" is the heading of section {}, not of section {}",
        dotted(&headed.number),
        clause.section
    ))
}

/// A problem if the original already satisfies the requested change of words.
fn done_already(clause: &Clause, original: &Draft) -> Option<String> {
    let changes = matches!(
        clause.operation,
        ClauseOperation::Replace | ClauseOperation::Edit
    );
    let words = original.section_words(
        original
            .section(&number(&clause.section)?)
            .filter(|_| changes)?,
    );
    let asked = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
    let mut required = clause.must_contain.iter();
    let mut forbidden = clause.must_not_contain.iter();
    let done = required.all(|text| contains_words(&words, text))
        && !forbidden.any(|text| contains_words(&words, text));
    if !asked || !done {
        return None;
    }
    Some(format!(
        "section {} of the original already has the requested words, so {} cannot fail",
        clause.section,
        clause.operation.as_str()
    ))
}
