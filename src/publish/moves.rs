//! The numbers that a new baseline would move.

use std::collections::BTreeMap;

use crate::gate::{SamplesMove, samples_move};
use crate::model::{
    AgentName, Baseline, BaselineEntry, Better, NEWLY_FAILING, POLICY_METRICS, Policy, Report,
    SuiteId, Unit, six_places,
};

/// A number of the baseline that would move.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineMove {
    /// The suite.
    pub suite: SuiteId,
    /// The agent.
    pub agent: AgentName,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// The number before; `None` if there was none.
    pub before: Option<f64>,
    /// The number after; `None` if it was measured before only.
    pub after: Option<f64>,
    /// Whether the change is worse.
    pub turn: MoveDirection,
}

/// The direction of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveDirection {
    /// Better, or neither better nor worse.
    NoWorse,
    /// Worse, or no longer measured.
    Worse,
}

/// Whether a move is worse.
pub fn is_worse(number: &BaselineMove) -> bool {
    number.turn == MoveDirection::Worse
}

/// Half of the last decimal place in a baseline.
const SAME: f64 = 0.5e-6;

/// The numbers that differ between a baseline and a report, in the report's order.
pub fn moves(baseline: Option<&Baseline>, report: &Report) -> Vec<BaselineMove> {
    let mut moves = Vec::new();
    let cases = report.counted_cases();
    for (suite, agent) in report.suite_agents() {
        let entry = baseline.and_then(|baseline| baseline.entry(&suite.id, &agent.agent));
        // Under the policy `regression`, numbers that differ by chance move nothing.
        let is_regression = agent
            .policy
            .as_ref()
            .is_some_and(|policy| policy.name == Policy::Regression);
        if let Some(entry) = entry.filter(|_| is_regression)
            && matches!(samples_move(entry, agent, cases), SamplesMove::Same { .. })
        {
            continue;
        }
        // What compares with the baseline is not stored in it.
        for metric in agent.metrics.iter().filter(|metric| {
            metric.name != NEWLY_FAILING && !POLICY_METRICS.contains(&&*metric.name)
        }) {
            // Its rules compare samples: a metric that has no value any more hides nothing from them.
            if is_regression && metric.value.is_none() {
                continue;
            }
            let old = entry
                .and_then(|entry| entry.metrics.get(&metric.name))
                .copied();
            let Some(turn) = turn(metric.better, old, metric.value) else {
                continue;
            };
            moves.push(BaselineMove {
                suite: suite.id.clone(),
                agent: agent.agent.clone(),
                metric: metric.name.clone(),
                unit: metric.unit,
                before: old,
                after: metric.value,
                turn,
            });
        }
    }
    moves
}

/// The direction of a number; `None` if it did not move.
fn turn(better: Better, old: Option<f64>, new: Option<f64>) -> Option<MoveDirection> {
    match (old, new) {
        (None, None) => None,
        (None, Some(_)) => Some(MoveDirection::NoWorse),
        // A number that is no longer measured may hide a regression, so it needs a reason.
        (Some(_), None) => Some(MoveDirection::Worse),
        (Some(old), Some(new)) if (old - new).abs() <= SAME => None,
        (Some(old), Some(new)) => Some(match (better, new > old) {
            (Better::Higher, true) | (Better::Lower, false) | (Better::Neither, _) => {
                MoveDirection::NoWorse
            }
            (Better::Higher, false) | (Better::Lower, true) => MoveDirection::Worse,
        }),
    }
}

/// Whether two baselines have the same entries, rounded as in the file. Their time, commit and version do not count.
pub fn has_same_entries(left: &Baseline, right: &Baseline) -> bool {
    rounded(left) == rounded(right)
}

/// The same of their numbers: an agent that was changed and gives the same answers moves none.
pub fn has_same_numbers(left: &Baseline, right: &Baseline) -> bool {
    rounded_numbers(left) == rounded_numbers(right)
}

/// The entries of a baseline without the digest of an agent's files.
fn rounded_numbers(baseline: &Baseline) -> BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>> {
    let mut suites = rounded(baseline);
    let entries = suites.values_mut().flat_map(|agents| agents.values_mut());
    for identity in entries.filter_map(|entry| entry.identity.as_mut()) {
        identity.agent_sha256 = None;
    }
    suites
}

/// The entries of a baseline with their numbers rounded as in the file.
pub fn rounded(baseline: &Baseline) -> BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>> {
    let mut suites = baseline.suites.clone();
    for entry in suites.values_mut().flat_map(|agents| agents.values_mut()) {
        for value in entry.metrics.values_mut() {
            *value = six_places(*value);
        }
        for values in entry.cases.values_mut().flat_map(|case| case.values_mut()) {
            for value in values.iter_mut().flatten() {
                *value = six_places(*value);
            }
        }
        entry.taxonomy.retain(|_, count| *count > 0);
    }
    suites
}

#[cfg(test)]
mod tests {
    use super::MoveDirection::{NoWorse, Worse};
    use super::turn;
    use crate::model::Better::{Higher, Lower, Neither};

    #[test]
    fn a_number_is_worse_by_its_direction_and_when_it_is_gone() {
        for (better, before, after, expected) in [
            (Higher, Some(0.9), Some(0.8), Some(Worse)),
            (Higher, Some(0.8), Some(0.9), Some(NoWorse)),
            (Lower, Some(0.1), Some(0.2), Some(Worse)),
            (Lower, Some(0.2), Some(0.1), Some(NoWorse)),
            (Neither, Some(3.0), Some(2.0), Some(NoWorse)),
            (Higher, Some(0.333_333), Some(1.0 / 3.0), None),
            (Higher, None, Some(0.1), Some(NoWorse)),
            (Neither, Some(3.0), None, Some(Worse)),
            (Higher, None, None, None),
        ] {
            assert_eq!(
                turn(better, before, after),
                expected,
                "{better:?} {before:?} {after:?}"
            );
        }
    }
}
