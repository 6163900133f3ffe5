//! Estimates rates by simulated re-recordings.

use super::rates::{Basis, DROP, GateRates, OperatingEstimate, Rates, SuiteRates};
use super::recorded::RecordedAgent;
use super::rounds::{AgentRound, RoundPlan, count_rounds, simulate};
use crate::gate::limits::{GatedMetric, PlannedGate};
use crate::gate::rule::{BaseNumber, Subject, ruled};

/// The least share of cases with enough samples for an approximate estimate: a few may have lost one, but each must have one.
const MOST_CASES: f64 = 0.9;

/// Fewest samples of every case for an estimate that draws samples repeatedly.
const FEWEST_SAMPLES: usize = 3;

/// Fewest cases for such an estimate.
const FEWEST_CASES: usize = 5;

/// Estimates the rates of a suite for runs of `samples` samples per case. All gates of a round are evaluated on the same draws, so gates
/// that fail together count once. With 1000 rounds, the simulation itself is accurate to 3 percentage points (95 %).
pub fn operating(agents: &[RecordedAgent<'_>], samples: usize) -> OperatingEstimate {
    match Simulation::new(agents, samples) {
        Ok(simulation) => OperatingEstimate::Rates(simulation.rates(&gates_of(agents))),
        Err(estimate) => estimate,
    }
}

/// The simulated re-recordings of a suite.
pub(super) struct Simulation {
    pub(super) samples: usize,
    pub(super) basis: Basis,
    pub(super) rounds: Vec<Vec<AgentRound>>,
}

impl Simulation {
    pub(super) fn new(
        agents: &[RecordedAgent<'_>],
        samples: usize,
    ) -> Result<Self, OperatingEstimate> {
        let basis = basis(agents, samples)?;
        let rounds = simulate(
            &RoundPlan {
                agents,
                samples,
                basis,
                drop: DROP,
            },
            count_rounds(agents, samples),
        );
        Ok(Self {
            samples,
            basis,
            rounds,
        })
    }

    /// The rates with these gates: the metrics of each agent.
    pub(super) fn rates(&self, agents: &[&[GatedMetric]]) -> SuiteRates {
        let count = self.rounds.len();
        let share = |fails: &dyn Fn(&[AgentRound], AfterDrop) -> bool| {
            let failed = |after| {
                self.rounds
                    .iter()
                    .filter(|round| fails(round, after))
                    .count() as f64
                    / count as f64
            };
            Rates {
                false_alarms: failed(AfterDrop::No),
                detection: failed(AfterDrop::Yes),
            }
        };
        let mut each = Vec::with_capacity(agents.len());
        for (agent, metrics) in agents.iter().enumerate() {
            let of_agent = active_gates(metrics).map(|(metric, index, gate)| {
                let rates = share(&|round, after| is_failing(gate, metric, &round[agent], after));
                GateRates {
                    metric,
                    index,
                    gate: gate.gate,
                    rates,
                }
            });
            each.push(of_agent.collect());
        }
        let suite = share(&|round, after| {
            let mut agents = agents.iter().zip(round);
            let fails = |metrics, round| {
                active_gates(metrics)
                    .any(|(metric, _, gate)| is_failing(gate, metric, round, after))
            };
            agents.any(|(metrics, round)| fails(metrics, round))
        });
        SuiteRates {
            samples: self.samples,
            basis: self.basis,
            rounds: count,
            suite,
            agents: each,
        }
    }
}

pub(super) fn gates_of<'a>(agents: &'a [RecordedAgent<'_>]) -> Vec<&'a [GatedMetric]> {
    agents.iter().map(|agent| agent.metrics).collect()
}

/// How samples can be drawn for runs of `samples` samples.
fn basis(agents: &[RecordedAgent<'_>], samples: usize) -> Result<Basis, OperatingEstimate> {
    let cases = || agents.iter().flat_map(|agent| &agent.cases);
    let enough = |needed: usize| cases().filter(|case| case.samples.len() >= needed).count();
    let all = cases().count();
    if all > 0 && enough(2 * samples) == all {
        return Ok(Basis::Dealt);
    }
    let needed = samples.max(FEWEST_SAMPLES).min(2 * samples);
    let is_short = enough(1) < all || (enough(needed) as f64) < MOST_CASES * all as f64;
    if all == 0 || is_short {
        return Err(OperatingEstimate::TooFew {
            enough: enough(needed),
            cases: all,
            needed,
        });
    }
    match agents.iter().map(|agent| agent.cases.len()).min() {
        Some(fewest) if fewest < FEWEST_CASES => Err(OperatingEstimate::FewCases(fewest)),
        Some(_) | None => Ok(Basis::Pooled),
    }
}

/// Whether the values are those after the drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterDrop {
    No,
    Yes,
}

/// The gates that are not disabled, with the indices of their metric and of the gate.
pub(super) fn active_gates(
    metrics: &[GatedMetric],
) -> impl Iterator<Item = (usize, usize, &PlannedGate)> {
    metrics.iter().enumerate().flat_map(|(metric, gated)| {
        let active = gated
            .gates
            .iter()
            .enumerate()
            .filter(|(_, planned)| planned.off.is_none());
        active.map(move |(index, planned)| (metric, index, planned))
    })
}

/// Whether a gate fails in a round, or loses a number that the baseline has.
fn is_failing(gate: &PlannedGate, metric: usize, round: &AgentRound, after: AfterDrop) -> bool {
    let value = match after {
        AfterDrop::No => round.now[metric],
        AfterDrop::Yes => round.fallen[metric],
    };
    if value.is_none() {
        return round.before[metric].is_some();
    }
    let base = round.before[metric].map_or(BaseNumber::Absent, BaseNumber::Known);
    ruled(gate, &Subject::alone(value), &base)
        .gate
        .ruling
        .fails()
}
