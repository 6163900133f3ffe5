//! One sample to run.

use std::sync::Arc;

use crate::model::{RunProvenance, SampleRequest};
use crate::suites::Refinement;

pub struct SampleJob {
    pub request: SampleRequest,
    /// Index of the target queue.
    pub queue: usize,
    /// Provenance for the record; the engine adds the model.
    pub origin: RunProvenance,
    /// Scheduling priority: lower rounds start first.
    pub round: u32,
    /// The refinement loop that the request starts, if the sample is one.
    pub refining: Option<RefinementSetup>,
}

/// Makes a sample a loop: the job's target is the actor, another target is the critic.
pub struct RefinementSetup {
    /// Decides who is asked next, and what.
    pub course: Arc<dyn Refinement>,
    /// Index of the critic's target queue.
    pub critic: usize,
    /// The critic's target, by its name in the config.
    pub target: String,
}
