//! What the numbers of an agent are compared with: the committed baseline, and the base commit's own runs where the baseline has nothing,
//! or where they do not pass a gate themselves. It is chosen for each gate, and never value by value: otherwise losses below a limit would
//! add up over several changes.

use std::collections::{BTreeMap, BTreeSet};

use super::GatedMetric;
use super::compare::{BaseRuns, case_before};
use crate::fold;
use crate::model::{
    BaselineEntry, CaseValues, Exclusion, Identity, MetricSpec, PASSED, PairResult, share,
};

/// The base commit's own runs as a baseline has them.
pub(super) fn entry_of_runs(
    runs: &BaseRuns<'_>,
    metrics: &[GatedMetric],
    identity: &Identity,
) -> BaselineEntry {
    let names = metrics.iter().map(|metric| metric.spec.name);
    let mut cases = BTreeMap::new();
    for pair in runs.results {
        if pair.exclusion == Exclusion::Counted {
            cases.insert(pair.case.clone(), case_values(names.clone(), pair));
        }
    }
    let mut entry = BaselineEntry {
        identity: Some(identity.clone()),
        cases,
        ..BaselineEntry::default()
    };
    set_numbers(&mut entry, metrics);
    entry
}

/// The values of a case as a baseline has them. `names` are those of its metrics, in their order. An excluded pair has none.
pub fn case_values<'n>(names: impl Iterator<Item = &'n str>, pair: &PairResult) -> CaseValues {
    if pair.exclusion != Exclusion::Counted {
        return CaseValues::new();
    }
    let passing = pair
        .passing
        .and_then(|passing| share(passing as usize, pair.completed as usize));
    let passed = passing.map(|passing| (PASSED.to_owned(), vec![Some(passing)]));
    let measured = names
        .zip(&pair.values)
        .filter(|(_, value)| value.value.is_some());
    let measured = measured.map(|(name, value)| (name.to_owned(), value.samples.to_vec()));
    measured.chain(passed).collect()
}

/// A baseline's entry with the values of the base commit's own runs that it lacks, and their names.
pub(super) struct CompletedEntry {
    pub(super) entry: BaselineEntry,
    /// The cases and the metrics that it lacked.
    pub(super) added: Vec<String>,
}

impl CompletedEntry {
    /// `None` if the entry lacks nothing, or does not list its cases.
    pub(super) fn of(
        baseline: &BaselineEntry,
        base: &BaselineEntry,
        metrics: &[GatedMetric],
    ) -> Option<Self> {
        if baseline.cases.is_empty() {
            return None;
        }
        let mut entry = baseline.clone();
        let (mut new_cases, mut new_metrics) = (Vec::new(), BTreeSet::new());
        for (case, values) in &base.cases {
            if entry.earlier.contains_key(case) {
                continue;
            }
            if baseline.last_values(case).is_none() {
                new_cases.push(case.clone());
                entry.cases.insert(case.clone(), values.clone());
                continue;
            }
            let known = entry.cases.entry(case.clone()).or_default();
            for metric in metrics {
                if let Some(samples) = values.get(metric.spec.name)
                    && !known.contains_key(metric.spec.name)
                {
                    new_metrics.insert(metric.spec.name);
                    known.insert(metric.spec.name.to_owned(), samples.clone());
                }
            }
        }
        let new_cases = new_cases.iter().map(ToString::to_string);
        let added: Vec<String> = new_cases
            .chain(new_metrics.into_iter().map(str::to_owned))
            .collect();
        if added.is_empty() {
            return None;
        }
        set_numbers(&mut entry, metrics);
        Some(Self { entry, added })
    }
}

/// Sets the numbers of an entry to those of its cases.
fn set_numbers(entry: &mut BaselineEntry, metrics: &[GatedMetric]) {
    let specs: Vec<MetricSpec> = metrics.iter().map(|metric| metric.spec).collect();
    let rows: Vec<Vec<Option<f64>>> = entry
        .cases
        .values()
        .map(|values| case_before(metrics, Some(values)))
        .collect();
    let numbers = fold::aggregates(&specs, rows.len(), |row, column| rows[row][column]);
    entry.metrics = specs
        .iter()
        .zip(numbers)
        .filter_map(|(spec, number)| Some((spec.name.to_owned(), number?)))
        .collect();
}
