//! What the calls of one sample share, and how they fail.

use super::budget::BudgetState;
use super::sample_usage::SampleUsage;
use super::target_queue::Permit;
use crate::model::{CallError, Interruption};

/// Why a sample ended without an answer.
pub enum SampleFailure {
    Fault(CallError),
    /// A spending limit is reached.
    Spent(Interruption),
}

/// What the calls of one sample share.
pub(super) struct SampleCalls<'c, 'l> {
    pub(super) permit: &'c mut Permit<'l>,
    pub(super) budget: &'c BudgetState,
    pub(super) usage: &'c mut SampleUsage,
}
