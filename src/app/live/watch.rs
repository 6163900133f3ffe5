//! What happens while samples are made: they are kept, counted and told.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;

use super::curtail::Curtail;
use super::store::Address;
use super::store::Store;
use crate::engine::Events;
use crate::engine::Finished;
use crate::format::redact::Redactor;
use crate::format::run_v1;
use crate::model::Status;
use crate::world::Progress;

/// Who is told by the engine.
pub struct Watch<'a> {
    /// Where each job's record is kept until the run is at its end.
    pub unfinished: &'a Store<'a>,
    /// Where answers are kept for later runs.
    pub cache: &'a Store<'a>,
    /// Which of the asked jobs are kept there.
    pub cached: &'a [bool],
    /// The addresses of the asked jobs.
    pub addresses: &'a [&'a Address],
    /// The places of the asked jobs among all.
    pub places: &'a [usize],
    /// What must not be kept.
    pub redactor: &'a Redactor,
    /// When no further sample of a pair is needed.
    pub curtail: &'a Curtail<'a>,
    /// What people see of it.
    pub progress: &'a Progress,
    /// The records so far, by job, as text.
    pub records: RefCell<BTreeMap<usize, String>>,
    /// What went wrong while keeping them; the first of it.
    pub trouble: RefCell<Option<anyhow::Error>>,
    /// Samples without an answer.
    pub lost: Cell<usize>,
}

impl Events for Watch<'_> {
    fn is_needed(&self, job: usize) -> bool {
        self.curtail.is_needed(self.places[job])
    }

    fn finished(&self, job: usize, finished: &Finished) {
        match finished {
            Finished::Made(record) => {
                let text = run_v1::written(&self.redactor.redacted(record));
                if record.status == Status::Completed {
                    let kept = self.unfinished.keep(self.addresses[job], &text);
                    let cached = match self.cached[job] {
                        true => self.cache.keep(self.addresses[job], &text),
                        false => Ok(()),
                    };
                    if let Err(error) = kept.and(cached) {
                        self.trouble.borrow_mut().get_or_insert(error);
                    }
                    self.curtail.graded(self.places[job], &text);
                } else {
                    self.lost.set(self.lost.get() + 1);
                }
                self.records.borrow_mut().insert(self.places[job], text);
            }
            Finished::CalledOff(_) => self.lost.set(self.lost.get() + 1),
            Finished::Spared => {}
        }
        self.progress.step(self.lost.get());
    }
}
