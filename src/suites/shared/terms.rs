//! Lists of terms: built-in, or a suite's own. Terms match whole words, unless the suite says otherwise; keywords match parts of words.

use crate::diag::{Code, Diagnostic};
use crate::files::Files;
use crate::model::{RepoPath, SuiteConfig, TermFile};
use crate::text::Keyword;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermList {
    terms: Vec<Keyword>,
    whole_words: bool,
    text: String,
}

/// A list that is built into a kind; a suite may replace it.
#[derive(Debug)]
pub struct BuiltInTerms {
    /// Its name in configs.
    pub name: &'static str,
    /// Its terms, one a line.
    pub text: &'static str,
}

impl TermList {
    /// The suite's own list in place of a built-in one, or the built-in one.
    ///
    /// # Errors
    /// The file cannot be read, or has no term.
    pub fn open(
        built_in: &BuiltInTerms,
        suite: &SuiteConfig,
        files: &dyn Files,
    ) -> Result<Self, Diagnostic> {
        match suite.terms.get(built_in.name) {
            Some(TermFile { file, whole_words }) => {
                let mut list = Self::of_file(file, files)?;
                list.whole_words = *whole_words;
                if !whole_words {
                    list.text.push_str("\nwhole_words: false");
                }
                Ok(list)
            }
            None => Ok(Self::of(built_in.text)),
        }
    }

    /// The list in a file.
    ///
    /// # Errors
    /// The file cannot be read, or has no term.
    pub fn of_file(file: &RepoPath, files: &dyn Files) -> Result<Self, Diagnostic> {
        let terms = Self::of(&files.text(file)?.text);
        if terms.terms.is_empty() {
            return Err(Diagnostic::of_file(
                file,
                Code::NO_TERMS,
                "the list has no term",
                "write one term a line",
            ));
        }
        Ok(terms)
    }

    fn of(text: &str) -> Self {
        Self {
            terms: text.lines().filter_map(Keyword::new).collect(),
            whole_words: true,
            text: text.to_owned(),
        }
    }

    /// The text of the list; it is part of a case's digest.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a text in the normal form contains one of the terms.
    pub fn are_in(&self, normal: &str) -> bool {
        self.terms.iter().any(|term| {
            if self.whole_words {
                term.is_word_of(normal)
            } else {
                term.is_in(normal)
            }
        })
    }
}
