//! The cross-references in a text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::draft::{Draft, Number, number};
use crate::text::{Folded, pattern};

/// One section number that a line refers to.
pub struct Reference {
    pub number: Number,
    /// Its byte range in the line's text.
    pub at: Range<usize>,
}

/// One number in a list of references, with its sub-items: "4.2(a)", "iv".
const ONE: &str = r"(?:[0-9]+(?:\.[0-9]+)*|[ivxlc]{1,7}\b)(?:\([a-z0-9]{1,4}\))*";
static LIST: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"(?:\s*,\s*|\s*[-&/]\s*|,?\s+(?:and|or|and/or|to|through)\s+)";
    pattern(&format!(
        r"(\b(?:sections?|clauses?|articles?|paragraphs?)\s+|§+\s*)({ONE}(?:{between}{ONE})*)"
    ))
});
static DIGITS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([0-9]+(?:\.[0-9]+)*|\b[ivxlc]{1,7}\b)(?:\([a-z0-9]{1,4}\))*"));
/// A unit after a number, which makes it an amount: "under Section 4, 30 days after".
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:%|(?:business |working |calendar )?(?:days?|weeks?|months?|years?|hours?|per ?cent)\b)",
    )
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

/// The section numbers that a line refers to, without references to other documents.
pub fn references(draft: &Draft, line: usize) -> Vec<Reference> {
    let draft_line = &draft.lines[line];
    let words = Folded::of(&draft_line.text[draft_line.words_from..]);
    let mut references = Vec::new();
    for list in LIST.captures_iter(&words.text) {
        let (Some(word), Some(list)) = (list.get(1), list.get(2)) else {
            continue;
        };
        let tail = &words.text[list.end()..];
        if word.as_str().starts_with("paragraph")
            || ELSEWHERE.is_match(tail)
            || WITHIN.is_match(tail)
        {
            continue;
        }
        for digits in numbers(list.as_str(), tail) {
            let here = list.start() + digits.start..list.start() + digits.end;
            let at = words.original(&here);
            let at = at.start + draft_line.words_from..at.end + draft_line.words_from;
            if let Some(number) = number(&list.as_str()[digits].to_uppercase()) {
                references.push(Reference { number, at });
            }
        }
    }
    references
}

/// The byte ranges of the numbers in a list of references, without a last one that is an amount.
fn numbers(list: &str, tail: &str) -> Vec<Range<usize>> {
    let mut numbers = Vec::new();
    for captures in DIGITS.captures_iter(list) {
        numbers.extend(captures.get(1).map(|digits| digits.range()));
    }
    if numbers.len() > 1 && AMOUNT.is_match(tail) {
        numbers.pop();
    }
    numbers
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
        for digits in numbers(list.as_str(), tail) {
            masked.push_str(&text[from..list.start() + digits.start]);
            masked.push('#');
            from = list.start() + digits.end;
        }
    }
    masked + &text[from..]
}

/// The section numbers that a line refers to.
pub fn numbers_of(draft: &Draft, line: usize) -> impl Iterator<Item = Number> {
    references(draft, line)
        .into_iter()
        .map(|reference| reference.number)
}
