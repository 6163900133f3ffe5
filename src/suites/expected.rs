//! An expected finding, and when a produced one matches it (grading.md 4).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::finding::Finding;
use super::finding::Severity;
use super::finding::file_name;
use crate::diag::Diagnostic;
use crate::diag::nearest;
use crate::format::SourceText;
use crate::format::json;
use crate::text::Keyword;
use crate::text::norm;
use crate::text::same_category;

/// One finding that an agent should produce.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub struct ExpectedForm {
    /// Its category.
    pub category: String,
    /// The least severity that is right.
    #[serde(default = "least")]
    pub min_severity: Severity,
    /// The greatest severity that is right.
    #[serde(default = "greatest")]
    pub max_severity: Severity,
    /// Texts that the finding has to contain, all of them.
    #[serde(default)]
    pub must_contain_keywords: Vec<String>,
    /// For a keyword, texts that do as well.
    #[serde(default)]
    pub keyword_synonyms: BTreeMap<String, Vec<String>>,
    /// The file that a citation has to name.
    pub citation_must_reference: Option<String>,
    /// Whether it has to be found; true where absent.
    #[serde(default = "yes")]
    pub required: bool,
    /// Further categories that are right.
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

/// An expected finding, ready to be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Its category, for people.
    pub category: String,
    /// The line of the golden file, from 1.
    pub line: u32,
    /// Whether it has to be found.
    pub required: bool,
    /// The rule that it tests.
    pub rule: Option<String>,
    /// The file name that a citation has to be of.
    pub citation: Option<String>,
    categories: Vec<String>,
    severities: (Severity, Severity),
    keywords: Vec<Vec<Keyword>>,
}

impl Expected {
    /// Reads one expected finding.
    ///
    /// # Errors
    /// What in it cannot be, with its place.
    pub fn read(source: &SourceText, raw: &RawValue, categories: Option<&[String]>) -> Result<Self, Diagnostic> {
        let form: ExpectedForm = json::part(source, raw)?;
        Self::of(form, &Place { source, raw }, categories)
    }

    /// Checks a form that was read at a place.
    ///
    /// # Errors
    /// What in it cannot be.
    pub fn of(form: ExpectedForm, place: &Place<'_>, known: Option<&[String]>) -> Result<Self, Diagnostic> {
        if form.min_severity > form.max_severity {
            let what = format!("min_severity {} is above max_severity {}", form.min_severity, form.max_severity);
            return Err(place.problem("min_severity", "empty-range", what, "swap them, or widen the range"));
        }
        let synonyms: Vec<(String, &String, &Vec<String>)> =
            form.keyword_synonyms.iter().map(|(keyword, words)| (norm(keyword), keyword, words)).collect();
        let mut keywords = Vec::with_capacity(form.must_contain_keywords.len());
        for text in &form.must_contain_keywords {
            keywords.push(place.keywords(std::iter::once(text))?);
        }
        let is_keyword = |key: &str| keywords.iter().flatten().any(|keyword: &Keyword| keyword.as_str() == key);
        if let Some((_, unknown, _)) = synonyms.iter().find(|(key, ..)| !is_keyword(key)) {
            let what = format!("synonyms are given for \"{unknown}\", which is no keyword here");
            let help = match nearest(unknown, form.must_contain_keywords.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "add it to must_contain_keywords, or remove its synonyms".to_owned(),
            };
            return Err(place.problem(unknown, "no-effect", what, help));
        }
        for keyword in &mut keywords {
            let own = keyword[0].as_str();
            let words = synonyms.iter().filter(|(key, ..)| key == own).flat_map(|(.., words)| *words);
            let words = place.keywords(words)?;
            keyword.extend(words);
        }
        let mut categories = Vec::with_capacity(1 + form.alternative_categories.len());
        for category in std::iter::once(&form.category).chain(&form.alternative_categories) {
            categories.push(place.category(category, known)?);
        }
        Ok(Self {
            line: place.line(),
            required: form.required,
            rule: form.rule,
            citation: form.citation_must_reference.map(|file| file_name(&file).to_owned()),
            category: form.category,
            categories,
            severities: (form.min_severity, form.max_severity),
            keywords,
        })
    }

    /// Whether category and keywords fit.
    pub fn matches_loosely(&self, finding: &Finding) -> bool {
        self.fits_category(finding) && self.missing_keywords(finding).next().is_none()
    }

    /// Whether some citation names the file that has to be cited.
    pub fn cites(&self, finding: &Finding) -> bool {
        match &self.citation {
            None => true,
            Some(file) => finding.citations.iter().any(|citation| citation.file == *file),
        }
    }

    /// Whether category, keywords and citation fit.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.matches_loosely(finding) && self.cites(finding)
    }

    /// Whether the category is one of those that are right.
    pub fn fits_category(&self, finding: &Finding) -> bool {
        self.categories.contains(&finding.category_key)
    }

    /// The keywords of which neither they nor a synonym is in the finding.
    pub fn missing_keywords<'a>(&'a self, finding: &'a Finding) -> impl Iterator<Item = &'a str> {
        let missing = self.keywords.iter().filter(|words| !words.iter().any(|word| word.is_in(&finding.text)));
        missing.filter_map(|words| words.first()).map(Keyword::as_str)
    }

    /// Whether every finding that matches this one has a category of its own and one of these keywords, if there are any.
    pub fn always_has(&self, category: &str, keywords: &[Keyword]) -> bool {
        // Only a keyword without a synonym stands in every match.
        let certain = self.keywords.iter().filter(|words| words.len() == 1).flatten();
        let hits = |word: &Keyword| keywords.iter().any(|keyword| keyword.is_in(word.as_str()));
        self.categories.iter().all(|own| own == category) && (keywords.is_empty() || certain.into_iter().any(hits))
    }

    /// Whether any keyword is asked for.
    pub fn has_keywords(&self) -> bool {
        !self.keywords.is_empty()
    }

    /// Whether the severity lies in the range; an unknown one lies in none.
    pub fn fits_severity(&self, finding: &Finding) -> bool {
        finding.severity.is_some_and(|severity| self.severities.0 <= severity && severity <= self.severities.1)
    }
}

/// Where a part of a golden file stands.
pub struct Place<'a> {
    /// The file.
    pub source: &'a SourceText,
    /// The part.
    pub raw: &'a RawValue,
}

impl Place<'_> {
    /// The line where the part starts, from 1.
    pub fn line(&self) -> u32 {
        self.source.line(json::offset_of(self.source, self.raw))
    }

    /// A problem at the first place of the part where `word` is written, else at its start.
    pub fn problem(
        &self,
        word: &str,
        code: &'static str,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let written = serde_json::Value::from(word).to_string();
        let inner = self.raw.get().find(&written).unwrap_or(0);
        self.source.problem(json::offset_of(self.source, self.raw) + inner, code, what, help)
    }

    /// Keywords in their normal forms.
    ///
    /// # Errors
    /// A keyword of which nothing is left.
    pub fn keywords<'k>(&self, texts: impl IntoIterator<Item = &'k String>) -> Result<Vec<Keyword>, Diagnostic> {
        let checked = texts.into_iter().map(|text| {
            Keyword::new(text).ok_or_else(|| {
                self.problem(
                    text,
                    "empty-keyword",
                    format!("the keyword {text:?} is empty"),
                    "write a word, or remove it: an empty keyword would match everything",
                )
            })
        });
        checked.collect()
    }

    /// A category in the form in which it is compared.
    ///
    /// # Errors
    /// One that is empty, or that the suite does not know.
    pub fn category(&self, text: &str, known: Option<&[String]>) -> Result<String, Diagnostic> {
        let key = same_category(text);
        if key.is_empty() {
            return Err(self.problem(text, "empty-category", "the category is empty", "name a category"));
        }
        let Some(known) = known.filter(|known| !known.iter().any(|one| same_category(one) == key)) else {
            return Ok(key);
        };
        let help = match nearest(text, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the suite's categories are {}", known.join(", ")),
        };
        Err(self.problem(text, "unknown-category", format!("unknown category \"{text}\""), help))
    }
}
