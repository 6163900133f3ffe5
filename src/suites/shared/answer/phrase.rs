//! A text that an answer is compared with.

use crate::text::Keyword;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterCase {
    Ignored,
    Counts,
}

/// Whether a phrase may begin or end within a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordEdge {
    /// Yes.
    Free,
    /// No: no letter or digit touches the phrase.
    Whole,
}

/// A text that an answer is compared with.
#[derive(Debug)]
pub struct AnswerPhrase {
    keyword: Keyword,
    stated: String,
    edge: WordEdge,
}

impl AnswerPhrase {
    /// The phrase; `None` if nothing of it is left in the normal form.
    pub fn new(stated: &str, letter_case: LetterCase, edge: WordEdge) -> Option<Self> {
        let keyword = match letter_case {
            LetterCase::Ignored => Keyword::new(stated),
            LetterCase::Counts => Keyword::cased(stated),
        };
        Some(Self {
            keyword: keyword?,
            stated: stated.to_owned(),
            edge,
        })
    }

    /// The phrase as the case states it.
    pub fn stated(&self) -> &str {
        &self.stated
    }

    /// Whether the whole text is the phrase. The text has the normal form of the phrase's letter case, here and below.
    pub fn is_all_of(&self, normal: &str) -> bool {
        normal == self.keyword.as_str()
    }

    pub fn is_in(&self, normal: &str) -> bool {
        match self.edge {
            WordEdge::Free => self.keyword.is_in(normal),
            WordEdge::Whole => self.keyword.is_word_of(normal),
        }
    }

    pub fn is_start_of(&self, normal: &str) -> bool {
        normal
            .strip_prefix(self.keyword.as_str())
            .is_some_and(|rest| self.may_touch(rest.chars().next()))
    }

    pub fn is_end_of(&self, normal: &str) -> bool {
        normal
            .strip_suffix(self.keyword.as_str())
            .is_some_and(|rest| self.may_touch(rest.chars().next_back()))
    }

    fn may_touch(&self, neighbour: Option<char>) -> bool {
        match self.edge {
            WordEdge::Free => true,
            WordEdge::Whole => !neighbour.is_some_and(char::is_alphanumeric),
        }
    }
}
