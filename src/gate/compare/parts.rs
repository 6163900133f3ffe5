//! What a case has more of than at the baseline, such as calls of a tool, or failing checks of a case that fails anyway. An average over
//! cases, or their number, would hide it.

use std::collections::BTreeSet;

use super::GateInput;
use crate::fold;
use crate::model::{
    Aggregate, BaselineEntry, CaseId, CaseValues, EPSILON, Exclusion, FAILING, GateKind,
    GateRuling, MetricReport, MetricSpec, NewPart, PairResult, Ruling, Verdict,
};

/// The most new parts that one gate lists.
const LISTED: usize = 20;

/// Fails each hard gate on the baseline's number whose metric has new parts, whatever its own number, and each gate on the number of newly
/// failing cases that is passed only without those that fail in a new way.
pub(super) fn fail_new_parts(
    judged: &GateInput<'_>,
    entry: Option<&BaselineEntry>,
    metrics: &mut [MetricReport],
) {
    let Some(entry) = entry else { return };
    for (metric, report) in judged.metrics.iter().zip(metrics) {
        let is_count = metric.spec.aggregate == Aggregate::NewlyFailing;
        let gates = report
            .gates
            .iter_mut()
            .filter(|gate| is_count || is_strict(gate));
        for gate in gates.filter(|gate| matches!(gate.ruling, Ruling::Judged(_))) {
            let mut found = new_parts(judged.results(), entry, &metric.spec);
            let cases: BTreeSet<&CaseId> = found.iter().map(|part| &part.case).collect();
            let count = report.value.unwrap_or_default() + cases.len() as f64;
            let is_within =
                is_count && gate.threshold.is_some_and(|most| count <= most + gate.zone);
            if !found.is_empty() && !is_within {
                found.truncate(LISTED);
                gate.ruling = Ruling::Judged(Verdict::Fail);
                gate.new_parts = found;
            }
        }
        report.verdict = Ruling::of_all(report.gates.iter().map(|gate| &gate.ruling));
    }
}

/// Whether a gate tolerates nothing more than at the baseline.
pub(in crate::gate) fn is_strict(gate: &GateRuling) -> bool {
    gate.gate == GateKind::Max && gate.from_baseline && gate.hard
}

/// The new parts of a metric in these results; those that a case did not have at all come first.
pub(in crate::gate) fn new_parts<'p>(
    results: impl Iterator<Item = &'p PairResult>,
    entry: &BaselineEntry,
    spec: &MetricSpec,
) -> Vec<NewPart> {
    let counted =
        results.filter(|pair| pair.exclusion == Exclusion::Counted && !pair.parts.is_empty());
    let of_case = |pair: &PairResult| {
        let before = entry
            .last_values(&pair.case)
            .filter(|before| knows_parts(before, spec));
        before
            .map(|before| more_parts(pair, before, spec))
            .unwrap_or_default()
    };
    let mut found: Vec<NewPart> = counted.flat_map(of_case).collect();
    found.sort_by_key(|part| part.baseline > 0.0);
    found
}

/// Whether a baseline knows the parts of a case's number: baselines of earlier versions have the number alone.
fn knows_parts(before: &CaseValues, spec: &MetricSpec) -> bool {
    let has_none = before
        .get(spec.name)
        .is_some_and(|samples| samples.iter().flatten().all(|value| *value == 0.0));
    has_none || before.keys().any(|key| part_name(key, spec).is_some())
}

/// The parts that a case has more of than these values.
pub(in crate::gate) fn more_parts(
    pair: &PairResult,
    before: &CaseValues,
    spec: &MetricSpec,
) -> Vec<NewPart> {
    let part = |(key, samples): (&String, &Vec<Option<f64>>)| {
        let name = part_name(key, spec)?;
        let baseline = before
            .get(key)
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .fold(0.0, f64::max);
        let now = fold::folded(spec, samples).filter(|now| *now > baseline + EPSILON)?;
        Some(NewPart {
            case: pair.case.clone(),
            name: name.to_owned(),
            now,
            baseline,
        })
    };
    pair.parts.iter().filter_map(part).collect()
}

/// The name of a part in `METRIC[NAME]`.
fn part_name<'a>(key: &'a str, spec: &MetricSpec) -> Option<&'a str> {
    let metric = if spec.aggregate == Aggregate::NewlyFailing {
        FAILING
    } else {
        spec.name
    };
    key.strip_prefix(metric)?
        .strip_prefix('[')?
        .strip_suffix(']')
}
