//! What the calls of one sample share, and how they fail.

use super::budget::BudgetState;
use super::sample_usage::SampleUsage;
use super::target_queue::Permit;
use crate::model::{CallError, Interruption};

/// Why a sample ended without an answer.
pub enum SampleFailure {
    /// A call failed.
    Fault(CallError),
    /// A spending limit is reached.
    Spent(Interruption),
}

/// What the calls of one sample share.
pub(super) struct SampleCalls<'c, 'l> {
    /// The permit of the queue that is called.
    pub(super) permit: &'c mut Permit<'l>,
    /// The budget of the run.
    pub(super) budget: &'c BudgetState,
    /// The usage of the sample.
    pub(super) usage: &'c mut SampleUsage,
}
