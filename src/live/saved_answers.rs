//! The stores that save the answers of a session's jobs.

use super::Caching;
use super::store::{SampleAddress, SampleStore};
use crate::evaluation::plan::Plan;
use crate::format::run_v1;
use crate::model::RunRecord;
use crate::world::Disk;

/// Returns the store of finished samples and votes of a run that has not ended.
pub fn unfinished<'a>(plan: &Plan, disk: &'a Disk) -> SampleStore<'a> {
    SampleStore::new(disk, plan.config.results.child("unfinished"))
}

/// The stores and the addresses of the jobs of a session.
pub(super) struct SavedAnswers<'a> {
    /// The answers of a run that has not ended.
    pub(super) unfinished: SampleStore<'a>,
    /// The answers for later runs.
    pub(super) cache: SampleStore<'a>,
    pub(super) addresses: Vec<SampleAddress>,
    /// For each job, whether its suite measures variance: its answers are only cached if all are.
    pub(super) measures_variance: Vec<bool>,
}

impl<'a> SavedAnswers<'a> {
    /// The stores of this config, without jobs.
    pub(super) fn new(plan: &Plan, disk: &'a Disk) -> Self {
        Self {
            unfinished: unfinished(plan, disk),
            cache: SampleStore::new(disk, plan.config.results.child("cache")),
            addresses: Vec::new(),
            measures_variance: Vec::new(),
        }
    }

    /// Saves a finished job's record for `--resume`, and in the cache if enabled. The one in the cache says that it is from there.
    pub(super) fn keep(
        &self,
        job: usize,
        record: &RunRecord,
        caching: Caching,
    ) -> anyhow::Result<()> {
        self.unfinished
            .keep(&self.addresses[job], &run_v1::written(record))?;
        if !self.is_cached(job, caching) {
            return Ok(());
        }
        let mut cached = record.clone();
        cached.provenance.provenance.cache = Some("hit".to_owned());
        self.cache
            .keep(&self.addresses[job], &run_v1::written(&cached))
    }

    pub(super) fn is_cached(&self, job: usize, caching: Caching) -> bool {
        match caching {
            Caching::Off => false,
            Caching::All => true,
            Caching::Usual => !self.measures_variance[job],
        }
    }
}
