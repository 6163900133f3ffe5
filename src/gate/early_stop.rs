//! Decides when a pair needs no further samples, because none could change a verdict. Exact: every open value is assumed to
//! move as far as possible.

use super::limits::{GatedMetric, PlannedGate};
use super::rule::{BaseNumber, Subject, ruling};
use crate::fold;
use crate::fold::Interval;
use crate::model::{Aggregate, CheckOutcome, Gate, Grade, Limit, MetricSpec};

/// The samples of a pair so far.
#[derive(Debug, Clone, Copy)]
pub struct SoFar<'a> {
    pub grades: &'a [&'a Grade],
    /// Number of samples without a result.
    pub lost: u32,
    pub planned: u32,
    /// The band of the case's own verdict.
    pub zone: Option<f64>,
}

impl SoFar<'_> {
    fn left(&self) -> usize {
        self.missing().saturating_sub(self.lost as usize)
    }

    fn missing(&self) -> usize {
        (self.planned as usize).saturating_sub(self.grades.len())
    }
}

/// Whether further samples of the pair cannot change a verdict: of its gates, its checks or its agent.
pub fn is_settled(metrics: &[GatedMetric], so_far: &SoFar<'_>) -> bool {
    let counted = 2 * so_far.grades.len() > so_far.planned as usize;
    counted
        && metrics
            .iter()
            .enumerate()
            .all(|(index, metric)| is_metric_settled(metrics, index, metric, so_far))
        && are_checks_settled(so_far)
}

fn is_metric_settled(
    metrics: &[GatedMetric],
    index: usize,
    metric: &GatedMetric,
    so_far: &SoFar<'_>,
) -> bool {
    let GatedMetric { spec, gates } = metric;
    let part_of_another = metrics
        .iter()
        .any(|composed| is_active(composed) && has_part(composed, spec.name));
    // A counted pair is measured; whether it fails is settled by its checks. The parts of a composed metric are judged themselves.
    let has_no_samples = matches!(
        spec.aggregate,
        Aggregate::Coverage | Aggregate::NewlyFailing | Aggregate::Harmonic(..)
    );
    if has_no_samples || (!is_active(metric) && !part_of_another) {
        return true;
    }
    let Some(Interval { least, most }) = reach(spec, index, so_far) else {
        return false;
    };
    if least == most {
        return true;
    }
    // The worst pair decides, so a pair that stays on its side of a fixed limit changes nothing. A limit from the baseline is compared on
    // shared cases, and a mean changes with every pair.
    if spec.aggregate != Aggregate::Worst || part_of_another {
        return false;
    }
    for planned in gates.iter().filter(|planned| planned.off.is_none()) {
        if !is_fixed_limit(&planned.gate) {
            return false;
        }
        for gate in own(planned, so_far.zone) {
            if bound_text(&gate, least) != bound_text(&gate, most) {
                return false;
            }
        }
    }
    true
}

fn is_active(metric: &GatedMetric) -> bool {
    metric.gates.iter().any(|planned| planned.off.is_none())
}

/// Whether a metric is made of this one.
fn has_part(composed: &GatedMetric, name: &str) -> bool {
    let parts = composed.spec.aggregate.parts();
    parts.is_some_and(|parts| parts.contains(&name))
}

/// Whether the limit is a number, without a tolerance in its band.
fn is_fixed_limit(gate: &Gate) -> bool {
    match gate {
        Gate::Threshold {
            limit: Limit::Number(_),
            strictness,
            ..
        } => strictness.tolerance().is_none(),
        Gate::Threshold { .. } | Gate::Change { .. } => false,
    }
}

/// The gate as it applies to the agent, and as it applies to the case alone.
fn own(planned: &PlannedGate, zone: Option<f64>) -> Vec<Gate> {
    let mut gates = vec![planned.gate];
    if let (
        Gate::Threshold {
            side,
            limit,
            strictness,
        },
        Some(zone),
    ) = (planned.gate, zone)
    {
        gates.push(Gate::Threshold {
            side,
            limit,
            strictness: strictness.with_zone(zone),
        });
    }
    gates
}

fn bound_text(gate: &Gate, value: f64) -> String {
    let subject = Subject::alone(Some(value));
    ruling(gate, &subject, &BaseNumber::Absent)
        .gate
        .ruling
        .as_str()
        .to_owned()
}

/// The values that the pair can still reach; `None` if it may have no value.
fn reach(spec: &MetricSpec, index: usize, so_far: &SoFar<'_>) -> Option<Interval> {
    let samples: Vec<Option<f64>> = so_far
        .grades
        .iter()
        .map(|grade| fold::sample_value(spec, index, grade))
        .collect();
    if samples.iter().all(Option::is_none) {
        return None;
    }
    fold::pair_interval(spec, &samples, so_far.missing())
}

/// Whether the results of all checks and of the whole case are final.
fn are_checks_settled(so_far: &SoFar<'_>) -> bool {
    let done = so_far.grades.len();
    let left = so_far.left();
    let checks = so_far.grades.iter().map(|grade| grade.checks.len());
    for index in 0..checks.max().unwrap_or(0) {
        let checks = so_far
            .grades
            .iter()
            .filter_map(|grade| grade.checks.get(index));
        let passed = checks.filter(|check| check.outcome == CheckOutcome::Passed);
        if !is_majority_settled(passed.count(), done, left) {
            return false;
        }
    }
    let passed = so_far.grades.iter().filter(|grade| grade.passed()).count();
    is_majority_settled(passed, done, left)
}

/// Whether no result of the samples that are left changes whether most samples pass. A sample may end without a result.
fn is_majority_settled(passed: usize, done: usize, left: usize) -> bool {
    let passes = 2 * passed > done;
    for more in 0..=left {
        for passing in 0..=more {
            if (2 * (passed + passing) > done + more) != passes {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests;
