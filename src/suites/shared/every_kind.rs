//! The metrics of every kind: how much was measured, how much was readable, and what fails since the baseline.

use crate::model::{
    Aggregate, Better, COVERAGE, ExplainedBy, Gate, Limit, LimitSide, MetricSpec, NEWLY_FAILING,
    READABLE, Strictness, Unit, ValueSource,
};

/// The share of passing cases. It covers what no other metric covers, also without a baseline.
pub const CASE_PASS_RATE: MetricSpec = MetricSpec {
    name: "case_pass_rate",
    gates: &[Gate::NO_LARGE_DROP_ELSE_HALF],
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
        name: READABLE,
        source: ValueSource::Layer,
        explained_by: ExplainedBy::Checks(&["schema", "schema_ok"]),
        gates: &[Gate::PERFECT],
        meaning: "cases with more than half of their completed samples readable / cases",
        ..MetricSpec::RATE
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
        meaning: "cases that passed all checks in the baseline and fail now; the gate also fails if a failing case fails another check",
        ..MetricSpec::PLAIN
    },
];

/// A kind's own metrics, then the common ones; `N` is their total number.
pub const fn with_common<const N: usize>(own: &[MetricSpec]) -> [MetricSpec; N] {
    let mut all = [MetricSpec::PLAIN; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < own.len() {
            own[index]
        } else {
            COMMON[index - own.len()]
        };
        index += 1;
    }
    all
}
