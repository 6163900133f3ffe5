//! Evaluates the gates of one agent and compares it with its baseline.

mod case_sets;
mod gate_input;
mod left_out;
mod own;
mod parts;
mod unmeasured;

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::case_sets::CaseSets;
pub use self::gate_input::{CaseSelection, ComparedPair, GateInput, QuarantineHistory};
pub use self::left_out::PartlyLost;
pub(super) use self::left_out::WorstResults;
use self::left_out::withhold_passes;
use self::own::{case, newly_failing};
pub(super) use self::own::{case_before, newly_failing_cases};
use self::parts::fail_new_parts;
pub(super) use self::parts::{is_strict, more_parts, new_parts};
use self::unmeasured::withhold_failures;
use super::limits::GatedMetric;
use super::rule::{BaseNumber, Subject, ruled};
use super::statistics::{CaseDependence, detectable, reliability, share_interval};
use crate::fold;
use crate::model::{
    Aggregate, BaselineEntry, CaseId, CaseTrend, Comparison, GateRuling, Identity, MetricEvidence,
    MetricReport, MetricSpec, Reliability, Ruling, ValueSource, Verdict,
};

/// Whether the baseline can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparability {
    /// The baseline has no entry.
    Absent,
    /// It can, with these notes.
    Comparable(Vec<String>),
    /// It cannot; the text names the reason.
    Incomparable(String),
}

/// The result for one agent.
pub struct GateOutcome {
    /// Its metrics with their gates.
    pub metrics: Vec<MetricReport>,
    /// The worst verdict of its metrics.
    pub verdict: Ruling,
    /// How many cases pass.
    pub reliability: Option<Reliability>,
    /// The verdict and the trend of each pair.
    pub cases: Vec<(Ruling, CaseTrend)>,
    /// Cases that exist only in the baseline.
    pub removed: Vec<CaseId>,
    /// Whether the baseline can be compared.
    pub comparability: Comparability,
    /// What is missing of gated metrics.
    pub gaps: MetricGaps,
}

/// Gated metrics of which nothing can be said, because values are missing.
pub struct MetricGaps {
    /// Those that the baseline has, but for which the cases of this run gave no value.
    pub lost: Vec<String>,
    /// Those of what runs use, of which a case states no value.
    pub unstated: Vec<String>,
    /// Those that lack more than a tenth of the baseline's values, which may fail a gate.
    pub partly_lost: Vec<PartlyLost>,
}

impl MetricGaps {
    /// The metrics that lack values which the baseline has.
    pub fn lost_metrics(&self) -> BTreeSet<String> {
        self.lost
            .iter()
            .cloned()
            .chain(self.partly_lost.iter().map(|lost| lost.metric.clone()))
            .collect()
    }
}

/// Evaluates one agent.
pub fn agent(judged: &GateInput<'_>) -> GateOutcome {
    let mut comparability = comparability(judged.identity, judged.before);
    let entry = judged
        .before
        .filter(|_| matches!(comparability, Comparability::Comparable(_)));
    let sets = CaseSets::of(judged, entry);
    if let (Comparability::Comparable(remarks), Some(remark)) =
        (&mut comparability, sets.remark(judged.selection))
    {
        remarks.push(remark);
    }
    let specs = judged.specs();
    let mut values = fold::agent(&specs, judged.results());
    let (mut shared, mut before) = sets.values(judged, entry, &values);
    let added = sets.added_values(judged);
    let delta_intervals = sets.intervals(judged, entry);
    let all_excluded = fold::all_excluded(judged.results());
    let measured = sets.measured(judged, entry);
    let apart = judged.cases_apart();
    let bases: Vec<BaseNumber> = before
        .iter()
        .map(|number| base_number(&comparability, *number))
        .collect();
    let cases: Vec<(Ruling, CaseTrend)> = judged
        .pairs
        .par_iter()
        .map(|pair| case(judged, &bases, pair, entry))
        .collect();
    for (index, _) in specs
        .iter()
        .enumerate()
        .filter(|(_, spec)| spec.aggregate == Aggregate::NewlyFailing)
    {
        let count = newly_failing(judged.results(), entry);
        (values[index], shared[index], before[index]) = (count, count, None);
    }
    let (mut metrics, mut subjects) = (
        Vec::with_capacity(specs.len()),
        Vec::with_capacity(specs.len()),
    );
    for (index, metric) in judged.metrics.iter().enumerate() {
        let spec = &metric.spec;
        let subject = Subject {
            value: values[index],
            shared_value: shared[index],
            added_value: added[index],
            in_common: sets.shared.len(),
            all_excluded: all_excluded
                || (spec.source == ValueSource::Use && values[index].is_none()),
            measured,
        };
        if let Comparability::Comparable(remarks) = &mut comparability {
            remarks.extend(sets.added_remark(judged, metric, added[index]));
        }
        let column = fold::column(judged.results(), index);
        let delta = shared[index]
            .zip(before[index])
            .map(|(now, before)| now - before);
        let comparison = Comparison {
            baseline: before[index],
            delta,
            ci95: delta.and(delta_intervals[index]),
            detectable: detectable(spec, &column),
            noise: None,
        };
        let interval = interval_of_share(spec, &column, apart);
        metrics.push(metric_report(
            metric,
            &subject,
            &bases[index],
            interval,
            comparison.with_noise(),
        ));
        subjects.push(subject);
    }
    fail_new_parts(judged, entry, &mut metrics);
    withhold_failures(judged, &mut metrics);
    let partly_lost = withhold_passes(judged, entry, &sets, (&subjects, &bases), &mut metrics);
    GateOutcome {
        gaps: MetricGaps {
            partly_lost,
            ..gaps(&specs, &metrics, measured)
        },
        verdict: verdict(&specs, &metrics),
        metrics,
        reliability: reliability(judged.results(), apart),
        cases,
        removed: sets.removed,
        comparability,
    }
}

/// The metrics without any value.
fn gaps(specs: &[MetricSpec], metrics: &[MetricReport], measured: usize) -> MetricGaps {
    let named = |metric: &MetricReport| metric.name.clone();
    let unstated = specs
        .iter()
        .zip(metrics)
        .filter(|(spec, report)| is_unstated(spec, report));
    MetricGaps {
        lost: metrics
            .iter()
            .filter(|metric| measured > 0 && is_lost(metric))
            .map(named)
            .collect(),
        unstated: unstated.map(|(_, report)| named(report)).collect(),
        partly_lost: Vec::new(),
    }
}

fn base_number(comparability: &Comparability, number: Option<f64>) -> BaseNumber {
    match (comparability, number) {
        (Comparability::Incomparable(why), _) => BaseNumber::Incomparable(why.clone()),
        (_, Some(number)) => BaseNumber::Known(number),
        (_, None) => BaseNumber::Absent,
    }
}

/// Whether the baseline has a metric for which this run gave no value, so that nothing can be said.
fn is_lost(metric: &MetricReport) -> bool {
    let compared = metric.comparison.baseline.is_some() && metric.comparison.delta.is_none();
    compared && metric.verdict.verdict() == Some(Verdict::Inconclusive)
}

/// Whether a metric of what runs use has no value, so that nothing can be said.
fn is_unstated(spec: &MetricSpec, metric: &MetricReport) -> bool {
    let is_open = metric.verdict.verdict() == Some(Verdict::Inconclusive);
    spec.source == ValueSource::Use && metric.value.is_none() && is_open
}

/// A metric with the rulings of its gates.
fn metric_report(
    metric: &GatedMetric,
    subject: &Subject,
    base: &BaseNumber,
    ci95: Option<(f64, f64)>,
    comparison: Comparison,
) -> MetricReport {
    let GatedMetric { spec, gates } = metric;
    let gates: Vec<GateRuling> = gates
        .iter()
        .map(|planned| ruled(planned, subject, base))
        .collect();
    MetricReport {
        name: spec.name.to_owned(),
        value: subject.value,
        ci95,
        better: spec.better,
        unit: spec.unit,
        aggregate: spec.aggregate.as_str().to_owned(),
        comparison,
        verdict: Ruling::of_all(gates.iter().map(|gate| &gate.ruling)),
        gates,
        evidence: MetricEvidence::default(),
        past: Vec::new(),
    }
}

/// The worst verdict of the metrics. Coverage and readability alone are not a pass.
pub(super) fn verdict(specs: &[MetricSpec], metrics: &[MetricReport]) -> Ruling {
    let whole = Ruling::of_all(metrics.iter().map(|metric| &metric.verdict));
    let own = specs
        .iter()
        .zip(metrics)
        .filter(|(spec, _)| !spec.is_precondition());
    let own = Ruling::of_all(own.map(|(_, metric)| &metric.verdict));
    match (own.verdict(), whole.verdict()) {
        (None, None | Some(Verdict::Pass)) => own,
        (None, Some(Verdict::Inconclusive | Verdict::Fail)) | (Some(_), _) => whole,
    }
}

/// The interval of a share of cases; `None` if cases share a document, because it would be too narrow.
fn interval_of_share(
    spec: &MetricSpec,
    values: &[f64],
    cases: CaseDependence,
) -> Option<(f64, f64)> {
    match (spec.aggregate, cases) {
        // Whether answers could be parsed is not a statistical estimate.
        _ if spec.is_precondition() => None,
        (Aggregate::Rate, CaseDependence::Apart) => share_interval(
            values.iter().filter(|value| **value >= 0.5).count(),
            values.len(),
        ),
        (Aggregate::Rate, CaseDependence::Together)
        | (
            Aggregate::Worst
            | Aggregate::Mean
            | Aggregate::Sum
            | Aggregate::Median
            | Aggregate::P95
            | Aggregate::Harmonic(..)
            | Aggregate::Coverage
            | Aggregate::NewlyFailing,
            _,
        ) => None,
    }
}

/// Compares the identities of two measurements (grading.md 13).
fn comparability(now: &Identity, before: Option<&BaselineEntry>) -> Comparability {
    let Some(entry) = before else {
        return Comparability::Absent;
    };
    let Some(before) = &entry.identity else {
        return Comparability::Comparable(vec![
            "the origin of the baseline is unknown: its entry has no identity".to_owned(),
        ]);
    };
    let Identity {
        suite_digest,
        scorer,
        model,
        agent_sha256,
        judge,
        samples,
        tier,
    } = before;
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    for (dimension, before, now) in [
        ("scorer revision", scorer, &now.scorer),
        ("judge", judge, &now.judge),
    ] {
        if before != now {
            return Comparability::Incomparable(format!(
                "not comparable with the baseline: its {dimension} is {}, this run's is {}; write a new baseline with `goldgate run --update-baseline`",
                or_none(before),
                or_none(now)
            ));
        }
    }
    let mut remarks = Vec::new();
    if samples != &now.samples {
        let count = |samples: &Option<u32>| {
            samples.map_or("unknown".to_owned(), |samples| samples.to_string())
        };
        remarks.push(format!(
            "samples per case: {} in the baseline, {} in this run",
            count(samples),
            count(&now.samples)
        ));
    }
    if model != &now.model {
        remarks.push(format!(
            "the baseline's model is {}, this run's is {}",
            or_none(model),
            or_none(&now.model)
        ));
    }
    if agent_sha256
        .as_ref()
        .zip(now.agent_sha256.as_ref())
        .is_some_and(|(before, now)| before != now)
    {
        remarks.push("the agent's files have changed since the baseline".to_owned());
    }
    if tier != &now.tier {
        remarks.push(format!(
            "the baseline's tier is {}, this run's is {}",
            or_none(tier),
            or_none(&now.tier)
        ));
    }
    if suite_digest != &now.suite_digest {
        remarks.push("cases or expectations have changed since the baseline".to_owned());
    }
    Comparability::Comparable(remarks)
}

#[cfg(test)]
mod tests;
