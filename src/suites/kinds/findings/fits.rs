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

impl Fit {
    fn of(expected: &ExpectedFinding, finding: &Finding) -> Self {
        if !expected.matches_loosely(finding) {
            Self::None
        } else if !expected.cites(finding) {
            Self::Loose
        } else if !expected.cites_section(finding) {
            Self::OtherSection
        } else {
            Self::Match
        }
    }
}

/// A matrix: one row for each expected finding, one column for each produced one.
pub struct Fits {
    rows: Vec<Vec<Fit>>,
}

impl Fits {
    /// Compares every expected finding with every produced one.
    pub fn of(expected: &[ExpectedFinding], findings: &[Finding]) -> Self {
        let mut rows = Vec::with_capacity(expected.len());
        for expected in expected {
            let row = findings.iter().map(|finding| Fit::of(expected, finding));
            rows.push(row.collect());
        }
        Self { rows }
    }

    /// How the produced finding matches the expected one, both by index.
    pub fn at(&self, expected: usize, finding: usize) -> Fit {
        self.rows[expected][finding]
    }

    /// Whether they match: the section that a citation names only counts in `citation_accuracy`.
    pub fn is_match(&self, expected: usize, finding: usize) -> bool {
        self.at(expected, finding) >= Fit::OtherSection
    }

    /// The indices of the produced findings that fit any expected one at least as well as `least`.
    pub fn at_least(&self, least: Fit) -> Vec<usize> {
        let findings = 0..self.rows.first().map_or(0, Vec::len);
        findings
            .filter(|finding| self.rows.iter().any(|row| row[*finding] >= least))
            .collect()
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
