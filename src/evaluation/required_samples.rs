//! The samples that a run must have of its own. Where several agents are compared, further samples of one are paired with those of another
//! again.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::sample_count::measured_samples;
use crate::model::{Baseline, RepoPath, RunKey, SuiteId, Tier};

/// The least number of samples of each run: what its suite states, and what the baseline has.
pub struct RequiredSamples<'a> {
    stated: BTreeMap<SuiteId, u32>,
    tier: Tier,
    baseline: Option<&'a Baseline>,
}

impl<'a> RequiredSamples<'a> {
    /// What the suites of a plan state.
    pub fn stated(plan: &Plan, tier: Tier) -> Self {
        let suites = plan.config.suites.iter();
        let stated = suites
            .filter_map(|suite| Some((suite.id.clone(), suite.samples.or(plan.config.samples)?)));
        Self {
            stated: stated.collect(),
            tier,
            baseline: None,
        }
    }

    /// The same, and what the baseline has.
    pub fn with_baseline(self, baseline: Option<&'a Baseline>) -> Self {
        Self { baseline, ..self }
    }

    /// The least number of samples of a run.
    pub fn of(&self, key: &RunKey) -> u32 {
        let measured = measured_samples(
            self.baseline,
            (&key.suite, &key.agent, &key.case),
            self.tier,
        );
        self.stated
            .get(&key.suite)
            .copied()
            .unwrap_or(0)
            .max(measured)
    }
}

/// A run, and its recordings by sample number.
pub type RunRecordings<'a> = (&'a RunKey, BTreeMap<u32, RepoPath>);

/// Whether the runs of a pair are of several agents, and not several runs of one.
pub fn has_several_agents(recordings: &[RunRecordings<'_>]) -> bool {
    recordings
        .windows(2)
        .any(|two| two[0].0.agent != two[1].0.agent)
}

/// The number of recorded samples of a run: one more than the highest.
pub fn recorded_count(files: &BTreeMap<u32, RepoPath>) -> u32 {
    files.keys().next_back().map_or(0, |highest| highest + 1)
}

/// The recording, with its number, for a sample that the run does not have: after its last one it begins again with the first.
pub fn again(files: &BTreeMap<u32, RepoPath>, number: u32) -> Option<(&u32, &RepoPath)> {
    let count = recorded_count(files);
    // A recording that is missing between others is lost.
    number.checked_sub(count)?;
    files.get_key_value(&number.checked_rem(count)?)
}
