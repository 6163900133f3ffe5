//! Values per run: sample number `k` of all cases is run `k` of the agent.

use super::{aggregates, folded};
use crate::model::{Exclusion, MetricSpec, PairResult};

/// The agent's values in each run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ValuesByRun {
    /// One row per run, one column per metric.
    pub runs: Vec<Vec<Option<f64>>>,
    /// Number of runs left out because one of their samples was lost, or was not needed.
    pub incomplete: usize,
}

/// Splits the counted pairs of an agent into runs: run `k` consists of sample `k` of each pair.
///
/// A run in which any pair lost its sample covers other cases than the rest, and is left out. The number of runs is that of the
/// pair with the fewest samples.
pub fn apart(specs: &[MetricSpec], pairs: &[&PairResult]) -> ValuesByRun {
    let counted: Vec<&PairResult> = pairs
        .iter()
        .copied()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
        .collect();
    let planned = counted.iter().map(|pair| pair.planned).min().unwrap_or(0);
    let mut taken = ValuesByRun::default();
    for sample in 0..planned {
        let indexes: Option<Vec<usize>> = counted
            .iter()
            .map(|pair| completed_index(pair, sample))
            .collect();
        let Some(indexes) = indexes else {
            taken.incomplete += 1;
            continue;
        };
        taken
            .runs
            .push(aggregates(specs, counted.len(), |row, column| {
                let values = &counted[row].values[column].samples;
                folded(
                    &specs[column],
                    &[values.get(indexes[row]).copied().flatten()],
                )
            }));
    }
    taken
}

/// The index of a sample among the completed ones; `None` if it was lost, or was not made because sampling stopped early.
fn completed_index(pair: &PairResult, sample: u32) -> Option<usize> {
    let lost = |lost: u32| pair.lost.iter().any(|one| one.sample == lost);
    let index = (0..sample).filter(|before| !lost(*before)).count();
    (!lost(sample) && index < pair.completed as usize).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::apart;
    use crate::fold::{GradedSample, PairMeta, pair};
    use crate::model::{
        AgentName, Aggregate, AnsweredBy, CaseId, Grade, Layer, MetricSpec, PairResult, RepoPath,
        UngradedReason,
    };

    const SPECS: &[MetricSpec] = &[
        MetricSpec {
            name: "mean",
            ..MetricSpec::PLAIN
        },
        MetricSpec {
            name: "worst",
            aggregate: Aggregate::Worst,
            ..MetricSpec::PLAIN
        },
        MetricSpec {
            name: "rate",
            ..MetricSpec::RATE
        },
        MetricSpec {
            name: "together",
            ..MetricSpec::PLAIN
        },
    ];

    /// Samples with one value for the first three metrics, and no value for the last; `None` is a lost sample.
    fn of(samples: &[Option<f64>]) -> PairResult {
        let graded = samples.iter().map(|sample| match sample {
            Some(value) => GradedSample::Completed(Grade {
                values: vec![Some(*value); 3],
                checks: Vec::new(),
                layer: Layer::Structured,
                shortfalls: Vec::new(),
                kept: None,
            }),
            None => GradedSample::Lost(UngradedReason::NotRecorded),
        });
        let heading = PairMeta {
            case: CaseId::new("c").unwrap(),
            agent: AgentName::new("a").unwrap(),
            golden: RepoPath::root(),
            answered_by: AnsweredBy::default(),
        };
        pair(SPECS, heading, graded.collect())
    }

    #[test]
    fn each_sample_number_is_a_run() {
        let pairs = [
            of(&[Some(1.0), Some(0.0), Some(0.5)]),
            of(&[Some(0.6), Some(1.0), Some(1.0), Some(0.0)]),
        ];
        let taken = apart(SPECS, &pairs.iter().collect::<Vec<_>>());
        let run = |mean, worst, rate| vec![Some(mean), Some(worst), Some(rate), None];
        assert_eq!(
            taken.runs,
            [run(0.8, 0.6, 1.0), run(0.5, 0.0, 0.5), run(0.75, 0.5, 1.0)]
        );
        assert_eq!(taken.incomplete, 0);
    }

    #[test]
    fn a_run_that_lost_a_sample_is_left_out_and_counted() {
        let pairs = [
            of(&[Some(1.0), None, Some(0.5)]),
            of(&[Some(0.6), Some(1.0), Some(1.0)]),
            of(&[None, None, Some(0.0)]),
        ];
        let taken = apart(SPECS, &pairs.iter().collect::<Vec<_>>());
        // The last pair has no majority and is not counted.
        assert_eq!(
            taken.runs.iter().map(|run| run[0]).collect::<Vec<_>>(),
            [Some(0.8), Some(0.75)]
        );
        assert_eq!(taken.incomplete, 1);
        assert_eq!(apart(SPECS, &[]).runs.len(), 0);
    }

    #[test]
    fn a_run_of_which_a_sample_was_not_needed_is_left_out() {
        let stopped = PairResult {
            planned: 3,
            spared: 1,
            ..of(&[Some(1.0), Some(0.5)])
        };
        let taken = apart(SPECS, &[&stopped, &of(&[Some(0.0), Some(0.0), Some(0.0)])]);
        assert_eq!(
            taken.runs.iter().map(|run| run[0]).collect::<Vec<_>>(),
            [Some(0.5), Some(0.25)]
        );
        assert_eq!(taken.incomplete, 1);
    }
}
