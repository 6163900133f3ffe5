//! What the agents of a suite are asked.

use std::collections::HashMap;
use std::sync::Arc;

use crate::app::pipeline::plan::Plan;
use crate::diag::{Diagnostics, ReadFailure};
use crate::files::{CheckoutDigest, Files};
use crate::model::{Ask, RunKey, SuiteConfig, SuiteId};
use crate::suites::{Suite, input_digest, kind};

/// The requests of a suite, by run.
pub struct Requests {
    suite: Arc<dyn Suite>,
    /// Which of its pairs has a run.
    pair_indices: HashMap<RunKey, usize>,
}

/// The digest of the input of a case on one commit.
pub enum InputDigest {
    Known(CheckoutDigest),
    /// Not all of its files were read: the trusted gate only reads files that the configs name.
    NotRead,
    /// The case does not exist any more, or its request cannot be built.
    Missing,
}

impl Requests {
    /// Returns the requests of a suite of a plan, whether or not it is selected; `None` if it has no such suite.
    ///
    /// # Errors
    /// Its golden files cannot be read.
    pub fn of_plan(
        plan: &Plan,
        id: &SuiteId,
        files: &dyn Files,
    ) -> Result<Option<Self>, Diagnostics> {
        let loaded = plan.suites.iter().find(|loaded| loaded.config.id == *id);
        match (loaded, plan.config.suite(id)) {
            (Some(loaded), _) => Ok(Some(Self::of(loaded.suite.clone()))),
            (None, Some(config)) => Self::open(config, files),
            (None, None) => Ok(None),
        }
    }

    /// Reads the requests of a suite; `None` if it has a kind that this version does not know.
    ///
    /// # Errors
    /// Its golden files cannot be read.
    pub fn open(config: &SuiteConfig, files: &dyn Files) -> Result<Option<Self>, Diagnostics> {
        let Some(kind) = kind(&config.kind) else {
            return Ok(None);
        };
        Ok(Some(Self::of(Arc::from((kind.open)(config, files)?))))
    }

    fn of(suite: Arc<dyn Suite>) -> Self {
        let mut pair_indices = HashMap::new();
        for (index, pair) in suite.pairs_to_run().enumerate() {
            for key in &pair.runs {
                pair_indices.entry(key.clone()).or_insert(index);
            }
        }
        Self {
            suite,
            pair_indices,
        }
    }

    /// Returns the request of a run; `None` if the suite has no such run, or the request cannot be built.
    pub fn ask(&self, key: &RunKey, files: &dyn Files) -> Option<Ask> {
        let pair = self
            .suite
            .pairs_to_run()
            .nth(*self.pair_indices.get(key)?)?;
        self.suite.ask(pair, key, files).ok()?
    }
}

impl InputDigest {
    /// Computes the digest of the input that a request states.
    pub fn of(ask: Option<&Ask>, files: &dyn Files) -> Self {
        match ask.map(|ask| input_digest(ask, files)) {
            Some(Ok(digest)) => Self::Known(digest),
            Some(Err(problem)) if problem.is_read_failure(ReadFailure::NotFetched) => Self::NotRead,
            Some(Err(_)) | None => Self::Missing,
        }
    }
}
