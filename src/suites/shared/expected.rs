//! Expected findings, and when a produced finding matches one.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::finding::{Finding, Severity, file_name};
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::text::{Keyword, norm};

/// One finding that an agent should produce.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct ExpectedForm {
    /// The category.
    pub category: String,
    /// The lowest accepted severity; `info` by default.
    #[serde(default = "least")]
    pub min_severity: Severity,
    /// The highest accepted severity; `critical` by default.
    #[serde(default = "greatest")]
    pub max_severity: Severity,
    /// Texts that the finding must contain, all of them.
    #[serde(default)]
    pub must_contain_keywords: Vec<String>,
    /// Synonyms by keyword; any of them counts as the keyword.
    #[serde(default)]
    pub keyword_synonyms: BTreeMap<String, Vec<String>>,
    /// The file that a citation must name.
    pub citation_must_reference: Option<String>,
    /// Whether the finding is required; true by default.
    #[serde(default = "yes")]
    pub required: bool,
    /// Further accepted categories.
    #[serde(default)]
    pub alternative_categories: Vec<String>,
    /// The rule of the prompt package that this tests, by id or text.
    pub rule: Option<String>,
}

fn least() -> Severity {
    Severity::Info
}

fn greatest() -> Severity {
    Severity::Critical
}

fn yes() -> bool {
    true
}

/// An expected finding, prepared for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedFinding {
    /// The category as written, for people.
    pub category: String,
    /// The line of the golden file, from 1.
    pub line: u32,
    pub required: bool,
    /// The rule that it tests.
    pub rule: Option<String>,
    /// The file name that a citation must name.
    pub citation: Option<String>,
    categories: Vec<String>,
    severities: (Severity, Severity),
    keywords: Vec<Vec<Keyword>>,
}

impl ExpectedFinding {
    pub fn read(
        source: &SourceText,
        raw: &RawValue,
        categories: Option<&[String]>,
    ) -> Result<Self, Diagnostic> {
        let form: ExpectedForm = json::part(source, raw)?;
        Self::of(form, &JsonCursor::part(source, raw), categories)
    }

    /// Validates a parsed expected finding; `cursor` is its position.
    pub fn of(
        form: ExpectedForm,
        cursor: &JsonCursor<'_>,
        known: Option<&[String]>,
    ) -> Result<Self, Diagnostic> {
        if form.min_severity > form.max_severity {
            let what = format!(
                "min_severity {} is above max_severity {}",
                form.min_severity, form.max_severity
            );
            return Err(cursor.problem_of_key(
                &[Key("min_severity")],
                Code::EMPTY_RANGE,
                what,
                "swap them, or widen the range",
            ));
        }
        let synonyms: Vec<(String, &String, &Vec<String>)> = form
            .keyword_synonyms
            .iter()
            .map(|(keyword, words)| (norm(keyword), keyword, words))
            .collect();
        let mut keywords: Vec<Vec<Keyword>> = Vec::with_capacity(form.must_contain_keywords.len());
        for (at, text) in form.must_contain_keywords.iter().enumerate() {
            keywords.push(vec![
                cursor.keyword(&[Key("must_contain_keywords"), At(at)], text)?,
            ]);
        }
        let is_keyword = |key: &str| {
            keywords
                .iter()
                .flatten()
                .any(|keyword| keyword.as_str() == key)
        };
        if let Some((_, unknown, _)) = synonyms.iter().find(|(key, ..)| !is_keyword(key)) {
            let what = format!("\"{unknown}\" has synonyms but is not in must_contain_keywords");
            let add = "add it to must_contain_keywords, or remove its synonyms";
            let help = did_you_mean(unknown, &form.must_contain_keywords, add);
            let path = [Key("keyword_synonyms"), Key(unknown)];
            return Err(cursor.problem_of_key(&path, Code::NO_EFFECT, what, help));
        }
        for words in &mut keywords {
            let own = synonyms
                .iter()
                .filter(|(key, ..)| words.first().is_some_and(|word| word.as_str() == key));
            for (_, keyword, others) in own.collect::<Vec<_>>() {
                words.extend(cursor.keywords(&[Key("keyword_synonyms"), Key(keyword)], others)?);
            }
        }
        let mut categories = vec![cursor.category(&[Key("category")], &form.category, known)?];
        for (at, category) in form.alternative_categories.iter().enumerate() {
            categories.push(cursor.category(
                &[Key("alternative_categories"), At(at)],
                category,
                known,
            )?);
        }
        Ok(Self {
            line: cursor.line(),
            required: form.required,
            rule: cursor.rule(form.rule)?,
            citation: form
                .citation_must_reference
                .map(|file| file_name(&file).to_owned()),
            category: form.category,
            categories,
            severities: (form.min_severity, form.max_severity),
            keywords,
        })
    }

    /// Whether category and keywords match.
    pub fn matches_loosely(&self, finding: &Finding) -> bool {
        self.fits_category(finding) && self.missing_keywords(finding).next().is_none()
    }

    /// Whether a citation names the required file; true if no file is required.
    pub fn cites(&self, finding: &Finding) -> bool {
        match &self.citation {
            None => true,
            Some(file) => finding
                .citations
                .iter()
                .any(|citation| citation.file == *file),
        }
    }

    /// Whether category, keywords and citation match.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.matches_loosely(finding) && self.cites(finding)
    }

    pub fn fits_category(&self, finding: &Finding) -> bool {
        self.categories.contains(&finding.category_key)
    }

    /// The keywords that the finding lacks, together with their synonyms.
    pub fn missing_keywords<'a>(&'a self, finding: &'a Finding) -> impl Iterator<Item = &'a str> {
        let missing = self
            .keywords
            .iter()
            .filter(|words| !words.iter().any(|word| word.is_in(&finding.text)));
        missing
            .filter_map(|words| words.first())
            .map(Keyword::as_str)
    }

    /// Whether every finding that matches this one has the given category and at least one of the given keywords, if there
    /// are any.
    pub fn always_has(&self, category: &str, keywords: &[Keyword]) -> bool {
        // Only a keyword without synonyms is in every match.
        let certain = self
            .keywords
            .iter()
            .filter(|words| words.len() == 1)
            .flatten();
        let hits = |word: &Keyword| keywords.iter().any(|keyword| keyword.is_in(word.as_str()));
        self.categories.iter().all(|own| own == category)
            && (keywords.is_empty() || certain.into_iter().any(hits))
    }

    /// Whether a keyword is required.
    pub fn has_keywords(&self) -> bool {
        !self.keywords.is_empty()
    }

    /// Whether the accepted severities are narrower than the default.
    pub fn states_severity(&self) -> bool {
        self.severities != (least(), greatest())
    }

    /// The accepted severities, such as `medium to high`.
    pub fn severity_range(&self) -> String {
        match self.severities {
            (least, most) if least == most => least.to_string(),
            (least, Severity::Critical) => format!("{least} or higher"),
            (Severity::Info, most) => format!("{most} or lower"),
            (least, most) => format!("{least} to {most}"),
        }
    }

    /// Whether the severity is accepted; an unknown severity is not.
    pub fn fits_severity(&self, finding: &Finding) -> bool {
        finding
            .severity
            .is_some_and(|severity| self.severities.0 <= severity && severity <= self.severities.1)
    }
}

/// The expectation in one line.
impl fmt::Display for ExpectedFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a finding of {}", self.category)?;
        let keywords: Vec<String> = self
            .keywords
            .iter()
            .filter_map(|words| words.first())
            .map(|word| format!("\"{}\"", word.as_str()))
            .collect();
        if !keywords.is_empty() {
            write!(out, " with {}", keywords.join(", "))?;
        }
        self.citation
            .as_ref()
            .map_or(Ok(()), |file| write!(out, ", citing {file}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ExpectedFinding;
    use crate::files::SourceText;
    use crate::format::JsonCursor;
    use crate::format::json::whole;
    use crate::model::RepoPath;
    use crate::suites::shared::finding::{Finding, FindingParts, Severity};

    fn expected() -> ExpectedFinding {
        let text = json!({
            "category": "warranty", "alternative_categories": ["liability"], "min_severity": "low", "max_severity": "high",
            "must_contain_keywords": ["twelve months"], "keyword_synonyms": {"twelve months": ["one year"]},
            "citation_must_reference": "supply.md"
        });
        let source =
            SourceText::new(RepoPath::root().child("g.json"), text.to_string().into()).unwrap();
        ExpectedFinding::of(whole(&source).unwrap(), &JsonCursor::whole(&source), None).unwrap()
    }

    fn finding(category: &str, title: &str, cited: &str) -> Finding {
        Finding::of(&FindingParts {
            category,
            title,
            citations: vec![(cited, "")],
            ..FindingParts::default()
        })
    }

    #[test]
    fn a_finding_matches_by_category_words_and_citation_together() {
        let expected = expected();
        for (category, title, cited, loosely, whole) in [
            (
                "warranty",
                "Ends after twelve months",
                "a/supply.md",
                true,
                true,
            ),
            ("Liability", "Ends after one year", "supply.md", true, true),
            (
                "warranty",
                "Ends after twelve months",
                "other.md",
                true,
                false,
            ),
            ("warranty", "Ends early", "supply.md", false, false),
            (
                "rent",
                "Ends after twelve months",
                "supply.md",
                false,
                false,
            ),
            ("rent", "Ends early", "other.md", false, false),
        ] {
            let finding = finding(category, title, cited);
            let came = (
                expected.matches_loosely(&finding),
                expected.matches(&finding),
            );
            assert_eq!(came, (loosely, whole), "{category}, {title}, {cited}");
        }
    }

    #[test]
    fn a_severity_fits_between_both_ends_and_an_unknown_one_never() {
        for (severity, expect_fit) in [
            (Some(Severity::Info), false),
            (Some(Severity::Low), true),
            (Some(Severity::Medium), true),
            (Some(Severity::High), true),
            (Some(Severity::Critical), false),
            (None, false),
        ] {
            let finding = Finding {
                severity,
                ..Finding::default()
            };
            assert_eq!(
                expected().fits_severity(&finding),
                expect_fit,
                "{severity:?}"
            );
        }
    }
}
