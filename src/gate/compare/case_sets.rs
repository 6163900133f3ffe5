//! Selects the cases of this run and of the baseline that are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::own::case_before;
use super::{CaseSelection, GateInput};
use crate::estimate::{PairedCases, intervals};
use crate::fold;
use crate::gate::limits::GatedMetric;
use crate::model::{BaselineEntry, CaseId, Exclusion, Gate, Limit, six_places};
use crate::text::named;

/// One row of values per case.
type CaseRows = Vec<Vec<Option<f64>>>;

/// The cases of this run and of the baseline.
pub(super) struct CaseSets {
    /// Whether both measured the same cases, or the baseline has no cases.
    pub(super) same: bool,
    /// Indices of the pairs that both measured, in pair order.
    pub(super) shared: Vec<usize>,
    /// Cases that exist only in the baseline.
    pub(super) removed: Vec<CaseId>,
    added: usize,
    /// Indices of the pairs that only this run measured, if the baseline lists its cases.
    pub(super) unknown: Vec<usize>,
    /// Cases that both have but only one measured: a recording is missing, or a quarantine started or ended.
    one_sided: Vec<CaseId>,
    /// Cases that this run measured and the baseline left out, which has earlier values of them.
    earlier: Vec<CaseId>,
}

impl CaseSets {
    pub(super) fn of(judged: &GateInput<'_>, entry: Option<&BaselineEntry>) -> Self {
        let Some(entry) = entry.filter(|entry| !entry.cases.is_empty()) else {
            return Self {
                same: true,
                shared: Vec::new(),
                removed: Vec::new(),
                added: 0,
                unknown: Vec::new(),
                one_sided: Vec::new(),
                earlier: Vec::new(),
            };
        };
        let known = &entry.cases;
        let measured_cases: BTreeSet<&CaseId> = judged.results().map(|pair| &pair.case).collect();
        let added = measured_cases
            .iter()
            .filter(|case| !known.contains_key(**case))
            .count();
        let mut removed: Vec<CaseId> = Vec::new();
        let mut same = true;
        for (case, values) in known {
            if !measured_cases.contains(case) {
                removed.push(case.clone());
                // A pair that one side excluded has no value to compare there, and none that could be missing.
                same &= values.is_empty();
            }
        }
        let (mut shared, mut unknown, mut any) = (Vec::new(), Vec::new(), false);
        let (mut one_sided, mut earlier) = (Vec::new(), Vec::new());
        for (index, pair) in judged.results().enumerate() {
            let measured = pair.exclusion == Exclusion::Counted
                && pair.values.iter().any(|value| value.value.is_some());
            any |= measured;
            let has_last_values = entry.last_values(&pair.case).is_some();
            if measured && !has_last_values {
                unknown.push(index);
            }
            if !known.contains_key(&pair.case) {
                same &= !measured;
                continue;
            }
            match (measured, entry.measured(&pair.case).is_some()) {
                (true, true) => shared.push(index),
                (true, false) if has_last_values => {
                    shared.push(index);
                    earlier.push(pair.case.clone());
                }
                (false, false) => {}
                (true, false) | (false, true) => one_sided.push(pair.case.clone()),
            }
        }
        // If this run measured nothing, nothing is compared, and the baseline's number is only shown.
        let same = !any || (same && one_sided.is_empty() && earlier.is_empty());
        Self {
            same,
            shared,
            removed,
            added,
            unknown,
            one_sided,
            earlier,
        }
        .only_listed(judged.selection)
    }

    fn only_listed(self, selection: CaseSelection) -> Self {
        match selection {
            CaseSelection::Whole => self,
            CaseSelection::Part => Self {
                removed: Vec::new(),
                ..self
            },
        }
    }

    pub(super) fn remark(&self, selection: CaseSelection) -> Option<String> {
        let shared = self.shared.len();
        match (self.same, selection) {
            (true, _) => None,
            (false, CaseSelection::Part) => Some(format!(
                "only selected cases ran; cases compared with the baseline: {shared}"
            )),
            (false, CaseSelection::Whole) if self.added > 0 || !self.removed.is_empty() => {
                Some(format!(
                    "the case sets differ ({} new, {} removed); cases compared with the baseline: {shared}",
                    self.added,
                    self.removed.len()
                ))
            }
            (false, CaseSelection::Whole) => {
                let lists = [
                    (
                        "measured only in this run or only in the baseline",
                        &self.one_sided,
                    ),
                    (
                        "compared with older values, because the baseline has none",
                        &self.earlier,
                    ),
                ];
                let lists = lists.into_iter().filter(|(_, cases)| !cases.is_empty());
                let named: String = lists
                    .map(|(description, cases)| format!("{description}: {}; ", named(cases)))
                    .collect();
                Some(format!("{named}cases compared: {shared}"))
            }
        }
    }

    fn rows(&self, judged: &GateInput<'_>, entry: &BaselineEntry) -> (CaseRows, CaseRows) {
        let (mut run, mut baseline) = (CaseRows::new(), CaseRows::new());
        for index in &self.shared {
            let pair = judged.pairs[*index].result;
            run.push(pair.values.iter().map(|value| value.value).collect());
            baseline.push(case_before(judged.metrics, entry.last_values(&pair.case)));
        }
        (run, baseline)
    }

    /// The values of this run and of the baseline, on the cases that both have.
    pub(super) fn values(
        &self,
        judged: &GateInput<'_>,
        entry: Option<&BaselineEntry>,
        whole: &[Option<f64>],
    ) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
        let Some(entry) = entry else {
            return (whole.to_vec(), vec![None; judged.metrics.len()]);
        };
        let specs = judged.specs();
        if self.same {
            return (
                whole.to_vec(),
                specs
                    .iter()
                    .map(|spec| entry.metrics.get(spec.name).copied())
                    .collect(),
            );
        }
        let (run, baseline) = self.rows(judged, entry);
        (
            fold::aggregates(&specs, run.len(), |row, column| run[row][column]),
            fold::aggregates(&specs, baseline.len(), |row, column| baseline[row][column]),
        )
    }

    /// This run's values on the cases that are not in the baseline.
    pub(super) fn added_values(&self, judged: &GateInput<'_>) -> Vec<Option<f64>> {
        fold::aggregates(&judged.specs(), self.unknown.len(), |row, column| {
            judged.pairs[self.unknown[row]].result.values[column].value
        })
    }

    /// A note that new cases are compared with a fixed limit instead of the baseline, with their names.
    pub(super) fn added_remark(
        &self,
        judged: &GateInput<'_>,
        metric: &GatedMetric,
        added: Option<f64>,
    ) -> Option<String> {
        let otherwise = metric.gates.iter().filter(|planned| planned.off.is_none());
        let mut otherwise = otherwise.filter_map(|planned| match planned.gate {
            Gate::Threshold {
                limit: Limit::Baseline { otherwise },
                ..
            } => otherwise,
            Gate::Threshold {
                limit: Limit::Number(_),
                ..
            }
            | Gate::Change { .. } => None,
        });
        let (value, otherwise) = added.zip(otherwise.next_back())?;
        let cases: Vec<CaseId> = self
            .unknown
            .iter()
            .map(|index| judged.pairs[*index].result.case.clone())
            .collect();
        Some(format!(
            "{} of the cases that are not in the baseline ({}) is {}; the limit for them is {otherwise}",
            metric.spec.name,
            named(&cases),
            six_places(value)
        ))
    }

    pub(super) fn intervals(
        &self,
        judged: &GateInput<'_>,
        entry: Option<&BaselineEntry>,
    ) -> Vec<Option<(f64, f64)>> {
        let Some(entry) = entry else {
            return vec![None; judged.metrics.len()];
        };
        let (mut run, mut baseline) = self.rows(judged, entry);
        // The baseline has six places: a value with more of them did not move.
        for value in run.iter_mut().chain(&mut baseline).flatten().flatten() {
            *value = six_places(*value);
        }
        let mut numbers = BTreeMap::new();
        let mut documents: Vec<usize> = Vec::new();
        for index in &self.shared {
            let next = numbers.len();
            let number = numbers.entry(judged.pairs[*index].document).or_insert(next);
            documents.push(*number);
        }
        intervals(&PairedCases {
            specs: &judged.specs(),
            now: &run,
            before: &baseline,
            documents: &documents,
        })
    }
}
