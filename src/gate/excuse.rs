//! A change is not blamed for what its base commit already shows: a gate that compares with the baseline, and that the base
//! commit's own recordings fail as well, only requires that this change is not worse than the base commit.

use std::collections::BTreeSet;

use super::compare::{ComparedPair, GateInput, GateOutcome, agent, newly_failing_cases, verdict};
use crate::fold;
use crate::model::{
    Aggregate, BaseCommitValue, BaselineEntry, CaseId, EPSILON, Exclusion, GateKind, GateRuling, Identity,
    MetricReport, PairResult, Ruling, Verdict,
};

/// The base commit's own recordings of one agent, graded by the rules of the base commit.
pub struct BaseMeasurement<'a> {
    /// The base branch, for messages.
    pub branch: Option<&'a str>,
    /// The agent's pairs by case.
    pub pairs: &'a [PairResult],
    /// What the pairs were measured with.
    pub identity: &'a Identity,
}

impl GateOutcome {
    /// Whether a gate fails that the base commit's own value might excuse.
    pub fn fails_by_comparison(&self) -> bool {
        let mut gates = self.metrics.iter().flat_map(|metric| metric.gates.iter().map(move |gate| (metric, gate)));
        gates.any(|(metric, gate)| compares(metric, gate) && gate.ruling == Ruling::Judged(Verdict::Fail))
    }
}

/// Whether a gate compares with the baseline. The number of newly failing cases does, although its limit is a number.
fn compares(metric: &MetricReport, gate: &GateRuling) -> bool {
    gate.from_baseline || metric.aggregate == Aggregate::NewlyFailing.as_str()
}

/// Excuses every failed gate that compares with the baseline, if the base commit fails it as well and this change is not worse.
/// Nothing is excused if the two were not measured alike. Gates with fixed limits are never excused.
pub fn excuse(judged: &GateInput<'_>, base: &BaseMeasurement<'_>, outcome: &mut GateOutcome) {
    if !is_measured_alike(judged, base) {
        return;
    }
    let same = judged.pairs.iter().zip(base.pairs);
    let pairs: Vec<ComparedPair<'_>> = same.map(|(pair, result)| ComparedPair { result, ..*pair }).collect();
    let own = agent(&GateInput { pairs: &pairs, identity: base.identity, ..*judged });
    for (index, (metric, before)) in outcome.metrics.iter_mut().zip(&own.metrics).enumerate() {
        let is_count = metric.aggregate == Aggregate::NewlyFailing.as_str();
        let fails = |gate: &GateRuling| gate.ruling == Ruling::Judged(Verdict::Fail);
        let compared: Vec<bool> = metric.gates.iter().map(|gate| compares(metric, gate)).collect();
        for ((gate, base_gate), compares) in metric.gates.iter_mut().zip(&before.gates).zip(compared) {
            if !(compares && fails(gate) && fails(base_gate)) {
                continue;
            }
            let holds = match is_count {
                true => fails_no_more_cases(judged, base),
                false => is_not_worse(judged, base, index, gate.gate),
            };
            if holds {
                let value = before.compared().or(before.value);
                gate.base_commit = value.map(|value| BaseCommitValue { branch: base.branch.map(str::to_owned), value });
                gate.ruling = Ruling::Judged(Verdict::Pass);
            }
        }
        metric.verdict = Ruling::of_all(metric.gates.iter().map(|gate| &gate.ruling));
    }
    outcome.verdict = verdict(&judged.specs(), &outcome.metrics);
}

/// Whether both measured the same cases with the same scorer, judge and samples, and the same cases count. Values of other
/// measurements cannot be compared without a tolerance, and a tolerance would excuse a decline.
fn is_measured_alike(judged: &GateInput<'_>, base: &BaseMeasurement<'_>) -> bool {
    let Identity { suite_digest, scorer, model: _, prompt_sha256: _, judge, samples, tier } = judged.identity;
    let own = base.identity;
    let same_identity = suite_digest.is_some()
        && *suite_digest == own.suite_digest
        && scorer.is_some()
        && *scorer == own.scorer
        && *judge == own.judge
        && *samples == own.samples
        && *tier == own.tier;
    let alike = |(pair, other): (&ComparedPair<'_>, &PairResult)| {
        let one = pair.result;
        one.case == other.case
            && one.planned == other.planned
            && one.completed == other.completed
            && one.exclusion == other.exclusion
            && one.values.len() == judged.metrics.len()
            && other.values.len() == judged.metrics.len()
    };
    same_identity && judged.pairs.len() == base.pairs.len() && judged.pairs.iter().zip(base.pairs).all(alike)
}

/// Whether the value is not worse than the base commit's: over all cases, over those in the baseline, and over the others.
fn is_not_worse(judged: &GateInput<'_>, base: &BaseMeasurement<'_>, index: usize, gate: GateKind) -> bool {
    let known = |case: &CaseId| judged.before.is_some_and(|entry: &BaselineEntry| has_values(entry, case));
    let specs = judged.specs();
    let groups: [&dyn Fn(&CaseId) -> bool; 3] = [&|_| true, &known, &|case| !known(case)];
    groups.into_iter().all(|group| {
        let value = |pairs: &mut dyn Iterator<Item = &PairResult>| -> Option<f64> {
            let counted = |pair: &&PairResult| pair.exclusion == Exclusion::Counted && group(&pair.case);
            let pairs: Vec<&PairResult> = pairs.filter(counted).collect();
            let values = fold::aggregates(&specs, pairs.len(), |row, column| pairs[row].values[column].value);
            values.get(index).copied().flatten()
        };
        match (value(&mut judged.results()), value(&mut base.pairs.iter()), gate) {
            (None, None, _) => true,
            (Some(_), None, _) | (None, Some(_), _) => false,
            (Some(now), Some(own), GateKind::Min | GateKind::MaxDrop) => now >= own - EPSILON,
            (Some(now), Some(own), GateKind::Max | GateKind::MaxRise) => now <= own + EPSILON,
        }
    })
}

fn has_values(entry: &BaselineEntry, case: &CaseId) -> bool {
    entry.cases.get(case).is_some_and(|values| !values.is_empty())
}

/// Whether every case that passed at the baseline and fails now fails on the base commit as well.
fn fails_no_more_cases(judged: &GateInput<'_>, base: &BaseMeasurement<'_>) -> bool {
    let now: BTreeSet<&CaseId> = newly_failing_cases(judged.results(), judged.before);
    now.is_subset(&newly_failing_cases(base.pairs.iter(), judged.before))
}
