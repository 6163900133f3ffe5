//! Losses in metrics without a check: precision, citations, severities, quotes.

use super::fits::{Fit, Fits};
use super::golden::Expectation;
use super::grounding::Grounding;
use crate::model::{Difference, Shortfall, Shortfalls};
use crate::suites::shared::expected::ExpectedFinding;
use crate::suites::shared::finding::Finding;
use crate::text::line;

const PRECISION: &[&str] = &["finding_precision"];
const CITATION: &[&str] = &["citation_accuracy"];
const SEVERITY: &[&str] = &["severity_accuracy"];
const QUOTE: &[&str] = &["quote_grounding"];

/// How many characters of a quote are shown.
const QUOTED: usize = 120;

/// The shortfalls of one sample; `matched` is the size of the largest matching.
pub fn shortfalls(
    expectation: &Expectation,
    findings: &[Finding],
    fits: &Fits,
    matched: usize,
    grounding: &Grounding<'_>,
) -> Vec<Shortfall> {
    let mut shortfalls = Shortfalls::default();
    let expected = &expectation.expected;
    let mut of_an_expectation = 0;
    for (index, finding) in findings.iter().enumerate() {
        let mut matching = (0..expected.len()).filter(|at| fits.is_match(*at, index));
        if let Some(first) = matching.next().map(|at| &expected[at]) {
            of_an_expectation += 1;
            if first_with(expected, fits, Fit::Match, index).is_none() {
                shortfalls.add(CITATION, || citation(first, finding));
            }
            let rated = (0..expected.len()).filter(|at| fits.is_match(*at, index));
            if !rated
                .map(|at| &expected[at])
                .any(|expected| expected.fits_severity(finding))
            {
                shortfalls.add(SEVERITY, || {
                    severity(first, finding, &short_name(findings, finding))
                });
            }
            continue;
        }
        if let Some(near) = first_with(expected, fits, Fit::Loose, index) {
            shortfalls.add(CITATION, || citation(near, finding));
        }
        shortfalls.add(PRECISION, || Difference {
            line: 1,
            expected: "only findings that the golden file expects".to_owned(),
            produced: format!("{}, which matches no expected finding", named(finding)),
        });
    }
    if of_an_expectation > matched {
        shortfalls.add(PRECISION, || Difference {
            line: 1,
            expected: "one finding for each expected finding".to_owned(),
            produced: format!("{of_an_expectation} findings for {matched} expected"),
        });
    }
    if findings.is_empty() && !expected.is_empty() {
        shortfalls.add(PRECISION, || Difference {
            line: expected.first().map_or(1, |first| first.line),
            expected: format!("findings: {} in the golden file", expected.len()),
            produced: "no finding".to_owned(),
        });
    }
    for (finding, citation) in &grounding.ungrounded {
        shortfalls.add(QUOTE, || Difference {
            line: 1,
            expected: format!("a quote from {:?}", citation.file),
            produced: format!(
                "{} quotes \"{}\"",
                named(finding),
                line(&citation.quote, QUOTED)
            ),
        });
    }
    shortfalls.into()
}

/// The category alone where it names one finding of the sample, so that samples with other titles count as the same difference.
fn short_name(findings: &[Finding], finding: &Finding) -> String {
    match findings
        .iter()
        .filter(|twin| twin.category == finding.category)
        .count()
    {
        1 => finding.category.clone(),
        _ => named(finding),
    }
}

fn severity(expected: &ExpectedFinding, finding: &Finding, finding_name: &str) -> Difference {
    let rated = finding
        .severity
        .map_or("without a severity".to_owned(), |severity| {
            format!("as {severity}")
        });
    Difference {
        line: expected.line,
        expected: format!(
            "{} with severity {}",
            expected.category,
            expected.severity_range()
        ),
        produced: format!("{finding_name} reported {rated}"),
    }
}

fn citation(expected: &ExpectedFinding, finding: &Finding) -> Difference {
    let of_section = expected
        .citation
        .as_ref()
        .is_some_and(|citation| citation.section.is_some());
    let mut cited: Vec<&str> = Vec::new();
    for citation in &finding.citations {
        cited.extend(Some(citation.file.as_str()).filter(|file| !file.is_empty()));
        let section = Some(citation.section.as_str());
        cited.extend(section.filter(|section| of_section && !section.is_empty()));
    }
    let cited = if cited.is_empty() {
        "without a citation".to_owned()
    } else {
        format!("citing {}", cited.join(", "))
    };
    Difference {
        line: expected.line,
        expected: format!(
            "{} citing {}",
            expected.category,
            expected
                .citation
                .as_ref()
                .map_or(String::new(), ToString::to_string)
        ),
        produced: format!("{} reported {cited}", named(finding)),
    }
}

fn named(finding: &Finding) -> String {
    if finding.title.is_empty() {
        finding.category.clone()
    } else {
        format!(
            "{} (\"{}\")",
            finding.category,
            line(&finding.title, QUOTED)
        )
    }
}

/// The first expected finding that a produced one fits in just this way.
fn first_with<'a>(
    expected: &'a [ExpectedFinding],
    fits: &Fits,
    fit: Fit,
    finding: usize,
) -> Option<&'a ExpectedFinding> {
    let index = (0..expected.len()).find(|index| fits.at(*index, finding) == fit)?;
    Some(&expected[index])
}
