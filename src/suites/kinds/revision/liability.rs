//! Indemnities: which party gives each one, and to which party.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::draft::Draft;
use super::instructions::Liability;
use crate::text::{Hit, NameSet, pattern};

/// The two parties of the requested indemnity.
pub struct Parties<'a> {
    asked: &'a Liability,
    names: NameSet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndemnityDirection {
    Asked,
    /// Another direction, or an unclear one; the text says which.
    Wrong(String),
}

/// One indemnity sentence.
pub struct Sentence {
    pub line: usize,
    /// Its byte range in the line's text.
    pub at: Range<usize>,
    pub direction: IndemnityDirection,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct IndemnityCount {
    /// Those that a party gives.
    pub given: usize,
    /// Those that are negated.
    pub denied: usize,
}

static VERB: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bindemnif(?:y|ies|ied)\b|\b(?:h(?:olds?|eld)|keeps?|kept|saves?|saved) (?:\S+ ){0,12}?harmless\b|\b(?:gives?|grants?|provides?) (?:\S+ ){0,8}?indemnity\b",
    )
});
/// "The indemnified party": mentions an indemnity without giving one.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bindemnified (?:part|person|claim|loss|liabilit|matter|entit|amount)|\b(?:seeks?|seeking|wish(?:es)?|asks?|claims?|requests?|requested) to be (?:indemnified|held harmless)",
    )
});
static PASSIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:be|is|are|been|being|kept|keep|keeps)\s+(?:(?:fully|duly|defended|and|,)\s+)*(?:indemnified|(?:held|kept|saved) harmless)\b",
    )
});
/// Only words that belong to the negation may separate "not" from its verb: "shall not be liable and shall indemnify" is not negated.
static NEVER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:not|never|no|nor)\b(?:\s+(?:be|is|are|have|has|in|under|any|event|circumstances?|required|obliged|obligated|obligation|liable|bound|duty|need|to|the|defend|or|and|hold|harmless|shall),?){0,9}?\s+(?:indemnif(?:y|ies)|be indemnified|(?:hold|keep|save)\b.{0,60}harmless)",
    )
});
static ACTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(?:\s*\([^()]{{0,80}}\)|\s*,[^,]{{0,80}},|\s+and its \w+)*\s*{WILL}"
    ))
});
static MUTUAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b(?:each|either|both)(?: of)?(?: the)? part(?:y|ies)\s*{WILL}|\bpart(?:y|ies) (?:shall|will|must|agree).{{0,80}}\b(?:one another|each other)\b"
    ))
});
/// The words after the party that has an obligation.
pub const WILL: &str = r"(?:shall|will|must|agrees?|undertakes?|covenants?|hereby|indemnif(?:y|ies)|holds?|keeps?|saves?|fully|promises?|is (?:to|obliged|required|liable|bound)|has to)\b";

pub fn mentions_indemnity(folded: &str) -> bool {
    // A quick test first: most lines contain neither word.
    (folded.contains("indemni") || folded.contains("harmless")) && VERB.is_match(folded)
}

impl<'a> Parties<'a> {
    /// The parties with the names in the instructions.
    pub fn of(asked: &'a Liability) -> Self {
        Self {
            asked,
            names: NameSet::new([asked.indemnifier.as_str(), asked.indemnitee.as_str()]),
        }
    }

    /// Every sentence in which one of the parties gives an indemnity.
    pub fn sentences(&self, draft: &Draft) -> Vec<Sentence> {
        let mut directed = Vec::new();
        for (line, draft_line) in draft.lines.iter().enumerate() {
            let folded = &draft_line.folded;
            if !mentions_indemnity(&folded.text) {
                continue;
            }
            for sentence in sentences(&folded.text) {
                for part in self.statements(&folded.text, sentence) {
                    if let Some(direction) = self.direction(&folded.text[part.clone()]) {
                        directed.push(Sentence {
                            line,
                            at: folded.original(&part),
                            direction,
                        });
                    }
                }
            }
        }
        directed
    }

    /// How many indemnities each line gives and denies.
    pub fn counted(&self, draft: &Draft) -> BTreeMap<usize, IndemnityCount> {
        let mut counts: BTreeMap<usize, IndemnityCount> = BTreeMap::new();
        for sentence in self.sentences(draft) {
            counts.entry(sentence.line).or_default().given += 1;
        }
        for (line, draft_line) in draft.lines.iter().enumerate() {
            let text = &draft_line.folded.text;
            if !mentions_indemnity(text) {
                continue;
            }
            let count = counts.entry(line).or_default();
            for sentence in sentences(text) {
                for part in self.statements(text, sentence) {
                    count.denied += usize::from(NEVER.is_match(&text[part]));
                }
            }
        }
        counts
    }

    /// Splits a sentence into parts with one indemnity each: "the Supplier shall …, and the Customer shall …".
    fn statements(&self, text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
        let words = &text[sentence.clone()];
        let acting = self
            .names
            .find_in(words)
            .into_iter()
            .filter(|hit| ACTS.is_match(&words[hit.at.end..]));
        let mut parts = Vec::new();
        let mut from = 0;
        for start in acting.map(|hit| hit.at.start) {
            if mentions_indemnity(&words[from..start]) && mentions_indemnity(&words[start..]) {
                parts.push(sentence.start + from..sentence.start + start);
                from = start;
            }
        }
        parts.push(sentence.start + from..sentence.end);
        parts
    }

    /// The direction of one sentence; `None` if it does not give an indemnity.
    fn direction(&self, sentence: &str) -> Option<IndemnityDirection> {
        // Skip verbs that only mention an indemnity; some sentences consist of nothing else.
        let verb = VERB.find_iter(sentence).find(|verb| {
            !ABOUT
                .find_iter(sentence)
                .any(|about| about.range().contains(&(verb.end() - 1)))
        })?;
        if NEVER.is_match(sentence) {
            return None;
        }
        let hits = self.names.find_in(sentence);
        // "If the Customer is sued, the Supplier shall …": the party before "shall" gives the indemnity.
        let acting = hits
            .iter()
            .rfind(|hit| hit.at.end <= verb.start() && ACTS.is_match(&sentence[hit.at.end..]))
            .map(|hit| hit.name);
        if acting.is_none() && MUTUAL.is_match(sentence) {
            return Some(IndemnityDirection::Wrong(
                "each party indemnifies the other".to_owned(),
            ));
        }
        let (giver, taker) = match PASSIVE
            .find(sentence)
            .filter(|passive| (0..verb.end()).contains(&passive.start()))
        {
            // "The Customer shall be indemnified by the Supplier"
            Some(passive) => {
                let by = sentence[passive.end()..]
                    .find(" by ")
                    .map(|at| passive.end() + at);
                (
                    by.and_then(|at| parties_after(&hits, at).next()),
                    parties_before(&hits, passive.start()).next_back(),
                )
            }
            None => {
                let giver = acting.or_else(|| parties_before(&hits, verb.start()).next());
                (
                    giver,
                    parties_after(&hits, verb.start()).find(|taker| Some(*taker) != giver),
                )
            }
        };
        match (giver, taker) {
            (None, None) => None,
            (Some(0), Some(1) | None) | (None, Some(1)) => Some(IndemnityDirection::Asked),
            (Some(giver), Some(taker)) if giver == taker => {
                Some(IndemnityDirection::Wrong(format!(
                    "it is unclear which party {} indemnifies",
                    self.party(giver)
                )))
            }
            (Some(giver), Some(taker)) => Some(IndemnityDirection::Wrong(format!(
                "{} indemnifies {}",
                self.party(giver),
                self.party(taker)
            ))),
            (Some(giver), None) => Some(IndemnityDirection::Wrong(format!(
                "{} indemnifies",
                self.party(giver)
            ))),
            (None, Some(taker)) => Some(IndemnityDirection::Wrong(format!(
                "{} is indemnified",
                self.party(taker)
            ))),
        }
    }

    fn party(&self, index: usize) -> &str {
        if index == 0 {
            &self.asked.indemnifier
        } else {
            &self.asked.indemnitee
        }
    }
}

/// Abbreviations whose full stop does not end a sentence.
const SHORT: &[&str] = &[
    "ltd", "inc", "co", "corp", "no", "nos", "art", "sec", "cl", "e.g", "i.e", "mr", "ms", "dr",
    "llc", "plc",
];

/// The byte ranges of the sentences of a folded text.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(['.', ';']) {
        // The end of the text is handled below.
        let ends = text[at + 1..].starts_with(' ');
        let word = text[from..at].rsplit([' ', '(']).next().unwrap_or_default();
        if !ends || (text[at..].starts_with('.') && SHORT.contains(&word)) {
            continue;
        }
        ranges.push(from..at + 1);
        from = at + 2;
    }
    if !text[from..].trim().is_empty() {
        ranges.push(from..text.len());
    }
    ranges
}

fn parties_before(hits: &[Hit], at: usize) -> impl DoubleEndedIterator<Item = usize> {
    hits.iter()
        .filter(move |hit| hit.at.end <= at)
        .map(|hit| hit.name)
}

fn parties_after(hits: &[Hit], at: usize) -> impl Iterator<Item = usize> {
    hits.iter()
        .filter(move |hit| hit.at.start >= at)
        .map(|hit| hit.name)
}

#[cfg(test)]
mod tests {
    use super::{IndemnityDirection, Parties, sentences};
    use crate::suites::kinds::revision::instructions::Liability;
    use crate::text::norm;

    #[test]
    fn a_sentence_says_who_indemnifies_whom() {
        let asked = Liability {
            indemnifier: "Supplier".to_owned(),
            indemnitee: "Customer".to_owned(),
        };
        let parties = Parties::of(&asked);
        let right = [
            "The Supplier shall indemnify the Customer against all losses.",
            "Supplier agrees to defend, indemnify and hold harmless Customer and its officers.",
            "The Customer shall be indemnified and held harmless by the Supplier.",
            "The Supplier shall hold the Customer harmless from claims.",
            "If the Customer is sued, the Supplier shall indemnify the Customer.",
            "The Supplier will keep the Customer indemnified.",
        ];
        for text in right {
            assert_eq!(
                parties.direction(&norm(text)),
                Some(IndemnityDirection::Asked),
                "{text}"
            );
        }
        for text in [
            "The Customer shall indemnify the Supplier against all losses.",
            "The Supplier shall be indemnified by the Customer.",
            "Each party shall indemnify the other, the Supplier first.",
            "The Customer indemnifies.",
        ] {
            assert!(
                matches!(
                    parties.direction(&norm(text)),
                    Some(IndemnityDirection::Wrong(_))
                ),
                "{text}"
            );
        }
        for text in [
            "The indemnified party gives notice.",
            "The Supplier shall not be required to indemnify the Customer.",
            "The Supplier pays the Customer.",
        ] {
            assert_eq!(parties.direction(&norm(text)), None, "{text}");
        }
    }

    #[test]
    fn sentences_end_at_full_stops() {
        let text = "acme ltd. shall pay. it may sue; that is all";
        let parts: Vec<&str> = sentences(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(
            parts,
            ["acme ltd. shall pay.", "it may sue;", "that is all"]
        );
        assert_eq!(sentences("section 4.2 applies.").first(), Some(&(0..20)));
    }
}
