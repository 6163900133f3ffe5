//! Why a number is not better: the elements of a case that cost it, each as expected and as produced.

use super::ids::CaseId;

/// One element of a case that keeps a metric of a sample from its best value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The metrics that it costs, by their names in the kind's table.
    pub metrics: &'static [&'static str],
    /// What differs.
    pub difference: Difference,
}

/// What was expected and what was produced instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The line of the golden file that expects it, from 1.
    pub line: u32,
    /// What the golden set expects.
    pub expected: String,
    /// What the agent produced.
    pub produced: String,
}

/// The shortfalls of one sample. An answer with thousands of wrong elements needs no thousands of examples.
#[derive(Debug, Default)]
pub struct Shortfalls {
    all: Vec<Shortfall>,
}

impl Shortfalls {
    /// How many are kept for the same metrics.
    const KEPT: usize = 8;

    /// Adds one; `difference` is called only if it is kept.
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

/// A shortfall of a pair: in how many of its completed samples it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairShortfall {
    /// The metrics that it costs.
    pub metrics: Vec<String>,
    /// What differs.
    pub difference: Difference,
    /// Completed samples that have it.
    pub samples: u32,
}

/// One case that moved a metric, with what moved it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseEvidence {
    /// The case.
    pub case: CaseId,
    /// The metric's value of the case; `None` where it was not measured.
    pub value: Option<f64>,
    /// The value in the baseline, where it has one.
    pub baseline: Option<f64>,
    /// What differs from what is expected, the most frequent first; at least one.
    pub differences: Vec<EvidenceLine>,
}

/// One difference, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// What differs.
    pub difference: Difference,
    /// In how many of the completed samples; `None` where it is about all of them together.
    pub samples: Option<u32>,
}

/// The cases that moved a metric, worst first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricEvidence {
    /// The worst of them.
    pub cases: Vec<CaseEvidence>,
    /// How many more there are.
    pub more: u32,
}
