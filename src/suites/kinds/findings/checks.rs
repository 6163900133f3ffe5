//! The checks of a pair on one sample, with evidence and next action.

use std::collections::BTreeSet;

use super::fits::Fits;
use super::golden::{Expectation, ExpectedGap, Guard};
use crate::model::{Check, CheckKey, Failure, Tag};
use crate::suites::shared::expected::ExpectedFinding;
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::finding::{DocumentNames, Finding};
use crate::suites::shared::produced::FindingsOutput;

/// One sample and its expectation.
pub struct FindingsChecker<'a> {
    pub expectation: &'a Expectation,
    pub produced: &'a FindingsOutput,
    pub fits: &'a Fits,
    pub files: &'a DocumentNames,
    /// Whether a produced finding counts for each expected one.
    pub credited: &'a [bool],
    pub classifier: FailureClassifier<'a>,
}

impl FindingsChecker<'_> {
    /// Every check, in the order of the golden file; every sample has the same checks.
    pub fn checks(&self) -> Vec<Check> {
        let form = "make the agent answer {\"findings\": [{category, severity, title, description, citations}], \"gaps\": []}";
        let mut checks = vec![Check::only(
            "schema",
            || "JSON with the lists findings and gaps".to_owned(),
            self.classifier.schema(form),
        )];
        for (index, expected) in self.expectation.required() {
            let failure = self.expected(index, expected);
            checks.push(Check::of(
                "expected_finding",
                CheckKey::at(index),
                expected.line,
                || expected.to_string(),
                failure,
            ));
        }
        for (index, gap) in self.expectation.gaps.iter().enumerate() {
            checks.push(Check::of(
                "expected_gap",
                CheckKey::at(index),
                gap.line,
                || format!("the gap \"{}\" reported", gap.name),
                self.missing_gap(gap),
            ));
        }
        for (index, guard) in self.expectation.guards.iter().enumerate() {
            checks.push(Check::of(
                "must_not_find",
                CheckKey::at(index),
                guard.line,
                || format!("no finding of category {}", guard.category),
                self.guard(guard),
            ));
        }
        if let Some((least, most)) = self.expectation.count {
            checks.push(Check::of(
                "count_in_range",
                CheckKey::Only,
                self.expectation.count_line,
                || format!("findings: {}", range(least, most)),
                self.count_outside(least, most),
            ));
        }
        checks
    }

    fn missing_gap(&self, gap: &ExpectedGap) -> Option<Failure> {
        if self.produced.gaps.contains(&gap.key) {
            return None;
        }
        let detail = format!("the gap \"{}\" was not reported", gap.name);
        let action = "make the prompt ask for missing documents of this type; only if none is missing, correct expected_gaps";
        Some(self.failure(None, detail, action.to_owned()))
    }

    fn count_outside(&self, least: u64, most: u64) -> Option<Failure> {
        let count = self.produced.findings.len() as u64;
        if (least..=most).contains(&count) {
            return None;
        }
        // Outside the range, so `<` and `<=` are the same here.
        let action = if count < least {
            "find out what the agent missed in this document"
        } else {
            "look for findings that are not expected in this document"
        };
        let detail = format!("findings produced: {count}");
        Some(self.failure(None, detail, action.to_owned()))
    }

    fn failure(&self, rule: Option<&str>, detail: String, next_action: String) -> Failure {
        self.classifier
            .failure(CheckFailure::Content, rule, detail, next_action)
    }

    fn expected(&self, index: usize, expected: &ExpectedFinding) -> Option<Failure> {
        let findings = &self.produced.findings;
        if self.credited[index] {
            return None;
        }
        let rule = expected.rule.as_deref();
        let category = &expected.category;
        if let Some(shared) = self.fits.matching(index).next() {
            let detail = format!(
                "{category}: the only finding{} already counts for other expected findings",
                named(&findings[shared])
            );
            let action = "make the prompt ask for one finding for each issue; only if one finding may cover them all, raise `recall: { per_finding }`";
            return Some(self.failure(rule, detail, action.to_owned()));
        }
        // A citation of an unknown file comes before a wrong citation, whatever their order.
        let loose: Vec<&Finding> = self.fits.loose(index).map(|near| &findings[near]).collect();
        if let Some(near) = loose
            .iter()
            .find(|near| near.cited_outside(self.files).is_some())
            .or(loose.first())
        {
            return Some(self.wrong_citation(expected, near));
        }
        let by_category = findings
            .iter()
            .filter(|finding| expected.fits_category(finding))
            .min_by_key(|finding| expected.missing_keywords(finding).count());
        if let Some(near) = by_category {
            let missing: Vec<String> = expected
                .missing_keywords(near)
                .map(|word| format!("\"{word}\""))
                .collect();
            let detail = format!(
                "{category}: the nearest finding{} lacks {}",
                named(near),
                missing.join(", ")
            );
            let action = "make the prompt require these words; only if the finding is right, add a synonym to the golden file";
            return Some(self.failure(rule, detail, action.to_owned()));
        }
        let by_keywords = findings.iter().find(|finding| {
            expected.has_keywords() && expected.missing_keywords(finding).next().is_none()
        });
        if let Some(near) = by_keywords {
            let detail = format!(
                "{category}: reported{} under the category \"{}\"",
                named(near),
                near.category
            );
            let action = "sharpen the category rules of the prompt; only if the category is right, add it to alternative_categories";
            return Some(self.failure(rule, detail, action.to_owned()));
        }
        let action = match rule {
            Some(rule) if self.classifier.had_rule(rule) => {
                format!(
                    "the agent had rule {rule} and did not follow it: add an example of {category}, or stress the rule"
                )
            }
            Some(rule) => {
                format!("write rule {rule} into the prompt package: when to report {category}")
            }
            None => {
                format!("make the prompt say when to report {category}, and name the rule here")
            }
        };
        Some(self.failure(rule, format!("{category}: not reported"), action))
    }

    fn wrong_citation(&self, expected: &ExpectedFinding, near: &Finding) -> Failure {
        let category = &expected.category;
        let file = expected
            .citation
            .as_ref()
            .and_then(|citation| citation.file.as_deref())
            .unwrap_or_default();
        let cited: BTreeSet<&str> = near
            .citations
            .iter()
            .map(|citation| citation.file.as_str())
            .filter(|file| !file.is_empty())
            .collect();
        let list: Vec<String> = cited.iter().map(|file| format!("\"{file}\"")).collect();
        let detail = if list.is_empty() {
            format!("{category}: reported{} without a citation", named(near))
        } else {
            format!(
                "{category}: reported{}, citing {} instead of \"{file}\"",
                named(near),
                list.join(", ")
            )
        };
        match (
            near.cited_outside(self.files),
            self.produced.flaws.is_empty(),
        ) {
            (Some(outside), true) => {
                let next_action = format!(
                    "\"{outside}\" is not a document of this suite: fix how the agent names its sources"
                );
                Failure {
                    tag: Tag::Tooling,
                    detail,
                    next_action,
                }
            }
            _ => self.failure(
                expected.rule.as_deref(),
                detail,
                format!("make the agent cite \"{file}\" for this finding"),
            ),
        }
    }

    fn guard(&self, guard: &Guard) -> Option<Failure> {
        let hit = self
            .produced
            .findings
            .iter()
            .find(|finding| guard.is_hit(finding))?;
        let reason = if guard.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", guard.reason)
        };
        let detail = format!(
            "{} was reported{}, which is wrong here{reason}",
            guard.category,
            named(hit)
        );
        let action = "make the prompt say when this category does not apply".to_owned();
        Some(self.failure(guard.rule.as_deref(), detail, action))
    }
}

fn range(least: u64, most: u64) -> String {
    match most {
        u64::MAX => format!("at least {least}"),
        _ if least == most => least.to_string(),
        _ => format!("{least} to {most}"),
    }
}

fn named(finding: &Finding) -> String {
    if finding.title.is_empty() {
        String::new()
    } else {
        format!(" (\"{}\")", finding.title)
    }
}
