//! Takes back the pass of a gate that rests on what was left out: samples that the baseline has and this run lost, and samples in which a
//! metric has no value any more. Otherwise an agent would look better without its bad samples (verdict.md 4: a missing sample is
//! inconclusive).

use std::borrow::Cow;

use super::GateInput;
use super::case_sets::CaseSets;
use crate::fold;
use crate::gate::rule::{BaseNumber, Subject, ruled};
use crate::model::{
    Aggregate, BaselineEntry, Better, CaseId, Exclusion, MetricReport, MetricSpec, PairResult, Ruling, Unit, Verdict,
};

/// The share of the baseline's values that may be missing without a consequence: the same as of excluded cases.
const TOLERATED: f64 = 0.1;

/// A metric that lacks values which the baseline has.
pub struct PartlyLost {
    /// Its name.
    pub metric: String,
    /// The cases.
    pub cases: Vec<CaseId>,
}

/// The values of the baseline that this run lacks, of one metric.
#[derive(Default)]
struct MissingValues {
    /// How many, by pair.
    by_pair: Vec<usize>,
    /// How many the baseline has, of the pairs that count.
    before: usize,
}

/// Makes passed gates inconclusive that would fail with the worst results for the missing values, unless a gate fails anyway. Returns
/// their metrics.
pub(super) fn withhold_passes(
    judged: &GateInput<'_>,
    entry: Option<&BaselineEntry>,
    sets: &CaseSets,
    (subjects, bases): (&[Subject], &[BaseNumber]),
    metrics: &mut [MetricReport],
) -> Vec<PartlyLost> {
    // A failed gate explains more: who misses a finding has no severity of it.
    let is_red = metrics.iter().any(|metric| metric.verdict == Ruling::Judged(Verdict::Fail));
    let Some(entry) = entry.filter(|_| !is_red && judged.results().any(may_lack)) else { return Vec::new() };
    let specs = judged.specs();
    let missing: Vec<MissingValues> =
        specs.iter().enumerate().map(|(index, spec)| missing_values(judged, entry, spec, index)).collect();
    if missing.iter().all(|missing| missing.by_pair.is_empty()) {
        return Vec::new();
    }
    let pairs: Vec<&PairResult> = judged.results().collect();
    let cell = |pair: usize, column: usize| {
        let (value, spec) = (&pairs[pair].values[column], &specs[column]);
        let count = missing[column].by_pair.get(pair).copied().unwrap_or(0);
        match (count, worst(spec)) {
            (0, _) | (_, None) => value.value,
            (count, worst) => {
                let all: Vec<Option<f64>> =
                    value.samples.iter().copied().chain(std::iter::repeat_n(worst, count)).collect();
                fold::folded(spec, &all)
            }
        }
    };
    let at_worst = |rows: &[usize]| fold::aggregates(&specs, rows.len(), |row, column| cell(rows[row], column));
    let counted: Vec<usize> = (0..pairs.len()).filter(|pair| pairs[*pair].exclusion == Exclusion::Counted).collect();
    let whole = at_worst(&counted);
    let shared = if sets.same { whole.clone() } else { at_worst(&sets.shared) };
    let mut lost = Vec::new();
    for (index, report) in metrics.iter_mut().enumerate() {
        let subject = Subject { value: whole[index], shared_value: shared[index], ..subjects[index] };
        let mut withheld = false;
        for (planned, gate) in judged.metrics[index].gates.iter().zip(&mut report.gates) {
            let fails = || ruled(planned, &subject, &bases[index]).ruling == Ruling::Judged(Verdict::Fail);
            if gate.ruling == Ruling::Judged(Verdict::Pass) && fails() {
                gate.ruling = Ruling::Judged(Verdict::Inconclusive);
                withheld = true;
            }
        }
        if withheld {
            report.verdict = Ruling::of_all(report.gates.iter().map(|gate| &gate.ruling));
            lost.push(PartlyLost { metric: report.name.clone(), cases: cases(&specs, index, &missing, &pairs) });
        }
    }
    lost
}

/// Whether a pair has fewer values than samples that were planned.
fn may_lack(pair: &PairResult) -> bool {
    !pair.lost.is_empty() || pair.values.iter().any(|value| value.samples.iter().any(Option::is_none))
}

/// The values that this run lacks if as many of its samples as in the baseline should have one. Empty if they are few.
fn missing_values(judged: &GateInput<'_>, entry: &BaselineEntry, spec: &MetricSpec, index: usize) -> MissingValues {
    let mut missing = MissingValues::default();
    for pair in judged.results() {
        let before = entry.cases.get(&pair.case).and_then(|values| values.get(spec.name));
        let (planned, own) = (pair.planned as usize, &pair.values[index].samples);
        // Some metrics have one value for all samples of a case.
        let is_of_samples = own.len() == planned || own.len() + pair.lost.len() + pair.spared as usize == planned;
        let before = before.map_or(0, |values| {
            let stated = values.iter().flatten().count();
            // With more samples than in the baseline, the same share of them has a value.
            let share = if is_of_samples { stated * planned / values.len().max(1) } else { 0 };
            stated.min(planned).max(share)
        });
        let now = own.iter().flatten().count() + pair.spared as usize;
        let is_counted = pair.exclusion == Exclusion::Counted;
        missing.before += if is_counted { before } else { 0 };
        missing.by_pair.push(if is_counted { before.saturating_sub(now) } else { 0 });
    }
    let count: usize = missing.by_pair.iter().sum();
    if count as f64 <= TOLERATED * missing.before as f64 {
        missing.by_pair.clear();
    }
    missing
}

/// The worst value of a metric; `None` if none is worse than another.
fn worst(spec: &MetricSpec) -> Option<f64> {
    match (spec.better, spec.unit) {
        (Better::Neither, _) => None,
        (Better::Higher, _) => Some(0.0),
        (Better::Lower, Unit::Share) => Some(1.0),
        (Better::Lower, Unit::Points) => spec.most,
        (Better::Lower, Unit::Count | Unit::Spread | Unit::Dollars) => Some(f64::INFINITY),
    }
}

/// The cases that lack values of a metric, or of those that it is made of.
fn cases(specs: &[MetricSpec], index: usize, missing: &[MissingValues], pairs: &[&PairResult]) -> Vec<CaseId> {
    let parts: Cow<'_, [&str]> = match specs[index].aggregate {
        Aggregate::Harmonic(one, other) => vec![one, other].into(),
        Aggregate::Worst
        | Aggregate::Mean
        | Aggregate::Sum
        | Aggregate::Median
        | Aggregate::P95
        | Aggregate::Rate
        | Aggregate::Coverage
        | Aggregate::NewlyFailing => vec![specs[index].name].into(),
    };
    let of = specs.iter().zip(missing).filter(|(spec, _)| parts.contains(&spec.name)).map(|(_, missing)| missing);
    let lacks = |pair: usize| of.clone().any(|missing| missing.by_pair.get(pair).is_some_and(|count| *count > 0));
    (0..pairs.len()).filter(|pair| lacks(*pair)).map(|pair| pairs[pair].case.clone()).collect()
}
