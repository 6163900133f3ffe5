//! Folds the values of a scenario that follow from the values of all its samples.

use super::StochasticMetrics;
use super::thresholds::{ComparedValues, Thresholds};
use super::whole::{set, variance};
use crate::model::{PairValue, indicator};
use crate::suites::shared::own_metrics::ByMetric;

/// Sets the values that follow from those of all samples of a pair.
pub(super) fn refold(thresholds: Thresholds, values: &mut [PairValue]) {
    let Some(StochasticMetrics {
        precision,
        recall,
        f1,
        rubric_total,
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
    let (Some(mean_precision), Some(mean_recall), Some(mean_f1)) =
        (precision.value, recall.value, f1.value)
    else {
        return;
    };
    let means = ComparedValues {
        precision: mean_precision,
        recall: mean_recall,
        rubric: rubric_total.value,
    };
    let passes = means.reach(thresholds);
    for (of_run, mean, of_variance, of_stddev) in [
        (
            precision,
            mean_precision,
            precision_variance,
            precision_stddev,
        ),
        (recall, mean_recall, recall_variance, recall_stddev),
        (f1, mean_f1, f1_variance, f1_stddev),
    ] {
        let variance = variance(
            &of_run
                .samples
                .iter()
                .copied()
                .flatten()
                .collect::<Vec<f64>>(),
            mean,
        );
        set(of_variance, variance);
        set(of_stddev, variance.sqrt());
    }
    set(scenario_pass_rate, indicator(passes));
}
