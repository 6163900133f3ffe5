//! What happens while samples are made: they are kept, counted and told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::Caching;
use super::early_stop::EarlyStop;
use super::session::LiveSession;
use crate::engine::{EngineEvents, JobOutcome};
use crate::format::redact::Redactor;
use crate::format::run_v1;
use crate::model::RunStatus;
use crate::world::Progress;

/// Who is told by the engine.
pub struct EventSink<'a> {
    /// Where records are kept as they come.
    pub session: &'a LiveSession<'a>,
    /// The places of the asked jobs among all.
    pub asked: &'a [usize],
    /// Whether answers are kept for later runs.
    pub caching: Caching,
    /// What must not be kept.
    pub redactor: &'a Redactor,
    /// When no further sample of a pair is needed.
    pub curtail: &'a EarlyStop<'a>,
    /// What people see of it.
    pub progress: &'a Progress,
    /// The records so far, by job, as text.
    pub records: RefCell<BTreeMap<usize, String>>,
    /// What went wrong while keeping them; the first of it.
    pub trouble: RefCell<Option<anyhow::Error>>,
    /// Samples without an answer.
    pub lost: Cell<usize>,
}

impl EngineEvents for EventSink<'_> {
    fn is_needed(&self, job: usize) -> bool {
        self.curtail.is_needed(self.asked[job])
    }

    fn finished(&self, job: usize, finished: &JobOutcome) {
        let place = self.asked[job];
        match finished {
            JobOutcome::Made(record) => {
                let text = run_v1::written(&self.redactor.redacted(record));
                if record.status == RunStatus::Completed {
                    if let Err(error) = self.session.keep(place, &text, self.caching) {
                        self.trouble.borrow_mut().get_or_insert(error);
                    }
                    self.curtail.graded(place, &text);
                } else {
                    self.lost.set(self.lost.get() + 1);
                }
                self.records.borrow_mut().insert(place, text);
            }
            JobOutcome::CalledOff { .. } => self.lost.set(self.lost.get() + 1),
            JobOutcome::Spared => {}
        }
        self.progress.step(self.lost.get());
    }
}
