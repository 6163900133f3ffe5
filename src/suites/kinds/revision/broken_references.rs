//! Whether each cross-reference still points to the section that it pointed to in the original.

use std::collections::BTreeMap;

use super::alignment::{Alignment, Fate};
use super::clauses::Clauses;
use super::draft::{Draft, Number, dotted};
use super::fault::{FaultKind, RevisionFault};
use super::references::{Reference, numbers_of, references};

/// References to a section that does not exist, or to another section than in the original.
pub fn broken(clauses: &Clauses<'_>, origins: &[Option<usize>]) -> Vec<RevisionFault> {
    let Clauses {
        original,
        revised,
        alignment,
    } = clauses;
    let mut faults = Vec::new();
    let mut surplus = None;
    for (line, origin) in origins.iter().enumerate().take(revised.lines.len()) {
        let new_references = references(revised, line);
        if new_references.is_empty() {
            continue;
        }
        let old_references = origin
            .map(|origin| references(original, origin))
            .unwrap_or_default();
        let kept = origin.is_some_and(|origin| matches!(alignment.fates[origin], Fate::Kept(_)));
        for (index, reference) in new_references.iter().enumerate() {
            let was = old_references
                .get(index)
                .filter(|_| old_references.len() == new_references.len());
            let wrong = match was.and_then(|was| Some((was, original.section(&was.number)?))) {
                Some((was, section)) => moved(clauses, was, section, reference, kept),
                None if revised.has(&reference.number) => None,
                // A reference that was broken in the original is not a fault of the revision, wherever it is now.
                None if !original.has(&reference.number) => {
                    let is_same = was.is_some_and(|was| was.number == reference.number);
                    let surplus = surplus.get_or_insert_with(|| more_than_before(clauses));
                    match surplus.get_mut(&reference.number) {
                        Some(more) if *more > 0 && !is_same => {
                            *more -= 1;
                            Some(missing())
                        }
                        Some(_) | None => None,
                    }
                }
                None => Some(missing()),
            };
            if let Some(why) = wrong {
                let message = format!(
                    "section {}: {why}: {}",
                    dotted(&reference.number),
                    revised.quote(line, &reference.at)
                );
                faults.push(RevisionFault::new(FaultKind::BrokenReference, message));
            }
        }
    }
    faults
}

fn missing() -> String {
    "that section does not exist".to_owned()
}

/// How many more references to each number the revised document has than the original.
fn more_than_before(clauses: &Clauses<'_>) -> BTreeMap<Number, usize> {
    let old_counts = count_references(clauses.original);
    let mut more = count_references(clauses.revised);
    for (number, count) in &mut more {
        *count = count.saturating_sub(old_counts.get(number).copied().unwrap_or(0));
    }
    more
}

/// What is wrong with a reference whose section existed in the original; `None` if it is correct.
fn moved(
    clauses: &Clauses<'_>,
    was: &Reference,
    section: usize,
    reference: &Reference,
    kept: bool,
) -> Option<String> {
    let Clauses {
        original, revised, ..
    } = clauses;
    match clauses.became(section) {
        Some(became) => {
            let there = &revised.sections[became].number;
            if *there == reference.number {
                let emptied = revised.is_placeholder(became) && !original.is_placeholder(section);
                return emptied.then(|| "that section was deleted".to_owned());
            }
            let stale = kept || was.number == reference.number;
            if !revised.has(&reference.number) {
                return Some(missing());
            }
            // If number and words both changed, the reference may mean another section on purpose.
            stale.then(|| {
                format!(
                    "the former section {} is now section {}",
                    dotted(&was.number),
                    dotted(there)
                )
            })
        }
        None if was.number == reference.number => Some("that section was removed".to_owned()),
        None => (!revised.has(&reference.number)).then(missing),
    }
}

/// For each line of the revised document, the index of the original line that it came from.
pub fn origins(alignment: &Alignment, revised: usize) -> Vec<Option<usize>> {
    let mut origins = vec![None; revised];
    for (line, fate) in alignment.fates.iter().enumerate() {
        if let Fate::Kept(to) | Fate::Changed(to) = fate {
            origins[*to] = Some(line);
        }
    }
    origins
}

fn count_references(draft: &Draft) -> BTreeMap<Number, usize> {
    let mut counts: BTreeMap<Number, usize> = BTreeMap::new();
    for line in 0..draft.lines.len() {
        for number in numbers_of(draft, line) {
            *counts.entry(number).or_default() += 1;
        }
    }
    counts
}
