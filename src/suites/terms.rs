//! Lists of terms: shipped, or a suite's own. Terms match whole words, everything else matches parts (grading.md 15).

use super::Files;
use crate::diag::Diagnostic;
use crate::model::RepoPath;
use crate::text::Keyword;

/// A list of terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermList {
    terms: Vec<Keyword>,
    text: String,
}

/// The shipped lists by name.
const SHIPPED: [(&str, &str); 3] = [
    ("disclaimer", include_str!("terms/disclaimer.txt")),
    ("edge_case", include_str!("terms/edge_case.txt")),
    ("vague", include_str!("terms/vague.txt")),
];

impl TermList {
    /// A list of the suite, or the shipped one of that name where it has none.
    ///
    /// # Errors
    /// A file that cannot be read, or that has no term.
    pub fn open(name: &str, own: Option<&RepoPath>, files: &dyn Files) -> Result<Self, Diagnostic> {
        let Some(file) = own else {
            let shipped = SHIPPED.iter().find(|(known, _)| *known == name);
            return Ok(Self::of(shipped.map_or("", |(_, text)| text)));
        };
        let terms = Self::of(&files.text(file)?.text);
        match terms.terms.is_empty() {
            true => Err(Diagnostic::of_file(file, "no-terms", "the list has no term", "write one term a line")),
            false => Ok(terms),
        }
    }

    fn of(text: &str) -> Self {
        Self { terms: text.lines().filter_map(Keyword::new).collect(), text: text.to_owned() }
    }

    /// The list as it is written: part of what a number is measured with.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether one of the terms stands in a normal form as whole words.
    pub fn are_in(&self, normal: &str) -> bool {
        self.terms.iter().any(|term| term.is_word_of(normal))
    }
}
