//! The number of samples of each pair to grade.

use std::collections::BTreeSet;

use super::plan::{LoadedSuite, Plan, source_of};
use crate::golden_changes::{Maker, RecordCommand};
use crate::model::{
    AgentName, Baseline, CaseId, PairResult, Policy, RunKey, RunSource, SuiteId, Tier,
    UngradedReason,
};
use crate::render::plural;
use crate::suites::Pair;

/// How many samples of a pair are graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleCount {
    /// Exactly this many, whatever is recorded.
    Exactly(u32),
    /// All recorded samples, and at least this many: a missing one is inconclusive.
    AtLeast(u32),
}

/// How many cases are named; the rest is counted.
const NAMED: usize = 3;

/// The sample counts of a suite's pairs. `--samples` decides. Otherwise all recordings are graded, and at least as many as
/// the baseline has, so that missing recordings are reported.
pub struct SampleCounts<'a> {
    plan: &'a Plan,
    loaded: &'a LoadedSuite,
    tier: Tier,
    baseline: Option<&'a Baseline>,
    scope: CountScope,
}

/// Which samples of a pair are graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountScope {
    /// Those that are planned.
    Planned,
    /// Those that are recorded.
    Recorded,
}

impl<'a> SampleCounts<'a> {
    pub fn new(
        plan: &'a Plan,
        loaded: &'a LoadedSuite,
        tier: Tier,
        baseline: Option<&'a Baseline>,
    ) -> Self {
        Self {
            plan,
            loaded,
            tier,
            baseline,
            scope: CountScope::Planned,
        }
    }

    /// The counts of recordings of which none is missing, because nothing is planned.
    pub fn of_recorded(&self) -> Self {
        Self {
            scope: CountScope::Recorded,
            ..*self
        }
    }

    /// Returns how many samples of a pair are graded.
    pub fn of(&self, pair: &Pair) -> SampleCount {
        if self.scope == CountScope::Recorded {
            return SampleCount::AtLeast(0);
        }
        if let Some(count) = self.plan.wanted.samples {
            return SampleCount::Exactly(count);
        }
        let stated = stated(self.plan, self.loaded, pair);
        if !pair.runs.iter().all(|key| self.is_replayed(key)) {
            return stated.map_or(SampleCount::AtLeast(0), SampleCount::Exactly);
        }
        // The policy `regression` compares different numbers of samples.
        if self.loaded.config.policy == Policy::Regression {
            return SampleCount::AtLeast(stated.unwrap_or(1));
        }
        let key = (&self.loaded.config.id, &pair.agent, &pair.case);
        let measured = measured_samples(self.baseline, key, self.tier);
        SampleCount::AtLeast(stated.unwrap_or(0).max(measured))
    }

    fn is_replayed(&self, key: &RunKey) -> bool {
        let suite = self.plan.config.suite(&key.suite);
        let agent = suite.and_then(|suite| suite.agents.get(&key.agent));
        agent.is_some_and(|agent| matches!(source_of(agent, self.tier), Some(RunSource::Replay(_))))
    }

    /// Returns how to get the recordings that an agent lacks, by what made the others; `None` if it replays none of its own.
    pub fn record_missing(&self, name: &AgentName, makers: &BTreeSet<Maker>) -> Option<String> {
        let agent = self
            .loaded
            .config
            .agents
            .get(name)
            .filter(|_| self.loaded.config.runs_of.is_none())?;
        let place = source_of(agent, self.tier)?.replay()?;
        let command = RecordCommand {
            config: &self.plan.config,
            suite: &self.loaded.config.id,
            agent: name,
            makers,
        };
        Some(command.record_missing_hint(place))
    }

    /// Returns notes about missing recordings, and about more recordings than the config states.
    pub fn notes(&self, agent: &AgentName, results: &[PairResult]) -> Vec<String> {
        let missing: Vec<String> = results
            .iter()
            .filter_map(|pair| {
                let lost = pair
                    .lost
                    .iter()
                    .filter(|lost| lost.why == UngradedReason::NotRecorded)
                    .count();
                let recorded = pair.planned as usize - lost;
                (lost > 0).then(|| format!("{} ({recorded} of {})", pair.case, pair.planned))
            })
            .collect();
        let mut notes = Vec::new();
        if !missing.is_empty() {
            let cases = plural(missing.len(), "case has", "cases have");
            notes.push(format!(
                "{cases} fewer recordings than planned: {}; missing ones are inconclusive, `--samples N` plans N",
                named(&missing)
            ));
        }
        notes.extend(self.more_than_stated(agent, results));
        notes
    }

    fn more_than_stated(&self, agent: &AgentName, results: &[PairResult]) -> Option<String> {
        if self.plan.wanted.samples.is_some() {
            return None;
        }
        let limit = self.loaded.config.samples.or(self.plan.config.samples)?;
        let more = results
            .iter()
            .find(|result| result.planned > limit && self.has_only_recordings(agent, result))?;
        Some(format!(
            "{} of {} are graded, although the config says samples: {limit}; use `--samples {limit}` to grade fewer",
            plural(more.planned as usize, "sample", "samples"),
            more.case
        ))
    }

    fn has_only_recordings(&self, agent: &AgentName, result: &PairResult) -> bool {
        let mut pairs = self.loaded.suite.pairs().iter();
        let pair = pairs.find(|pair| pair.agent == *agent && pair.case == result.case);
        pair.is_some_and(|pair| {
            !pair.runs.is_empty() && pair.runs.iter().all(|key| self.is_replayed(key))
        })
    }
}

/// Returns the stated number of samples of a pair: the case's, else the suite's, else the config's.
pub fn stated(plan: &Plan, loaded: &LoadedSuite, pair: &Pair) -> Option<u32> {
    pair.samples
        .or(loaded.config.samples)
        .or(plan.config.samples)
}

/// Returns how many samples the baseline has of a case of an agent, if it was measured in this tier.
pub fn measured_samples(
    baseline: Option<&Baseline>,
    key: (&SuiteId, &AgentName, &CaseId),
    tier: Tier,
) -> u32 {
    let (suite, agent, case) = key;
    let Some(entry) = baseline.and_then(|baseline| baseline.entry(suite, agent)) else {
        return 0;
    };
    let measured_in = entry
        .identity
        .as_ref()
        .and_then(|identity| identity.tier.as_deref());
    let is_of_tier = measured_in.is_none_or(|measured_in| measured_in == tier.as_str());
    let values = entry
        .cases
        .get(case)
        .filter(|_| is_of_tier)
        .into_iter()
        .flat_map(|values| values.values());
    values
        .map(Vec::len)
        .max()
        .and_then(|count| u32::try_from(count).ok())
        .unwrap_or(0)
}

fn named(all: &[String]) -> String {
    match all.len().saturating_sub(NAMED) {
        0 => all.join(", "),
        more => format!("{} and {more} more", all[..NAMED].join(", ")),
    }
}
