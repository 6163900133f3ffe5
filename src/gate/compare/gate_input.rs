//! What the gates of one agent are evaluated on.

use std::collections::BTreeSet;

use crate::estimate::CaseDependence;
use crate::gate::limits::GatedMetric;
use crate::model::{BaselineEntry, CaseId, Identity, MetricSpec, PairResult};

/// Whether all of the agent's cases ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSelection {
    /// All.
    Whole,
    /// Only those that match a filter; the others do not count as missing.
    Part,
}

/// The input of [`agent`](super::agent).
pub struct GateInput<'a> {
    /// The kind's metrics with their gates.
    pub metrics: &'a [GatedMetric],
    /// The agent's pairs by case.
    pub pairs: &'a [ComparedPair<'a>],
    /// What the pairs were measured with.
    pub identity: &'a Identity,
    /// The committed baseline's entry.
    pub before: Option<&'a BaselineEntry>,
    /// The base commit's own runs, if they may be needed: see [`needs_base_runs`](super::needs_base_runs).
    pub base: Option<BaseRuns<'a>>,
    /// Whether all cases ran.
    pub selection: CaseSelection,
}

/// The base commit's own runs of an agent, graded by the rules of the judgement that asks.
#[derive(Clone, Copy)]
pub struct BaseRuns<'a> {
    /// The base branch, for messages.
    pub branch: Option<&'a str>,
    /// The results by case.
    pub results: &'a [PairResult],
}

impl BaseRuns<'_> {
    /// The name of the base in a sentence.
    pub fn name(&self) -> &str {
        self.branch.unwrap_or("the base commit")
    }
}

/// The result of a pair, and what its golden file says about comparing it.
#[derive(Clone, Copy)]
pub struct ComparedPair<'a> {
    /// The result.
    pub result: &'a PairResult,
    /// Its document: pairs with the same document are not independent.
    pub document: &'a CaseId,
    /// The band of the pair's own verdict, if its golden file sets one.
    pub zone: Option<f64>,
}

impl GateInput<'_> {
    pub(in crate::gate) fn specs(&self) -> Vec<MetricSpec> {
        self.metrics.iter().map(|metric| metric.spec).collect()
    }

    pub(in crate::gate) fn results(&self) -> impl Iterator<Item = &PairResult> + Clone {
        self.pairs.iter().map(|pair| pair.result)
    }

    pub(super) fn cases_apart(&self) -> CaseDependence {
        let documents: BTreeSet<&CaseId> = self.pairs.iter().map(|pair| pair.document).collect();
        if documents.len() == self.pairs.len() {
            CaseDependence::Apart
        } else {
            CaseDependence::Together
        }
    }
}
