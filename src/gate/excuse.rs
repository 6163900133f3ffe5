//! A change is not blamed for what the branch that it is merged into already shows. This is decided case by case: a gate that compares
//! with the baseline is excused if the branch fails it as well, no case is worse than on the branch, and the cases that the branch
//! does not excuse pass the gate on their own.

mod base_measurement;
mod not_excused;
mod split_cases;

use std::collections::BTreeSet;

pub use self::base_measurement::BaseMeasurement;
use self::not_excused::NotExcused;
use self::split_cases::SplitCases;
pub(super) use self::split_cases::is_scored_alike;
use super::compare::{
    ComparedPair, GateInput, GateOutcome, WorstResults, new_parts, newly_failing_cases, verdict,
};
use crate::model::{
    Aggregate, BaseCommitValue, CaseId, GateRuling, MetricReport, MetricSpec, PairResult, Ruling,
    Verdict, metric_value,
};

impl GateOutcome {
    /// Whether a gate fails that the branch's own value might excuse.
    pub fn fails_by_comparison(&self) -> bool {
        let mut gates = self
            .metrics
            .iter()
            .flat_map(|metric| metric.gates.iter().map(move |gate| (metric, gate)));
        gates.any(|(metric, gate)| compares(metric, gate) && gate.ruling.fails())
    }
}

/// Whether a gate compares with the baseline. The number of newly failing cases does, although its limit is a number.
fn compares(metric: &MetricReport, gate: &GateRuling) -> bool {
    gate.from_baseline || is_count(metric)
}

fn is_count(metric: &MetricReport) -> bool {
    metric.aggregate == Aggregate::NewlyFailing.as_str()
}

/// Excuses every failed gate that may be excused, and returns why the others that the branch fails as well are not. Gates with fixed
/// limits are never excused.
pub fn excuse(
    judged: &GateInput<'_>,
    base: &BaseMeasurement<'_>,
    outcome: &mut GateOutcome,
) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden = judged
        .before
        .and_then(|entry| WorstResults::of(judged, entry));
    for (index, metric) in outcome.metrics.iter_mut().enumerate() {
        let failing = metric
            .gates
            .iter()
            .enumerate()
            .filter(|(_, gate)| compares(metric, gate) && gate.ruling.fails());
        let failing: Vec<usize> = failing.map(|(gate, _)| gate).collect();
        if failing.is_empty() {
            continue;
        }
        let split = SplitCases::of(judged, base, index);
        if split.is_empty() {
            notes.push(format!(
                "{}: {} cannot excuse this gate, because none of the branch's cases is comparable: the branch's recordings are stale, or were measured differently",
                metric.name,
                base.name()
            ));
        }
        let own = split.branch_outcome(judged, base.identity);
        let own = &own.metrics[index];
        for gate in failing
            .into_iter()
            .filter(|gate| own.gates[*gate].ruling.fails())
        {
            let Some(value) = own.compared().or(own.value) else {
                continue;
            };
            let refusal = match is_count(metric) {
                true => more_failing(judged, &split, &judged.metrics[index].spec),
                false => split.refusal(judged, &metric.gates[gate], (index, gate)),
            };
            match refusal {
                None if hidden.as_ref().is_some_and(|hidden| {
                    hides_worse(judged, base, hidden, (index, gate, metric))
                }) =>
                {
                    metric.gates[gate].ruling = Ruling::Judged(Verdict::Inconclusive);
                    outcome
                        .gaps
                        .partly_lost
                        .extend(hidden.as_ref().map(|hidden| hidden.lost(index)));
                }
                None => {
                    let branch = base.branch.map(str::to_owned);
                    metric.gates[gate].base_commit = Some(BaseCommitValue { branch, value });
                    metric.gates[gate].ruling = Ruling::Judged(Verdict::Pass);
                }
                Some(why) => notes.push(format!(
                    "{}: {} is already at {}, but {}",
                    metric.name,
                    base.name(),
                    metric_value(metric.unit, Some(value)),
                    why.message(base.name())
                )),
            }
        }
        metric.verdict = Ruling::of_all(metric.gates.iter().map(|gate| &gate.ruling));
    }
    outcome.verdict = verdict(&judged.specs(), &outcome.metrics);
    notes
}

/// Whether the branch would not excuse a gate if the missing values were the worst ones. `at` is the metric and its gate.
fn hides_worse(
    judged: &GateInput<'_>,
    base: &BaseMeasurement<'_>,
    hidden: &WorstResults<'_>,
    (index, gate, metric): (usize, usize, &MetricReport),
) -> bool {
    // What newly fails is known of measured cases alone.
    if is_count(metric) {
        return false;
    }
    let results = hidden.pairs();
    let pairs = judged.pairs.iter().zip(&results);
    let pairs: Vec<ComparedPair<'_>> = pairs
        .map(|(pair, result)| ComparedPair { result, ..*pair })
        .collect();
    let at_worst = GateInput {
        pairs: &pairs,
        ..*judged
    };
    SplitCases::of(&at_worst, base, index)
        .refusal(&at_worst, &metric.gates[gate], (index, gate))
        .is_some()
}

/// The cases that passed at the baseline and fail now, or fail a further check now, but do not on the branch or cannot be compared with it.
fn more_failing(
    judged: &GateInput<'_>,
    split: &SplitCases<'_>,
    spec: &MetricSpec,
) -> Option<NotExcused> {
    let now = failing(judged, judged.results(), spec);
    let own = failing(judged, split.on_branch(), spec);
    let more: BTreeSet<CaseId> = now.difference(&own).map(|(case, _)| case.clone()).collect();
    (!more.is_empty()).then(|| NotExcused::Worse(more.into_iter().collect()))
}

/// The cases that passed in the baseline and fail, and those that failed and fail a further check, with that check.
fn failing<'p>(
    judged: &GateInput<'_>,
    results: impl Iterator<Item = &'p PairResult> + Clone,
    spec: &MetricSpec,
) -> BTreeSet<(CaseId, Option<String>)> {
    let further = judged
        .before
        .map(|entry| new_parts(results.clone(), entry, spec))
        .unwrap_or_default();
    let newly = newly_failing_cases(results, judged.before)
        .into_iter()
        .map(|case| (case.clone(), None));
    newly
        .chain(further.into_iter().map(|part| (part.case, Some(part.name))))
        .collect()
}
