//! What a case has more of than at the baseline, such as calls of a tool, or failing checks of a case that fails anyway. An average over
//! cases, or their number, would hide it.

use crate::fold;
use crate::model::{
    Aggregate, BaselineEntry, CaseValues, EPSILON, Exclusion, FAILING, MetricSpec, NewPart,
    PairResult,
};

/// The new parts of a metric in these results; those that a case did not have at all come first.
pub(super) fn new_parts<'p>(
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
fn more_parts(pair: &PairResult, before: &CaseValues, spec: &MetricSpec) -> Vec<NewPart> {
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
