//! Keywords, categories and token overlap, all on normal forms.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::{memchr_iter, memchr2, memmem};

use super::key_formats::without_keys;
use super::names::is_whole;
use super::norm::{norm, norm_cased};

/// A keyword in its normal form; never empty, so it cannot match everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyword {
    normal: Box<str>,
    /// The form in recordings of a keyword with a key, which no recording keeps.
    redacted: Option<Box<str>>,
}

impl Keyword {
    /// The keyword; `None` if its normal form is empty.
    pub fn new(text: &str) -> Option<Self> {
        Self::in_form(text, norm)
    }

    /// The same in the form of `norm_cased`, to be searched in texts of that form.
    pub fn cased(text: &str) -> Option<Self> {
        Self::in_form(text, norm_cased)
    }

    fn in_form(text: &str, form: fn(&str) -> String) -> Option<Self> {
        let redacted = match without_keys(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(form(&redacted).into()),
        };
        let normal = form(text);
        (!normal.is_empty()).then(|| Self {
            normal: normal.into(),
            redacted,
        })
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        [&*self.normal].into_iter().chain(self.redacted.as_deref())
    }

    /// Whether a text in normal form contains the keyword.
    pub fn is_in(&self, normal: &str) -> bool {
        self.forms().any(|form| contains(normal, form))
    }

    /// Whether a text in normal form contains the keyword as whole words, without an adjacent letter or digit.
    pub fn is_word_of(&self, normal: &str) -> bool {
        self.forms().any(|form| contains_word(normal, form))
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.normal
    }
}

/// Whether a text contains a word without an adjacent letter or digit.
fn contains_word(text: &str, word: &str) -> bool {
    let mut from = 0;
    while let Some(offset) = memmem::find(&text.as_bytes()[from..], word.as_bytes()) {
        let (start, end) = (from + offset, from + offset + word.len());
        if is_whole(text, &(start..end)) {
            return true;
        }
        // The next occurrence may overlap with this one.
        from = start + word.chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Text length in bytes up to which a scan for the first letter is faster than a prepared search.
const SHORT: usize = 1024;

/// Whether a text contains a word; linear in the length of a long text.
pub fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    match word {
        [first, ..] if text.len() <= SHORT => {
            let last = text
                .len()
                .checked_sub(word.len())
                .map_or(0, |last| last + 1);
            memchr_iter(*first, &text[..last]).any(|at| text[at..].starts_with(word))
        }
        _ => memmem::find(text, word).is_some(),
    }
}

/// The form in which categories and gap types are compared: `-`, `_` and blank are equal.
pub fn same_category(text: &str) -> String {
    let normal = norm(text);
    match memchr2(b'-', b'_', normal.as_bytes()) {
        Some(_) => normal.replace(['-', '_'], " "),
        None => normal,
    }
}

/// A category, prepared for comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Category {
    normal: String,
    /// Its words, sorted and distinct.
    words: Box<[Box<str>]>,
}

impl Category {
    /// The category in a text.
    pub fn new(text: &str) -> Self {
        let normal = same_category(text);
        let mut words: Vec<Box<str>> = normal
            .split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(Box::from)
            .collect();
        words.sort_unstable();
        words.dedup();
        Self {
            normal,
            words: words.into(),
        }
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.normal
    }

    /// Whether both are the same category, and not empty.
    pub fn is_same(&self, other: &Self) -> bool {
        !self.normal.is_empty() && self.normal == other.normal
    }

    /// Whether the words of one are all among the words of the other: an agent could avoid an exact name by a longer one.
    pub fn fits(&self, other: &Self) -> bool {
        let (fewer, more) = if self.words.len() <= other.words.len() {
            (self, other)
        } else {
            (other, self)
        };
        if fewer.words.is_empty() {
            return self.is_same(other);
        }
        let mut words = fewer.words.iter();
        words.all(|word| more.words.binary_search(word).is_ok())
    }
}

/// Jaccard similarity of the alphanumeric tokens of two normal forms, 0 to 1; 0 if neither has a token.
pub fn token_overlap(left: &str, right: &str) -> f64 {
    let (left, right) = (tokens(left), tokens(right));
    match left.union(&right).count() {
        0 => 0.0,
        all => left.intersection(&right).count() as f64 / all as f64,
    }
}

fn tokens(text: &str) -> BTreeSet<&str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::proptest;

    use super::{Category, Keyword, contains, norm, same_category, token_overlap};

    #[test]
    fn a_keyword_with_a_key_is_found_where_the_recorder_removed_it() {
        let keyword = Keyword::new("sk-live-0123456789abcdef0123").unwrap();
        assert!(keyword.is_in(&norm("Take sk-live-0123456789abcdef0123.")));
        assert!(
            keyword.is_in(&norm("Take sk-live-[redacted]."))
                && keyword.is_word_of(&norm("Take sk-live-[redacted]."))
        );
        assert!(!keyword.is_in(&norm("Take [redacted].")));
        assert!(
            !Keyword::new("refund")
                .unwrap()
                .is_in(&norm("Take sk-live-[redacted]."))
        );
    }

    #[test]
    fn an_empty_keyword_is_rejected() {
        assert_eq!(Keyword::new(" \u{a0} "), None);
        assert!(
            Keyword::new("Consent")
                .unwrap()
                .is_in("prior written consent")
        );
        assert!(!Keyword::new("Consent").unwrap().is_in("agreement"));
    }

    proptest! {
        #[test]
        fn short_and_long_texts_are_searched_alike(text in "[ab ]{0,40}", word in "[ab ]{0,4}") {
            assert_eq!(contains(&text, &word), text.contains(&word));
            let long = format!("{}{text}", "c".repeat(super::SHORT));
            assert_eq!(contains(&long, &word), long.contains(&word));
        }
    }

    #[test]
    fn a_term_is_a_whole_word() {
        let term = Keyword::new("what if").unwrap();
        for text in ["what if", "and what if?", "(what if)", "swhat if, what if"] {
            assert!(term.is_word_of(text), "{text}");
        }
        for text in ["what ifs", "swhat if", "what", "what if2", "what ifé"] {
            assert!(!term.is_word_of(text), "{text}");
        }
    }

    #[test]
    fn categories_ignore_how_words_are_joined() {
        assert_eq!(same_category("Change-of_Control"), "change of control");
        assert_eq!(
            same_category("Missing – Doc"),
            same_category("missing _ doc")
        );
        // Each one becomes a separate blank: the contract does not mention runs.
        assert_ne!(same_category("Missing__Doc"), same_category("Missing_Doc"));
    }

    #[test]
    fn a_category_fits_in_words_and_never_in_parts_of_words() {
        for (one, other, expect_fit) in [
            ("termination", "Contract-Termination", true),
            ("change_of_control", "Control, change of", true),
            ("ip ownership", "IP/Ownership & Licence", true),
            ("termination", "Termination", true),
            ("compete", "non_compete", true),
            ("compete", "competence", false),
            ("contract termination", "termination of employment", false),
            ("", "", false),
            ("", "termination", false),
            ("--", "termination", false),
            ("???", "???", true),
            ("???", "termination", false),
        ] {
            let (one, other) = (Category::new(one), Category::new(other));
            assert_eq!(one.fits(&other), expect_fit, "{one:?} {other:?}");
            assert_eq!(other.fits(&one), expect_fit, "{other:?} {one:?}");
            assert!(expect_fit || !one.is_same(&other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn overlap_is_jaccard() {
        assert_eq!(token_overlap("a b c d", "d c b a"), 1.0);
        assert_eq!(token_overlap("a b c d", "a b c e"), 0.6);
        assert_eq!(token_overlap("", ""), 0.0);
    }
}
