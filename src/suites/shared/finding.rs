//! A finding and its severity, in agents' outputs and in trigger cases.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{norm, same_category};

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
        let named = |word: &str| text.eq_ignore_ascii_case(word);
        Self::ALL
            .into_iter()
            .find(|(_, word, short)| named(word) || named(short))
            .map(|(severity, ..)| severity)
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
    /// The category, normalized for comparison.
    pub category_key: String,
    /// The severity; `None` if unknown, which matches no range.
    pub severity: Option<Severity>,
    /// Title, description and quotes, joined, in the normal form.
    pub text: String,
    pub citations: Vec<Citation>,
    /// The title as written, for people.
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Citation {
    /// The file name, without a leading path.
    pub file: String,
    /// The quote in the normal form; empty if there is none.
    pub quote: String,
}

/// The parts of a finding, before normalization.
#[derive(Debug, Default)]
pub struct FindingParts<'a> {
    pub category: &'a str,
    pub severity: Option<Severity>,
    pub title: &'a str,
    pub description: &'a str,
    /// File and quote of each citation.
    pub citations: Vec<(&'a str, &'a str)>,
}

impl Finding {
    pub fn of(parts: &FindingParts<'_>) -> Self {
        let cited = |(file, quote): &(&str, &str)| Citation {
            file: file_name(file).to_owned(),
            quote: norm(quote),
        };
        let citations: Vec<Citation> = parts.citations.iter().map(cited).collect();
        let (title, description) = (norm(parts.title), norm(parts.description));
        // No normal form crosses a line break, so the normal form of the whole is made of those of the parts.
        let quotes = citations.iter().map(|citation| &*citation.quote);
        let text: Vec<&str> = [&*title, &*description]
            .into_iter()
            .chain(quotes)
            .filter(|part| !part.is_empty())
            .collect();
        Self {
            category: parts.category.to_owned(),
            category_key: same_category(parts.category),
            severity: parts.severity,
            text: text.join(" "),
            citations,
            title: parts.title.to_owned(),
        }
    }

    /// The first cited file, by name, that is not one of `files`.
    pub fn cited_outside(&self, files: &BTreeSet<String>) -> Option<&str> {
        let cited = self
            .citations
            .iter()
            .map(|citation| citation.file.as_str())
            .filter(|file| !file.is_empty());
        cited.filter(|file| !files.contains(*file)).min()
    }
}

/// The last part of a path with `/` or `\`.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{Finding, FindingParts, Severity, file_name};
    use crate::text::norm;

    proptest! {
        #[test]
        fn a_findings_text_is_the_normal_form_of_its_parts_by_lines(
            title in any::<String>(), description in any::<String>(), one in any::<String>(), other in "[ΑΣσ\u{301}\u{345}a. ]*",
        ) {
            let citations = vec![("f.md", &*one), ("g.md", &*other), ("", "")];
            let finding = Finding::of(&FindingParts { title: &title, description: &description, citations, ..FindingParts::default() });
            assert_eq!(finding.text, norm(&[&*title, &description, &one, &other].join("\n")));
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
    fn a_leading_path_is_ignored() {
        assert_eq!(
            (file_name("a/b\\c.md"), file_name("c.md")),
            ("c.md", "c.md")
        );
    }
}
