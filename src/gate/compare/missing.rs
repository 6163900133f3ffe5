//! The values that a run lacks: those of samples without a result, and those that the reference has and a completed sample does not.

use super::gate_input::GateInput;
use crate::fold::{End, pair_end};
use crate::model::{
    Aggregate, BaselineEntry, CaseValues, Exclusion, MetricSpec, PairResult, ValueSource,
};

/// How many values each pair lacks of each metric.
pub(super) struct MissingValues {
    /// By pair and metric; empty if nothing is missing.
    counts: Vec<Vec<usize>>,
}

impl MissingValues {
    pub(super) fn of(input: &GateInput<'_>, entry: Option<&BaselineEntry>) -> Self {
        let specs = input.specs();
        let mut counts = Vec::with_capacity(input.pairs.len());
        for pair in input.results() {
            let reference = entry.and_then(|entry| entry.last_values(&pair.case));
            counts.push(missing_of_pair(pair, &specs, reference));
        }
        if let Some(entry) = entry {
            add_lost_metrics(input, entry, &mut counts);
        }
        if counts.iter().flatten().all(|count| *count == 0) {
            counts.clear();
        }
        Self { counts }
    }

    /// Whether no value is missing.
    pub(super) fn is_none(&self) -> bool {
        self.counts.is_empty()
    }

    /// Whether a pair lacks values of a metric.
    pub(super) fn has(&self, pair: usize, column: usize) -> bool {
        self.count(pair, column) > 0
    }

    fn count(&self, pair: usize, column: usize) -> usize {
        self.counts.get(pair).map_or(0, |counts| counts[column])
    }

    /// One end of the value of a pair. An excluded pair has one only if its missing values count.
    pub(super) fn end(
        &self,
        input: &GateInput<'_>,
        pair: usize,
        column: usize,
        end: End,
    ) -> Option<f64> {
        let result = input.pairs[pair].result;
        let missing = self.count(pair, column);
        if missing == 0 && result.exclusion != Exclusion::Counted {
            return None;
        }
        let spec = &input.metrics[column].spec;
        let completed = result.completed as usize;
        pair_end(spec, &result.values[column], completed, missing, end)
    }
}

/// Adds the values of metrics of which the reference has the number alone, and of which no case has a value any more.
fn add_lost_metrics(input: &GateInput<'_>, entry: &BaselineEntry, counts: &mut [Vec<usize>]) {
    for (column, metric) in input.metrics.iter().enumerate() {
        let name = metric.spec.name;
        let is_number_alone = entry.metrics.contains_key(name)
            && !entry.cases.values().any(|values| values.contains_key(name));
        let is_of_agent = matches!(
            metric.spec.aggregate,
            Aggregate::Coverage | Aggregate::NewlyFailing | Aggregate::Harmonic(..)
        );
        let mut pairs = input.results();
        if !is_number_alone || is_of_agent || pairs.any(|pair| pair.values[column].value.is_some())
        {
            continue;
        }
        for (pair, counts) in input.results().zip(counts.iter_mut()) {
            if pair.exclusion != Exclusion::Quarantined {
                counts[column] = pair.planned as usize;
            }
        }
    }
}

fn missing_of_pair(
    pair: &PairResult,
    specs: &[MetricSpec],
    reference: Option<&CaseValues>,
) -> Vec<usize> {
    let mut counts = vec![0; specs.len()];
    if pair.exclusion == Exclusion::Quarantined {
        return counts;
    }
    for (column, spec) in specs.iter().enumerate() {
        counts[column] = missing_of_metric(pair, column, spec, reference);
    }
    counts
}

/// The number of missing values of one metric. A metric is one of the pair if a completed sample or the reference has a value of it, or if
/// nothing is known of the pair.
fn missing_of_metric(
    pair: &PairResult,
    column: usize,
    spec: &MetricSpec,
    reference: Option<&CaseValues>,
) -> usize {
    let lost = pair.lost.len();
    let samples = &pair.values[column].samples;
    let completed = pair.completed as usize;
    let measured = samples.iter().flatten().count();
    let unstated = completed.saturating_sub(measured);
    let is_of_samples = samples.len() == completed;
    if spec.source == ValueSource::Use {
        return lost + unstated;
    }
    let stated: &[Option<f64>] = reference
        .and_then(|values| values.get(spec.name))
        .map_or(&[], Vec::as_slice);
    let referenced = stated.iter().flatten().count();
    let is_unknown = completed == 0 && reference.is_none();
    if measured == 0 && referenced == 0 && !is_unknown {
        return 0;
    }
    if !is_of_samples {
        return lost;
    }
    // The same share of the samples has a value as in the reference.
    let expected = pair.planned as usize * referenced / stated.len().max(1);
    let present = measured + pair.spared as usize;
    lost.max(expected.saturating_sub(present))
}
