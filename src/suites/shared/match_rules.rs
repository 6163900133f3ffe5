//! How a produced finding is compared with what a golden file expects or forbids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Citation, Finding, file_name};
use super::synonyms::Synonyms;
use crate::text::{Category, norm, same_category};

/// When a category is the one of an expectation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CategoryMatch {
    /// The words of one are all among the words of the other.
    #[default]
    Words,
    /// Both are equal.
    Equal,
}

/// When a citation names the expected file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CitationMatch {
    /// The file has this name, in any folder.
    #[default]
    Name,
    /// The cited path contains the name.
    Contains,
}

/// What counts as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MatchMode {
    pub category: CategoryMatch,
    /// Whether keywords are also looked for in quotes.
    pub quotes: bool,
    pub citation: CitationMatch,
}

impl Default for MatchMode {
    fn default() -> Self {
        Self {
            category: CategoryMatch::default(),
            quotes: true,
            citation: CitationMatch::default(),
        }
    }
}

impl MatchMode {
    /// Whether one of the expected categories is that of the finding.
    pub fn fits_category(self, expected: &[Category], finding: &Finding) -> bool {
        expected
            .iter()
            .any(|category| self.is_category(category, &finding.category_key))
    }

    /// Whether two categories are the same, or one fits the other.
    pub fn is_category(self, left: &Category, right: &Category) -> bool {
        match self.category {
            CategoryMatch::Words => left.fits(right),
            CategoryMatch::Equal => left.is_same(right),
        }
    }

    /// The text of a finding in which keywords are looked for.
    pub fn text(self, finding: &Finding) -> &str {
        if self.quotes {
            &finding.text
        } else {
            finding.own_words()
        }
    }

    /// Whether a citation names a file, which is in the normal form.
    pub fn names_file(self, citation: &Citation, file: &str) -> bool {
        match self.citation {
            CitationMatch::Name => citation.file_key() == file,
            CitationMatch::Contains => citation.path.contains(file),
        }
    }
}

/// How the findings of a suite are compared, with its words.
#[derive(Debug, Clone, Default)]
pub struct MatchRules {
    /// The categories that expectations may use; `None` allows any word.
    pub known: Option<Vec<String>>,
    pub mode: MatchMode,
    pub categories: Synonyms,
    pub keywords: Synonyms,
}

impl MatchRules {
    /// A category with its synonyms, which are further names of it; the category is in the normal form.
    pub fn names_of(&self, normal: &str) -> Vec<Category> {
        let synonyms = self.categories.of(normal).map(same_category);
        let mut names = vec![normal.to_owned()];
        for name in synonyms {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.iter().map(|name| Category::new(name)).collect()
    }

    /// The normal form of a file name that a golden file states.
    pub fn file_key(file: &str) -> String {
        norm(file_name(file))
    }
}
