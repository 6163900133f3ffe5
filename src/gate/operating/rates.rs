//! The results of an estimate.

use crate::model::Gate;

/// The drop that the detection rate is about: in this share of the cases the agent gets everything wrong.
pub const DROP: f64 = 0.1;

/// How samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Each round deals out recorded samples to the run and to the baseline, none twice: correct on average, whatever the agent. It needs
    /// twice as many recorded samples per case as a run has.
    Dealt,
    /// Samples are drawn repeatedly, and from other cases as far as the cases behave alike: only about right.
    Pooled,
}

/// The rates of a suite, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatingEstimate {
    Rates(SuiteRates),
    TooFew {
        /// Number of cases with enough samples.
        enough: usize,
        cases: usize,
        /// How many samples each case needs.
        needed: usize,
    },
    /// Fewer cases than such an estimate needs.
    FewCases(usize),
}

impl OperatingEstimate {
    /// The rates, if there are any.
    pub fn rates(&self) -> Option<&SuiteRates> {
        match self {
            Self::Rates(found) => Some(found),
            Self::TooFew { .. } | Self::FewCases(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SuiteRates {
    /// Samples per case of a run.
    pub samples: usize,
    /// How samples were drawn.
    pub basis: Basis,
    /// Number of simulated re-recordings.
    pub rounds: usize,
    /// The rates of all gates together: any of them fails.
    pub suite: Rates,
    pub agents: Vec<Vec<GateRates>>,
}

/// How often a gate fails, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// The share of re-recordings of an unchanged agent in which it fails.
    pub false_alarms: f64,
    /// The share of re-recordings after a drop in which it fails.
    pub detection: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GateRates {
    /// The index of its metric.
    pub metric: usize,
    /// The index of the gate among those of the metric.
    pub index: usize,
    pub gate: Gate,
    pub rates: Rates,
}
