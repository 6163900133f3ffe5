//! Finds names in a text: whole words in any case, longest first, with their positions.

use std::ops::Range;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization;

use super::confusable::latin_look;
use super::line::is_invisible;
use super::norm::plain;

/// A text in the form in which names are compared, with the origin of each byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folded {
    /// Lower case, straight quotes, plain dashes, single blanks, trimmed, without invisible characters, and with look-alikes
    /// replaced by Latin letters.
    pub text: String,
    /// For each byte of `text` the byte of the original that it came from, and one more for the end.
    origins: Vec<u32>,
}

impl Folded {
    pub fn of(original: &str) -> Self {
        let (mut text, mut origins) = (
            String::with_capacity(original.len()),
            Vec::with_capacity(original.len() + 1),
        );
        let mut gap = false;
        let mut end = 0;
        for (at, char) in original.char_indices() {
            if char.is_whitespace() {
                gap = true;
                continue;
            }
            // Invisible characters do not split a name.
            if is_invisible(char) {
                continue;
            }
            if gap && !text.is_empty() {
                text.push(' ');
                origins.push(narrow(end));
            }
            gap = false;
            // A fast path for ASCII; other characters need the Unicode tables.
            if char.is_ascii() {
                text.push(char.to_ascii_lowercase());
                origins.push(narrow(at));
                end = at + 1;
                continue;
            }
            for folded in std::iter::once(char)
                .nfkc()
                .flat_map(char::to_lowercase)
                .map(plain)
                .map(latin_look)
            {
                text.push(folded);
                origins.extend(std::iter::repeat_n(narrow(at), folded.len_utf8()));
            }
            end = at + char.len_utf8();
        }
        origins.push(narrow(end));
        Self { text, origins }
    }

    /// The byte range of the original for a byte range of the folded text.
    pub fn original(&self, here: &Range<usize>) -> Range<usize> {
        self.original_index(here.start)..self.original_index(here.end)
    }

    fn original_index(&self, index: usize) -> usize {
        match self.origins.get(index) {
            None => 0,
            Some(origin) => usize::try_from(*origin).unwrap_or(usize::MAX),
        }
    }
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[derive(Debug, Clone, Default)]
pub struct NameSet {
    folded: Vec<String>,
}

/// An occurrence of a name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The index of the name in its list.
    pub name: usize,
    /// The byte range in the folded text.
    pub at: Range<usize>,
}

impl NameSet {
    /// The names of a list; one that is empty after folding is never found.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            folded: names
                .into_iter()
                .map(|name| Folded::of(name).text)
                .collect(),
        }
    }

    /// Every occurrence of a name, in order. Of overlapping names the first counts; of names that start at the same byte the
    /// longest.
    pub fn find(&self, text: &Folded) -> Vec<Hit> {
        self.find_in(&text.text)
    }

    /// As [`NameSet::find`], for a text that is already folded.
    pub fn find_in(&self, text: &str) -> Vec<Hit> {
        let mut all = Vec::new();
        for (name, folded) in self
            .folded
            .iter()
            .enumerate()
            .filter(|(_, folded)| !folded.is_empty())
        {
            let starts = memmem::find_iter(text.as_bytes(), folded.as_bytes());
            let places = starts.map(|start| start..start + folded.len());
            all.extend(
                places
                    .filter(|at| is_whole(text, at))
                    .map(|at| Hit { name, at }),
            );
        }
        all.sort_by(|left, right| {
            (left.at.start, right.at.end).cmp(&(right.at.start, left.at.end))
        });
        let mut kept: Vec<Hit> = Vec::new();
        for hit in all {
            if kept.last().is_none_or(|last| last.at.end <= hit.at.start) {
                kept.push(hit);
            }
        }
        kept
    }
}

/// Whether the range has no adjacent letter or digit.
pub fn is_whole(text: &str, at: &Range<usize>) -> bool {
    let previous = text[..at.start].chars().next_back();
    let next = text[at.end..].chars().next();
    !previous.is_some_and(char::is_alphanumeric) && !next.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{Folded, NameSet};
    use crate::text::norm;

    fn found(names: &[&str], text: &str) -> Vec<(usize, String)> {
        let folded = Folded::of(text);
        let hits = NameSet::new(names.iter().copied()).find(&folded);
        hits.into_iter()
            .map(|hit| (hit.name, text[folded.original(&hit.at)].to_owned()))
            .collect()
    }

    #[test]
    fn names_are_whole_words_in_any_case_the_longest_first() {
        let names = ["Acme", "Acme Holdings Ltd", ""];
        let text =
            "ACME\u{a0}Holdings  Ltd, Acme\u{2019}s and acmes, Acme Holdings Ltdx; \u{FF21}cme";
        let expected = ["ACME\u{a0}Holdings  Ltd", "Acme", "Acme", "\u{FF21}cme"];
        let which = [1, 0, 0, 0];
        let all = found(&names, text);
        assert_eq!(
            all.iter()
                .map(|(_, text)| text.as_str())
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(all.iter().map(|(name, _)| *name).collect::<Vec<_>>(), which);
    }

    #[test]
    fn a_soft_hyphen_is_not_a_letter() {
        assert_eq!(
            found(&["Acme"], "Ac\u{AD}me Ltd"),
            [(0, "Ac\u{AD}me".to_owned())]
        );
    }

    proptest! {
        #[test]
        fn folding_ascii_is_the_normal_form(text in "[ -~\\n\\t]*") {
            assert_eq!(Folded::of(&text).text, norm(&text));
        }

        #[test]
        fn every_hit_maps_to_the_original(text in any::<String>(), name in "[a-z]{1,2}") {
            let folded = Folded::of(&text);
            for hit in NameSet::new([name.as_str()]).find(&folded) {
                assert!(text.get(folded.original(&hit.at)).is_some());
            }
        }
    }
}
