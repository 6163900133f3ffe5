//! Why a number is not better: the elements of a case that lower it, each with expectation and result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_form::is_zero;
use super::ids::CaseId;
use super::tag::Tag;
use super::words::words;

/// An element of a case that keeps a metric of a sample from its best value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The metrics that it lowers, by name in the kind's table.
    pub metrics: &'static [&'static str],
    pub difference: Difference,
}

/// What was expected, and what was produced instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What the golden set expects.
    pub expected: String,
    /// What the agent produced.
    pub produced: String,
    /// The line of the golden file with the expectation, from 1.
    pub line: u32,
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
    pub fn add(
        &mut self,
        metrics: &'static [&'static str],
        difference: impl FnOnce() -> Difference,
    ) {
        if self
            .all
            .iter()
            .filter(|shortfall| shortfall.metrics == metrics)
            .count()
            < Self::KEPT
        {
            self.all.push(Shortfall {
                metrics,
                difference: difference(),
            });
        }
    }
}

impl From<Shortfalls> for Vec<Shortfall> {
    fn from(shortfalls: Shortfalls) -> Self {
        shortfalls.all
    }
}

/// A shortfall of a pair, with the number of completed samples that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairShortfall {
    /// The difference.
    #[serde(flatten)]
    pub difference: Difference,
    /// Completed samples that have it.
    #[serde(default = "one_sample")]
    pub samples: u32,
    /// The metrics that it lowers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

fn one_sample() -> u32 {
    1
}

/// A case that moved a metric, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseEvidence {
    /// The case.
    pub case: CaseId,
    /// The case's value of the metric; absent if it was not measured.
    pub value: Option<f64>,
    /// Its value in the baseline, if any.
    pub baseline: Option<f64>,
    /// The differences from the expectation, most frequent first; at least one.
    pub differences: Vec<EvidenceLine>,
}

/// A difference for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceLine {
    /// The difference.
    #[serde(flatten)]
    pub difference: Difference,
    /// Number of completed samples with it; absent if it concerns all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// The likely cause; absent if the difference is none of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// The next step for an engineer; absent if no check covers the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<String>,
    /// What says it.
    pub source: EvidenceSource,
}

words! {
    /// What says that a case differs from its expectation.
    pub enum EvidenceSource {
        /// A failed check.
        Check = "check",
        /// An element of the output that no check covers.
        Element = "element",
        /// The case's number of a metric, where nothing else explains it.
        Number = "number",
        /// How many samples are right, before and now.
        Samples = "samples",
        /// Samples that are missing, with the command that records them.
        Missing = "missing",
    }
}

impl EvidenceLine {
    /// A difference that no check covers.
    pub fn unchecked(source: EvidenceSource, difference: Difference) -> Self {
        Self {
            difference,
            samples: None,
            tag: None,
            next_action: None,
            source,
        }
    }

    /// Whether it is a failed check.
    pub fn is_of_check(&self) -> bool {
        self.source == EvidenceSource::Check
    }
}

/// The cases that moved a metric, worst first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MetricEvidence {
    /// The worst of them.
    #[serde(rename = "evidence", default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseEvidence>,
    /// Number of further cases.
    #[serde(rename = "more_evidence", default, skip_serializing_if = "is_zero")]
    pub more: u32,
}
