//! Cross-references: whether each one still points to the section that it pointed to in the original.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::alignment::{Alignment, Fate};
use super::clauses::Clauses;
use super::draft::{Draft, Number, dotted, number};
use super::fault::{FaultKind, RevisionFault};
use crate::text::{Folded, pattern};

/// One section number that a line refers to.
struct Reference {
    number: Number,
    /// Its byte range in the line's text.
    at: Range<usize>,
}

/// One number in a list of references, with its sub-items: "4.2(a)", "iv".
const ONE: &str = r"(?:[0-9]+(?:\.[0-9]+)*|[ivxlc]{1,7}\b)(?:\([a-z0-9]{1,4}\))*";
static LIST: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"(?:\s*,\s*|\s*[-&/]\s*|,?\s+(?:and|or|and/or|to|through)\s+)";
    pattern(&format!(r"(\b(?:sections?|clauses?|articles?|paragraphs?)\s+|§+\s*)({ONE}(?:{between}{ONE})*)"))
});
static DIGITS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([0-9]+(?:\.[0-9]+)*|\b[ivxlc]{1,7}\b)(?:\([a-z0-9]{1,4}\))*"));
/// A unit after a number, which makes it an amount: "under Section 4, 30 days after".
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:%|(?:business |working |calendar )?(?:days?|weeks?|months?|years?|hours?|per ?cent)\b)")
});
/// Text after a number that refers to another document: "of the Companies Act", "GDPR".
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\([a-z0-9]+\))*,?\s+(?:(?:of|in|under)\s+(?:the\s+)?(?:[^.;,]{0,60}\b)?(?:act|code|law|regulation|directive|convention|statute|rules|treaty|constitution|order)\b|gdpr\b|act\b)",
    )
});
static WITHIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\([a-z0-9]+\))*,?\s+(?:of|in|to)\s+(?:the\s+)?(?:schedule|annex|annexe|appendix|exhibit|attachment)\b",
    )
});

fn references(draft: &Draft, line: usize) -> Vec<Reference> {
    let one = &draft.lines[line];
    let own = Folded::of(&one.text[one.words_from..]);
    let mut found = Vec::new();
    for list in LIST.captures_iter(&own.text) {
        let (Some(word), Some(list)) = (list.get(1), list.get(2)) else { continue };
        let tail = &own.text[list.end()..];
        if word.as_str().starts_with("paragraph") || ELSEWHERE.is_match(tail) || WITHIN.is_match(tail) {
            continue;
        }
        for digits in numbers(list.as_str(), tail) {
            let here = list.start() + digits.start..list.start() + digits.end;
            let at = own.original(&here);
            let at = at.start + one.words_from..at.end + one.words_from;
            found.extend(number(&list.as_str()[digits].to_uppercase()).map(|number| Reference { number, at }));
        }
    }
    found
}

/// The byte ranges of the numbers in a list of references, without a last one that is an amount.
fn numbers(list: &str, tail: &str) -> Vec<Range<usize>> {
    let found = DIGITS.captures_iter(list).filter_map(|one| one.get(1));
    let mut found: Vec<Range<usize>> = found.map(|one| one.range()).collect();
    if found.len() > 1 && AMOUNT.is_match(tail) {
        found.pop();
    }
    found
}

/// The folded text with `#` for each section number that it refers to. References to other documents stay unchanged.
pub fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for list in LIST.captures_iter(text).filter_map(|list| list.get(2)) {
        let tail = &text[list.end()..];
        if ELSEWHERE.is_match(tail) {
            continue;
        }
        for one in numbers(list.as_str(), tail) {
            masked.push_str(&text[from..list.start() + one.start]);
            masked.push('#');
            from = list.start() + one.end;
        }
    }
    masked + &text[from..]
}

/// The section numbers that a line refers to.
pub fn numbers_of(draft: &Draft, line: usize) -> impl Iterator<Item = Number> {
    references(draft, line).into_iter().map(|reference| reference.number)
}

/// References to a section that does not exist, or to another section than in the original.
pub fn broken(clauses: &Clauses<'_>, origins: &[Option<usize>]) -> Vec<RevisionFault> {
    let Clauses { original, revised, alignment } = clauses;
    let mut faults = Vec::new();
    for (line, origin) in origins.iter().enumerate().take(revised.lines.len()) {
        let now = references(revised, line);
        if now.is_empty() {
            continue;
        }
        let before = origin.map(|origin| references(original, origin)).unwrap_or_default();
        let kept = origin.is_some_and(|origin| matches!(alignment.fates[origin], Fate::Kept(_)));
        for (index, reference) in now.iter().enumerate() {
            let was = before.get(index).filter(|_| before.len() == now.len());
            let wrong = match was.and_then(|was| Some((was, original.section(&was.number)?))) {
                Some((was, section)) => moved(clauses, was, section, reference, kept),
                // A reference that was broken in the original is not a fault of the revision.
                None if was.is_some_and(|was| was.number == reference.number && !original.has(&was.number)) => None,
                None => (!revised.has(&reference.number)).then(|| "that section does not exist".to_owned()),
            };
            if let Some(why) = wrong {
                let what =
                    format!("section {}: {why}: {}", dotted(&reference.number), revised.quote(line, &reference.at));
                faults.push(RevisionFault::new(FaultKind::BrokenReference, what));
            }
        }
    }
    faults
}

/// What is wrong with a reference whose section existed in the original; `None` if it is correct.
fn moved(clauses: &Clauses<'_>, was: &Reference, section: usize, now: &Reference, kept: bool) -> Option<String> {
    let Clauses { original, revised, .. } = clauses;
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
                true if stale => {
                    Some(format!("the former section {} is now section {}", dotted(&was.number), dotted(there)))
                }
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
