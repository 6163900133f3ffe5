//! The recorded samples of a graded suite, for estimates of how often its gates fail by chance.

use super::plan::LoadedSuite;
use crate::gate::operating::{HardGates, OperatingEstimate, RecordedAgent, RecordedCase, advice, operating};
use crate::model::{AgentReport, PairResult, PairValue, Report, SuiteReport, Tier};
use crate::render::operating::SuiteOperating;
use crate::suites::Pair;

/// The numbers of samples per case that are compared.
const SAMPLES: [usize; 4] = [1, 3, 5, 9];

/// Returns the operating characteristics of the suites of a report with the wanted agents.
pub fn operating_of<'a>(
    report: &'a Report,
    suites: &[LoadedSuite],
    wanted: &dyn Fn(&SuiteReport, &AgentReport) -> bool,
) -> Vec<SuiteOperating<'a>> {
    let planned = |suite: &SuiteReport| {
        let agents = suite.agents.iter().filter(|agent| wanted(suite, agent));
        agents.flat_map(|agent| &agent.cases).map(|case| case.planned as usize).max()
    };
    let mut samples: Vec<usize> = SAMPLES.into_iter().chain(report.suites.iter().filter_map(planned)).collect();
    samples.sort_unstable();
    samples.dedup();
    let of_suite = |suite: &'a SuiteReport| {
        let loaded = suites.iter().find(|loaded| loaded.config.id == suite.id)?;
        let agents: Vec<&AgentReport> = suite.agents.iter().filter(|agent| wanted(suite, agent)).collect();
        let recorded: Vec<RecordedAgent<'_>> =
            agents.iter().map(|agent| recorded_agent(loaded, suite.tier, agent)).collect();
        let planned = planned(suite)?;
        let estimates: Vec<(usize, OperatingEstimate)> =
            samples.iter().map(|samples| (*samples, operating(&recorded, *samples))).collect();
        let kept = advice(&recorded, &samples, HardGates::Keep);
        let hard_advice = if kept.is_some() { None } else { advice(&recorded, &samples, HardGates::Change) };
        Some(SuiteOperating { suite: &suite.id, agents, recorded: planned, estimates, advice: kept, hard_advice })
    };
    report.suites.iter().filter_map(of_suite).collect()
}

/// Returns the recorded samples of an agent: of its cases that count.
pub fn recorded_agent<'a>(loaded: &'a LoadedSuite, tier: Tier, agent: &AgentReport) -> RecordedAgent<'a> {
    let counted = agent.cases.iter().filter_map(|result| Some((result, RecordedCase::of(result)?)));
    let (results, cases): (Vec<&PairResult>, Vec<RecordedCase>) = counted.unzip();
    let pair = |result: &&PairResult| -> Option<&'a Pair> {
        loaded.suite.pairs().iter().find(|pair| pair.agent == result.agent && pair.case == result.case)
    };
    let pairs: Vec<Option<&Pair>> = results.iter().map(pair).collect();
    let refold = move |case: usize, values: &mut [PairValue]| {
        if let Some(pair) = pairs[case] {
            loaded.suite.refold(pair, values);
        }
    };
    RecordedAgent { metrics: loaded.metrics_of(tier), cases, refold: Some(Box::new(refold)) }
}
