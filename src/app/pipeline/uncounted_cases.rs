//! The cases that have runs and count for nothing: drafts and retired cases.

use std::collections::BTreeSet;

use super::plan::{LoadedSuite, Plan};
use crate::model::{AgentName, CaseId, RunKey, SuiteId};

/// The runs that count on the base commit. `base` are its suites that differ from the head's.
pub fn counted_on_base<'a>(head: &'a Plan, base: &'a [LoadedSuite]) -> BTreeSet<&'a RunKey> {
    let is_same =
        |loaded: &&LoadedSuite| !base.iter().any(|other| other.config.id == loaded.config.id);
    let suites = head.read_suites().filter(is_same).chain(base);
    suites.flat_map(LoadedSuite::counted_runs).collect()
}

/// The runs of cases that count in none of some suites.
#[derive(Debug, Default)]
pub struct UncountedCases {
    drafts: BTreeSet<RunKey>,
    retired: BTreeSet<(SuiteId, CaseId)>,
    counted: BTreeSet<RunKey>,
}

impl UncountedCases {
    /// Returns those of these suites, which may be the same suite on two commits: a case that counts on one of them counts.
    pub fn of<'a>(suites: impl Iterator<Item = &'a LoadedSuite> + Clone) -> Self {
        let drafts = suites
            .clone()
            .flat_map(|loaded| loaded.suite.drafts())
            .flat_map(|pair| pair.runs.clone());
        let retired = suites.clone().flat_map(|loaded| {
            loaded
                .suite
                .retired()
                .iter()
                .map(|(case, _)| (loaded.config.id.clone(), case.clone()))
        });
        let (drafts, retired): (BTreeSet<_>, BTreeSet<_>) = (drafts.collect(), retired.collect());
        if drafts.is_empty() && retired.is_empty() {
            return Self::default();
        }
        Self {
            drafts,
            retired,
            counted: suites
                .flat_map(LoadedSuite::counted_runs)
                .cloned()
                .collect(),
        }
    }

    /// Whether a recording is of such a case.
    pub fn has(&self, suite: &SuiteId, agent: &AgentName, case: &str) -> bool {
        if self.drafts.is_empty() && self.retired.is_empty() {
            return false;
        }
        let Ok(case) = CaseId::new(case) else {
            return false;
        };
        let key = RunKey {
            suite: suite.clone(),
            agent: agent.clone(),
            case: case.clone(),
        };
        !self.counted.contains(&key)
            && (self.drafts.contains(&key) || self.retired.contains(&(suite.clone(), case)))
    }
}
