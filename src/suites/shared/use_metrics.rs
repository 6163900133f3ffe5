//! What a run used: tokens, time, money and calls, as metrics of every kind whose agents run.

use super::calls::calls;
use crate::model::{Aggregate, Better, ExplainedBy, MetricSpec, Run, Tag, Unit, ValueSource};

/// A count that should be low, without a default gate.
const USE: MetricSpec = MetricSpec {
    better: Better::Lower,
    unit: Unit::Count,
    source: ValueSource::Use,
    explained_by: ExplainedBy::Shortfalls,
    tag: Tag::Cost,
    ..MetricSpec::PLAIN
};

/// They follow all other metrics, each in suites with a gate on it.
pub const USE_METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "tokens",
        meaning: "input and output tokens of a sample",
        ..USE
    },
    MetricSpec {
        name: "latency_ms",
        aggregate: Aggregate::Median,
        meaning: "latency of a sample in milliseconds, median over the cases",
        ..USE
    },
    MetricSpec {
        name: "latency_ms_p95",
        aggregate: Aggregate::P95,
        meaning: "latency of a sample in milliseconds, 95th percentile over the cases",
        ..USE
    },
    MetricSpec {
        name: "cost_usd",
        unit: Unit::Dollars,
        meaning: "cost of a sample in US dollars",
        ..USE
    },
    MetricSpec {
        name: "model_calls",
        meaning: "model calls in a sample",
        ..USE
    },
    MetricSpec {
        name: "tool_calls",
        meaning: "tool calls in a sample",
        ..USE
    },
];

/// The value of a metric of [`USE_METRICS`] for the runs of one sample; `None` if one of them does not state it.
pub fn used(metric: &str, runs: &[Run]) -> Option<f64> {
    if runs.is_empty() {
        return None;
    }
    runs.iter().map(|run| used_by(metric, run)).sum()
}

fn used_by(metric: &str, run: &Run) -> Option<f64> {
    match metric {
        "tokens" => run.tokens.total,
        "latency_ms" | "latency_ms_p95" => run.tokens.latency_ms,
        "cost_usd" => run.tokens.cost_usd,
        "model_calls" => run.tokens.model_calls,
        "tool_calls" => {
            let (calls, flaws) = calls(run);
            flaws.is_empty().then_some(calls.len() as f64)
        }
        _ => None,
    }
}
