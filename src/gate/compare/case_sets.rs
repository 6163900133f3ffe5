//! Which cases of this run and of the baseline are compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use super::own::case_before;
use super::{CaseSelection, GateInput};
use crate::fold;
use crate::gate::statistics::{PairedCases, intervals};
use crate::model::{BaselineEntry, CaseId, Exclusion, Gate, Limit, six_places};

/// One row of values a case.
type CaseRows = Vec<Vec<Option<f64>>>;

/// How many cases a remark names.
pub(super) const NAMED: usize = 5;

/// The cases of this run and of the baseline.
pub(super) struct CaseSets {
    /// Whether both measured the same, or the baseline does not say.
    same: bool,
    /// The places of the pairs that both measured, in the order of the pairs.
    pub(super) shared: Vec<usize>,
    /// Cases that only the baseline has.
    pub(super) removed: Vec<CaseId>,
    added: usize,
    /// The places of the pairs that this run measured and the baseline did not, where it says what it measured.
    unknown: Vec<usize>,
    /// Cases that both have and only one measured: a recording was lost, or a quarantine began or ended.
    one_sided: Vec<CaseId>,
}

impl CaseSets {
    pub(super) fn of(judged: &GateInput<'_>, entry: Option<&BaselineEntry>) -> Self {
        let Some(before) = entry.map(|entry| &entry.cases).filter(|cases| !cases.is_empty()) else {
            return Self {
                same: true,
                shared: Vec::new(),
                removed: Vec::new(),
                added: 0,
                unknown: Vec::new(),
                one_sided: Vec::new(),
            };
        };
        let now: BTreeSet<&CaseId> = judged.pairs.iter().map(|pair| &pair.case).collect();
        let gone = || before.iter().filter(|(case, _)| !now.contains(case));
        let removed: Vec<CaseId> = gone().map(|(case, _)| case.clone()).collect();
        let added = now.iter().filter(|case| !before.contains_key(**case)).count();
        // A pair that a side excluded has no value there to pair with, and none that could be missed.
        let mut same = gone().all(|(_, values)| values.is_empty());
        let (mut shared, mut unknown, mut one_sided, mut any) = (Vec::new(), Vec::new(), Vec::new(), false);
        for (index, pair) in judged.pairs.iter().enumerate() {
            let measured =
                pair.exclusion == Exclusion::Counted && pair.values.iter().any(|value| value.value.is_some());
            any |= measured;
            if measured && before.get(&pair.case).is_none_or(BTreeMap::is_empty) {
                unknown.push(index);
            }
            let Some(values) = before.get(&pair.case) else {
                same &= !measured;
                continue;
            };
            match (measured, !values.is_empty()) {
                (true, true) => shared.push(index),
                (false, false) => {}
                (true, false) | (false, true) => one_sided.push(pair.case.clone()),
            }
        }
        // Where this run measured nothing, nothing is compared, and the baseline's number stands for the reader.
        let same = !any || (same && one_sided.is_empty());
        Self { same, shared, removed, added, unknown, one_sided }.only_listed(judged.selection)
    }

    fn only_listed(self, selection: CaseSelection) -> Self {
        match selection {
            CaseSelection::Whole => self,
            CaseSelection::Part => Self { removed: Vec::new(), ..self },
        }
    }

    pub(super) fn remark(&self, selection: CaseSelection) -> Option<String> {
        let shared = self.shared.len();
        let one_sided: Vec<&str> = self.one_sided.iter().take(NAMED).map(CaseId::as_str).collect();
        let more = match self.one_sided.len() - one_sided.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match (self.same, selection) {
            (true, _) => None,
            (false, CaseSelection::Part) => {
                Some(format!("a selection of cases: compared on the {shared} that the baseline has as well"))
            }
            (false, CaseSelection::Whole) if self.added > 0 || !self.removed.is_empty() => Some(format!(
                "the case sets differ ({} new, {} removed): compared on the {shared} that both have",
                self.added,
                self.removed.len()
            )),
            (false, CaseSelection::Whole) => Some(format!(
                "measured in this run or in the baseline, and not in both: {}{more}: compared on the {shared} that both measured",
                one_sided.join(", ")
            )),
        }
    }

    fn rows(&self, judged: &GateInput<'_>, entry: &BaselineEntry) -> (CaseRows, CaseRows) {
        let pairs = || self.shared.iter().map(|place| &judged.pairs[*place]);
        let now = pairs().map(|pair| pair.values.iter().map(|value| value.value).collect());
        let before = pairs().map(|pair| case_before(judged.specs, entry, &pair.case));
        (now.collect(), before.collect())
    }

    /// This run's and the baseline's values, on the cases that both have.
    pub(super) fn values(
        &self,
        judged: &GateInput<'_>,
        entry: Option<&BaselineEntry>,
        whole: &[Option<f64>],
    ) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
        let Some(entry) = entry else { return (whole.to_vec(), vec![None; judged.specs.len()]) };
        if self.same {
            return (whole.to_vec(), judged.specs.iter().map(|spec| entry.metrics.get(spec.name).copied()).collect());
        }
        let (now, before) = self.rows(judged, entry);
        let fold =
            |rows: &[Vec<Option<f64>>]| fold::aggregates(judged.specs, rows.len(), |row, column| rows[row][column]);
        (fold(&now), fold(&before))
    }

    /// How many cases this run measured, of those that the baseline's numbers are of.
    pub(super) fn measured(&self, judged: &GateInput<'_>, entry: Option<&BaselineEntry>) -> usize {
        match (entry, judged.selection) {
            (None, _) => 0,
            (Some(entry), _) if !entry.cases.is_empty() => self.shared.len(),
            // Such a number is of all cases, and a selection may be of those that had none.
            (Some(_), CaseSelection::Part) => 0,
            (Some(_), CaseSelection::Whole) => {
                judged.pairs.iter().filter(|pair| pair.exclusion == Exclusion::Counted).count()
            }
        }
    }

    /// This run's values on the cases that the baseline lacks.
    pub(super) fn added_values(&self, judged: &GateInput<'_>) -> Vec<Option<f64>> {
        let pair = |row: usize| &judged.pairs[self.unknown[row]];
        fold::aggregates(judged.specs, self.unknown.len(), |row, column| pair(row).values[column].value)
    }

    /// That a gate of the baseline is held against another number where the baseline lacks cases, and which these are.
    pub(super) fn added_remark(&self, judged: &GateInput<'_>, index: usize, added: Option<f64>) -> Option<String> {
        let otherwise = judged.gates[index].iter().filter(|planned| planned.off.is_none());
        let mut otherwise = otherwise.filter_map(|planned| match planned.gate {
            Gate::Threshold { limit: Limit::Baseline { otherwise }, .. } => otherwise,
            Gate::Threshold { limit: Limit::Number(_), .. } | Gate::Change { .. } => None,
        });
        let (value, otherwise) = added.zip(otherwise.next_back())?;
        let named: Vec<&str> =
            self.unknown.iter().take(NAMED).map(|index| judged.pairs[*index].case.as_str()).collect();
        let more = match self.unknown.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{} of the cases that the baseline lacks ({}{more}) is {}, its limit there is {otherwise}",
            judged.specs[index].name,
            named.join(", "),
            six_places(value)
        ))
    }

    pub(super) fn intervals(&self, judged: &GateInput<'_>, entry: Option<&BaselineEntry>) -> Vec<Option<(f64, f64)>> {
        let Some(entry) = entry else { return vec![None; judged.specs.len()] };
        let (now, before) = self.rows(judged, entry);
        let mut numbers = BTreeMap::new();
        let documents = self.shared.iter().map(|place| {
            let next = numbers.len();
            *numbers.entry(judged.documents[*place]).or_insert(next)
        });
        let documents: Vec<usize> = documents.collect();
        intervals(&PairedCases { specs: judged.specs, now: &now, before: &before, documents: &documents })
    }
}
