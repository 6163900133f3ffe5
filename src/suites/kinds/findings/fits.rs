//! How expected and produced findings match: compared once, queried often.

use crate::suites::shared::expected::ExpectedFinding;
use crate::suites::shared::finding::Finding;

/// How well a produced finding matches an expected one, from not at all to fully.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Category or keywords differ.
    None,
    /// Category and keywords match, the citation does not.
    Loose,
    /// All three match, except for the cited section.
    OtherSection,
    /// All match.
    Match,
}

/// A matrix: one row for each expected finding, one column for each produced one.
pub struct Fits {
    rows: Vec<Vec<Fit>>,
}

impl Fits {
    /// Compares every expected finding with every produced one.
    pub fn of(expected: &[ExpectedFinding], findings: &[Finding]) -> Self {
        let fit = |expected: &ExpectedFinding, finding: &Finding| match expected
            .matches_loosely(finding)
        {
            false => Fit::None,
            true if !expected.cites(finding) => Fit::Loose,
            true if !expected.cites_section(finding) => Fit::OtherSection,
            true => Fit::Match,
        };
        Self {
            rows: expected
                .iter()
                .map(|one| findings.iter().map(|finding| fit(one, finding)).collect())
                .collect(),
        }
    }

    /// How the produced finding matches the expected one, both by index.
    pub fn at(&self, expected: usize, finding: usize) -> Fit {
        self.rows[expected][finding]
    }

    /// Whether they match: the section that a citation names only counts in `citation_accuracy`.
    pub fn is_match(&self, expected: usize, finding: usize) -> bool {
        self.at(expected, finding) >= Fit::OtherSection
    }

    /// The indices of the produced findings that match an expected one.
    pub fn matching(&self, expected: usize) -> impl Iterator<Item = usize> {
        let fits = self.rows[expected].iter().enumerate();
        fits.filter(|(_, fit)| **fit >= Fit::OtherSection)
            .map(|(finding, _)| finding)
    }

    /// The indices of the produced findings that match an expected one except for the citation.
    pub fn loose(&self, expected: usize) -> impl Iterator<Item = usize> {
        let fits = self.rows[expected].iter().enumerate();
        fits.filter(|(_, fit)| **fit == Fit::Loose)
            .map(|(finding, _)| finding)
    }
}
