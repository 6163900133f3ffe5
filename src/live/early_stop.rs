//! Grades samples as they arrive, to stop when further samples of a pair cannot change a verdict.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::EarlyStopping;
use super::planned_run::PlannedRun;
use crate::files::{Files, SourceText};
use crate::format::run_v1;
use crate::gate::{SoFar, is_settled};
use crate::model::{Grade, Policy, RepoPath};
use crate::suites::GradeContext;

/// The grades of all pairs so far.
pub struct EarlyStop<'a> {
    wanted: &'a [PlannedRun<'a>],
    /// The index of the run of each job.
    runs: &'a [usize],
    files: &'a dyn Files,
    sparing: EarlyStopping,
    grades: RefCell<BTreeMap<usize, Vec<Grade>>>,
    settled: RefCell<BTreeMap<usize, bool>>,
    spared: Cell<u64>,
}

impl<'a> EarlyStop<'a> {
    /// Creates an empty state.
    pub fn new(
        wanted: &'a [PlannedRun<'a>],
        runs: &'a [usize],
        files: &'a dyn Files,
        sparing: EarlyStopping,
    ) -> Self {
        let (grades, settled) = (RefCell::default(), RefCell::default());
        Self {
            wanted,
            runs,
            files,
            sparing,
            grades,
            settled,
            spared: Cell::new(0),
        }
    }

    /// Returns how many calls were saved.
    pub fn spared(&self) -> u64 {
        self.spared.get()
    }

    /// Whether a job's answer can still change a verdict. Counts the job as saved if not.
    pub fn is_needed(&self, job: usize) -> bool {
        let needed = !self
            .settled
            .borrow()
            .get(&self.runs[job])
            .copied()
            .unwrap_or(false);
        if !needed {
            self.spared.set(self.spared.get() + 1);
        }
        needed
    }

    pub fn grade(&self, job: usize, record: &str) {
        let run = self.runs[job];
        let wanted = &self.wanted[run];
        let may_stop = match self.sparing {
            // A majority of one or two samples needs all of them, and the rules of `regression` need every sample. What no run has is only
            // known after the last one.
            EarlyStopping::Exact => {
                wanted.loaded.config.policy == Policy::Seed
                    && wanted.samples >= 3
                    && wanted.loaded.kind.outputs.optional.names.is_empty()
            }
            EarlyStopping::FirstRight => true,
            EarlyStopping::Off => false,
        };
        if !may_stop || !wanted.alone {
            return;
        }
        let Some(pair) = wanted.pair else { return };
        let source = SourceText::from_text(RepoPath::root().child("record"), record.to_owned());
        let context = GradeContext::new(self.files, &wanted.loaded.prompts);
        let sample = jobs_sample(self.runs, job);
        // The error is reported when all samples are graded. Until then all samples of this pair are made.
        let fields = wanted.loaded.kind.output_fields(&wanted.loaded.config);
        let graded = run_v1::read_run_with(&source, &wanted.request.key, sample, &fields)
            .and_then(|read| wanted.loaded.grade(pair, &[read], &context));
        let Ok(grade) = graded else { return };
        if grade.unknown().is_some() {
            return;
        }
        let mut grades = self.grades.borrow_mut();
        let so_far = grades.entry(run).or_default();
        so_far.push(grade);
        let settled = if self.sparing == EarlyStopping::FirstRight {
            so_far.iter().any(Grade::passed)
        } else {
            let grades: Vec<&Grade> = so_far.iter().collect();
            let so_far = SoFar {
                grades: &grades,
                lost: 0,
                planned: wanted.samples,
                zone: pair.zone,
            };
            is_settled(&wanted.loaded.model_metrics, &so_far)
        };
        self.settled.borrow_mut().insert(run, settled);
    }
}

/// Returns the sample number of a job: jobs of one run are adjacent and in the order of their samples.
fn jobs_sample(runs: &[usize], job: usize) -> u32 {
    u32::try_from(
        runs[..job]
            .iter()
            .rev()
            .take_while(|run| **run == runs[job])
            .count(),
    )
    .unwrap_or(u32::MAX)
}
