//! The recorded runs that the head's judgement read, for the judgement by the base's rules: no recording is parsed twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::model::{RepoPath, Run, RunKey, StatedFields};

/// Most bytes of outputs that are kept; what a kind read of them takes several times as much. Runs that were read after that are read again.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A recording, and the sample that it was read as by a suite's fields.
pub type ReadSample = (RepoPath, RunKey, u32, StatedFields);

/// The runs that were read in one tier.
#[derive(Default)]
pub struct ReadRuns(Mutex<KeptRuns>);

#[derive(Default)]
struct KeptRuns {
    runs: HashMap<ReadSample, Run>,
    bytes: usize,
}

impl ReadRuns {
    /// Keeps a run for the second judgement.
    pub fn keep(&self, sample: ReadSample, run: &Run) {
        let bytes = run.outputs.len() + run.intermediate.as_ref().map_or(0, |steps| steps.len());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes <= MOST_BYTES {
            kept.bytes += bytes;
            kept.runs.insert(sample, run.clone());
        }
    }

    /// Takes out a run that was read; `None` if it was not kept.
    pub fn take(&self, sample: &ReadSample) -> Option<Run> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .runs
            .remove(sample)
    }
}
