//! Simulated re-recordings: draws samples for a baseline and for a run of the unchanged agent, and folds them.

use fastrand::Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::rates::Basis;
use super::recorded::{AgentPlan, CaseRow, RecordedAgent, RecordedCase, RecordedSample};
use crate::fold;
use crate::model::{Aggregate, Better, MetricSpec, six_places};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentRound {
    pub(super) now: CaseRow,
    /// The values of the baseline.
    pub(super) before: CaseRow,
    /// The values of the run after the drop.
    pub(super) fallen: CaseRow,
    pub(super) cases: usize,
}

/// What all rounds of a suite have in common.
pub(super) struct RoundPlan<'a> {
    pub(super) agents: &'a [RecordedAgent<'a>],
    /// Samples per case.
    pub(super) samples: usize,
    pub(super) basis: Basis,
    /// The share of cases in which the fallen agent gets everything wrong.
    pub(super) drop: f64,
}

/// The seed of the first round; the others follow.
const SEED: u64 = 0x676f_6c64;

/// Most values that are folded in total; it limits the work for large suites.
const WORK: usize = 10_000_000;

/// Number of rounds: 1000, fewer for large suites, whose values vary less.
pub(super) fn count_rounds(agents: &[RecordedAgent<'_>], samples: usize) -> usize {
    let cells: usize = agents
        .iter()
        .map(|agent| agent.cases.len() * agent.metrics.len() * samples * 2)
        .sum();
    (WORK / cells.max(1)).clamp(50, 1000)
}

/// Simulates the rounds. The same recordings always give the same rounds.
pub(super) fn simulate(plan: &RoundPlan<'_>, rounds: usize) -> Vec<Vec<AgentRound>> {
    let agents: Vec<AgentPlan<'_>> = plan
        .agents
        .iter()
        .map(|agent| AgentPlan::new(agent, plan.samples, plan.basis))
        .collect();
    let round = |number: usize| {
        let mut random = Rng::with_seed(SEED + number as u64);
        agents
            .iter()
            .map(|agent| agent_round(plan, agent, &mut random))
            .collect()
    };
    (0..rounds).into_par_iter().map(round).collect()
}

/// One drawn sample: its own values, each replaced by those of another sample where cases are alike.
struct DrawnSample<'a> {
    own: &'a RecordedSample,
    /// Another sample of the agent, and the level above which a metric takes its value.
    other: Option<(&'a RecordedSample, f64)>,
}

impl DrawnSample<'_> {
    fn value(&self, column: usize, shares: &[f64]) -> Option<f64> {
        let own = self.own.values[column];
        match self.other {
            // What a case never measures stays unmeasured.
            Some((other, level)) if level >= shares[column] => {
                own.and(other.values[column].or(own))
            }
            Some(_) | None => own,
        }
    }

    fn passed(&self, shares: &[f64]) -> bool {
        match (self.other, shares.last()) {
            (Some((other, level)), Some(share)) if level >= *share => other.passed,
            (Some(_) | None, _) => self.own.passed,
        }
    }
}

/// The samples of a case for the run, and for the baseline.
type BothSides<'a> = (Vec<DrawnSample<'a>>, Vec<DrawnSample<'a>>);

fn drawn<'a>(
    plan: &RoundPlan<'_>,
    cases: &'a [RecordedCase],
    case: usize,
    random: &mut Rng,
) -> BothSides<'a> {
    let samples = &cases[case].samples;
    match plan.basis {
        Basis::Dealt => {
            let mut order: Vec<usize> = (0..samples.len()).collect();
            for index in 0..2 * plan.samples {
                order.swap(index, random.usize(index..samples.len()));
            }
            let side = |from: usize| {
                let indexes = order[from..from + plan.samples].iter();
                indexes
                    .map(|index| DrawnSample {
                        own: &samples[*index],
                        other: None,
                    })
                    .collect()
            };
            (side(0), side(plan.samples))
        }
        Basis::Pooled => {
            let mut one = || {
                let own = &samples[random.usize(0..samples.len())];
                let donor = &cases[random.usize(0..cases.len())].samples;
                let other = &donor[random.usize(0..donor.len())];
                DrawnSample {
                    own,
                    other: Some((other, random.f64())),
                }
            };
            let mut side = || (0..plan.samples).map(|_| one()).collect();
            (side(), side())
        }
    }
}

fn agent_round(plan: &RoundPlan<'_>, agent: &AgentPlan<'_>, random: &mut Rng) -> AgentRound {
    let AgentPlan { specs, shares, .. } = agent;
    let cases = &agent.agent.cases;
    let count = cases.len();
    let (mut now, mut before, mut failing) = (
        Vec::with_capacity(count),
        Vec::with_capacity(count),
        Vec::new(),
    );
    for case in 0..count {
        let (run, baseline) = drawn(plan, cases, case, random);
        let row = |side: &[DrawnSample<'_>]| {
            agent.folded(case, |sample, column| side[sample].value(column, shares))
        };
        let passes = |side: &[DrawnSample<'_>]| {
            2 * side.iter().filter(|sample| sample.passed(shares)).count() > plan.samples
        };
        now.push(row(&run));
        before.push(row(&baseline));
        failing.push((passes(&baseline), !passes(&run)));
    }
    let mut fallen = now.clone();
    let mut fallen_failing = failing.clone();
    for case in broken_cases(count, plan.drop, random) {
        specs
            .iter()
            .zip(&mut fallen[case])
            .for_each(|(spec, value)| *value = value.map(|value| worst(spec, value)));
        fallen_failing[case].1 = true;
    }
    AgentRound {
        now: agent_values(specs, &now, &failing),
        before: agent_values(specs, &before, &[])
            .into_iter()
            .map(|value| value.map(six_places))
            .collect(),
        fallen: agent_values(specs, &fallen, &fallen_failing),
        cases: count,
    }
}

/// Draws the cases that break: the share `drop` of all on average, so that a mean of 100 % falls by as much.
fn broken_cases(count: usize, drop: f64, random: &mut Rng) -> Vec<usize> {
    let broken = ((drop * count as f64 + random.f64()).floor() as usize).min(count);
    let mut order: Vec<usize> = (0..count).collect();
    for index in 0..broken {
        order.swap(index, random.usize(index..count));
    }
    order.truncate(broken);
    order
}

/// The value of a case in which the agent gets everything wrong. Whether answers can be parsed does not change: a broken format would be
/// detected by that alone.
fn worst(spec: &MetricSpec, value: f64) -> f64 {
    match spec.better {
        _ if spec.is_precondition() => value,
        Better::Neither => value,
        Better::Higher => 0.0,
        Better::Lower if spec.greatest().is_finite() => spec.greatest(),
        Better::Lower => value + 1.0,
    }
}

/// The agent's values from those of its cases. `failing` says of each case whether the baseline passed and the run failed.
fn agent_values(specs: &[MetricSpec], rows: &[CaseRow], failing: &[(bool, bool)]) -> CaseRow {
    let mut values = fold::aggregates(specs, rows.len(), |row, column| rows[row][column]);
    for (spec, value) in specs.iter().zip(&mut values) {
        match spec.aggregate {
            Aggregate::Coverage => *value = (!rows.is_empty()).then_some(1.0),
            Aggregate::NewlyFailing => {
                let count = failing
                    .iter()
                    .filter(|(passed, fails)| *passed && *fails)
                    .count();
                *value = (!failing.is_empty()).then_some(count as f64);
            }
            Aggregate::Worst
            | Aggregate::Mean
            | Aggregate::Sum
            | Aggregate::Median
            | Aggregate::P95
            | Aggregate::Rate
            | Aggregate::Harmonic(..) => {}
        }
    }
    values
}
