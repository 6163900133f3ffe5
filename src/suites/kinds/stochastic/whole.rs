//! Values that all samples of a scenario have together.

use smallvec::smallvec;

use crate::model::{PairValue, Run};

/// Whether there are several samples with byte-identical outputs, which suggests a cache.
pub(super) fn are_identical(samples: &[Vec<Run>]) -> bool {
    samples.len() > 1
        && samples
            .windows(2)
            .all(|pair| have_equal_outputs(&pair[0], &pair[1]))
}

fn have_equal_outputs(left: &[Run], right: &[Run]) -> bool {
    let left = left.iter().map(|run| &run.outputs);
    left.eq(right.iter().map(|run| &run.outputs))
}

pub(super) fn variance(values: &[f64], mean: f64) -> f64 {
    values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / values.len() as f64
}

/// Sets a value that all samples have together.
pub(super) fn set(metric: &mut PairValue, number: f64) {
    (metric.value, metric.samples) = (Some(number), smallvec![Some(number)]);
}

#[cfg(test)]
mod tests {
    use super::variance;

    #[test]
    fn the_variance_is_that_of_all_runs() {
        assert_eq!(variance(&[0.0, 1.0], 0.5), 0.25);
        assert_eq!(variance(&[0.5, 0.5, 0.5], 0.5), 0.0);
    }
}
