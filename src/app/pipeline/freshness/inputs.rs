//! Whether recordings answer the current input, for comparing files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::FreshnessInputs;
use crate::app::pipeline::plan::Plan;
use crate::files::Files;
use crate::model::{RecordingAge, RunKey, SuiteId, Tier};

/// The current inputs of the suites of a plan; each suite is read once.
pub struct CurrentInputs<'a> {
    plan: &'a Plan,
    files: &'a dyn Files,
    known: RefCell<BTreeMap<SuiteId, Option<FreshnessInputs<'a>>>>,
}

impl<'a> CurrentInputs<'a> {
    /// Creates the inputs of a plan from these files.
    pub fn new(plan: &'a Plan, files: &'a dyn Files) -> Self {
        Self { plan, files, known: RefCell::default() }
    }

    /// Returns the age of a recording of a run by the digest of its input. Files with other line ends have two current digests.
    pub fn age(&self, run: &RunKey, digest: &str) -> RecordingAge {
        let mut known = self.known.borrow_mut();
        let inputs = known.entry(run.suite.clone()).or_insert_with(|| {
            let loaded = self.plan.suites.iter().find(|loaded| loaded.config.id == run.suite)?;
            FreshnessInputs::open(self.plan, loaded, Tier::Deterministic, self.files, None).ok()
        });
        inputs.as_ref().map_or(RecordingAge::Unknown, |inputs| inputs.input_age(run, digest))
    }
}
