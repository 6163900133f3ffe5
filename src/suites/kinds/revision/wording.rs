//! What may change in a paragraph with an indemnity: its direction, and no other word.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::instructions::{Entity, Liability};
use super::liability::{WILL, mentions_indemnity, sentences};
use crate::text::{Folded, NameSet, pattern};

/// The placeholder of both parties within an indemnity.
const EITHER: &str = "\u{2}";
/// The placeholders of the indemnifier and of the indemnitee in every other sentence, where they may not be swapped.
const ONE: [&str; 2] = ["\u{2}0\u{2}", "\u{2}1\u{2}"];

/// Masks the two parties of the requested indemnity in a line.
pub struct PartyMask {
    names: NameSet,
    /// The placeholders of the replaced names that name a party.
    signs: Vec<String>,
}

impl PartyMask {
    /// The mask for these parties; `sign` gives the placeholder of a replaced name by its index.
    pub fn new(asked: &Liability, entities: &[Entity], sign: impl Fn(usize) -> String) -> Self {
        let parties = [asked.indemnifier.as_str(), asked.indemnitee.as_str()];
        let folded = parties.map(|party| Folded::of(party).text);
        let mut signs = Vec::new();
        for (index, entity) in entities.iter().enumerate() {
            let mut names = entity.names();
            if names.any(|name| folded.contains(&Folded::of(name).text)) {
                signs.push(sign(index));
            }
        }
        Self {
            names: NameSet::new(parties),
            signs,
        }
    }

    /// The folded text with one placeholder for both parties in each sentence about an indemnity, and one for each elsewhere.
    pub fn masked(&self, folded: &str) -> String {
        let folded_text = Folded::of(folded);
        let mut each = String::with_capacity(folded_text.text.len());
        let mut from = 0;
        for hit in self.names.find(&folded_text) {
            each.push_str(&folded_text.text[from..hit.at.start]);
            each.push_str(ONE[hit.name]);
            from = hit.at.end;
        }
        each.push_str(&folded_text.text[from..]);
        let mut masked = String::with_capacity(each.len());
        let mut from = 0;
        for at in sentences(&each) {
            masked.push_str(&each[from..at.start]);
            let sentence = &each[at.clone()];
            if mentions_indemnity(sentence) {
                masked.push_str(&self.masked_sentence(sentence));
            } else {
                masked.push_str(sentence);
            }
            from = at.end;
        }
        masked + &each[from..]
    }

    fn masked_sentence(&self, sentence: &str) -> String {
        let signs = ONE.into_iter().chain(self.signs.iter().map(String::as_str));
        signs.fold(sentence.to_owned(), |text, sign| text.replace(sign, EITHER))
    }
}

/// Whether two masked texts differ only in the direction of their indemnities.
pub fn only_direction_differs(was: &str, is: &str) -> bool {
    ParagraphWords::of(was) == ParagraphWords::of(is)
}

/// The words of a paragraph that must stay when its indemnity is turned.
#[derive(PartialEq, Eq)]
struct ParagraphWords<'a> {
    /// A contract in which both parties indemnify each other has two equal ones, and only one after the revision.
    indemnities: BTreeSet<IndemnityWords>,
    /// Every other sentence, in order.
    others: Vec<&'a str>,
}

/// The words of one indemnity in order, and how often it names a party.
type IndemnityWords = (Vec<String>, usize);

impl<'a> ParagraphWords<'a> {
    fn of(masked: &'a str) -> Self {
        let all = sentences(masked).into_iter().map(|at| &masked[at]);
        let (about, others): (Vec<&str>, Vec<&str>) =
            all.partition(|sentence| mentions_indemnity(sentence));
        Self {
            indemnities: about.into_iter().flat_map(indemnities).collect(),
            others,
        }
    }
}

/// Both parties at once, and each of them as seen from the other.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:each|either|both)(?: of)?(?: the)? part(?:y|ies)\b|\bthe parties\b|\bone another\b|\beach other\b|\bthe other(?: party)?\b",
    )
});
/// The words that make an active sentence passive.
static BE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:be|is|are|been|being)\s+((?:(?:fully|duly|defended|and|,)\s+)*(?:indemnified|held|kept|saved)\b)",
    )
});
static PARTY: LazyLock<Regex> = LazyLock::new(|| pattern("(?:\\bby )?(?:\\bthe )?\u{2}"));
static ACTING: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"{EITHER}\s*{WILL}")));

/// The words of each indemnity of a masked sentence, in one form for active and passive.
fn indemnities(sentence: &str) -> Vec<IndemnityWords> {
    let joint = JOINT.replace_all(sentence, EITHER);
    let active = BE.replace_all(&joint, "$1");
    let masked = PARTY.replace_all(&active, EITHER);
    let mut indemnities = Vec::new();
    let mut from = 0;
    for acting in ACTING.find_iter(&masked) {
        let (head, tail) = (&masked[from..acting.start()], &masked[acting.start()..]);
        if mentions_indemnity(head) && mentions_indemnity(tail) {
            indemnities.push(words(head));
            from = acting.start();
        }
    }
    indemnities.push(words(&masked[from..]));
    indemnities
}

fn words(text: &str) -> IndemnityWords {
    let parties = text.matches(EITHER).count();
    let bare = text.replace(EITHER, " ");
    let words = bare
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', ';', ':', '(', ')', '"']));
    let mut words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(|word| base_form(word).to_owned())
        .collect();
    // What joined this indemnity to the next one of the sentence.
    words.pop_if(|word| word == "and");
    (words, parties)
}

/// The form of a verb that does not depend on the party before it.
fn base_form(word: &str) -> &str {
    match word {
        "indemnifies" | "indemnified" => "indemnify",
        "defends" | "defended" => "defend",
        "holds" | "held" => "hold",
        "keeps" | "kept" => "keep",
        "saves" | "saved" => "save",
        "is" => "are",
        "has" => "have",
        "agrees" => "agree",
        "undertakes" => "undertake",
        "covenants" => "covenant",
        "promises" => "promise",
        "gives" => "give",
        "grants" => "grant",
        "provides" => "provide",
        base => base,
    }
}

#[cfg(test)]
mod tests {
    use super::{Liability, PartyMask, only_direction_differs};
    use crate::text::norm;

    fn turned(was: &str, is: &str) -> bool {
        let asked = Liability {
            indemnifier: "Supplier".to_owned(),
            indemnitee: "Customer".to_owned(),
        };
        let mask = PartyMask::new(&asked, &[], |_| String::new());
        only_direction_differs(&mask.masked(&norm(was)), &mask.masked(&norm(is)))
    }

    #[test]
    fn a_turned_indemnity_keeps_its_words() {
        let was = "The Customer shall indemnify and hold harmless the Supplier against losses up to EUR 10,000. The Supplier pays taxes.";
        for (is, same) in [
            (
                "The Supplier shall indemnify and hold harmless the Customer against losses up to EUR 10,000. The Supplier pays taxes.",
                true,
            ),
            (
                "The Customer shall be indemnified and held harmless by the Supplier against losses up to EUR 10,000. The Supplier pays taxes.",
                true,
            ),
            (
                "The Customer shall be indemnified and held harmless against losses up to EUR 10,000 by the Supplier. The Supplier pays taxes.",
                true,
            ),
            (
                "Supplier shall indemnify and hold the Customer harmless against losses up to EUR 10,000. The Supplier pays taxes.",
                true,
            ),
            (
                "The Supplier shall indemnify and hold harmless the Customer against losses up to EUR 10,000. The Customer pays taxes.",
                false,
            ),
            (
                "The Supplier shall not indemnify and hold harmless the Customer against losses up to EUR 10,000. The Supplier pays taxes.",
                false,
            ),
            (
                "The Supplier may indemnify and hold harmless the Customer against losses up to EUR 10,000. The Supplier pays taxes.",
                false,
            ),
            (
                "The Supplier shall indemnify and hold harmless the Customer against losses up to EUR 99,000. The Supplier pays taxes.",
                false,
            ),
            (
                "The Supplier shall indemnify the Customer against losses up to EUR 10,000. The Supplier pays taxes.",
                false,
            ),
            (
                "The Supplier shall indemnify and hold harmless the Customer against nothing up to EUR 10,000. The Supplier pays taxes.",
                false,
            ),
            (
                "The Customer shall be indemnified and held harmless against losses up to EUR 10,000. The Supplier pays taxes.",
                false,
            ),
        ] {
            assert_eq!(turned(was, is), same, "{is}");
        }
    }

    #[test]
    fn a_mutual_indemnity_becomes_one() {
        let one = "The Supplier shall indemnify the Customer against losses.";
        for both in [
            "Each party shall indemnify the other against losses.",
            "The parties shall indemnify each other against losses.",
            "The Supplier shall indemnify the Customer against losses, and the Customer shall indemnify the Supplier against losses.",
            "The Customer shall indemnify the Supplier against losses. The Supplier shall indemnify the Customer against losses.",
        ] {
            assert!(turned(both, one), "{both}");
        }
        let more = "The Customer shall indemnify the Supplier against losses, and the Supplier shall indemnify the Customer against fines.";
        assert!(!turned(more, one));
    }
}
