//! What the gates of one agent are evaluated on.

use std::collections::BTreeSet;

use crate::gate::limits::PlannedGate;
use crate::gate::statistics::CaseDependence;
use crate::model::{BaselineEntry, CaseId, Identity, MetricSpec, PairResult};

/// Whether all of the agent's cases ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSelection {
    /// All.
    Whole,
    /// Only those that match a filter; the others do not count as missing.
    Part,
}

/// The input of [`agent`].
pub struct GateInput<'a> {
    /// The kind's metrics.
    pub specs: &'a [MetricSpec],
    /// The gates of each metric.
    pub gates: &'a [Vec<PlannedGate>],
    /// The agent's pairs by case.
    pub pairs: &'a [PairResult],
    /// The document of each pair: pairs with the same document are not independent.
    pub documents: &'a [&'a CaseId],
    /// The band of each pair's own verdict, if its golden file sets one.
    pub zones: &'a [Option<f64>],
    /// What the pairs were measured with.
    pub identity: &'a Identity,
    /// The baseline's entry.
    pub before: Option<&'a BaselineEntry>,
    /// Whether all cases ran.
    pub selection: CaseSelection,
}

impl GateInput<'_> {
    pub(super) fn cases_apart(&self) -> CaseDependence {
        let documents: BTreeSet<&CaseId> = self.documents.iter().copied().collect();
        if documents.len() == self.documents.len() { CaseDependence::Apart } else { CaseDependence::Together }
    }
}
