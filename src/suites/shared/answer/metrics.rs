//! The metrics of suites whose cases state `answer`.

use super::condition::WORDS;
use crate::model::{ExplainedBy, MetricSpec};

/// The share of cases whose answers pass.
pub const ANSWER_PASS_RATE: &str = "answer_pass_rate";

/// The weighted share of entries that hold.
pub const ANSWER_SCORE: &str = "answer_score";

/// They follow the metrics of the kind, in suites with a case that states `answer`, or with a gate on one of them.
pub const ANSWER_METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: ANSWER_PASS_RATE,
        explained_by: ExplainedBy::Checks(WORDS),
        meaning: "cases that pass every check of `answer`, and every own check of the suite / cases with such checks",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: ANSWER_SCORE,
        explained_by: ExplainedBy::Checks(WORDS),
        meaning: "weights of the entries of `answer` that hold / weights of all entries",
        ..MetricSpec::PLAIN
    },
];
