//! How expected and produced findings fit each other: compared once, asked often.

use crate::suites::expected::ExpectedFinding;
use crate::suites::finding::Finding;

/// How far one produced finding is what was expected (grading.md 4). Ordered from not at all to fully.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Category or keywords differ.
    None,
    /// Category and keywords fit, the citation does not.
    Loose,
    /// All three fit.
    Match,
}

/// One row an expected finding, one column a produced one.
pub struct Fits {
    rows: Vec<Vec<Fit>>,
}

impl Fits {
    /// Compares every expected finding with every produced one.
    pub fn of(expected: &[ExpectedFinding], findings: &[Finding]) -> Self {
        let fit = |expected: &ExpectedFinding, finding: &Finding| match expected.matches_loosely(finding) {
            false => Fit::None,
            true if expected.cites(finding) => Fit::Match,
            true => Fit::Loose,
        };
        Self { rows: expected.iter().map(|one| findings.iter().map(|finding| fit(one, finding)).collect()).collect() }
    }

    /// How one produced finding fits one expected finding, both by their places.
    pub fn at(&self, expected: usize, finding: usize) -> Fit {
        self.rows[expected][finding]
    }

    /// The places of the produced findings that match an expected one.
    pub fn matching(&self, expected: usize) -> impl Iterator<Item = usize> {
        let fits = self.rows[expected].iter().enumerate();
        fits.filter(|(_, fit)| **fit == Fit::Match).map(|(finding, _)| finding)
    }

    /// The places of the produced findings that fit an expected one in all but the citation.
    pub fn loose(&self, expected: usize) -> impl Iterator<Item = usize> {
        let fits = self.rows[expected].iter().enumerate();
        fits.filter(|(_, fit)| **fit == Fit::Loose).map(|(finding, _)| finding)
    }
}
