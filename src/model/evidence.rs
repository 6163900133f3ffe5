//! Why a number is not better: the elements of a case that lower it, each with expectation and result.

use super::ids::CaseId;

/// An element of a case that keeps a metric of a sample from its best value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The metrics that it lowers, by name in the kind's table.
    pub metrics: &'static [&'static str],
    /// The difference.
    pub difference: Difference,
}

/// What was expected, and what was produced instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The line of the golden file with the expectation, from 1.
    pub line: u32,
    /// What the golden set expects.
    pub expected: String,
    /// What the agent produced.
    pub produced: String,
}

/// The shortfalls of one sample. Only a few are kept per metric: thousands of wrong elements need no thousands of examples.
#[derive(Debug, Default)]
pub struct Shortfalls {
    all: Vec<Shortfall>,
}

impl Shortfalls {
    /// Most shortfalls that are kept for the same metrics.
    const KEPT: usize = 8;

    /// Adds a shortfall; `difference` is called only if it is kept.
    pub fn add(&mut self, metrics: &'static [&'static str], difference: impl FnOnce() -> Difference) {
        if self.all.iter().filter(|one| one.metrics == metrics).count() < Self::KEPT {
            self.all.push(Shortfall { metrics, difference: difference() });
        }
    }
}

impl From<Shortfalls> for Vec<Shortfall> {
    fn from(shortfalls: Shortfalls) -> Self {
        shortfalls.all
    }
}

/// A shortfall of a pair, with the number of completed samples that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairShortfall {
    /// The metrics that it lowers.
    pub metrics: Vec<String>,
    /// The difference.
    pub difference: Difference,
    /// Completed samples that have it.
    pub samples: u32,
}

/// A case that moved a metric, with the reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseEvidence {
    /// The case.
    pub case: CaseId,
    /// The case's value of the metric; `None` if it was not measured.
    pub value: Option<f64>,
    /// Its value in the baseline, if any.
    pub baseline: Option<f64>,
    /// The differences from the expectation, most frequent first; at least one.
    pub differences: Vec<EvidenceLine>,
}

/// A difference for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// The difference.
    pub difference: Difference,
    /// Number of completed samples with it; `None` if it concerns all of them together.
    pub samples: Option<u32>,
}

/// The cases that moved a metric, worst first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricEvidence {
    /// The worst of them.
    pub cases: Vec<CaseEvidence>,
    /// Number of further cases.
    pub more: u32,
}
