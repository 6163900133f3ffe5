//! Handles the engine's events: saves and counts samples, and shows progress.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::Caching;
use super::early_stop::EarlyStop;
use super::saved_answers::SavedAnswers;
use crate::format::redact::redacted_record;
use crate::format::run_v1;
use crate::live::engine::{EngineEvents, JobOutcome};
use crate::model::{Measures, RunStatus};
use crate::text::Redactor;
use crate::world::{Progress, SampleSpending};

/// Receives the engine's events.
pub struct EventSink<'a> {
    /// Saves the records as they arrive.
    pub saved: &'a SavedAnswers<'a>,
    /// The indices of the called jobs among all jobs.
    pub called: &'a [usize],
    /// Which answers are cached for later runs.
    pub caching: Caching,
    /// Removes secrets from the records.
    pub redactor: &'a Redactor,
    /// Decides when a pair needs no further samples.
    pub early_stop: &'a EarlyStop<'a>,
    pub progress: &'a Progress,
    /// The records so far as text, by job.
    pub records: RefCell<BTreeMap<usize, String>>,
    /// The first error while saving records.
    pub error: RefCell<Option<anyhow::Error>>,
    /// The number of samples without an answer.
    pub lost: Cell<usize>,
}

impl EngineEvents for EventSink<'_> {
    fn is_needed(&self, job: usize) -> bool {
        self.early_stop.is_needed(self.called[job])
    }

    fn finished(&self, job: usize, finished: &JobOutcome) {
        let index = self.called[job];
        let mut used = SampleSpending::default();
        match finished {
            JobOutcome::Made(record) => {
                let record = redacted_record(record.as_ref().clone(), self.redactor);
                used = spending(&record.metrics);
                let text = run_v1::written(&record);
                if record.status == RunStatus::Completed {
                    if let Err(failure) = self.saved.keep(index, &record, self.caching) {
                        self.error.borrow_mut().get_or_insert(failure);
                    }
                    self.early_stop.grade(index, &text);
                } else {
                    self.lost.set(self.lost.get() + 1);
                }
                self.records.borrow_mut().insert(index, text);
            }
            JobOutcome::CalledOff { .. } => self.lost.set(self.lost.get() + 1),
            JobOutcome::Spared => {}
        }
        self.progress
            .step(job, used, self.lost.get(), self.early_stop.spared());
    }
}

fn spending(metrics: &Measures) -> SampleSpending {
    let tokens = match metrics.total_tokens {
        Some(total) => total,
        None => metrics.input_tokens.unwrap_or(0) + metrics.output_tokens.unwrap_or(0),
    };
    SampleSpending {
        tokens,
        cost_usd: metrics.cost_usd.unwrap_or_default(),
    }
}
