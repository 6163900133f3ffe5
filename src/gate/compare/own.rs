//! The verdict of a single case, and its state in the baseline.

use super::{ComparedPair, GateInput};
use crate::fold;
use crate::gate::limits::{GatedMetric, PlannedGate};
use crate::gate::rule::{BaseNumber, Subject, ruled};
use crate::model::{
    Aggregate, BaselineEntry, Better, CaseId, CaseTrend, CaseValues, Exclusion, Gate, Limit,
    PASSED, PairResult, Ruling, Verdict, indicator, six_places,
};

/// The aggregated values of a case, of those that a baseline has of it.
pub(in crate::gate) fn case_before(
    metrics: &[GatedMetric],
    values: Option<&CaseValues>,
) -> Vec<Option<f64>> {
    fold::pair_values(metrics.iter().map(|metric| &metric.spec), |name| {
        Some(values?.get(name)?.as_slice())
    })
}

/// Whether a case failed in the baseline, by its checks; `None` if the baseline does not contain that.
fn failed_before(entry: &BaselineEntry, case: &CaseId) -> Option<bool> {
    let passing = entry
        .last_values(case)?
        .get(PASSED)?
        .first()
        .copied()
        .flatten()?;
    Some(passing <= 0.5)
}

/// How many cases passed in the baseline and fail now, by their checks.
pub(super) struct NewlyFailing {
    /// Of the cases that were measured; `None` if none of them can be compared.
    pub(super) measured: Option<f64>,
    /// If each missing sample passed.
    pub(super) least: f64,
    /// If each missing sample failed.
    pub(super) most: f64,
}

/// Counts the cases that passed in the baseline and fail now; `None` if no case can be compared.
pub(super) fn newly_failing<'p>(
    pairs: impl Iterator<Item = &'p PairResult>,
    entry: Option<&BaselineEntry>,
) -> Option<NewlyFailing> {
    let entry = entry?;
    let mut is_compared = false;
    let mut failing = NewlyFailing {
        measured: None,
        least: 0.0,
        most: 0.0,
    };
    for pair in pairs.filter(|pair| pair.exclusion != Exclusion::Quarantined) {
        let Some(failed) = failed_before(entry, &pair.case) else {
            continue;
        };
        is_compared = true;
        if pair.exclusion == Exclusion::Counted {
            let fails = !failed && !pair.passed.passes();
            failing.measured = Some(failing.measured.unwrap_or(0.0) + indicator(fails));
        }
        if failed {
            continue;
        }
        failing.least += indicator(!may_pass(pair));
        failing.most += indicator(!is_sure_to_pass(pair));
    }
    is_compared.then_some(failing)
}

/// Whether a case passes if each of its missing samples passes.
fn may_pass(pair: &PairResult) -> bool {
    let missing = pair.lost.len();
    if missing == 0 {
        return pair.passed.passes();
    }
    let passing = pair.passing.unwrap_or(0) as usize + missing;
    2 * passing > pair.completed as usize + missing
}

/// Whether a case passes although each of its missing samples fails.
fn is_sure_to_pass(pair: &PairResult) -> bool {
    let missing = pair.lost.len();
    if missing == 0 {
        return pair.passed.passes();
    }
    let passing = pair.passing.unwrap_or(0) as usize;
    2 * passing > pair.completed as usize + missing
}

/// A case's verdict and its state in the baseline: by its checks, and by the fixed limits on its own numbers.
pub(super) fn case(
    judged: &GateInput<'_>,
    bases: &[BaseNumber],
    compared: &ComparedPair<'_>,
    entry: Option<&BaselineEntry>,
) -> (Ruling, CaseTrend) {
    let (pair, zone) = (compared.result, compared.zone);
    let excluded = !pair.has_majority();
    let values: Vec<Option<f64>> = pair.values.iter().map(|value| value.value).collect();
    let entry = entry.filter(|entry| !entry.cases.is_empty());
    let own_values = entry.map(|entry| case_before(judged.metrics, entry.last_values(&pair.case)));
    // An average over the agent does not describe one case: compare the case with its own number in the baseline.
    let own_bases: Vec<BaseNumber> = bases
        .iter()
        .enumerate()
        .map(|(index, base)| match (base, &own_values) {
            (BaseNumber::Incomparable(_) | BaseNumber::Absent, _) | (_, None) => base.clone(),
            (BaseNumber::Known(_), Some(own_values)) => {
                own_values[index].map_or(BaseNumber::Absent, BaseNumber::Known)
            }
        })
        .collect();
    let by_numbers = own_verdict(judged, &own_bases, &values, zone, is_threshold);
    // If the limit comes from the baseline, a worse number alone does not fail a case.
    let fixed: Vec<BaseNumber> = own_bases.iter().map(not_compared).collect();
    let by_fixed = own_verdict(judged, &fixed, &values, zone, is_threshold);
    let failing = !pair.passed.passes()
        || by_fixed.verdict() == Some(Verdict::Fail)
        || fails(judged, &own_bases, &values, zone);
    let verdict = match (excluded, failing) {
        (true, _) => Ruling::Judged(Verdict::Inconclusive),
        // The case's own band makes it inconclusive.
        (false, true) if zone.is_some() && by_numbers == Ruling::Judged(Verdict::Inconclusive) => {
            by_numbers
        }
        (false, true) => Ruling::Judged(Verdict::Fail),
        // All checks pass, but a number is worse than before: the case moved and does not fail.
        (false, false) => match by_numbers {
            Ruling::Judged(Verdict::Fail) => Ruling::Judged(Verdict::Inconclusive),
            ruling => ruling,
        },
    };
    let trend = match (entry, entry.and_then(|entry| entry.last_values(&pair.case))) {
        (None, _) => CaseTrend::Unknown,
        (Some(entry), None) if entry.cases.contains_key(&pair.case) => CaseTrend::Unknown,
        (Some(_), None) => CaseTrend::New,
        (Some(_), Some(_)) if excluded => CaseTrend::Unknown,
        (Some(entry), Some(_)) => {
            let failed = failed_before(entry, &pair.case);
            let failed_by_numbers = fails(
                judged,
                bases,
                &rounded(&own_values.unwrap_or_default()),
                zone,
            );
            let fails_by_numbers = fails(judged, bases, &rounded(&values), zone);
            // Without its checks in the baseline, the numbers of both sides are compared.
            let fails_now = fails_by_numbers || (failed.is_some() && !pair.passed.passes());
            match (failed.unwrap_or(false) || failed_by_numbers, fails_now) {
                (true, true) => CaseTrend::StillFailing,
                (false, true) => CaseTrend::NewlyFailing,
                (true, false) => CaseTrend::NewlyPassing,
                (false, false) => CaseTrend::StillPassing,
            }
        }
    };
    (verdict, trend)
}

/// Whether a case with these values fails, then or now: by the limits of the config, and by each case's part in a gated share.
///
/// An average in the baseline does not show whether one of its cases failed; in a share, each case is 1 or 0.
fn fails(
    judged: &GateInput<'_>,
    bases: &[BaseNumber],
    values: &[Option<f64>],
    zone: Option<f64>,
) -> bool {
    let by_number = own_verdict(judged, bases, values, zone, has_fixed_limit);
    let by_share = judged
        .metrics
        .iter()
        .zip(values)
        .any(|(GatedMetric { spec, gates }, value)| {
            let gated = spec.aggregate == Aggregate::Rate
                && gates.iter().any(|planned| planned.off.is_none());
            let short = match spec.better {
                Better::Lower => value.is_some_and(|value| value >= 0.5),
                Better::Higher | Better::Neither => value.is_some_and(|value| value < 0.5),
            };
            gated && short
        });
    by_share || by_number.verdict() == Some(Verdict::Fail)
}

fn is_threshold(gate: &Gate) -> bool {
    matches!(gate, Gate::Threshold { .. })
}

fn has_fixed_limit(gate: &Gate) -> bool {
    matches!(
        gate,
        Gate::Threshold {
            limit: Limit::Number(_),
            ..
        }
    )
}

/// A known number as one that is not compared with.
fn not_compared(base: &BaseNumber) -> BaseNumber {
    match base {
        BaseNumber::Known(_) => BaseNumber::Incomparable(String::new()),
        BaseNumber::Absent | BaseNumber::Incomparable(_) => base.clone(),
    }
}

/// Rounded to the precision of a baseline, so that equal values get equal verdicts on both sides.
fn rounded(values: &[Option<f64>]) -> Vec<Option<f64>> {
    values.iter().map(|value| value.map(six_places)).collect()
}

/// The verdict of one case's values on the relevant gates.
fn own_verdict(
    judged: &GateInput<'_>,
    bases: &[BaseNumber],
    values: &[Option<f64>],
    zone: Option<f64>,
    is_relevant: fn(&Gate) -> bool,
) -> Ruling {
    let mut rulings = Vec::new();
    for (index, value) in values.iter().copied().enumerate() {
        let subject = Subject::alone(value);
        let gates = judged.metrics[index]
            .gates
            .iter()
            .filter(|planned| is_relevant(&planned.gate));
        rulings.extend(gates.map(|planned| {
            ruled(&banded(planned, zone), &subject, &bases[index])
                .gate
                .ruling
        }));
    }
    Ruling::of_all(&rulings)
}

/// The gate with the case's `ambiguity_zone` as its band; a hard gate is unchanged.
fn banded(planned: &PlannedGate, zone: Option<f64>) -> PlannedGate {
    match (planned.gate, zone) {
        (
            Gate::Threshold {
                side,
                limit,
                strictness,
            },
            Some(zone),
        ) => PlannedGate {
            gate: Gate::Threshold {
                side,
                limit,
                strictness: strictness.with_zone(zone),
            },
            off: planned.off.clone(),
        },
        _ => planned.clone(),
    }
}
