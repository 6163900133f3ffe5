//! Completes a baseline with the values that only the branch has: a case or a metric is compared from the merge that adds it, also
//! before the next baseline.

use std::collections::BTreeMap;

use super::compare::{ComparedPair, GateInput, GateOutcome, case_before, verdict};
use super::excuse::{BaseMeasurement, is_scored_alike};
use super::{GatedMetric, PlannedGate};
use crate::fold;
use crate::model::{
    BaselineEntry, CaseId, CaseValues, Exclusion, MetricReport, PASSED, PairResult, Ruling,
    ValueSource, Verdict, share,
};

/// The values of a case as a baseline has them. `names` are those of its metrics, in their order. An excluded pair has none.
pub fn case_values<'n>(names: impl Iterator<Item = &'n str>, pair: &PairResult) -> CaseValues {
    if pair.exclusion != Exclusion::Counted {
        return CaseValues::new();
    }
    let passing = pair
        .passing
        .and_then(|passing| share(passing as usize, pair.completed as usize));
    let passed = passing.map(|passing| (PASSED.to_owned(), vec![Some(passing)]));
    let measured = names
        .zip(&pair.values)
        .filter(|(_, value)| value.value.is_some());
    let measured = measured.map(|(name, value)| (name.to_owned(), value.samples.to_vec()));
    measured.chain(pair.parts.clone()).chain(passed).collect()
}

/// Whether a counted case has a value that the baseline's entry lacks, or neither has one of a metric of the config, or no case has one of a metric that
/// a gate of the config judges: the branch may have it.
pub fn lacks_values(judged: &GateInput<'_>) -> bool {
    let is_on = |planned: &PlannedGate| planned.off.is_none();
    // A metric of the config may read an answer that has another form now.
    let is_own = |metric: &GatedMetric| {
        metric.spec.source == ValueSource::Expression && metric.gates.iter().any(is_on)
    };
    let lacks = |pair: &PairResult| match known_values(judged.before, &pair.case) {
        None => true,
        Some(known) => {
            let mut values = judged.metrics.iter().zip(&pair.values);
            values.any(|(metric, value)| {
                (value.value.is_some() || is_own(metric)) && !known.contains_key(metric.spec.name)
            })
        }
    };
    let counted = || {
        judged
            .results()
            .filter(|pair| pair.exclusion == Exclusion::Counted)
    };
    let is_unmeasured = |(column, metric): (usize, &GatedMetric)| {
        let is_stated =
            |planned: &PlannedGate| is_on(planned) && !metric.spec.gates.contains(&planned.gate);
        let is_known = judged
            .before
            .is_some_and(|entry| entry.metrics.contains_key(metric.spec.name));
        let has_value = |pair: &PairResult| {
            pair.values
                .get(column)
                .is_some_and(|value| value.value.is_some())
        };
        !is_known
            && (is_own(metric) || metric.gates.iter().any(is_stated))
            && !counted().any(has_value)
    };
    counted().any(lacks) || judged.metrics.iter().enumerate().any(is_unmeasured)
}

/// The baseline's last values of a case; `None` if it has none.
fn known_values<'a>(before: Option<&'a BaselineEntry>, case: &CaseId) -> Option<&'a CaseValues> {
    before.and_then(|entry| entry.last_values(case))
}

/// Returns the baseline's entry with the branch's values of the cases and metrics that it lacks; `None` if there are none.
pub fn completed_entry(
    judged: &GateInput<'_>,
    base: &BaseMeasurement<'_>,
) -> Option<BaselineEntry> {
    let known = judged.before.map(|entry| &entry.cases);
    // An entry without cases is of an older format: nobody knows which cases its numbers are of.
    if known.is_some_and(BTreeMap::is_empty) || !is_scored_alike(judged, base) {
        return None;
    }
    let on_branch: BTreeMap<&CaseId, &ComparedPair<'_>> = base
        .pairs
        .iter()
        .map(|pair| (&pair.result.case, pair))
        .collect();
    let names = || judged.metrics.iter().map(|metric| metric.spec.name);
    let mut added = false;
    let new = || BaselineEntry {
        identity: Some(base.identity.clone()),
        ..BaselineEntry::default()
    };
    let mut entry = judged.before.cloned().unwrap_or_else(new);
    for pair in judged
        .pairs
        .iter()
        .filter(|pair| pair.result.exclusion == Exclusion::Counted)
    {
        let Some(own) = on_branch
            .get(&pair.result.case)
            .filter(|own| is_compared_alike(pair, own))
        else {
            continue;
        };
        let values = case_values(names(), own.result);
        let is_known = known_values(judged.before, &pair.result.case).is_some();
        // Its numbers are in no metric, and are compared as they are.
        if entry.earlier.contains_key(&pair.result.case) {
            continue;
        }
        let case = entry.cases.entry(pair.result.case.clone()).or_default();
        for (name, value) in values {
            // The parts of a known case are those of the baseline: more of them would make a gate looser.
            if !is_known || (!case.contains_key(&name) && names().any(|metric| metric == name)) {
                added = true;
                case.insert(name, value);
            }
        }
    }
    added.then(|| with_numbers(judged, entry))
}

/// Returns the baseline's entry without the values that the branch has lost in the same cases: its loss was approved, and the baseline
/// does not contain it yet. `None` if the branch has them all, or this run lacks more of them.
pub fn reduced_entry(judged: &GateInput<'_>, base: &BaseMeasurement<'_>) -> Option<BaselineEntry> {
    let mut entry = judged
        .before
        .filter(|_| is_scored_alike(judged, base))?
        .clone();
    let on_branch: BTreeMap<&CaseId, &ComparedPair<'_>> = base
        .pairs
        .iter()
        .map(|pair| (&pair.result.case, pair))
        .collect();
    let measured = |values: &[Option<f64>]| values.iter().flatten().count();
    let mut reduced = false;
    for pair in judged
        .pairs
        .iter()
        .filter(|pair| pair.result.exclusion == Exclusion::Counted)
    {
        let own = on_branch
            .get(&pair.result.case)
            .filter(|own| is_compared_alike(pair, own));
        let Some((own, known)) = own.zip(entry.cases.get_mut(&pair.result.case)) else {
            continue;
        };
        for ((metric, now), own) in judged
            .metrics
            .iter()
            .zip(&pair.result.values)
            .zip(&own.result.values)
        {
            let before = known
                .get(metric.spec.name)
                .map_or(0, |values| measured(values));
            let (now, on_branch) = (measured(&now.samples), measured(&own.samples));
            if on_branch < before && on_branch <= now {
                reduced = true;
                match on_branch {
                    0 => drop(known.remove(metric.spec.name)),
                    _ => drop(known.insert(metric.spec.name.to_owned(), own.samples.to_vec())),
                }
            }
        }
    }
    reduced.then(|| with_numbers(judged, entry))
}

/// The entry with the numbers of its cases.
fn with_numbers(judged: &GateInput<'_>, mut entry: BaselineEntry) -> BaselineEntry {
    let rows: Vec<_> = entry
        .cases
        .values()
        .map(|values| case_before(judged.metrics, Some(values)))
        .collect();
    let values = fold::aggregates(&judged.specs(), rows.len(), |row, column| rows[row][column]);
    let names = judged.metrics.iter().map(|metric| metric.spec.name);
    entry.metrics = names
        .zip(values)
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    entry
}

/// Whether the branch's values of a case can complete a baseline: they are of the same expectations, and of its agent's recordings.
fn is_compared_alike(pair: &ComparedPair<'_>, own: &ComparedPair<'_>) -> bool {
    own.result.exclusion == Exclusion::Counted
        && pair.expectation == own.expectation
        && pair.result.values.len() == own.result.values.len()
}

impl GateOutcome {
    /// Takes over the comparison with a completed entry if a metric is worse there. A metric that is better there stays. Returns a note.
    pub fn add_worse(
        &mut self,
        judged: &GateInput<'_>,
        completed: Self,
        base: &BaseMeasurement<'_>,
    ) -> Option<String> {
        let worst = |now: &MetricReport, other: &MetricReport| {
            Ruling::of_all([&now.verdict, &other.verdict])
                .verdict()
                .filter(|worst| *worst != Verdict::Pass)
        };
        let is_worse = |now: &MetricReport, other: &MetricReport| {
            worst(now, other).is_some_and(|worst| now.verdict.verdict() != Some(worst))
        };
        let both = self.metrics.iter().zip(&completed.metrics);
        let worse: Vec<String> = both
            .filter(|(now, other)| is_worse(now, other))
            .map(|(now, _)| now.name.clone())
            .collect();
        if worse.is_empty() {
            return None;
        }
        let gaps = completed.gaps;
        self.gaps.lost.extend(
            gaps.lost
                .into_iter()
                .filter(|name| !self.gaps.lost.contains(name))
                .collect::<Vec<_>>(),
        );
        let known: Vec<String> = self
            .gaps
            .partly_lost
            .iter()
            .map(|lost| lost.metric.clone())
            .collect();
        self.gaps.partly_lost.extend(
            gaps.partly_lost
                .into_iter()
                .filter(|lost| !known.contains(&lost.metric)),
        );
        for (now, other) in self.metrics.iter_mut().zip(completed.metrics) {
            if !is_worse(&other, now) {
                *now = other;
            }
        }
        self.cases = completed.cases;
        self.verdict = verdict(&judged.specs(), &self.metrics);
        Some(format!(
            "{}: values that the baseline lacks are compared with those of {}",
            worse.join(", "),
            base.name()
        ))
    }
}
