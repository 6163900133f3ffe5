//! Who indemnifies whom: the direction of every sentence that says so.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::draft::Draft;
use super::draft::pattern;
use super::instructions::Liability;
use crate::text::Folded;
use crate::text::Hit;
use crate::text::Names;

/// The two parties of an instruction.
pub struct Parties<'a> {
    asked: &'a Liability,
    names: Names,
}

/// What an indemnity sentence says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direction {
    /// What was asked for.
    Asked,
    /// Something else, or what cannot be told; the text says what.
    Wrong(String),
}

/// A sentence about an indemnity.
pub struct Sentence {
    /// Its line.
    pub line: usize,
    /// Its bytes of the line's text.
    pub at: Range<usize>,
    /// What it says.
    pub direction: Direction,
}

static VERB: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:indemnif(?:y|ies|ied)|h(?:olds?|eld) (?:\S+ ){0,12}?harmless)\b"));
static PASSIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:be|is|are|been|being|kept|keep|keeps)\s+(?:(?:fully|duly|defended|and|,)\s+)*(?:indemnified|held harmless)\b",
    )
});
static NEVER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:not|never|no)\b(?:\s+\S+){0,6}?\s+(?:indemnif(?:y|ies|ied)|h(?:old|olds|eld)\b.{0,60}harmless)")
});
static ACTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:,[^,]{0,80},)?\s*(?:shall|will|must|agrees?|undertakes?|covenants?|hereby|indemnif(?:y|ies)|holds?|keeps?|fully|promises?)",
    )
});
static MUTUAL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:each|either|both)\b.{0,30}\bpart(?:y|ies)\b|\bone another\b|\beach other\b"));

/// Whether a folded text says that somebody indemnifies somebody.
pub fn speaks_of_indemnity(folded: &str) -> bool {
    VERB.is_match(folded)
}

impl<'a> Parties<'a> {
    /// The parties by the names of the instruction.
    pub fn of(asked: &'a Liability) -> Self {
        Self { asked, names: Names::new([asked.indemnifier.as_str(), asked.indemnitee.as_str()]) }
    }

    /// A folded text with one sign in the place of either party.
    pub fn masked(&self, folded: &str) -> String {
        let own = Folded::of(folded);
        let mut masked = String::with_capacity(own.text.len());
        let mut from = 0;
        for hit in self.names.find(&own) {
            masked.push_str(&own.text[from..hit.at.start]);
            masked.push('\u{2}');
            from = hit.at.end;
        }
        masked + &own.text[from..]
    }

    /// Every sentence that says that one of the parties indemnifies somebody.
    pub fn sentences(&self, draft: &Draft) -> Vec<Sentence> {
        let mut found = Vec::new();
        for (line, one) in draft.lines.iter().enumerate().filter(|(_, one)| speaks_of_indemnity(&one.folded.text)) {
            for sentence in sentences(&one.folded.text) {
                let text = &one.folded.text[sentence.clone()];
                if let Some(direction) = self.direction(text) {
                    found.push(Sentence { line, at: one.folded.original(&sentence), direction });
                }
            }
        }
        found
    }

    /// The direction of one sentence; `None` of one that makes nobody indemnify anybody.
    fn direction(&self, sentence: &str) -> Option<Direction> {
        let verb = VERB.find(sentence)?;
        if NEVER.is_match(sentence) {
            return None;
        }
        let own = Folded::of(sentence);
        let hits = self.names.find(&own);
        let word = |party: usize| if party == 0 { &self.asked.indemnifier } else { &self.asked.indemnitee };
        if MUTUAL.is_match(&sentence[..verb.start()]) {
            return Some(Direction::Wrong("each party indemnifies the other".to_owned()));
        }
        let before = |at: usize| hits.iter().filter(move |hit| hit.at.start < at).map(|hit| hit.name);
        let after = |at: usize| hits.iter().filter(move |hit| hit.at.start >= at).map(|hit| hit.name);
        let (giver, taker) = match PASSIVE.find(sentence) {
            // "The Customer shall be indemnified by the Supplier"
            Some(passive) => {
                let by = sentence[passive.end()..].find(" by ").map(|at| passive.end() + at);
                (by.and_then(|at| after(at).next()), before(passive.start()).next_back())
            }
            None => {
                // "If the Customer is sued, the Supplier shall …": the one who shall is the one.
                let acts = |hit: &&Hit| hit.at.start < verb.start() && ACTS.is_match(&sentence[hit.at.end..]);
                let acting = hits.iter().rfind(acts).map(|hit| hit.name);
                let giver = acting.or_else(|| before(verb.start()).next());
                (giver, after(verb.start()).find(|taker| Some(*taker) != giver))
            }
        };
        match (giver, taker) {
            (None, None) => None,
            (Some(0), Some(1) | None) | (None, Some(1)) => Some(Direction::Asked),
            (Some(giver), Some(taker)) if giver == taker => {
                Some(Direction::Wrong(format!("it cannot be told whom {} indemnifies", word(giver))))
            }
            (Some(giver), Some(taker)) => {
                Some(Direction::Wrong(format!("{} indemnifies {}", word(giver), word(taker))))
            }
            (Some(giver), None) => Some(Direction::Wrong(format!("{} indemnifies", word(giver)))),
            (None, Some(taker)) => Some(Direction::Wrong(format!("{} is indemnified", word(taker)))),
        }
    }
}

/// Abbreviations after which a full stop ends no sentence.
const SHORT: &[&str] =
    &["ltd", "inc", "co", "corp", "no", "nos", "art", "sec", "cl", "e.g", "i.e", "mr", "ms", "dr", "llc", "plc"];

/// The sentences of a folded text.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(['.', ';']) {
        let ends = text[at + 1..].starts_with(' ') || at + 1 == text.len();
        let word = text[from..at].rsplit([' ', '(']).next().unwrap_or_default();
        if !ends || (text[at..].starts_with('.') && SHORT.contains(&word)) {
            continue;
        }
        found.push(from..at + 1);
        from = (at + 2).min(text.len());
    }
    if !text[from..].trim().is_empty() {
        found.push(from..text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Direction;
    use super::Parties;
    use super::sentences;
    use crate::suites::revision::instructions::Liability;
    use crate::text::norm;

    #[test]
    fn a_sentence_says_who_indemnifies_whom() {
        let asked = Liability { indemnifier: "Supplier".to_owned(), indemnitee: "Customer".to_owned() };
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
            assert_eq!(parties.direction(&norm(text)), Some(Direction::Asked), "{text}");
        }
        for text in [
            "The Customer shall indemnify the Supplier against all losses.",
            "The Supplier shall be indemnified by the Customer.",
            "Each party shall indemnify the other, the Supplier first.",
            "The Customer indemnifies.",
        ] {
            assert!(matches!(parties.direction(&norm(text)), Some(Direction::Wrong(_))), "{text}");
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
        assert_eq!(parts, ["acme ltd. shall pay.", "it may sue;", "that is all"]);
    }
}
