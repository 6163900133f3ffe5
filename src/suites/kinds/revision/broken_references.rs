//! Whether each cross-reference still points to the section that it pointed to in the original.

use super::alignment::{Alignment, Fate};
use super::clauses::Clauses;
use super::draft::dotted;
use super::fault::{FaultKind, RevisionFault};
use super::references::{Reference, references};

/// References to a section that does not exist, or to another section than in the original.
pub fn broken(clauses: &Clauses<'_>, origins: &[Option<usize>]) -> Vec<RevisionFault> {
    let Clauses {
        original,
        revised,
        alignment,
    } = clauses;
    let mut faults = Vec::new();
    for (line, origin) in origins.iter().enumerate().take(revised.lines.len()) {
        let now = references(revised, line);
        if now.is_empty() {
            continue;
        }
        let before = origin
            .map(|origin| references(original, origin))
            .unwrap_or_default();
        let kept = origin.is_some_and(|origin| matches!(alignment.fates[origin], Fate::Kept(_)));
        for (index, reference) in now.iter().enumerate() {
            let was = before.get(index).filter(|_| before.len() == now.len());
            let wrong = match was.and_then(|was| Some((was, original.section(&was.number)?))) {
                Some((was, section)) => moved(clauses, was, section, reference, kept),
                // A reference that was broken in the original is not a fault of the revision.
                None if was.is_some_and(|was| {
                    was.number == reference.number && !original.has(&was.number)
                }) =>
                {
                    None
                }
                None => (!revised.has(&reference.number))
                    .then(|| "that section does not exist".to_owned()),
            };
            if let Some(why) = wrong {
                let what = format!(
                    "section {}: {why}: {}",
                    dotted(&reference.number),
                    revised.quote(line, &reference.at)
                );
                faults.push(RevisionFault::new(FaultKind::BrokenReference, what));
            }
        }
    }
    faults
}

/// What is wrong with a reference whose section existed in the original; `None` if it is correct.
fn moved(
    clauses: &Clauses<'_>,
    was: &Reference,
    section: usize,
    now: &Reference,
    kept: bool,
) -> Option<String> {
    let Clauses {
        original, revised, ..
    } = clauses;
    match clauses.became(section) {
        Some(became) => {
            let there = &revised.sections[became].number;
            if *there == now.number {
                let emptied = revised.is_placeholder(became) && !original.is_placeholder(section);
                return emptied.then(|| "that section was deleted".to_owned());
            }
            let stale = kept || was.number == now.number;
            match revised.has(&now.number) {
                false => Some("that section does not exist".to_owned()),
                true if stale => Some(format!(
                    "the former section {} is now section {}",
                    dotted(&was.number),
                    dotted(there)
                )),
                // Number and words both changed, so the reference may mean another section on purpose.
                true => None,
            }
        }
        None if was.number == now.number => Some("that section was removed".to_owned()),
        None => (!revised.has(&now.number)).then(|| "that section does not exist".to_owned()),
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
