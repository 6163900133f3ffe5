//! The metrics of every kind: how much was measured, and what fails since the baseline.

use crate::model::{
    Aggregate, Better, COVERAGE, Gate, Limit, LimitSide, MetricSpec, NEWLY_FAILING, Strictness,
    Unit,
};

/// The share of passing cases. It covers what no other metric covers, also without a baseline.
pub const CASE_PASS_RATE: MetricSpec = MetricSpec {
    name: "case_pass_rate",
    meaning: "cases that pass all checks / cases",
    ..MetricSpec::RATE
};

/// They follow the kind's own metrics, in this order.
pub const COMMON: &[MetricSpec] = &[
    MetricSpec {
        name: COVERAGE,
        aggregate: Aggregate::Coverage,
        gates: &[Gate::Threshold {
            side: LimitSide::Min,
            limit: Limit::Number(1.0),
            strictness: Strictness::Open,
        }],
        model_gates: Some(&[Gate::Threshold {
            side: LimitSide::Min,
            limit: Limit::Number(0.9),
            strictness: Strictness::Open,
        }]),
        meaning: "measured cases / planned cases, without quarantined cases",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: NEWLY_FAILING,
        better: Better::Lower,
        aggregate: Aggregate::NewlyFailing,
        unit: Unit::Count,
        switched_gates: &[Gate::Threshold {
            side: LimitSide::Max,
            limit: Limit::Number(0.0),
            strictness: Strictness::Band(0.0),
        }],
        meaning: "cases that passed all checks in the baseline and fail now",
        ..MetricSpec::PLAIN
    },
];

/// A kind's own metrics, then the common ones; `N` is their total number.
pub const fn with_common<const N: usize>(metrics: &[MetricSpec]) -> [MetricSpec; N] {
    let mut all = [MetricSpec::PLAIN; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < metrics.len() {
            metrics[index]
        } else {
            COMMON[index - metrics.len()]
        };
        index += 1;
    }
    all
}
