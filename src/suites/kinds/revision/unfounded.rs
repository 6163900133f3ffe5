//! Instructions that refer to something that the original does not contain.

use super::draft::{Draft, dotted, number};
use super::instructions::{AllowedChange, Clause, ClauseOperation, Instructions};
use super::liability::Parties;
use super::terms::terms;
use crate::text::{Keyword, norm};

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
        .flat_map(|one| std::iter::once(&one.from).chain(&one.defined_as));
    for name in names.chain(phrases).filter(|name| !original.names(name)) {
        missing.push(format!(
            "\"{name}\" does not appear in the original, so replacing it cannot fail"
        ));
    }
    missing.extend(common_phrases(asked, original));
    let known = |text: &str| number(text).is_some_and(|number| original.section(&number).is_some());
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
                if let Some(section) = after.filter(|section| !known(section)) {
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
        if let Some(section) = named.filter(|section| !known(section)) {
            let what = match clause.operation {
                ClauseOperation::Add => {
                    format!(
                        "section {} is to follow section {section}, but the original has no such section",
                        clause.section
                    )
                }
                other => {
                    format!(
                        "the original has no section {section}, which the instructions {}",
                        other.as_str()
                    )
                }
            };
            missing.push(what);
        }
        missing.extend(misnamed(clause, original));
        missing.extend(done_already(clause, original));
    }
    let allowed = asked.allowed_changes.iter();
    let sections = allowed.filter_map(|change| match change {
        AllowedChange::Section(section) => Some(section),
        AllowedChange::Text(_) => None,
    });
    for section in sections.filter(|section| !known(section)) {
        missing.push(format!(
            "allowed_changes lists section {section}, but the original has no such section"
        ));
    }
    let adds = asked
        .clauses
        .iter()
        .any(|clause| clause.operation == ClauseOperation::Add);
    if let Some(one) = asked.liability.as_ref().filter(|_| !adds)
        && Parties::of(one).sentences(original).is_empty()
    {
        missing.push(format!(
            "no sentence of the original makes \"{}\" or \"{}\" indemnify anybody, so the direction cannot be checked",
            one.indemnifier, one.indemnitee
        ));
    }
    missing
}

/// The forms of names that may mean anybody: they have no word of the name, are not its initials, and the original does not define them.
fn common_phrases(asked: &Instructions, original: &Draft) -> Vec<String> {
    let forms = asked
        .entities
        .iter()
        .flat_map(|one| one.defined_as.iter().map(|form| (&one.from, form)));
    let mut forms = forms
        .filter(|(name, form)| !is_form_of(form, name))
        .peekable();
    if forms.peek().is_none() {
        return Vec::new();
    }
    let defined = terms(original);
    let is_defined = |form: &str| {
        let form = norm(form);
        let bare = form.strip_prefix("the ").unwrap_or(&form);
        defined.contains_key(&form) || defined.contains_key(bare)
    };
    forms
        .filter(|(_, form)| !is_defined(form))
        .map(|(name, form)| {
            format!("\"{form}\" may mean others than \"{name}\": it has no word of the name, and the original does not define it")
        })
        .collect()
}

/// Whether a form has a word of a name, or consists of its initials.
fn is_form_of(form: &str, name: &str) -> bool {
    const SMALL: [&str; 5] = ["the", "a", "an", "of", "and"];
    let (form, name) = (norm(form), norm(name));
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|one: char| !one.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty() && !SMALL.contains(word));
        words.map(str::to_owned).collect()
    };
    let of_name = words(&name);
    let initials: String = of_name
        .iter()
        .filter_map(|word| word.chars().next())
        .collect();
    let letters: String = form.chars().filter(|one| one.is_alphanumeric()).collect();
    letters == initials || words(&form).iter().any(|word| of_name.contains(word))
}

/// A problem if the heading belongs to another section of the original than the number.
fn misnamed(clause: &Clause, original: &Draft) -> Option<String> {
    let heading = norm(
        clause
            .heading
            .as_deref()
            .filter(|_| clause.operation != ClauseOperation::Add)?,
    );
    let own = &original.sections[original.section(&number(&clause.section)?)?];
    let other = original
        .sections
        .iter()
        .find(|section| section.heading == heading)?;
    (own.heading != heading).then(|| {
        let (section, other) = (&clause.section, dotted(&other.number));
        format!("in the original, \"{heading}\" is the heading of section {other}, not of section {section}")
    })
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
    let has = |text: &String| Keyword::new(text).is_some_and(|text| text.is_in(&words));
    let asked = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
    let done = clause.must_contain.iter().all(has) && !clause.must_not_contain.iter().any(has);
    (asked && done).then(|| {
        let (word, section) = (clause.operation.as_str(), &clause.section);
        format!("section {section} of the original already has the requested words, so {word} cannot fail")
    })
}
