//! Completes a baseline with the cases that only the branch has measured: a case is compared from the merge that adds it, also before
//! the next baseline.

use std::collections::BTreeMap;

use super::compare::{ComparedPair, GateInput, GateOutcome, case_before, verdict};
use super::excuse::{BaseMeasurement, is_measured_alike, is_scored_alike};
use crate::fold;
use crate::model::{
    BaselineEntry, CaseId, CaseValues, Exclusion, MetricReport, PASSED, PairResult, Ruling, Verdict, share,
};

/// The values of a case as a baseline has them. `names` are those of its metrics, in their order. An excluded pair has none.
pub fn case_values<'n>(names: impl Iterator<Item = &'n str>, pair: &PairResult) -> CaseValues {
    if pair.exclusion != Exclusion::Counted {
        return CaseValues::new();
    }
    let passing = pair.passing.and_then(|passing| share(passing as usize, pair.completed as usize));
    let passed = passing.map(|passing| (PASSED.to_owned(), vec![Some(passing)]));
    let measured = names.zip(&pair.values).filter(|(_, value)| value.value.is_some());
    let measured = measured.map(|(name, value)| (name.to_owned(), value.samples.to_vec()));
    measured.chain(pair.parts.clone()).chain(passed).collect()
}

/// Returns the baseline's entry with the branch's values of the cases that it lacks; `None` if there are none.
pub fn completed_entry(judged: &GateInput<'_>, base: &BaseMeasurement<'_>) -> Option<BaselineEntry> {
    let known = judged.before.map(|entry| &entry.cases);
    // An entry without cases is of an older format: nobody knows which cases its numbers are of.
    if known.is_some_and(BTreeMap::is_empty) || !is_scored_alike(judged, base) {
        return None;
    }
    let columns: Vec<usize> = (0..judged.metrics.len()).collect();
    let on_branch: BTreeMap<&CaseId, &ComparedPair<'_>> =
        base.pairs.iter().map(|pair| (&pair.result.case, pair)).collect();
    let lacking = judged.pairs.iter().filter(|pair| {
        let is_known = known.is_some_and(|cases| cases.contains_key(&pair.result.case));
        !is_known && pair.result.exclusion == Exclusion::Counted
    });
    let names = || judged.metrics.iter().map(|metric| metric.spec.name);
    let added = lacking.filter_map(|pair| {
        let own = on_branch.get(&pair.result.case).filter(|own| is_measured_alike(pair, own, &columns))?;
        Some((own.result.case.clone(), case_values(names(), own.result)))
    });
    let added: Vec<(CaseId, CaseValues)> = added.collect();
    if added.is_empty() {
        return None;
    }
    let new = || BaselineEntry { identity: Some(base.identity.clone()), ..BaselineEntry::default() };
    let mut entry = judged.before.cloned().unwrap_or_else(new);
    entry.cases.extend(added);
    let rows: Vec<_> = entry.cases.keys().map(|case| case_before(judged.metrics, &entry, case)).collect();
    let values = fold::aggregates(&judged.specs(), rows.len(), |row, column| rows[row][column]);
    entry.metrics = names().zip(values).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    Some(entry)
}

impl GateOutcome {
    /// Takes over the comparison with a completed entry if a metric is worse there. A metric that is better there stays. Returns a note.
    pub fn add_worse(&mut self, judged: &GateInput<'_>, completed: Self, base: &BaseMeasurement<'_>) -> Option<String> {
        let worst = |now: &MetricReport, other: &MetricReport| {
            Ruling::of_all([&now.verdict, &other.verdict]).verdict().filter(|worst| *worst != Verdict::Pass)
        };
        let is_worse = |now: &MetricReport, other: &MetricReport| {
            worst(now, other).is_some_and(|worst| now.verdict.verdict() != Some(worst))
        };
        let both = self.metrics.iter().zip(&completed.metrics);
        let worse: Vec<String> =
            both.filter(|(now, other)| is_worse(now, other)).map(|(now, _)| now.name.clone()).collect();
        if worse.is_empty() {
            return None;
        }
        let gaps = completed.gaps;
        self.gaps.lost.extend(gaps.lost.into_iter().filter(|name| !self.gaps.lost.contains(name)).collect::<Vec<_>>());
        let known: Vec<String> = self.gaps.partly_lost.iter().map(|lost| lost.metric.clone()).collect();
        self.gaps.partly_lost.extend(gaps.partly_lost.into_iter().filter(|lost| !known.contains(&lost.metric)));
        for (now, other) in self.metrics.iter_mut().zip(completed.metrics) {
            if !is_worse(&other, now) {
                *now = other;
            }
        }
        self.cases = completed.cases;
        self.verdict = verdict(&judged.specs(), &self.metrics);
        Some(format!(
            "{}: cases that the baseline lacks are compared with the own numbers of {}",
            worse.join(", "),
            base.name()
        ))
    }
}
