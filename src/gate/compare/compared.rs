//! Compares the numbers of an agent with those of one reference, and evaluates its gates on them.

use super::case_sets::CaseSets;
use super::gate_input::GateInput;
use super::missing::MissingValues;
use super::own::{case_before, newly_failing};
use crate::fold;
use crate::fold::{Interval, agent_intervals};
use crate::gate::PlannedGate;
use crate::gate::rule::{BaseNumber, GateResult, Subject, ruled};
use crate::model::{Aggregate, BaselineEntry, CaseId, Exclusion, MetricSpec};

/// The numbers of an agent and of a reference, by metric.
pub(super) struct ComparedNumbers<'a> {
    input: &'a GateInput<'a>,
    pub(super) sets: CaseSets,
    /// The values over all cases.
    pub(super) values: Vec<Option<f64>>,
    /// The values on the cases that both measured.
    pub(super) shared: Vec<Option<f64>>,
    /// The reference's numbers on these cases.
    pub(super) reference: Vec<Option<f64>>,
    /// The values on the cases that only this run measured.
    pub(super) added: Vec<Option<f64>>,
    missing: MissingValues,
    intervals: Intervals,
    bases: Vec<BaseNumber>,
}

/// What the gates judge: the values with what missing samples could make of them.
struct Intervals {
    whole: Vec<Option<Interval>>,
    shared: Vec<Option<Interval>>,
    added: Vec<Option<Interval>>,
    /// The reference's numbers on the cases of `shared`.
    reference: Vec<Option<f64>>,
}

impl<'a> ComparedNumbers<'a> {
    /// `unknown` replaces a number that the reference does not have.
    pub(super) fn of(
        input: &'a GateInput<'a>,
        entry: Option<&'a BaselineEntry>,
        unknown: &BaseNumber,
    ) -> Self {
        let sets = CaseSets::of(input, entry);
        let mut values = fold::agent(&input.specs(), input.results());
        let (mut shared, reference) = sets.values(input, entry, &values);
        let mut added = sets.added_values(input);
        let missing = MissingValues::of(input, entry);
        let mut intervals = if missing.is_none() {
            Intervals {
                whole: points(&values),
                shared: points(&shared),
                added: points(&added),
                reference: reference.clone(),
            }
        } else {
            Intervals::of(input, entry, &sets, &missing, &reference)
        };
        for (index, metric) in input.metrics.iter().enumerate() {
            match metric.spec.aggregate {
                Aggregate::Coverage => intervals.whole[index] = values[index].map(Interval::at),
                Aggregate::NewlyFailing => {
                    let failing = newly_failing(input.results(), entry);
                    let count = failing.as_ref().and_then(|failing| failing.measured);
                    (values[index], shared[index], added[index]) = (count, count, None);
                    intervals.whole[index] = failing.map(|failing| Interval {
                        least: failing.least,
                        most: failing.most,
                    });
                    intervals.shared[index] = intervals.whole[index];
                    intervals.added[index] = None;
                }
                _ => {}
            }
        }
        let bases = intervals
            .reference
            .iter()
            .map(|number| number.map_or_else(|| unknown.clone(), BaseNumber::Known))
            .collect();
        Self {
            input,
            sets,
            values,
            shared,
            reference,
            added,
            missing,
            intervals,
            bases,
        }
    }

    /// The reference's numbers, which the gates use.
    pub(super) fn bases(&self) -> &[BaseNumber] {
        &self.bases
    }

    /// The interval of an agent's value.
    pub(super) fn interval(&self, metric: usize) -> Option<Interval> {
        self.intervals.whole[metric]
    }

    /// The result of a gate of a metric.
    pub(super) fn gate(&self, metric: usize, planned: &PlannedGate) -> GateResult {
        let base = &self.bases[metric];
        ruled(planned, &self.subject(metric), base)
    }

    /// The result of a gate that asks for nothing but a value as good as the reference's. It has no tolerance: losses below a
    /// limit would add up.
    pub(super) fn gate_of_same(&self, metric: usize, planned: &PlannedGate) -> GateResult {
        // No case newly fails in the reference itself.
        let base = match self.input.metrics[metric].spec.aggregate {
            Aggregate::NewlyFailing => &BaseNumber::Known(0.0),
            _ => &self.bases[metric],
        };
        ruled(&planned.without_tolerance(), &self.subject(metric), base)
    }

    fn subject(&self, metric: usize) -> Subject {
        Subject {
            value: self.intervals.whole[metric],
            shared_value: self.intervals.shared[metric],
            added_value: self.intervals.added[metric],
            in_common: self.sets.shared.len(),
        }
    }

    /// The cases that lack values of a metric, or of those that it is made of.
    pub(super) fn lacking(&self, metric: usize) -> Vec<CaseId> {
        let specs = self.input.specs();
        let parts = specs[metric]
            .aggregate
            .parts()
            .map_or_else(|| vec![specs[metric].name], Vec::from);
        let columns: Vec<usize> = (0..specs.len())
            .filter(|column| parts.contains(&specs[*column].name))
            .collect();
        let mut cases = Vec::new();
        for (row, pair) in self.input.results().enumerate() {
            let is_lost = specs[metric].aggregate == Aggregate::NewlyFailing
                && pair.exclusion != Exclusion::Quarantined
                && !pair.lost.is_empty();
            if is_lost || columns.iter().any(|column| self.missing.has(row, *column)) {
                cases.push(pair.case.clone());
            }
        }
        cases
    }
}

impl Intervals {
    /// The intervals of the cases of `sets` and of those without a result.
    fn of(
        input: &GateInput<'_>,
        entry: Option<&BaselineEntry>,
        sets: &CaseSets,
        missing: &MissingValues,
        reference: &[Option<f64>],
    ) -> Self {
        let specs = input.specs();
        let planned: Vec<usize> = (0..input.pairs.len())
            .filter(|row| input.pairs[*row].result.exclusion != Exclusion::Quarantined)
            .collect();
        let whole = intervals_of_rows(input, &specs, missing, &planned);
        let Some(entry) = entry.filter(|entry| !entry.cases.is_empty()) else {
            return Self {
                shared: whole.clone(),
                whole,
                added: vec![None; specs.len()],
                reference: reference.to_vec(),
            };
        };
        let (mut lost_known, mut lost_new) = (Vec::new(), Vec::new());
        for row in planned {
            let result = input.pairs[row].result;
            if result.exclusion != Exclusion::NoMajority {
                continue;
            }
            if entry.last_values(&result.case).is_some() {
                lost_known.push(row);
            } else {
                lost_new.push(row);
            }
        }
        let shared = [sets.shared.as_slice(), &lost_known].concat();
        let reference = if sets.same || lost_known.is_empty() {
            reference.to_vec()
        } else {
            numbers_of(input, entry, &shared)
        };
        let added = [sets.unknown.as_slice(), &lost_new].concat();
        Self {
            whole,
            shared: intervals_of_rows(input, &specs, missing, &shared),
            added: intervals_of_rows(input, &specs, missing, &added),
            reference,
        }
    }
}

/// The intervals over the cases of these pairs.
fn intervals_of_rows(
    input: &GateInput<'_>,
    specs: &[MetricSpec],
    missing: &MissingValues,
    rows: &[usize],
) -> Vec<Option<Interval>> {
    agent_intervals(specs, rows.len(), |row, column, end| {
        missing.end(input, rows[row], column, end)
    })
}

/// A reference's numbers on the cases of these pairs.
fn numbers_of(input: &GateInput<'_>, entry: &BaselineEntry, rows: &[usize]) -> Vec<Option<f64>> {
    let mut reference = Vec::with_capacity(rows.len());
    for row in rows {
        let case = &input.pairs[*row].result.case;
        reference.push(case_before(input.metrics, entry.last_values(case)));
    }
    fold::aggregates(&input.specs(), rows.len(), |row, column| {
        reference[row][column]
    })
}

fn points(values: &[Option<f64>]) -> Vec<Option<Interval>> {
    values.iter().map(|value| value.map(Interval::at)).collect()
}
