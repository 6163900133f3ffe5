//! The recorded samples of a graded suite, for estimates of how often its gates fail by chance.

use super::plan::LoadedSuite;
use crate::gate::operating::{
    Advice, Basis, HardGates, OperatingEstimate, RecordedAgent, RecordedCase, Refold, advice,
    operating,
};
use crate::gate::{GateInput, GateOutcome};
use crate::model::{
    AgentReport, ChanceOfFailure, GateRuling, PairResult, Report, SuiteId, SuiteReport, Tier,
};
use crate::render::operating::SuiteOperating;
use crate::suites::Pair;

/// The numbers of samples per case that are compared.
const SAMPLES: [usize; 4] = [1, 3, 5, 9];

struct RecordedSuite<'a> {
    id: &'a SuiteId,
    agents: Vec<&'a AgentReport>,
    recorded: Vec<RecordedAgent<'a>>,
    /// Samples per case as recorded.
    planned: usize,
}

impl<'a> RecordedSuite<'a> {
    /// The wanted agents of a suite; `None` without any.
    fn of(
        suite: &'a SuiteReport,
        suites: &'a [LoadedSuite],
        wanted: &dyn Fn(&SuiteReport, &AgentReport) -> bool,
    ) -> Option<Self> {
        let loaded = suites.iter().find(|loaded| loaded.config.id == suite.id)?;
        let agents: Vec<&AgentReport> = suite
            .agents
            .iter()
            .filter(|agent| wanted(suite, agent))
            .collect();
        let planned = agents
            .iter()
            .flat_map(|agent| &agent.cases)
            .map(|case| case.planned as usize)
            .max()?;
        let recorded = agents
            .iter()
            .map(|agent| recorded_agent(loaded, suite.tier, agent))
            .collect();
        Some(Self {
            id: &suite.id,
            agents,
            recorded,
            planned,
        })
    }

    fn operating(
        self,
        samples: &[usize],
        advice: Option<Advice>,
        hard_advice: Option<Advice>,
    ) -> SuiteOperating<'a> {
        let estimates = samples
            .iter()
            .map(|samples| (*samples, operating(&self.recorded, *samples)))
            .collect();
        let Self {
            id,
            agents,
            planned,
            ..
        } = self;
        SuiteOperating {
            suite: id,
            agents,
            recorded: planned,
            estimates,
            advice,
            hard_advice,
        }
    }
}

/// Returns the operating characteristics of the suites of a report with the wanted agents.
pub fn operating_of<'a>(
    report: &'a Report,
    suites: &'a [LoadedSuite],
    wanted: &dyn Fn(&SuiteReport, &AgentReport) -> bool,
) -> Vec<SuiteOperating<'a>> {
    let all: Vec<RecordedSuite<'_>> = report
        .suites
        .iter()
        .filter_map(|suite| RecordedSuite::of(suite, suites, wanted))
        .collect();
    let mut samples: Vec<usize> = SAMPLES
        .into_iter()
        .chain(all.iter().map(|suite| suite.planned))
        .collect();
    samples.sort_unstable();
    samples.dedup();
    let of_suite = |suite: RecordedSuite<'a>| {
        let kept = advice(&suite.recorded, &samples, HardGates::Keep);
        let hard_advice = if kept.is_some() {
            None
        } else {
            advice(&suite.recorded, &samples, HardGates::Change)
        };
        suite.operating(&samples, kept, hard_advice)
    };
    all.into_iter().map(of_suite).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatesFor {
    /// Nothing.
    Reading,
    /// Gates with few false alarms; advice is computed with or without the hard gates.
    Changing(HardGates),
}

/// Returns the operating characteristics of the suites for the number of samples that is recorded, because a run grades all of them.
pub fn operating_as_recorded<'a>(
    report: &'a Report,
    suites: &'a [LoadedSuite],
    wanted: RatesFor,
) -> Vec<SuiteOperating<'a>> {
    // Without recordings nothing varies.
    let is_recorded = |suite: &SuiteId| {
        let loaded = suites.iter().find(|loaded| loaded.config.id == *suite);
        loaded.is_some_and(|loaded| {
            loaded
                .suite
                .pairs()
                .iter()
                .any(|pair| !pair.runs.is_empty())
        })
    };
    let of_suite = |suite: &'a SuiteReport| {
        let suite = RecordedSuite::of(suite, suites, &|_, _| true)?;
        let samples = [suite.planned];
        let advice = match wanted {
            RatesFor::Reading => None,
            RatesFor::Changing(hard) => advice(&suite.recorded, &samples, hard),
        };
        Some(suite.operating(&samples, advice, None))
    };
    report
        .suites
        .iter()
        .filter(|suite| is_recorded(&suite.id))
        .filter_map(of_suite)
        .collect()
}

/// The least rate of failures by chance that is reported with a failed gate.
const REPORTED: f64 = 0.1;

/// States for each failed gate how often it fails on an unchanged agent, if that is often: in more than 10 % of its re-recordings. The
/// samples of the baseline are those of the unchanged agent; the run's own are not, because a worse agent would excuse itself. Nothing is
/// computed if no gate fails, and nothing decides by it.
pub fn add_chances(
    loaded: &LoadedSuite,
    input: &GateInput<'_>,
    pairs: &[&Pair],
    outcome: &mut GateOutcome,
) {
    let failed = |gate: &GateRuling| gate.ruling.fails();
    let Some(entry) = input.before else { return };
    if !outcome
        .metrics
        .iter()
        .flat_map(|metric| &metric.gates)
        .any(failed)
    {
        return;
    }
    let recorded = pairs.iter().filter_map(|pair| {
        let case = RecordedCase::of_baseline(input.metrics, entry.cases.get(&pair.case)?)?;
        Some((*pair, case))
    });
    let (pairs, cases): (Vec<&Pair>, Vec<RecordedCase>) = recorded.unzip();
    let refold = loaded.suite.refolder().map(|refolder| -> Refold<'_> {
        Box::new(|case, values| refolder.refold(pairs[case], values))
    });
    let agent = RecordedAgent {
        metrics: input.metrics,
        cases,
        refold,
    };
    let samples = input
        .pairs
        .iter()
        .map(|pair| pair.result.planned)
        .max()
        .unwrap_or(0);
    let OperatingEstimate::Rates(found) = operating(&[agent], samples as usize) else {
        return;
    };
    for one in found
        .agents
        .iter()
        .flatten()
        .filter(|one| one.rates.false_alarms > REPORTED)
    {
        let gate = outcome
            .metrics
            .get_mut(one.metric)
            .and_then(|metric| metric.gates.get_mut(one.index));
        if let Some(gate) = gate.filter(|gate| failed(gate)) {
            let approximate = found.basis == Basis::Pooled;
            gate.chance = Some(ChanceOfFailure {
                rate: one.rates.false_alarms,
                approximate,
            });
        }
    }
}

/// Returns the recorded samples of an agent: of its cases that count.
pub fn recorded_agent<'a>(
    loaded: &'a LoadedSuite,
    tier: Tier,
    agent: &AgentReport,
) -> RecordedAgent<'a> {
    let counted = agent
        .cases
        .iter()
        .filter_map(|result| Some((result, RecordedCase::of(result)?)));
    let (results, cases): (Vec<&PairResult>, Vec<RecordedCase>) = counted.unzip();
    let pair = |result: &&PairResult| -> Option<&'a Pair> {
        loaded
            .suite
            .pairs()
            .iter()
            .find(|pair| pair.agent == result.agent && pair.case == result.case)
    };
    let pairs: Vec<Option<&Pair>> = results.iter().map(pair).collect();
    let refold = loaded.suite.refolder().map(|refolder| -> Refold<'a> {
        Box::new(move |case, values| {
            if let Some(pair) = pairs[case] {
                refolder.refold(pair, values);
            }
        })
    });
    RecordedAgent {
        metrics: loaded.metrics_of(tier),
        cases,
        refold,
    }
}
