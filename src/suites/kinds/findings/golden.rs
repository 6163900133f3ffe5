//! The golden file of one pair: `expected/{agent}/{contract}.json`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::suites::shared::case_frame::CaseForm;
use crate::suites::shared::expected::ExpectedFinding;
use crate::suites::shared::finding::Finding;
use crate::suites::shared::match_rules::{MatchMode, MatchRules};
use crate::text::{Category, Keyword};

/// What an agent should report on one document: `expected/{agent}/{contract}.json`.
// Borrowed from its text, so that every part has a position.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "expected findings of one agent on one document")]
pub struct ExpectedFile<'a> {
    /// The file of the document in `contracts`; by default the one with the name of the golden file.
    pub contract: Option<String>,
    /// The agent, which is the name of the folder.
    pub agent: Option<String>,
    /// The findings that an agent should produce.
    #[serde(borrow, default)]
    #[schemars(with = "Vec<crate::suites::shared::expected::ExpectedForm>")]
    expected_findings: Vec<&'a RawValue>,
    /// The gap types that the agent should report.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    expected_gaps: Vec<&'a RawValue>,
    /// What the agent must not report on this document.
    #[serde(default)]
    #[schemars(with = "Vec<GuardForm>")]
    must_not_find: Vec<&'a RawValue>,
    /// The ambiguity zone of this case's own verdict, 0 to 0.5. It is shown to the reader; hard gates ignore it.
    #[schemars(with = "Option<f64>")]
    ambiguity_zone: Option<&'a RawValue>,
    /// The lowest accepted number of findings.
    #[schemars(with = "Option<u64>")]
    min_expected_findings: Option<&'a RawValue>,
    /// The highest accepted number of findings.
    #[schemars(with = "Option<u64>")]
    max_expected_findings: Option<&'a RawValue>,
}

impl CaseForm for ExpectedFile<'_> {}

/// A category that an agent must not report on this document.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GuardForm {
    /// The category.
    category: String,
    /// Why it would be wrong.
    #[serde(default)]
    reason: String,
    /// If there are keywords, a finding needs at least one of them to match this entry.
    #[serde(default)]
    keywords: Vec<String>,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

/// An entry of `must_not_find`, prepared for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    pub category: String,
    /// The category and its synonyms.
    pub keys: Vec<Category>,
    mode: MatchMode,
    pub reason: String,
    pub keywords: Box<[Keyword]>,
    pub rule: Option<String>,
    pub line: u32,
}

impl Guard {
    /// Whether this entry forbids the finding.
    pub fn is_hit(&self, finding: &Finding) -> bool {
        let text = self.mode.text(finding);
        self.mode.fits_category(&self.keys, finding)
            && (self.keywords.is_empty() || self.keywords.iter().any(|word| word.is_in(text)))
    }
}

/// Boxed slices, because a vector of one that may fail has room for four, in each of some ten thousand cases.
pub struct Expectation {
    pub expected: Box<[ExpectedFinding]>,
    pub gaps: Box<[ExpectedGap]>,
    pub guards: Box<[Guard]>,
    /// The lowest and highest accepted number of findings, if stated.
    pub count: Option<(u64, u64)>,
    pub count_line: u32,
    /// The file of the document.
    pub document: String,
}

impl Expectation {
    /// Whether it expects and forbids nothing, so that every answer would pass.
    pub fn is_empty(&self) -> bool {
        self.expected.is_empty()
            && self.gaps.is_empty()
            && self.guards.is_empty()
            && self.count.is_none()
    }

    /// The category that most of the required findings accept, the first of several, and how many accept it.
    pub fn most_shared_category(&self) -> Option<(&str, usize)> {
        let categories = self
            .required()
            .flat_map(|(_, expected)| expected.categories());
        let mut most: Option<(&str, usize)> = None;
        for category in categories {
            let accepting = self
                .required()
                .filter(|(_, expected)| expected.accepts_category(category))
                .count();
            if most.is_none_or(|(_, count)| accepting > count) {
                most = Some((category.as_str(), accepting));
            }
        }
        most
    }

    /// The required findings, with their indices among all expected findings.
    pub fn required(&self) -> impl Iterator<Item = (usize, &ExpectedFinding)> {
        self.expected
            .iter()
            .enumerate()
            .filter(|(_, expected)| expected.required)
    }
}

/// A gap type that should be reported.
pub struct ExpectedGap {
    pub name: String,
    pub key: String,
    pub line: u32,
}

/// Reads the expectations of one pair on a document, and its ambiguity zone.
pub fn expectation<'a>(
    source: &'a SourceText,
    text: &ExpectedFile<'a>,
    rules: &MatchRules,
    document: String,
) -> Result<(Expectation, Option<f64>), Diagnostic> {
    let whole = JsonCursor::whole(source);
    whole.few_expectations("expected_findings", text.expected_findings.len())?;
    whole.few_expectations("must_not_find", text.must_not_find.len())?;
    let expected = text
        .expected_findings
        .iter()
        .map(|raw| ExpectedFinding::read(source, raw, rules))
        .collect::<Result<_, _>>()?;
    let guards = text
        .must_not_find
        .iter()
        .map(|raw| guard(source, raw, rules))
        .collect::<Result<_, _>>()?;
    let gaps = text
        .expected_gaps
        .iter()
        .map(|raw| gap(source, raw))
        .collect::<Result<_, _>>()?;
    let zone: Option<f64> = text
        .ambiguity_zone
        .map(|raw| json::part(source, raw))
        .transpose()?
        .flatten();
    if let (Some(raw), Some(zone)) = (
        text.ambiguity_zone,
        zone.filter(|zone| !(0.0..=0.5).contains(zone)),
    ) {
        let message = format!("ambiguity_zone is {zone}");
        return Err(source.problem(
            json::offset_of(source, raw),
            Code::BAD_ZONE,
            message,
            "write a number from 0 to 0.5",
        ));
    }
    let least = number(source, text.min_expected_findings)?;
    let most = number(source, text.max_expected_findings)?;
    let count = match (least, most) {
        (None, None) => None,
        (least, most) => Some((least.unwrap_or(0), most.unwrap_or(u64::MAX))),
    };
    let count_raw = text.max_expected_findings.or(text.min_expected_findings);
    if let (Some((least, most)), Some(raw)) =
        (count.filter(|(least, most)| least > most), count_raw)
    {
        let message =
            format!("min_expected_findings {least} is above max_expected_findings {most}");
        return Err(source.problem(
            json::offset_of(source, raw),
            Code::EMPTY_RANGE,
            message,
            "swap them, or widen the range",
        ));
    }
    let count_line = count_raw.map_or(1, |raw| source.line(json::offset_of(source, raw)));
    Ok((
        Expectation {
            expected,
            gaps,
            guards,
            count,
            count_line,
            document,
        },
        zone,
    ))
}

fn guard(source: &SourceText, raw: &RawValue, rules: &MatchRules) -> Result<Guard, Diagnostic> {
    let form: GuardForm = json::part(source, raw)?;
    let cursor = JsonCursor::part(source, raw);
    let category = cursor.category(&[Key("category")], &form.category, rules.known.as_deref())?;
    Ok(Guard {
        keys: rules.names_of(&category),
        mode: rules.mode,
        keywords: cursor.keywords(&[Key("keywords")], &form.keywords)?.into(),
        category: form.category,
        reason: form.reason,
        rule: cursor.rule(form.rule)?,
        line: cursor.line(),
    })
}

fn gap(source: &SourceText, raw: &RawValue) -> Result<ExpectedGap, Diagnostic> {
    let name: String = json::part(source, raw)?;
    let cursor = JsonCursor::part(source, raw);
    Ok(ExpectedGap {
        key: cursor.category(&[], &name, None)?,
        line: cursor.line(),
        name,
    })
}

fn number(source: &SourceText, raw: Option<&RawValue>) -> Result<Option<u64>, Diagnostic> {
    match raw {
        Some(raw) => json::part(source, raw),
        None => Ok(None),
    }
}
