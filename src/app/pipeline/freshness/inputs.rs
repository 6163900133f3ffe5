//! What runs were asked on the base commit and are asked now, for comparing their recordings.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use super::requests::{InputDigest, Requests};
use crate::app::pipeline::plan::Plan;
use crate::golden_changes::{Sides, same_suite};
use crate::model::{Ask, Config, RunKey, SuiteId};

/// The inputs of the runs of both commits; each suite is read once, when it is needed.
pub struct InputsOfRuns<'a> {
    head: &'a Plan,
    before: &'a Config,
    sides: &'a Sides<'a>,
    suites: RefCell<BTreeMap<SuiteId, SuiteRequests>>,
}

/// The requests of a suite on both commits, as far as they can be read.
struct SuiteRequests {
    base: OnceCell<Option<Requests>>,
    head: Option<Requests>,
}

impl<'a> InputsOfRuns<'a> {
    /// Creates the inputs of a plan of the head and of the base commit's config.
    pub fn new(head: &'a Plan, before: &'a Config, sides: &'a Sides<'a>) -> Self {
        Self {
            head,
            before,
            sides,
            suites: RefCell::default(),
        }
    }

    /// Returns whether the input of a run changed and was recorded: only the second one of the digests in its recordings is current. Other line
    /// ends in its files do not change an input.
    pub fn has_new_input(&self, run: &RunKey, [before, after]: [&str; 2]) -> bool {
        self.of_suite(run, |requests| {
            let ask = requests.head.as_ref()?.ask(run, self.sides.head)?;
            let InputDigest::Known(now) = InputDigest::of(Some(&ask), self.sides.head) else {
                return None;
            };
            if now.is(before) || !now.is(after) {
                return None;
            }
            let base = requests
                .base
                .get_or_init(|| self.of_base(&run.suite))
                .as_ref()?;
            let ask = base.ask(run, self.sides.base);
            match InputDigest::of(ask.as_ref(), self.sides.base) {
                InputDigest::Known(old) => (old.sha256 != now.sha256).then_some(()),
                InputDigest::Missing => Some(()),
                InputDigest::NotRead => None,
            }
        })
        .is_some()
    }

    /// Returns the target that plays the user of a run.
    pub fn user(&self, run: &RunKey) -> Option<String> {
        self.ask(run)?
            .turns
            .simulated_user()
            .map(|user| user.target.clone())
    }

    /// Returns what the user of a run says by its case.
    pub fn said(&self, run: &RunKey) -> String {
        self.ask(run)
            .map_or(String::new(), |ask| ask.said().join("\n"))
    }

    fn ask(&self, run: &RunKey) -> Option<Ask> {
        self.of_suite(run, |requests| {
            requests.head.as_ref()?.ask(run, self.sides.head)
        })
    }

    fn of_suite<T>(&self, run: &RunKey, of: impl Fn(&SuiteRequests) -> Option<T>) -> Option<T> {
        let mut suites = self.suites.borrow_mut();
        of(suites
            .entry(run.suite.clone())
            .or_insert_with(|| SuiteRequests {
                base: OnceCell::new(),
                head: Requests::of_plan(self.head, &run.suite, self.sides.head)
                    .ok()
                    .flatten(),
            }))
    }

    fn of_base(&self, id: &SuiteId) -> Option<Requests> {
        let head = self.head.config.suite(id)?;
        Requests::open(same_suite(self.before, head)?, self.sides.base).ok()?
    }
}
