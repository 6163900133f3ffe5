//! Lists of terms: built-in, or a suite's own. Terms match whole words; keywords match parts of words (grading.md 15).

use crate::diag::Diagnostic;
use crate::files::Files;
use crate::model::RepoPath;
use crate::text::Keyword;

/// A list of terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermList {
    terms: Vec<Keyword>,
    text: String,
}

/// The built-in lists by name.
const SHIPPED: [(&str, &str); 3] = [
    ("disclaimer", include_str!("terms/disclaimer.txt")),
    ("edge_case", include_str!("terms/edge_case.txt")),
    ("vague", include_str!("terms/vague.txt")),
];

impl TermList {
    /// The suite's own list, or the built-in one of that name.
    ///
    /// # Errors
    /// The file cannot be read, or has no term.
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

    /// The text of the list; it is part of a case's digest.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a text in the normal form contains one of the terms as whole words.
    pub fn are_in(&self, normal: &str) -> bool {
        self.terms.iter().any(|term| term.is_word_of(normal))
    }
}
