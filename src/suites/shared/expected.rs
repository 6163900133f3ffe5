//! Expected findings, and when a produced finding matches one.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::finding::{Citation, Finding, Severity, file_name};
use super::match_rules::{MatchMode, MatchRules};
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::text::{Category, Keyword, norm};

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
    /// The file that a citation must name, or an object with the file and a part of its section.
    pub citation_must_reference: Option<CitationForm>,
    /// Whether the finding is required; true by default.
    #[serde(default = "yes")]
    pub required: bool,
    /// Further accepted categories.
    #[serde(default)]
    pub alternative_categories: Vec<String>,
    /// The rule of the prompt package that this tests, by id or text.
    pub rule: Option<String>,
}

/// What a citation must name: a file, or an object.
#[derive(JsonSchema, Debug)]
#[schemars(untagged)]
pub enum CitationForm {
    /// The name of the file.
    File(String),
    Parts(CitationPartsForm),
}

/// What a citation must name; a part that is absent requires nothing.
#[derive(Deserialize, JsonSchema, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct CitationPartsForm {
    /// The name of the file.
    file: Option<String>,
    /// A part of the citation's section, in any case. It counts in `citation_accuracy` alone.
    page_or_section: Option<String>,
}

// By hand, because an untagged form names no unknown key.
impl<'de> Deserialize<'de> for CitationForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CitationVisitor)
    }
}

struct CitationVisitor;

impl<'de> Visitor<'de> for CitationVisitor {
    type Value = CitationForm;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a file name, or an object with `file` and `page_or_section`")
    }

    fn visit_str<E: Error>(self, file: &str) -> Result<CitationForm, E> {
        Ok(CitationForm::File(file.to_owned()))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<CitationForm, M::Error> {
        let parts = CitationPartsForm::deserialize(MapAccessDeserializer::new(map))?;
        Ok(CitationForm::Parts(parts))
    }
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
    /// What a citation must name; `None` if nothing.
    pub citation: Option<ExpectedCitation>,
    categories: Vec<Category>,
    severities: (Severity, Severity),
    keywords: Vec<Vec<Keyword>>,
    mode: MatchMode,
}

/// What a citation must name.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCitation {
    /// The file name, as written.
    pub file: Option<String>,
    file_key: String,
    /// A part of the section, as written.
    pub section: Option<String>,
    section_key: String,
}

impl ExpectedCitation {
    fn of(form: CitationForm) -> Option<Self> {
        let CitationPartsForm {
            file,
            page_or_section,
        } = match form {
            CitationForm::File(file) => CitationPartsForm {
                file: Some(file),
                page_or_section: None,
            },
            CitationForm::Parts(parts) => parts,
        };
        let file = file.filter(|file| !file.trim().is_empty());
        let section = page_or_section.filter(|section| !section.trim().is_empty());
        if file.is_none() && section.is_none() {
            return None;
        }
        Some(Self {
            file_key: file.as_deref().map_or(String::new(), MatchRules::file_key),
            section_key: section.as_deref().map_or(String::new(), norm),
            file: file.map(|file| file_name(&file).to_owned()),
            section,
        })
    }

    fn is_of_file(&self, citation: &Citation, mode: MatchMode) -> bool {
        self.file.is_none() || mode.names_file(citation, &self.file_key)
    }

    fn is_of_section(&self, citation: &Citation) -> bool {
        citation.section.contains(&self.section_key)
    }
}

impl fmt::Display for ExpectedCitation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [self.file.as_deref(), self.section.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        out.write_str(&parts.join(", "))
    }
}

impl ExpectedFinding {
    pub fn read(
        source: &SourceText,
        raw: &RawValue,
        rules: &MatchRules,
    ) -> Result<Self, Diagnostic> {
        let form: ExpectedForm = json::part(source, raw)?;
        Self::of(form, &JsonCursor::part(source, raw), rules)
    }

    /// Validates a parsed expected finding; `cursor` is its position.
    pub fn of(
        form: ExpectedForm,
        cursor: &JsonCursor<'_>,
        rules: &MatchRules,
    ) -> Result<Self, Diagnostic> {
        let known = rules.known.as_deref();
        if form.min_severity > form.max_severity {
            let description = format!(
                "min_severity {} is above max_severity {}",
                form.min_severity, form.max_severity
            );
            return Err(cursor.problem_of_key(
                &[Key("min_severity")],
                Code::EMPTY_RANGE,
                description,
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
        for (key, unknown, _) in &synonyms {
            if keywords
                .iter()
                .flatten()
                .any(|keyword| keyword.as_str() == key)
            {
                continue;
            }
            let description =
                format!("\"{unknown}\" has synonyms but is not in must_contain_keywords");
            let add = "add it to must_contain_keywords, or remove its synonyms";
            let help = did_you_mean(unknown, &form.must_contain_keywords, add);
            let path = [Key("keyword_synonyms"), Key(unknown)];
            return Err(cursor.problem_of_key(&path, Code::NO_EFFECT, description, help));
        }
        for words in &mut keywords {
            let of_word = synonyms
                .iter()
                .filter(|(key, ..)| words.first().is_some_and(|word| word.as_str() == key));
            for (_, keyword, others) in of_word.collect::<Vec<_>>() {
                words.extend(cursor.keywords(&[Key("keyword_synonyms"), Key(keyword)], others)?);
            }
            let word = words.first().map_or("", Keyword::as_str);
            let of_suite = rules.keywords.of(word).filter_map(Keyword::new);
            words.extend(of_suite.collect::<Vec<_>>());
        }
        let category = cursor.category(&[Key("category")], &form.category, known)?;
        let mut categories = rules.names_of(&category);
        for (at, category) in form.alternative_categories.iter().enumerate() {
            let path = [Key("alternative_categories"), At(at)];
            categories.extend(rules.names_of(&cursor.category(&path, category, known)?));
        }
        Ok(Self {
            line: cursor.line(),
            required: form.required,
            rule: cursor.rule(form.rule)?,
            citation: form.citation_must_reference.and_then(ExpectedCitation::of),
            mode: rules.mode,
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
            Some(expected) if expected.file.is_some() => {
                let mut citations = finding.citations.iter();
                citations.any(|citation| expected.is_of_file(citation, self.mode))
            }
            Some(_) | None => true,
        }
    }

    /// Whether a citation of the required file names the required section; true if no section is required.
    pub fn cites_section(&self, finding: &Finding) -> bool {
        match &self.citation {
            Some(expected) if expected.section.is_some() => {
                let mut citations = finding.citations.iter();
                citations.any(|citation| {
                    expected.is_of_file(citation, self.mode) && expected.is_of_section(citation)
                })
            }
            Some(_) | None => true,
        }
    }

    /// Whether category, keywords and citation match.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.matches_loosely(finding) && self.cites(finding)
    }

    /// The accepted categories.
    pub fn categories(&self) -> impl Iterator<Item = &Category> {
        self.categories.iter()
    }

    /// Whether a finding of this category has an accepted one.
    pub fn accepts_category(&self, category: &Category) -> bool {
        let mut accepted = self.categories();
        accepted.any(|name| self.mode.is_category(name, category))
    }

    pub fn fits_category(&self, finding: &Finding) -> bool {
        self.accepts_category(&finding.category_key)
    }

    /// The keywords that the finding lacks, together with their synonyms.
    pub fn missing_keywords<'a>(&'a self, finding: &'a Finding) -> impl Iterator<Item = &'a str> {
        let text = self.mode.text(finding);
        let missing = self
            .keywords
            .iter()
            .filter(move |words| !words.iter().any(|word| word.is_in(text)));
        missing
            .filter_map(|words| words.first())
            .map(Keyword::as_str)
    }

    /// Whether every finding with a category of this expectation has one of the given categories, and at least one of the given
    /// keywords, if there are any.
    pub fn always_has(&self, categories: &[Category], keywords: &[Keyword]) -> bool {
        // Only a keyword without synonyms is in every match.
        let certain = self
            .keywords
            .iter()
            .filter(|words| words.len() == 1)
            .flatten();
        for name in self.categories() {
            if !categories
                .iter()
                .any(|given| self.mode.is_category(given, name))
            {
                return false;
            }
        }
        keywords.is_empty()
            || certain
                .into_iter()
                .any(|word| keywords.iter().any(|keyword| keyword.is_in(word.as_str())))
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
            .map_or(Ok(()), |citation| write!(out, ", citing {citation}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ExpectedFinding;
    use crate::files::SourceText;
    use crate::format::JsonCursor;
    use crate::format::json::whole;
    use crate::model::RepoPath;
    use crate::suites::shared::finding::{CitationParts, Finding, FindingParts, Severity};
    use crate::suites::shared::match_rules::{CategoryMatch, CitationMatch, MatchMode, MatchRules};

    fn expected() -> ExpectedFinding {
        let text = json!({
            "category": "warranty", "alternative_categories": ["liability"], "min_severity": "low", "max_severity": "high",
            "must_contain_keywords": ["twelve months"], "keyword_synonyms": {"twelve months": ["one year"]},
            "citation_must_reference": "supply.md"
        });
        read(&text, MatchMode::default())
    }

    fn read(text: &Value, mode: MatchMode) -> ExpectedFinding {
        let source =
            SourceText::new(RepoPath::root().child("g.json"), text.to_string().into()).unwrap();
        let rules = MatchRules {
            mode,
            ..MatchRules::default()
        };
        ExpectedFinding::of(whole(&source).unwrap(), &JsonCursor::whole(&source), &rules).unwrap()
    }

    fn finding(category: &str, title: &str, cited: &str) -> Finding {
        let citation = CitationParts {
            file: cited,
            section: "Section 4.1",
            quote: "a quoted word",
        };
        Finding::of(&FindingParts {
            category,
            title,
            citations: vec![citation],
            ..FindingParts::default()
        })
    }

    #[test]
    fn a_category_fits_in_words_or_is_equal() {
        let text = json!({"category": "termination", "alternative_categories": ["exit"]});
        for (category, in_words, equal) in [
            ("Contract Termination", true, false),
            ("exit_rights", true, false),
            ("Exit", true, true),
            ("terminations", false, false),
            ("", false, false),
        ] {
            let finding = finding(category, "", "");
            for (category_match, expect_fit) in [
                (CategoryMatch::Words, in_words),
                (CategoryMatch::Equal, equal),
            ] {
                let mode = MatchMode {
                    category: category_match,
                    ..MatchMode::default()
                };
                assert_eq!(
                    read(&text, mode).matches_loosely(&finding),
                    expect_fit,
                    "{category} {mode:?}"
                );
            }
        }
    }

    #[test]
    fn a_quote_has_keywords_unless_the_suite_says_otherwise() {
        let text = json!({"category": "a", "must_contain_keywords": ["quoted word"]});
        for quotes in [true, false] {
            let mode = MatchMode {
                quotes,
                ..MatchMode::default()
            };
            let expected = read(&text, mode);
            assert_eq!(expected.matches_loosely(&finding("a", "", "")), quotes);
            assert!(expected.matches_loosely(&finding("a", "A quoted word.", "")));
        }
    }

    #[test]
    fn a_file_is_named_without_case_and_by_a_part_of_the_path_if_the_suite_says_so() {
        let text = json!({"category": "a", "citation_must_reference": {"file": "Supply.md"}});
        for (cited, by_name, by_part) in [
            ("SUPPLY.MD", true, true),
            ("a/supply.md", true, true),
            ("supply.md.txt", false, true),
            ("supply.md/part", false, true),
            ("my supply.md", false, true),
            ("other.md", false, false),
        ] {
            for (citation, expect_cited) in [
                (CitationMatch::Name, by_name),
                (CitationMatch::Contains, by_part),
            ] {
                let mode = MatchMode {
                    citation,
                    ..MatchMode::default()
                };
                assert_eq!(
                    read(&text, mode).cites(&finding("a", "", cited)),
                    expect_cited,
                    "{cited} {mode:?}"
                );
            }
        }
    }

    #[test]
    fn a_section_is_a_part_of_that_of_a_citation_of_the_file() {
        for (reference, cited, section) in [
            (
                json!({"file": "b.md", "page_or_section": "SECTION 4"}),
                true,
                true,
            ),
            (
                json!({"file": "b.md", "page_or_section": "Section 5"}),
                true,
                false,
            ),
            (
                json!({"file": "c.md", "page_or_section": "Section 4"}),
                false,
                false,
            ),
            (json!({"page_or_section": "4.1"}), true, true),
            (json!({"page_or_section": "5"}), true, false),
            (json!({"file": "b.md"}), true, true),
            (json!({"file": " "}), true, true),
            (json!({}), true, true),
            (json!("b.md"), true, true),
        ] {
            let text = json!({"category": "a", "citation_must_reference": reference});
            let expected = read(&text, MatchMode::default());
            let finding = finding("a", "", "B.md");
            assert_eq!(
                (expected.cites(&finding), expected.cites_section(&finding)),
                (cited, section),
                "{text}"
            );
        }
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
            let finding = Finding::of(&FindingParts {
                severity,
                ..FindingParts::default()
            });
            assert_eq!(
                expected().fits_severity(&finding),
                expect_fit,
                "{severity:?}"
            );
        }
    }
}
