//! The metrics that every kind has beside its own: whether everything was measured, could be read, and what fails since the baseline.

use crate::model::{
    Aggregate, Better, COVERAGE, Edge, ExplainedBy, Gate, Limit, LimitSide, MetricSpec, NEWLY_FAILING, READABLE, Unit,
    ValueSource,
};

/// Whether all checks of a case hold: what no other metric looks at is seen here, also without a baseline.
pub const CASE_PASS_RATE: MetricSpec = MetricSpec {
    name: "case_pass_rate",
    gates: &[Gate::NO_LARGE_DROP_ELSE_HALF],
    meaning: "cases of which all checks hold / cases",
    ..MetricSpec::RATE
};

/// They stand after the kind's own, in this order.
pub const COMMON: &[MetricSpec] = &[
    MetricSpec {
        name: COVERAGE,
        aggregate: Aggregate::Coverage,
        gates: &[Gate::Threshold { side: LimitSide::Min, limit: Limit::Number(1.0), edge: Edge::Open }],
        model_gates: Some(&[Gate::Threshold { side: LimitSide::Min, limit: Limit::Number(0.9), edge: Edge::Open }]),
        meaning: "cases that were measured / cases that were planned; those in quarantine are not",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: READABLE,
        source: ValueSource::Layer,
        explained_by: ExplainedBy::Checks(&["schema", "schema_ok"]),
        gates: &[Gate::PERFECT],
        meaning: "cases of which more than half of the completed samples could be read / cases",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: NEWLY_FAILING,
        better: Better::Lower,
        aggregate: Aggregate::NewlyFailing,
        unit: Unit::Count,
        switched_gates: &[Gate::Threshold { side: LimitSide::Max, limit: Limit::Number(0.0), edge: Edge::Band(0.0) }],
        meaning: "cases whose checks all held in the baseline and do not now",
        ..MetricSpec::PLAIN
    },
];

/// A kind's own metrics, and the common ones after them; `N` is the length of both.
pub const fn with_common<const N: usize>(own: &[MetricSpec]) -> [MetricSpec; N] {
    let mut all = [MetricSpec::PLAIN; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < own.len() { own[index] } else { COMMON[index - own.len()] };
        index += 1;
    }
    all
}
