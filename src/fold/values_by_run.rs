//! Samples one by one: each sample number as a run of the agent over all its cases.

use super::{aggregates, folded};
use crate::model::{Exclusion, MetricSpec, PairResult};

/// The agent's values in each of its runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ValuesByRun {
    /// One row a run, one column a metric.
    pub runs: Vec<Vec<Option<f64>>>,
    /// Runs that are left out, because a sample of them was lost.
    pub incomplete: usize,
}

/// Takes the counted pairs of an agent apart: run `k` is sample `k` of each of them.
///
/// A run in which any of the pairs lost its sample is over other cases than the rest, and is left out. There are as many
/// runs as the pair with the fewest samples has.
pub fn apart(specs: &[MetricSpec], pairs: &[&PairResult]) -> ValuesByRun {
    let counted: Vec<&PairResult> = pairs.iter().copied().filter(|pair| pair.exclusion == Exclusion::Counted).collect();
    let planned = counted.iter().map(|pair| pair.planned).min().unwrap_or(0);
    let mut taken = ValuesByRun::default();
    for sample in 0..planned {
        let places: Option<Vec<usize>> = counted.iter().map(|pair| place(pair, sample)).collect();
        let Some(places) = places else {
            taken.incomplete += 1;
            continue;
        };
        taken.runs.push(aggregates(specs, counted.len(), |row, column| {
            let values = &counted[row].values[column].samples;
            folded(&specs[column], &[values.get(places[row]).copied().flatten()])
        }));
    }
    taken
}

/// Where a sample stands among the completed ones; `None` where it was lost.
fn place(pair: &PairResult, sample: u32) -> Option<usize> {
    let lost = |lost: u32| pair.lost.iter().any(|one| one.sample == lost);
    (!lost(sample)).then(|| (0..sample).filter(|before| !lost(*before)).count())
}

#[cfg(test)]
mod tests {
    use super::apart;
    use crate::fold::{GradedSample, PairMeta, pair};
    use crate::model::{
        AgentName, Aggregate, AnsweredBy, CaseId, Grade, Layer, MetricSpec, PairResult, RepoPath, UngradedReason,
    };

    const SPECS: &[MetricSpec] = &[
        MetricSpec { name: "mean", ..MetricSpec::PLAIN },
        MetricSpec { name: "worst", aggregate: Aggregate::Worst, ..MetricSpec::PLAIN },
        MetricSpec { name: "rate", ..MetricSpec::RATE },
        MetricSpec { name: "together", ..MetricSpec::PLAIN },
    ];

    /// Samples with one value for the first three metrics, none for the last; `None` was lost.
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
        let pairs = [of(&[Some(1.0), Some(0.0), Some(0.5)]), of(&[Some(0.6), Some(1.0), Some(1.0), Some(0.0)])];
        let taken = apart(SPECS, &pairs.iter().collect::<Vec<_>>());
        let run = |mean, worst, rate| vec![Some(mean), Some(worst), Some(rate), None];
        assert_eq!(taken.runs, [run(0.8, 0.6, 1.0), run(0.5, 0.0, 0.5), run(0.75, 0.5, 1.0)]);
        assert_eq!(taken.incomplete, 0);
    }

    #[test]
    fn a_run_that_lost_a_sample_is_left_out_and_counted() {
        let pairs =
            [of(&[Some(1.0), None, Some(0.5)]), of(&[Some(0.6), Some(1.0), Some(1.0)]), of(&[None, None, Some(0.0)])];
        let taken = apart(SPECS, &pairs.iter().collect::<Vec<_>>());
        // The last pair has no majority and counts nowhere.
        assert_eq!(taken.runs.iter().map(|run| run[0]).collect::<Vec<_>>(), [Some(0.8), Some(0.75)]);
        assert_eq!(taken.incomplete, 1);
        assert_eq!(apart(SPECS, &[]).runs.len(), 0);
    }
}
