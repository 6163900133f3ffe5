//! What samples without a result leave open: the least and the most that they could make of a value.

use super::{aggregates, folded};
use crate::model::{MetricSpec, PairValue};

/// The values that a number can still have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The least of them.
    pub least: f64,
    /// The greatest of them.
    pub most: f64,
}

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Least,
    Most,
}

impl Interval {
    /// A number of which nothing is missing.
    pub fn at(value: f64) -> Self {
        Self {
            least: value,
            most: value,
        }
    }

    /// `None` if one of the ends has no value.
    pub fn between(least: Option<f64>, most: Option<f64>) -> Option<Self> {
        let (least, most) = least.zip(most)?;
        Some(Self { least, most })
    }
}

/// The interval of a pair's value if this many samples more could have one; `None` if it has no value.
pub fn pair_interval(
    spec: &MetricSpec,
    samples: &[Option<f64>],
    missing: usize,
) -> Option<Interval> {
    Interval::between(
        extended(spec, samples, missing, End::Least),
        extended(spec, samples, missing, End::Most),
    )
}

/// One end of a pair's value if this many of its values are missing. A value that all samples have together can become any other.
pub fn pair_end(
    spec: &MetricSpec,
    value: &PairValue,
    completed: usize,
    missing: usize,
    end: End,
) -> Option<f64> {
    if missing == 0 {
        value.value
    } else if value.samples.len() == completed {
        extended(spec, &value.samples, missing, end)
    } else {
        Some(extreme(spec, end))
    }
}

/// The intervals of an agent's values over `rows` pairs; `cell(row, column, end)` returns the end of a pair's value. Every aggregate rises
/// with each of its values, so its ends are those of all pairs at their ends.
pub fn agent_intervals(
    specs: &[MetricSpec],
    rows: usize,
    cell: impl Fn(usize, usize, End) -> Option<f64>,
) -> Vec<Option<Interval>> {
    let least = aggregates(specs, rows, |row, column| cell(row, column, End::Least));
    let most = aggregates(specs, rows, |row, column| cell(row, column, End::Most));
    least
        .into_iter()
        .zip(most)
        .map(|(least, most)| Interval::between(least, most))
        .collect()
}

/// The value of a pair whose missing samples all have the same extreme value.
fn extended(spec: &MetricSpec, samples: &[Option<f64>], missing: usize, end: End) -> Option<f64> {
    let mut all = samples.to_vec();
    all.resize(samples.len() + missing, Some(extreme(spec, end)));
    folded(spec, &all)
}

fn extreme(spec: &MetricSpec, end: End) -> f64 {
    match end {
        End::Least => spec.least,
        End::Most => spec.greatest(),
    }
}

#[cfg(test)]
mod tests;
