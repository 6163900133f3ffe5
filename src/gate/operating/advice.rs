//! Gates and a number of samples with few false alarms and the best detection.

use super::rates::{Basis, Rates};
use super::recorded::RecordedAgent;
use super::rounds::AgentRound;
use super::simulation::{Simulation, active_gates, gates_of};
use crate::gate::calibration::rounded_up;
use crate::gate::limits::{GatedMetric, PlannedGate, widest_zone};
use crate::model::{ChangeDirection, EPSILON, Gate, Limit, LimitSide, MetricSpec, Strictness};

/// The accepted share of re-recordings in which an unchanged agent fails any gate of a suite.
pub const ACCEPTED: f64 = 0.05;

/// The accepted shares per gate that are tried, from the narrowest gates to the widest.
const PER_GATE: [f64; 6] = [0.05, 0.03, 0.02, 0.01, 0.005, 0.0];

/// Whether hard gates may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardGates {
    /// They stay as they are.
    Keep,
    /// They may be changed as well.
    Change,
}

/// Gates and samples that fail an unchanged agent in at most 5 % of its re-recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Samples per case.
    pub samples: usize,
    /// How samples were drawn for the rates.
    pub basis: Basis,
    /// The changed gates; empty if only the number of samples changes.
    pub gates: Vec<GateAdvice>,
    /// The rates of the suite with these gates and samples.
    pub rates: Rates,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GateAdvice {
    /// The index of its metric.
    pub metric: usize,
    /// The index of the gate among those of the metric.
    pub index: usize,
    pub gate: Gate,
}

/// The best gates and number of samples: of those with at most 5 % false alarms the one that detects a drop most often, then the one with
/// the fewest samples. `None` if no change of these gates is enough, or if too few samples are recorded. All agents of a suite share its
/// gates.
pub fn advice(agents: &[RecordedAgent<'_>], samples: &[usize], hard: HardGates) -> Option<Advice> {
    let found = samples
        .iter()
        .filter_map(|samples| of_samples(agents, *samples, hard));
    found.reduce(|best, next| {
        if next.rates.detection > best.rates.detection + EPSILON {
            next
        } else {
            best
        }
    })
}

fn of_samples(agents: &[RecordedAgent<'_>], samples: usize, hard: HardGates) -> Option<Advice> {
    let metrics = agents.first()?.metrics;
    let simulation = Simulation::new(agents, samples).ok()?;
    let present = simulation.rates(&gates_of(agents));
    if present.suite.false_alarms <= ACCEPTED {
        return Some(Advice {
            samples,
            basis: simulation.basis,
            gates: Vec::new(),
            rates: present.suite,
        });
    }
    PER_GATE.into_iter().find_map(|rate| {
        let (widened, gates) = widened(metrics, &simulation.rounds, rate, hard);
        let rates = simulation
            .rates(&vec![widened.as_slice(); agents.len()])
            .suite;
        (rates.false_alarms <= ACCEPTED).then_some(Advice {
            samples,
            basis: simulation.basis,
            gates,
            rates,
        })
    })
}

/// The gates with at most this rate of false alarms each, as far as they can be changed.
fn widened(
    metrics: &[GatedMetric],
    rounds: &[Vec<AgentRound>],
    rate: f64,
    hard: HardGates,
) -> (Vec<GatedMetric>, Vec<GateAdvice>) {
    let (mut changed, mut gates) = (metrics.to_vec(), Vec::new());
    for (metric, index, planned) in active_gates(metrics) {
        let spec = &metrics[metric].spec;
        let mut losses: Vec<f64> = rounds
            .iter()
            .map(|round| {
                round
                    .iter()
                    .filter_map(|agent| loss(&planned.gate, metric, agent))
                    .fold(0.0, f64::max)
            })
            .collect();
        losses.sort_by(|one, other| other.total_cmp(one));
        let accepted = (rate * rounds.len() as f64).floor() as usize;
        let Some(needed) = losses
            .get(accepted)
            .map(|loss| rounded_up(spec.unit, *loss))
        else {
            continue;
        };
        let Some(gate) = with_room(spec, planned, needed, hard) else {
            continue;
        };
        changed[metric].gates[index].gate = gate;
        gates.push(GateAdvice {
            metric,
            index,
            gate,
        });
    }
    (changed, gates)
}

/// How much worse than its limit, or than the baseline, a value is.
fn loss(gate: &Gate, metric: usize, round: &AgentRound) -> Option<f64> {
    let (value, before) = (round.now[metric]?, round.before[metric]);
    match *gate {
        Gate::Threshold { side, limit, .. } => {
            let limit = match limit {
                Limit::Number(number) => number,
                Limit::Baseline { .. } => before?,
            };
            Some(match side {
                LimitSide::Min => limit - value,
                LimitSide::Max => value - limit,
            })
        }
        Gate::Change {
            direction: ChangeDirection::Drop,
            ..
        } => Some(before? - value),
        Gate::Change {
            direction: ChangeDirection::Rise,
            ..
        } => Some(value - before?),
    }
}

/// The gate with at least this much room; `None` if it has it already, must not change, or would not measure anything any more.
fn with_room(
    spec: &MetricSpec,
    planned: &PlannedGate,
    needed: f64,
    hard: HardGates,
) -> Option<Gate> {
    if spec.is_precondition() {
        return None;
    }
    let gate = match planned.gate {
        Gate::Change {
            direction,
            tolerance,
            otherwise,
        } if needed > tolerance + EPSILON => Gate::Change {
            direction,
            tolerance: needed,
            otherwise,
        },
        Gate::Threshold {
            side,
            limit,
            strictness: Strictness::Band(zone),
        } if needed > zone + EPSILON => Gate::Threshold {
            side,
            limit,
            strictness: Strictness::Band(needed),
        },
        Gate::Threshold {
            side,
            limit,
            strictness: Strictness::Hard,
        } if needed > EPSILON && hard == HardGates::Change => match (side, limit) {
            (LimitSide::Min, Limit::Number(number)) => hard_limit(side, number - needed),
            (LimitSide::Max, Limit::Number(number)) => hard_limit(side, number + needed),
            (_, Limit::Baseline { .. }) => Gate::Threshold {
                side,
                limit,
                strictness: Strictness::Band(needed),
            },
        },
        Gate::Change { .. } | Gate::Threshold { .. } => return None,
    };
    measures(spec, &gate).then_some(gate)
}

fn hard_limit(side: LimitSide, number: f64) -> Gate {
    // Two decimal places are what a config needs; the subtraction may add more.
    let number = (number * 1e4).round() / 1e4;
    Gate::Threshold {
        side,
        limit: Limit::Number(number),
        strictness: Strictness::Hard,
    }
}

/// Whether a config accepts the gate: some value fails it, and its band is not too wide.
fn measures(spec: &MetricSpec, gate: &Gate) -> bool {
    let greatest = spec.greatest();
    match *gate {
        Gate::Change { tolerance, .. } => tolerance < greatest,
        Gate::Threshold {
            side,
            limit,
            strictness,
        } => {
            let room = match (side, limit) {
                (_, Limit::Baseline { .. }) => greatest,
                (LimitSide::Min, Limit::Number(number)) => number,
                (LimitSide::Max, Limit::Number(number)) => greatest - number,
            };
            strictness.zone() < room && strictness.zone() <= widest_zone(spec.unit)
        }
    }
}
