//! One agent against its gates and its baseline.

mod case_sets;
mod own;

use std::collections::BTreeSet;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use self::case_sets::CaseSets;
use self::own::{case, newly_failing};
use super::limits::PlannedGate;
use super::rule::{BaseNumber, Subject, ruling};
use super::statistics::{CaseDependence, detectable, reliability, wilson};
use crate::fold;
use crate::model::{
    Aggregate, BaselineEntry, CaseId, CaseTrend, Comparison, GateRuling, GateState, Identity, MetricEvidence,
    MetricReport, MetricSpec, PairResult, Reliability, Ruling, SWITCHED_OFF, Verdict,
};

/// Whether all of the agent's cases ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSelection {
    /// All.
    Whole,
    /// Those that a filter chose; the others are not missing.
    Part,
}

/// What is judged, and against what.
pub struct GateInput<'a> {
    /// The kind's metrics.
    pub specs: &'a [MetricSpec],
    /// The gates of each metric.
    pub gates: &'a [Vec<PlannedGate>],
    /// The agent's pairs, by case.
    pub pairs: &'a [PairResult],
    /// The document that each pair is about: pairs of one document are no independent facts.
    pub documents: &'a [&'a CaseId],
    /// The band of each pair's own verdict, where its golden file states one.
    pub zones: &'a [Option<f64>],
    /// What the pairs were measured with.
    pub identity: &'a Identity,
    /// The baseline's entry.
    pub before: Option<&'a BaselineEntry>,
    /// Whether all cases ran.
    pub selection: CaseSelection,
}

/// How far the baseline can be compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparability {
    /// There is no entry.
    Absent,
    /// It can, with these remarks.
    Comparable(Vec<String>),
    /// It must not; the text names the dimension.
    Incomparable(String),
}

/// The judgement of one agent.
pub struct GateOutcome {
    /// Its metrics with their rulings.
    pub metrics: Vec<MetricReport>,
    /// The worst of them.
    pub verdict: Ruling,
    /// How many cases pass.
    pub reliability: Option<Reliability>,
    /// For each pair its own verdict and its trend.
    pub cases: Vec<(Ruling, CaseTrend)>,
    /// Cases that only the baseline has.
    pub removed: Vec<CaseId>,
    /// How far the baseline can be compared with.
    pub comparability: Comparability,
    /// Metrics with a gate that the baseline has, and for which the measured cases of this run gave no value.
    pub lost_metrics: Vec<String>,
}

/// Judges one agent.
pub fn agent(judged: &GateInput<'_>) -> GateOutcome {
    let mut comparability = comparability(judged.identity, judged.before);
    let entry = match comparability {
        Comparability::Comparable(_) => judged.before,
        Comparability::Absent | Comparability::Incomparable(_) => None,
    };
    let sets = CaseSets::of(judged, entry);
    if let (Comparability::Comparable(remarks), Some(remark)) = (&mut comparability, sets.remark(judged.selection)) {
        remarks.push(remark);
    }
    let mut values = fold::agent(judged.specs, judged.pairs);
    let (mut shared, mut before) = sets.values(judged, entry, &values);
    let added = sets.added_values(judged);
    let delta_intervals = sets.intervals(judged, entry);
    let all_excluded = fold::all_excluded(judged.pairs);
    let measured = sets.measured(judged, entry);
    let apart = judged.cases_apart();
    let bases = before.iter().map(|number| match (&comparability, number) {
        (Comparability::Incomparable(why), _) => BaseNumber::Incomparable(why.clone()),
        (_, Some(number)) => BaseNumber::Known(*number),
        (_, None) => BaseNumber::Absent,
    });
    let bases: Vec<BaseNumber> = bases.collect();
    let cases = judged.pairs.par_iter().zip(judged.zones);
    let cases: Vec<(Ruling, CaseTrend)> = cases.map(|(pair, zone)| case(judged, &bases, pair, *zone, entry)).collect();
    for (index, _) in judged.specs.iter().enumerate().filter(|(_, spec)| spec.aggregate == Aggregate::NewlyFailing) {
        let count = newly_failing(judged.pairs, entry);
        (values[index], shared[index], before[index]) = (count, count, None);
    }
    let mut metrics = Vec::with_capacity(judged.specs.len());
    for (index, spec) in judged.specs.iter().enumerate() {
        let subject = Subject {
            value: values[index],
            shared_value: shared[index],
            added_value: added[index],
            in_common: sets.shared.len(),
            all_excluded,
            measured,
        };
        let gates: Vec<GateRuling> =
            judged.gates[index].iter().map(|planned| ruled(planned, &subject, &bases[index])).collect();
        if let Comparability::Comparable(remarks) = &mut comparability {
            remarks.extend(sets.added_remark(judged, index, added[index]));
        }
        let delta = shared[index].zip(before[index]).map(|(now, before)| now - before);
        metrics.push(MetricReport {
            name: spec.name.to_owned(),
            value: values[index],
            ci95: share_interval(spec, &fold::column(judged.pairs, index), apart),
            better: spec.better,
            unit: spec.unit,
            aggregate: spec.aggregate.as_str().to_owned(),
            comparison: Comparison {
                baseline: before[index],
                delta,
                ci95: delta.and(delta_intervals[index]),
                detectable: detectable(spec, &fold::column(judged.pairs, index)),
            },
            verdict: Ruling::of_all(gates.iter().map(|gate| &gate.ruling)),
            gates,
            evidence: MetricEvidence::default(),
        });
    }
    let is_lost = |metric: &&MetricReport| {
        let compared = metric.comparison.baseline.is_some() && metric.comparison.delta.is_none();
        measured > 0 && compared && metric.verdict.verdict() == Some(Verdict::Inconclusive)
    };
    GateOutcome {
        lost_metrics: metrics.iter().filter(is_lost).map(|metric| metric.name.clone()).collect(),
        verdict: verdict(judged.specs, &metrics),
        metrics,
        reliability: reliability(judged.pairs, apart),
        cases,
        removed: sets.removed,
        comparability,
    }
}

/// The worst of the metrics. That everything was measured and could be read alone is no pass.
fn verdict(specs: &[MetricSpec], metrics: &[MetricReport]) -> Ruling {
    let whole = Ruling::of_all(metrics.iter().map(|metric| &metric.verdict));
    let own = specs.iter().zip(metrics).filter(|(spec, _)| !spec.is_precondition());
    let own = Ruling::of_all(own.map(|(_, metric)| &metric.verdict));
    match (own.verdict(), whole.verdict()) {
        (None, None | Some(Verdict::Pass)) => own,
        (None, Some(Verdict::Inconclusive | Verdict::Fail)) | (Some(_), _) => whole,
    }
}

impl GateInput<'_> {
    fn cases_apart(&self) -> CaseDependence {
        let documents: BTreeSet<&CaseId> = self.documents.iter().copied().collect();
        if documents.len() == self.documents.len() { CaseDependence::Apart } else { CaseDependence::Together }
    }
}

/// The interval of a share of cases; of cases that share a document it would be too narrow.
fn share_interval(spec: &MetricSpec, values: &[f64], cases: CaseDependence) -> Option<(f64, f64)> {
    match (spec.aggregate, cases) {
        // How sure it is that answers could be read is no question of statistics.
        _ if spec.is_precondition() => None,
        (Aggregate::Rate, CaseDependence::Apart) => {
            wilson(values.iter().filter(|value| **value >= 0.5).count(), values.len())
        }
        (Aggregate::Rate, CaseDependence::Together)
        | (
            Aggregate::Worst
            | Aggregate::Mean
            | Aggregate::Sum
            | Aggregate::Harmonic(..)
            | Aggregate::Coverage
            | Aggregate::NewlyFailing,
            _,
        ) => None,
    }
}

fn ruled(planned: &PlannedGate, subject: &Subject, base: &BaseNumber) -> GateRuling {
    let judged = ruling(&planned.gate, subject, base);
    match &planned.off {
        None => judged,
        Some(reason) => {
            let ruling = Ruling::Skipped(format!("{SWITCHED_OFF}{reason}"));
            GateRuling { ruling, state: GateState::Off, ..judged }
        }
    }
}

/// Compares what two measurements were made with (grading.md 13).
fn comparability(now: &Identity, before: Option<&BaselineEntry>) -> Comparability {
    let Some(entry) = before else { return Comparability::Absent };
    let Some(before) = &entry.identity else {
        return Comparability::Comparable(vec![
            "the origin of the baseline is unknown: its entry has no identity".to_owned(),
        ]);
    };
    let Identity { suite_digest, scorer, model, prompt_sha256, judge, samples, tier } = before;
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    for (dimension, before, now) in [("scorer revision", scorer, &now.scorer), ("judge", judge, &now.judge)] {
        if before != now {
            return Comparability::Incomparable(format!(
                "incomparable with the baseline: its {dimension} is {}, this run's is {}; a fresh baseline is owed",
                shown(before),
                shown(now)
            ));
        }
    }
    let mut remarks = Vec::new();
    if samples != &now.samples {
        let count = |samples: &Option<u32>| samples.map_or("unknown".to_owned(), |samples| samples.to_string());
        remarks.push(format!("the baseline has {} samples a case, this run {}", count(samples), count(&now.samples)));
    }
    if model != &now.model {
        remarks.push(format!("the baseline's model is {}, this run's is {}", shown(model), shown(&now.model)));
    }
    if prompt_sha256 != &now.prompt_sha256 {
        remarks.push("the prompt package has changed since the baseline".to_owned());
    }
    if tier != &now.tier {
        remarks.push(format!("the baseline is of the {} tier, this run of the {} tier", shown(tier), shown(&now.tier)));
    }
    if suite_digest != &now.suite_digest {
        remarks.push("cases or expectations have changed since the baseline".to_owned());
    }
    Comparability::Comparable(remarks)
}

#[cfg(test)]
mod tests;
