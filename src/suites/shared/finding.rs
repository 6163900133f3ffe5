//! A finding and its severity, in agents' outputs and in trigger cases.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{Category, norm};

/// The severity of a finding; also written `P4` (info) to `P0` (critical), case-insensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information only.
    Info,
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Critical.
    Critical,
}

impl Severity {
    /// Every severity with its word and its priority, lowest first.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Info, "info", "p4"),
        (Self::Low, "low", "p3"),
        (Self::Medium, "medium", "p2"),
        (Self::High, "high", "p1"),
        (Self::Critical, "critical", "p0"),
    ];

    /// Parses a severity, case-insensitive, without trimming.
    pub fn named(text: &str) -> Option<Self> {
        for (severity, word, short) in Self::ALL {
            if text.eq_ignore_ascii_case(word) || text.eq_ignore_ascii_case(short) {
                return Some(severity);
            }
        }
        None
    }

    /// Its rank from 0 (`info`) to 4 (`critical`).
    pub fn rank(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Self::ALL
            .into_iter()
            .filter(|(severity, ..)| severity == self);
        words
            .map(|(_, word, _)| word)
            .take(1)
            .try_for_each(|word| out.write_str(word))
    }
}

impl<'de> Deserialize<'de> for Severity {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let text = String::deserialize(reader)?;
        Self::named(&text).ok_or_else(|| {
            D::Error::unknown_variant(
                &text,
                &[
                    "info", "low", "medium", "high", "critical", "P4", "P3", "P2", "P1", "P0",
                ],
            )
        })
    }
}

/// One finding, prepared for comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    /// The category as written, for people.
    pub category: String,
    /// The category, prepared for comparison.
    pub category_key: Category,
    /// The severity; `None` if unknown, which matches no range.
    pub severity: Option<Severity>,
    /// Title, description and quotes, joined, in the normal form.
    pub text: String,
    /// Where the quotes begin in the text.
    quotes_start: usize,
    pub citations: Vec<Citation>,
    /// The title as written, for people.
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Citation {
    /// The file name, without a leading path.
    pub file: String,
    /// The whole path in the normal form.
    pub path: String,
    /// The section in the normal form; empty if there is none.
    pub section: String,
    /// The quote in the normal form; empty if there is none.
    pub quote: String,
}

impl Citation {
    pub fn of(parts: &CitationParts<'_>) -> Self {
        Self {
            file: file_name(parts.file).to_owned(),
            path: norm(parts.file),
            section: norm(parts.section),
            quote: norm(parts.quote),
        }
    }

    /// The file name in the normal form: names are compared without case.
    pub fn file_key(&self) -> &str {
        file_name(&self.path).trim_start()
    }
}

/// A citation, before normalization.
#[derive(Debug, Clone, Copy, Default)]
pub struct CitationParts<'a> {
    pub file: &'a str,
    pub section: &'a str,
    pub quote: &'a str,
}

/// The names of the documents that may be cited, by their normal forms.
#[derive(Debug, Clone, Default)]
pub struct DocumentNames(BTreeMap<String, String>);

impl DocumentNames {
    /// The name of the cited document, as the file is named; `None` for another file.
    pub fn cited(&self, citation: &Citation) -> Option<&str> {
        self.0.get(citation.file_key()).map(String::as_str)
    }

    /// The name of the document that a golden file names.
    pub fn named(&self, name: &str) -> Option<&str> {
        self.0.get(&norm(name)).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.0.values()
    }
}

impl FromIterator<String> for DocumentNames {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().map(|name| (norm(&name), name)).collect())
    }
}

/// The parts of a finding, before normalization.
#[derive(Debug, Default)]
pub struct FindingParts<'a> {
    pub category: &'a str,
    pub severity: Option<Severity>,
    pub title: &'a str,
    pub description: &'a str,
    pub citations: Vec<CitationParts<'a>>,
}

impl Finding {
    pub fn of(parts: &FindingParts<'_>) -> Self {
        let citations: Vec<Citation> = parts.citations.iter().map(Citation::of).collect();
        let (title, description) = (norm(parts.title), norm(parts.description));
        // No normal form crosses a line break, so the normal form of the whole is made of those of the parts.
        let quotes = citations.iter().map(|citation| &*citation.quote);
        let mut text = joined([&*title, &*description].into_iter());
        let quotes_start = text.len();
        let quotes = joined(quotes);
        if !text.is_empty() && !quotes.is_empty() {
            text.push(' ');
        }
        text.push_str(&quotes);
        Self {
            category: parts.category.to_owned(),
            category_key: Category::new(parts.category),
            severity: parts.severity,
            text,
            quotes_start,
            citations,
            title: parts.title.to_owned(),
        }
    }

    /// Title and description in the normal form.
    pub fn own_words(&self) -> &str {
        &self.text[..self.quotes_start]
    }

    /// The first cited file, by name, besides the documents.
    pub fn cited_outside(&self, documents: &DocumentNames) -> Option<&str> {
        let outside = self
            .citations
            .iter()
            .filter(|citation| !citation.file.is_empty() && documents.cited(citation).is_none());
        outside.map(|citation| citation.file.as_str()).min()
    }
}

/// The parts that are not empty, with a blank between them.
fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// The last part of a path with `/` or `\`.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{CitationParts, DocumentNames, Finding, FindingParts, Severity, file_name};
    use crate::text::norm;

    proptest! {
        #[test]
        fn a_findings_text_is_the_normal_form_of_its_parts_by_lines(
            title in any::<String>(), description in any::<String>(), one in any::<String>(), other in "[ΑΣσ\u{301}\u{345}a. ]*",
        ) {
            let cited = |file, quote| CitationParts { file, quote, ..CitationParts::default() };
            let citations = vec![cited("f.md", &*one), cited("g.md", &*other), cited("", "")];
            let finding = Finding::of(&FindingParts { title: &title, description: &description, citations, ..FindingParts::default() });
            assert_eq!(finding.text, norm(&[&*title, &description, &one, &other].join("\n")));
            assert_eq!(finding.own_words(), norm(&[&*title, &description].join("\n")));
        }
    }

    #[test]
    fn a_severity_has_a_word_and_a_priority() {
        for (text, expected) in [
            ("P0", Severity::Critical),
            ("p4", Severity::Info),
            ("HIGH", Severity::High),
            ("Medium", Severity::Medium),
        ] {
            assert_eq!(Severity::named(text), Some(expected), "{text}");
        }
        for unknown in ["P5", " medium", "medium ", "", "med"] {
            assert_eq!(Severity::named(unknown), None, "{unknown:?}");
        }
        assert!(Severity::Low < Severity::Medium && Severity::High.rank() == 3);
    }

    #[test]
    fn a_document_is_cited_without_its_path_and_without_case() {
        let documents = DocumentNames::from_iter(["Lease.md".to_owned()]);
        let outside = |file| {
            let citations = vec![CitationParts {
                file,
                ..CitationParts::default()
            }];
            let finding = Finding::of(&FindingParts {
                citations,
                ..FindingParts::default()
            });
            finding.cited_outside(&documents).map(str::to_owned)
        };
        for file in ["lease.md", "data/LEASE.MD", "text\\Lease.md", ""] {
            assert_eq!(outside(file), None, "{file}");
        }
        assert_eq!(outside("a/Lease.md.txt").as_deref(), Some("Lease.md.txt"));
    }

    #[test]
    fn a_leading_path_is_ignored() {
        assert_eq!(
            (file_name("a/b\\c.md"), file_name("c.md")),
            ("c.md", "c.md")
        );
    }
}
