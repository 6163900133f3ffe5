//! Values that all samples of a scenario have together.

use smallvec::smallvec;

use super::{Stochastic, StochasticMetrics, ThresholdForm};
use crate::model::{PairValue, Run, indicator, reaches};
use crate::suites::Pair;
use crate::suites::kind::Refolder;
use crate::suites::shared::own_metrics::ByMetric;

/// Whether there are several samples with byte-identical outputs, which suggests a cache.
pub(super) fn are_identical(samples: &[Vec<Run>]) -> bool {
    let outputs = |runs: &[Run]| runs.iter().map(|run| run.outputs.clone()).collect::<Vec<_>>();
    samples.len() > 1 && samples.windows(2).all(|two| outputs(&two[0]) == outputs(&two[1]))
}

/// The population variance around the mean.
fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// Sets a value that all samples have together.
pub(super) fn set(metric: &mut PairValue, number: f64) {
    (metric.value, metric.samples) = (Some(number), smallvec![Some(number)]);
}

impl Refolder for Stochastic {
    fn refold(&self, pair: &Pair, values: &mut [PairValue]) {
        let scenario = self.folder.case(pair);
        let Some(StochasticMetrics {
            precision,
            recall,
            f1,
            precision_variance,
            recall_variance,
            f1_variance,
            precision_stddev,
            recall_stddev,
            f1_stddev,
            scenario_pass_rate,
            identical_runs: _,
            case_pass_rate: _,
        }) = StochasticMetrics::from_table_order(values)
        else {
            return;
        };
        let (Some(mean_precision), Some(mean_recall), Some(mean_f1)) = (precision.value, recall.value, f1.value) else {
            return;
        };
        let ThresholdForm { precision: enough_precise, recall: enough_found } = scenario.thresholds;
        let passes = reaches(mean_precision, enough_precise) && reaches(mean_recall, enough_found);
        for (of_run, mean, of_variance, of_stddev) in [
            (precision, mean_precision, precision_variance, precision_stddev),
            (recall, mean_recall, recall_variance, recall_stddev),
            (f1, mean_f1, f1_variance, f1_stddev),
        ] {
            let variance = variance(&of_run.samples.iter().copied().flatten().collect::<Vec<f64>>(), mean);
            set(of_variance, variance);
            set(of_stddev, variance.sqrt());
        }
        set(scenario_pass_rate, indicator(passes));
    }
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
