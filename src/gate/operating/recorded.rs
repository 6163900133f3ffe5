//! The recorded samples of an agent, as values.

use super::rates::Basis;
use crate::fold;
use crate::gate::limits::GatedMetric;
use crate::model::{
    Aggregate, CaseValues, Exclusion, MetricSpec, PASSED, PairResult, PairValue, indicator,
};

/// Computes the values of a case again from the samples in them, for a kind that computes some from all samples together. The number is the
/// index of the case.
pub type Refold<'a> = Box<dyn Fn(usize, &mut [PairValue]) + Sync + 'a>;

pub struct RecordedAgent<'a> {
    pub metrics: &'a [GatedMetric],
    pub cases: Vec<RecordedCase>,
    /// For kinds that fold some values themselves.
    pub refold: Option<Refold<'a>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedCase {
    pub samples: Vec<RecordedSample>,
}

/// The grade of one sample: a value for each metric of the kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSample {
    /// The values, in the order of the kind's table.
    pub values: Box<[Option<f64>]>,
    /// Whether all checks pass.
    pub passed: bool,
}

impl RecordedCase {
    /// The samples of a case in a baseline; `None` without samples. Which of them passed is only known as a number, so the first ones did.
    pub fn of_baseline(metrics: &[GatedMetric], values: &CaseValues) -> Option<Self> {
        let of = |metric: &GatedMetric| values.get(metric.spec.name).map_or(&[][..], Vec::as_slice);
        let columns: Vec<&[Option<f64>]> = metrics.iter().map(of).collect();
        let completed = columns
            .iter()
            .map(|column| column.len())
            .max()
            .filter(|count| *count > 0)?;
        let share = values
            .get(PASSED)
            .and_then(|share| share.first().copied().flatten())?;
        let passed = (share * completed as f64).round() as usize;
        let sample = |index: usize| {
            let values = columns
                .iter()
                .map(|column| column.get(index).copied().flatten());
            RecordedSample {
                values: values.collect(),
                passed: index < passed,
            }
        };
        Some(Self {
            samples: (0..completed).map(sample).collect(),
        })
    }

    /// The samples of a pair; `None` if it does not count, or if its report does not contain which samples passed.
    pub fn of(pair: &PairResult) -> Option<Self> {
        let completed = pair.completed as usize;
        if pair.exclusion != Exclusion::Counted || pair.scored.len() != completed {
            return None;
        }
        let sample = |index: usize| {
            let values = pair
                .values
                .iter()
                .map(|value| value.samples.get(index).copied().flatten());
            RecordedSample {
                values: values.collect(),
                passed: pair.scored[index].passes,
            }
        };
        Some(Self {
            samples: (0..completed).map(sample).collect(),
        })
    }
}

/// How a value of a case comes about in each round.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CellSource {
    /// It is the same in each round, or nothing uses it.
    Fixed(Option<f64>),
    /// It is folded from the drawn samples.
    Drawn,
}

/// What all rounds of one agent have in common. Most samples of a case are equal, and most metrics have no gate, so that few values have to
/// be folded again in each round.
pub(super) struct AgentPlan<'a> {
    pub(super) agent: &'a RecordedAgent<'a>,
    pub(super) specs: Vec<MetricSpec>,
    /// How strongly the values of a case are its own ([`own_shares`]).
    pub(super) shares: Vec<f64>,
    /// Samples per case.
    samples: usize,
    /// By case and metric.
    cells: Vec<Vec<CellSource>>,
}

impl<'a> AgentPlan<'a> {
    pub(super) fn new(agent: &'a RecordedAgent<'a>, samples: usize, basis: Basis) -> Self {
        let specs: Vec<MetricSpec> = agent.metrics.iter().map(|metric| metric.spec).collect();
        let shares = own_shares(&agent.cases, specs.len());
        let used = used_columns(agent.metrics);
        let is_shared: Vec<bool> = (0..specs.len())
            .map(|column| {
                let values = agent
                    .cases
                    .iter()
                    .flat_map(|case| &case.samples)
                    .map(|sample| sample.values[column]);
                basis == Basis::Pooled && shares[column] < 1.0 && !are_equal(values)
            })
            .collect();
        let cell = |case: &RecordedCase, column: usize| {
            let values = case.samples.iter().map(|sample| sample.values[column]);
            let first = values.clone().next().flatten();
            let is_fixed = are_equal(values) && (!is_shared[column] || first.is_none());
            match (used[column], is_fixed) {
                (false, _) => CellSource::Fixed(None),
                (true, true) => {
                    CellSource::Fixed(fold::folded(&specs[column], &vec![first; samples]))
                }
                (true, false) => CellSource::Drawn,
            }
        };
        let cells = agent
            .cases
            .iter()
            .map(|case| (0..specs.len()).map(|column| cell(case, column)).collect())
            .collect();
        Self {
            agent,
            shares,
            samples,
            cells,
            specs,
        }
    }

    /// The folded values of a case from some of its samples: the same medians, means and majorities as in a run.
    pub(super) fn folded(
        &self,
        case: usize,
        value: impl Fn(usize, usize) -> Option<f64>,
    ) -> CaseRow {
        let drawn = |column: usize| {
            (0..self.samples)
                .map(|sample| value(sample, column))
                .collect::<Vec<_>>()
        };
        let Some(refold) = &self.agent.refold else {
            let columns = self.specs.iter().zip(&self.cells[case]).enumerate();
            let of_column = |(column, (spec, cell)): (usize, (&MetricSpec, &CellSource))| match cell
            {
                CellSource::Fixed(value) => *value,
                CellSource::Drawn => fold::folded(spec, &drawn(column)),
            };
            return columns.map(of_column).collect();
        };
        let pair_value = |(column, spec): (usize, &MetricSpec)| {
            let samples = drawn(column);
            PairValue {
                name: spec.name.into(),
                value: fold::folded(spec, &samples),
                samples: samples.into(),
            }
        };
        let mut values: Vec<PairValue> = self.specs.iter().enumerate().map(pair_value).collect();
        refold(case, &mut values);
        values.into_iter().map(|value| value.value).collect()
    }
}

/// Which metrics the rates depend on: those with an active gate, and those that such a metric is composed of.
fn used_columns(metrics: &[GatedMetric]) -> Vec<bool> {
    let has_gate = |metric: &&GatedMetric| metric.gates.iter().any(|planned| planned.off.is_none());
    let parts = metrics.iter().filter(has_gate).filter_map(|metric| {
        let Aggregate::Harmonic(one, other) = metric.spec.aggregate else {
            return None;
        };
        Some([one, other])
    });
    let parts: Vec<&str> = parts.flatten().collect();
    metrics
        .iter()
        .map(|metric| has_gate(&metric) || parts.contains(&metric.spec.name))
        .collect()
}

fn are_equal(mut values: impl Iterator<Item = Option<f64>>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// One folded value per metric.
pub(super) type CaseRow = Vec<Option<f64>>;

/// How strongly the values of a case are its own, per metric, and at the end for whether a sample passes: 1 if cases differ more than the
/// samples of one case do, 0 if the cases' means differ no more than such samples let them.
///
/// The square root of the share of the variance of the cases' means that is not that of their samples (one-way analysis of variance with
/// random effects). Means that are shrunk by this factor vary as much as the true ones: the constrained empirical Bayes estimate (Louis,
/// "Estimating a population of parameter values using Bayes and empirical Bayes methods", JASA 79, 1984).
fn own_shares(cases: &[RecordedCase], columns: usize) -> Vec<f64> {
    let of = |sample: &RecordedSample, column: usize| match sample.values.get(column) {
        Some(value) => *value,
        None => Some(indicator(sample.passed)),
    };
    let shares = (0..=columns).map(|column| {
        let values = cases.iter().map(|case| {
            case.samples
                .iter()
                .filter_map(|sample| of(sample, column))
                .collect()
        });
        own_share(&values.collect::<Vec<Vec<f64>>>())
    });
    shares.collect()
}

fn own_share(cases: &[Vec<f64>]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64], mean: f64| {
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
    };
    let measured: Vec<&Vec<f64>> = cases.iter().filter(|values| !values.is_empty()).collect();
    let means: Vec<f64> = measured.iter().map(|values| mean(values)).collect();
    let within: f64 = measured
        .iter()
        .zip(&means)
        .map(|(values, mean)| squares(values, *mean))
        .sum();
    let degrees: usize = measured.iter().map(|values| values.len() - 1).sum();
    if degrees == 0 || within == 0.0 || means.len() < 2 {
        return 1.0;
    }
    let per_mean = measured
        .iter()
        .map(|values| 1.0 / values.len() as f64)
        .sum::<f64>()
        / means.len() as f64;
    let noise = within / degrees as f64 * per_mean;
    let between = squares(&means, mean(&means)) / (means.len() - 1) as f64;
    if between <= noise {
        0.0
    } else {
        ((between - noise) / between).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::own_share;

    #[test]
    fn steady_cases_keep_their_own_values_and_equal_noisy_ones_share_them() {
        assert!((own_share(&[vec![1.0; 3], vec![0.5; 3], vec![0.0; 3]]) - 1.0).abs() < 1e-12);
        assert!(own_share(&[vec![0.0, 1.0], vec![1.0, 0.0], vec![0.0, 1.0]]).abs() < 1e-12);
        assert!((own_share(&[vec![0.3, 0.9]]) - 1.0).abs() < 1e-12);
        assert!((own_share(&[Vec::new(), vec![0.5], vec![0.7]]) - 1.0).abs() < 1e-12);
        // Means 0.25 and 0.75, their variance 0.125; samples have the variance 0.125, their means half of it.
        let share = own_share(&[vec![0.0, 0.5], vec![0.5, 1.0]]);
        assert!((share - 0.5_f64.sqrt()).abs() < 1e-12, "{share}");
    }
}
