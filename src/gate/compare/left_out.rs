//! Takes back the pass of a gate that rests on what was left out: samples or whole cases that the baseline has and this run lost, and
//! samples in which a metric has no value any more. Otherwise an agent would look better without its bad samples (verdict.md 4: a missing sample is
//! inconclusive).

use super::GateInput;
use super::case_sets::CaseSets;
use super::own::case_before;
use crate::fold;
use crate::gate::GatedMetric;
use crate::gate::rule::{BaseNumber, Subject, ruled};
use crate::model::{
    Aggregate, BaselineEntry, Better, CaseId, ChangeDirection, EPSILON, Exclusion, Gate, Limit,
    LimitSide, MetricReport, MetricSpec, PairResult, Ruling, Strictness, Unit, Verdict,
};

/// The share of the baseline's values, and of the cases that lack some, that may be missing without a consequence: the same as of excluded
/// cases. A gate without a band tolerates no completed sample without a value: a wrong value would fail it.
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

/// The worst results that missing values may hide.
pub(in crate::gate) struct WorstResults<'a> {
    judged: &'a GateInput<'a>,
    specs: Vec<MetricSpec>,
    /// What is missing, by metric.
    missing: Vec<MissingValues>,
    /// The indices of the pairs that gave no result, and count here.
    without_result: Vec<usize>,
}

impl<'a> WorstResults<'a> {
    /// `None` if nothing is missing, or little.
    pub(in crate::gate) fn of(judged: &'a GateInput<'a>, entry: &BaselineEntry) -> Option<Self> {
        if !judged.results().any(may_lack) {
            return None;
        }
        let specs = judged.specs();
        let accepted = accepted_loss(judged);
        let of_metric = |(index, spec)| missing_values(judged, entry, spec, index, accepted);
        let missing: Vec<MissingValues> = specs.iter().enumerate().map(of_metric).collect();
        if missing.iter().all(|missing| missing.by_pair.is_empty()) {
            return None;
        }
        let is_missing = |pair: usize| {
            missing
                .iter()
                .any(|missing| missing.by_pair.get(pair).is_some_and(|count| *count > 0))
        };
        let unmeasured = judged
            .results()
            .enumerate()
            .filter(|(_, pair)| pair.exclusion == Exclusion::NoMajority);
        let without_result = unmeasured
            .map(|(index, _)| index)
            .filter(|index| is_missing(*index))
            .collect();
        Some(Self {
            judged,
            specs,
            missing,
            without_result,
        })
    }

    /// The value of a pair: a case that gave no result counts as if all its samples had the worst one.
    fn value(&self, pair: usize, column: usize) -> Option<f64> {
        let (result, spec) = (self.judged.pairs[pair].result, &self.specs[column]);
        let value = &result.values[column];
        match (
            self.missing[column].by_pair.get(pair).copied().unwrap_or(0),
            worst(&self.judged.metrics[column]),
        ) {
            (0, _) | (_, None) => value
                .value
                .filter(|_| result.exclusion == Exclusion::Counted),
            (count, Some(worst)) => fold::folded(spec, &with_worst(worst, &value.samples, count)),
        }
    }

    /// These pairs and those without a result, in order.
    fn with_lost(&self, pairs: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = pairs.iter().chain(&self.without_result).copied().collect();
        all.sort_unstable();
        all
    }

    /// The values of the agent over these pairs.
    fn over(&self, pairs: &[usize]) -> Vec<Option<f64>> {
        fold::aggregates(&self.specs, pairs.len(), |row, column| {
            self.value(pairs[row], column)
        })
    }

    /// The pairs with these results.
    pub(in crate::gate) fn pairs(&self) -> Vec<PairResult> {
        let with = |(index, pair): (usize, &PairResult)| {
            let mut pair = pair.clone();
            for (column, value) in pair.values.iter_mut().enumerate() {
                value.value = self.value(index, column);
            }
            if self.without_result.contains(&index) {
                pair.exclusion = Exclusion::Counted;
            }
            pair
        };
        self.judged.results().enumerate().map(with).collect()
    }

    /// What a metric lacks.
    pub(in crate::gate) fn lost(&self, metric: usize) -> PartlyLost {
        let pairs: Vec<&PairResult> = self.judged.results().collect();
        let metric_name = self.specs[metric].name.to_owned();
        PartlyLost {
            metric: metric_name,
            cases: cases(&self.specs, metric, &self.missing, &pairs),
        }
    }
}

/// Makes gates inconclusive that do not fail and would fail with the worst results for the missing values, unless a gate with a fixed limit
/// fails anyway. Returns their metrics. A failed gate that compares with the baseline may be excused later, so it does not count here.
pub(super) fn withhold_passes(
    judged: &GateInput<'_>,
    entry: Option<&BaselineEntry>,
    sets: &CaseSets,
    (subjects, bases): (&[Subject], &[BaseNumber]),
    metrics: &mut [MetricReport],
) -> Vec<PartlyLost> {
    // A failed gate explains more: who misses a finding has no severity of it.
    let mut gates = metrics.iter().flat_map(|metric| &metric.gates);
    let is_red = gates.any(|gate| !gate.from_baseline && gate.ruling.fails());
    let Some(entry) = entry.filter(|_| !is_red) else {
        return Vec::new();
    };
    let Some(hidden) = WorstResults::of(judged, entry) else {
        return Vec::new();
    };
    let is_counted = |pair: &usize| judged.pairs[*pair].result.exclusion == Exclusion::Counted;
    let counted: Vec<usize> = (0..judged.pairs.len()).filter(is_counted).collect();
    let whole = hidden.over(&hidden.with_lost(&counted));
    let compared = hidden.with_lost(&sets.shared);
    let shared = if sets.same {
        whole.clone()
    } else {
        hidden.over(&compared)
    };
    let bases = match sets.same || hidden.without_result.is_empty() {
        true => bases.to_vec(),
        false => bases_of(judged, entry, &compared, bases),
    };
    let mut lost = Vec::new();
    for (index, report) in metrics.iter_mut().enumerate() {
        let subject = Subject {
            value: whole[index],
            shared_value: shared[index],
            ..subjects[index]
        };
        let mut withheld = false;
        for (planned, gate) in judged.metrics[index].gates.iter().zip(&mut report.gates) {
            let fails = || ruled(planned, &subject, &bases[index]).ruling.fails();
            let may_fail = matches!(
                gate.ruling,
                Ruling::Judged(Verdict::Pass | Verdict::Inconclusive) | Ruling::Skipped(_)
            );
            if may_fail && fails() {
                gate.ruling = Ruling::Judged(Verdict::Inconclusive);
                withheld = true;
            }
        }
        if withheld {
            report.verdict = Ruling::of_all(report.gates.iter().map(|gate| &gate.ruling));
            lost.push(hidden.lost(index));
        }
    }
    lost
}

/// The baseline's numbers on these pairs.
fn bases_of(
    judged: &GateInput<'_>,
    entry: &BaselineEntry,
    rows: &[usize],
    bases: &[BaseNumber],
) -> Vec<BaseNumber> {
    let before: Vec<Vec<Option<f64>>> = rows
        .iter()
        .map(|pair| {
            case_before(
                judged.metrics,
                entry.last_values(&judged.pairs[*pair].result.case),
            )
        })
        .collect();
    let numbers = fold::aggregates(&judged.specs(), rows.len(), |row, column| {
        before[row][column]
    });
    let number = |(base, number): (&BaseNumber, Option<f64>)| match (base, number) {
        (BaseNumber::Known(_) | BaseNumber::Absent, Some(number)) => BaseNumber::Known(number),
        (BaseNumber::Known(_) | BaseNumber::Absent | BaseNumber::Incomparable(_), _) => {
            base.clone()
        }
    };
    bases.iter().zip(numbers).map(number).collect()
}

/// Whether a pair has fewer values than samples that were planned.
fn may_lack(pair: &PairResult) -> bool {
    !pair.lost.is_empty()
        || pair
            .values
            .iter()
            .any(|value| value.samples.iter().any(Option::is_none))
}

/// The share of cases without a result that the gate on coverage accepts, if that is more than [`TOLERATED`].
fn accepted_loss(judged: &GateInput<'_>) -> Option<f64> {
    let coverage = judged
        .metrics
        .iter()
        .find(|metric| metric.spec.aggregate == Aggregate::Coverage)?;
    let floors = coverage
        .gates
        .iter()
        .filter_map(|planned| match planned.gate {
            Gate::Threshold {
                side: LimitSide::Min,
                limit: Limit::Number(floor),
                ..
            } if planned.off.is_none() => Some(floor),
            Gate::Threshold { .. } | Gate::Change { .. } => None,
        });
    let accepted = 1.0 - floors.reduce(f64::max)?;
    (accepted > TOLERATED + EPSILON).then_some(accepted + EPSILON)
}

/// The values that this run lacks if as many of its samples as in the baseline should have one. Empty if they are few.
fn missing_values(
    judged: &GateInput<'_>,
    entry: &BaselineEntry,
    spec: &MetricSpec,
    index: usize,
    accepted: Option<f64>,
) -> MissingValues {
    let mut missing = MissingValues::default();
    let mut without_result = Vec::new();
    // Few lost samples of many cases can turn many cases.
    let (mut is_unanswered, mut turned) = (false, 0);
    for (row, pair) in judged.results().enumerate() {
        let before = entry
            .cases
            .get(&pair.case)
            .and_then(|values| values.get(spec.name));
        // Coverage has gates of its own, and what newly fails is known of measured cases alone.
        let is_counted = match pair.exclusion {
            Exclusion::Counted => true,
            Exclusion::NoMajority => !matches!(
                spec.aggregate,
                Aggregate::Coverage | Aggregate::NewlyFailing
            ),
            Exclusion::Quarantined => false,
        };
        if is_counted && pair.exclusion == Exclusion::NoMajority {
            without_result.push(row);
        }
        let lacking = match before {
            Some(values) if is_counted => Lacking::of(values, pair, index),
            Some(_) | None => Lacking::default(),
        };
        missing.before += lacking.before;
        is_unanswered |= lacking.count > pair.lost.len();
        turned +=
            usize::from(lacking.may_turn(&judged.metrics[index], &pair.values[index].samples));
        missing.by_pair.push(lacking.count);
    }
    let before = missing.before.max(1) as f64;
    let share = |count: usize| count as f64 / before;
    let lost: usize = without_result.iter().map(|row| missing.by_pair[*row]).sum();
    if accepted.is_some_and(|accepted| share(lost) <= accepted) {
        without_result
            .iter()
            .for_each(|row| missing.by_pair[*row] = 0);
    }
    let cases_turned = turned as f64 / missing.by_pair.len().max(1) as f64;
    let is_strict = is_unanswered && has_hard_gate(judged, index);
    if !is_strict && share(missing.by_pair.iter().sum()) <= TOLERATED && cases_turned <= TOLERATED {
        missing.by_pair.clear();
    }
    missing
}

/// The samples, and as many more with the worst result.
fn with_worst(worst: f64, samples: &[Option<f64>], count: usize) -> Vec<Option<f64>> {
    samples
        .iter()
        .copied()
        .chain(std::iter::repeat_n(Some(worst), count))
        .collect()
}

/// Whether a gate of a metric has no band.
fn has_hard_gate(judged: &GateInput<'_>, index: usize) -> bool {
    judged.metrics[index].gates.iter().any(|planned| {
        planned.off.is_none()
            && matches!(
                planned.gate,
                Gate::Threshold {
                    strictness: Strictness::Hard,
                    ..
                }
            )
    })
}

/// How many values of one metric a pair lacks.
#[derive(Default)]
struct Lacking {
    /// How many it lacks.
    count: usize,
    /// How many the baseline has.
    before: usize,
    /// Whether each sample has a value, and not all of them one together.
    is_of_samples: bool,
}

impl Lacking {
    /// Whether the missing values may turn the case. One alone turns no majority of an even number of others; of an odd number, it may make a
    /// tie.
    fn may_turn(&self, metric: &GatedMetric, samples: &[Option<f64>]) -> bool {
        let others = samples.iter().flatten().count();
        let turns = |worst| {
            fold::folded(&metric.spec, &with_worst(worst, samples, 1))
                != fold::folded(&metric.spec, samples)
        };
        match self.count {
            0 => false,
            1 if !self.is_of_samples || others.is_multiple_of(2) => false,
            1 => worst(metric).is_some_and(turns),
            _ => true,
        }
    }

    /// Compares the samples of a pair with the baseline's values of a metric.
    fn of(values: &[Option<f64>], pair: &PairResult, index: usize) -> Self {
        let stated = values.iter().flatten().count();
        let (planned, own) = (pair.planned as usize, &pair.values[index].samples);
        let is_of_samples =
            own.len() == planned || own.len() + pair.lost.len() + pair.spared as usize == planned;
        if !is_of_samples {
            // The value of all samples together: each lost one may have changed it.
            let had_value = usize::from(stated > 0);
            return Self {
                count: had_value * pair.lost.len(),
                before: had_value * planned,
                is_of_samples,
            };
        }
        // With more samples than in the baseline, the same share of them has a value.
        let share = stated * planned / values.len().max(1);
        let expected = stated.min(planned).max(share);
        let now = own.iter().flatten().count() + pair.spared as usize;
        Self {
            count: expected.saturating_sub(now),
            before: stated.min(planned),
            is_of_samples,
        }
    }
}

/// The worst value of a metric, without limit where its values have none: a margin may be negative. Where no value is better than another, its
/// gates say which is worse; `None` without any.
fn worst(metric: &GatedMetric) -> Option<f64> {
    let spec = &metric.spec;
    match (spec.better, spec.unit) {
        (Better::Neither, _) => {
            let mut gates = metric.gates.iter().filter(|planned| planned.off.is_none());
            gates.next().map(|planned| match planned.gate {
                Gate::Threshold {
                    side: LimitSide::Min,
                    ..
                }
                | Gate::Change {
                    direction: ChangeDirection::Drop,
                    ..
                } => f64::NEG_INFINITY,
                Gate::Threshold {
                    side: LimitSide::Max,
                    ..
                }
                | Gate::Change {
                    direction: ChangeDirection::Rise,
                    ..
                } => f64::INFINITY,
            })
        }
        (Better::Higher, Unit::Share) => Some(0.0),
        (Better::Higher, Unit::Points) if spec.most.is_some() => Some(0.0),
        (Better::Higher, Unit::Points | Unit::Count | Unit::Spread | Unit::Dollars) => {
            Some(f64::NEG_INFINITY)
        }
        (Better::Lower, Unit::Share) => Some(1.0),
        (Better::Lower, Unit::Points) => Some(spec.most.unwrap_or(f64::INFINITY)),
        (Better::Lower, Unit::Count | Unit::Spread | Unit::Dollars) => Some(f64::INFINITY),
    }
}

/// The cases that lack values of a metric, or of those that it is made of.
fn cases(
    specs: &[MetricSpec],
    index: usize,
    missing: &[MissingValues],
    pairs: &[&PairResult],
) -> Vec<CaseId> {
    let parts = specs[index]
        .aggregate
        .parts()
        .map_or_else(|| vec![specs[index].name], Vec::from);
    let of = specs
        .iter()
        .zip(missing)
        .filter(|(spec, _)| parts.contains(&spec.name))
        .map(|(_, missing)| missing);
    let lacks = |pair: usize| {
        of.clone()
            .any(|missing| missing.by_pair.get(pair).is_some_and(|count| *count > 0))
    };
    (0..pairs.len())
        .filter(|pair| lacks(*pair))
        .map(|pair| pairs[pair].case.clone())
        .collect()
}
