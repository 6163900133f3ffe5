//! The recorded runs that were read, for the second one who needs them: no recording is parsed twice. [`ReadRuns`] are for the judgement by the
//! base's rules, [`ReadSamples`] for grading after a look at all runs of a suite.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::model::{AgentName, CaseId, RepoPath, Run, RunKey, Sample, StatedFields};
use crate::suites::Pair;

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
        let bytes = size(run);
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

/// The samples of pairs that were read.
#[derive(Default)]
pub struct ReadSamples(Mutex<KeptSamples>);

#[derive(Default)]
struct KeptSamples {
    samples: HashMap<(CaseId, AgentName), Vec<Sample>>,
    bytes: usize,
}

impl ReadSamples {
    /// Keeps the samples of a pair.
    pub fn keep(&self, pair: &Pair, samples: Vec<Sample>) {
        let bytes: usize = samples.iter().flat_map(Sample::runs).map(size).sum();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + bytes <= MOST_BYTES {
            kept.bytes += bytes;
            let key = (pair.case.clone(), pair.agent.clone());
            kept.samples.insert(key, samples);
        }
    }

    /// Takes out the samples of a pair; `None` if they were not kept.
    pub fn take(&self, pair: &Pair) -> Option<Vec<Sample>> {
        let key = (pair.case.clone(), pair.agent.clone());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.samples.remove(&key)
    }
}

/// The bytes of what a run has for grading.
fn size(run: &Run) -> usize {
    run.outputs.len() + run.intermediate.as_ref().map_or(0, |steps| steps.len())
}
