//! The results of a run of the engine.

use std::collections::BTreeMap;

use crate::live::engine::{JobOutcome, Spending, Timeline};

/// The results of a run of the engine.
pub(super) struct SessionOutcome {
    pub(super) finished: Vec<JobOutcome>,
    /// The indices of the called jobs.
    pub(super) called: Vec<usize>,
    pub(super) records: BTreeMap<usize, String>,
    pub(super) timelines: Vec<Timeline>,
    /// What agents' programs wrote to stderr, by the index of the job.
    pub(super) complaints: BTreeMap<usize, String>,
    pub(super) spending: Spending,
    pub(super) spared: u64,
}
