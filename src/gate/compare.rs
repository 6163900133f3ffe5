//! Evaluates the gates of one agent and compares it with its reference.

mod case_sets;
mod compared;
mod gate_input;
mod missing;
mod own;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::compared::ComparedNumbers;
pub use self::gate_input::{BaseRuns, CaseSelection, ComparedPair, GateInput};
use self::own::case;
pub(super) use self::own::case_before;
use super::limits::{GatedMetric, PlannedGate};
use super::reference::{CompletedEntry, entry_of_runs};
use super::rule::{BaseNumber, GateResult, Openness};
use crate::estimate::{CaseDependence, detectable, reliability, share_interval};
use crate::fold;
use crate::fold::Interval;
use crate::model::{
    Aggregate, BaseCommitValue, BaselineEntry, CaseId, CaseTrend, Comparison, Exclusion,
    GateRuling, Identity, MetricEvidence, MetricReport, MetricSpec, Reliability, Ruling, Standing,
    ValueSource, Verdict,
};
use crate::suites::CASE_PASS_RATE;
use crate::text::named;

/// Whether there is something to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparability {
    /// Nothing is known to compare with.
    Absent,
    /// There is one, with these notes.
    Comparable(Vec<String>),
    /// The baseline cannot be compared; the text names the reason.
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
    /// Cases that exist only in the reference.
    pub removed: Vec<CaseId>,
    /// Whether there is something to compare with.
    pub comparability: Comparability,
    /// The metrics that could fail a gate with the values that are missing.
    pub open: Vec<OpenMetric>,
    /// What the numbers are compared with.
    pub compared_with: ComparedEntries,
}

impl ComparedEntries {
    /// The entry that the numbers are compared with: the completed one, else the committed one if it is comparable.
    pub fn reference<'a>(
        &'a self,
        comparability: &Comparability,
        committed: Option<&'a BaselineEntry>,
    ) -> Option<&'a BaselineEntry> {
        let is_comparable = matches!(comparability, Comparability::Comparable(_));
        self.completed
            .as_ref()
            .or(committed.filter(|_| is_comparable))
    }
}

/// A metric of which missing values could fail a gate.
pub struct OpenMetric {
    /// Its name.
    pub metric: String,
    /// What the missing values could make of it.
    pub interval: Interval,
    /// The cases that lack values.
    pub cases: Vec<CaseId>,
    /// Where its values come from.
    pub source: ValueSource,
}

/// The entries that are compared with instead of the committed baseline's.
#[derive(Default)]
pub struct ComparedEntries {
    /// The baseline's with what only the base commit's own runs have; these alone without a baseline. `None` if it is the committed one.
    pub completed: Option<BaselineEntry>,
    /// The base commit's own runs, if they are needed.
    pub base_runs: Option<BaselineEntry>,
}

/// Evaluates one agent.
pub fn agent(input: &GateInput<'_>) -> GateOutcome {
    let (comparability, compared_with) = compared_entries(input);
    let unknown = match &comparability {
        Comparability::Incomparable(why) => BaseNumber::Incomparable(why.clone()),
        Comparability::Absent | Comparability::Comparable(_) => BaseNumber::Absent,
    };
    let entry = compared_with.reference(&comparability, input.before);
    let numbers = ComparedNumbers::of(input, entry, &unknown);
    let base = compared_with.base_runs.as_ref().zip(input.base);
    let base_pairs: Vec<ComparedPair<'_>> = base.map_or_else(Vec::new, |(_, runs)| pairs_of(runs));
    let base_input = GateInput {
        pairs: &base_pairs,
        ..*input
    };
    let base = base.map(|(base_entry, runs)| BaseComparison {
        runs,
        own: ComparedNumbers::of(&base_input, entry, &unknown),
        change: ComparedNumbers::of(input, Some(base_entry), &BaseNumber::Absent),
    });
    let (mut metrics, mut open) = (Vec::with_capacity(input.metrics.len()), Vec::new());
    let apart = input.cases_apart();
    let delta_intervals = numbers.sets.intervals(input, entry);
    for (index, metric) in input.metrics.iter().enumerate() {
        let results: Vec<GateResult> = metric
            .gates
            .iter()
            .map(|planned| gate(&numbers, base.as_ref(), index, planned))
            .collect();
        if let Some(interval) = numbers.interval(index)
            && results
                .iter()
                .any(|result| result.openness == Openness::Open)
        {
            open.push(OpenMetric {
                metric: metric.spec.name.to_owned(),
                interval,
                cases: numbers.lacking(index),
                source: metric.spec.source,
            });
        }
        let gates = results.into_iter().map(|result| result.gate).collect();
        let column = fold::column(input.results(), index);
        let baseline = numbers.reference[index];
        let delta = numbers.shared[index]
            .zip(baseline)
            .map(|(value, baseline)| value - baseline);
        let comparison = Comparison {
            baseline,
            delta,
            ci95: delta.and(delta_intervals[index]),
            detectable: detectable(&metric.spec, &column),
            noise: None,
        };
        let interval = interval_of_share(&metric.spec, &column, apart);
        let value = numbers.values[index];
        metrics.push(metric_report(
            &metric.spec,
            value,
            gates,
            interval,
            comparison.with_noise(),
        ));
    }
    let cases = input
        .pairs
        .par_iter()
        .map(|pair| case(input, numbers.bases(), pair, entry))
        .collect();
    let comparability = with_remarks(comparability, input, &numbers);
    GateOutcome {
        open,
        verdict: verdict(&input.specs(), &metrics),
        metrics,
        reliability: reliability(input.results(), apart).map(|reliability| Reliability {
            every_before: entry.and_then(|entry| every_before(input, entry)),
            ..reliability
        }),
        cases,
        removed: numbers.sets.removed.clone(),
        comparability,
        compared_with,
    }
}

/// How many of the cases that pass or fail as a whole passed in every sample of the baseline; `None` if it does not have all of them with
/// several samples.
fn every_before(input: &GateInput<'_>, entry: &BaselineEntry) -> Option<u32> {
    let counted = input.results().filter(|pair| {
        let is_known = pair.passed != Standing::Passes || pair.completed == pair.planned;
        pair.exclusion == Exclusion::Counted && is_known
    });
    let mut passed = 0;
    for pair in counted {
        let samples = entry.measured(&pair.case)?.get(CASE_PASS_RATE.name)?;
        if samples.len() < 2 || samples.contains(&None) {
            return None;
        }
        passed += u32::from(samples.iter().all(|sample| *sample == Some(1.0)));
    }
    Some(passed)
}

/// Whether the base commit's own runs may change an outcome without them: a gate does not pass, or the baseline lacks values.
pub fn needs_base_runs(input: &GateInput<'_>, outcome: &GateOutcome) -> bool {
    let Some(entry) = input.before else {
        return true;
    };
    let mut gates = outcome.metrics.iter().flat_map(|metric| &metric.gates);
    let all_pass = gates.all(|gate| gate.is_off() || gate.ruling.verdict() == Some(Verdict::Pass));
    !all_pass
        || input
            .pairs
            .iter()
            .any(|pair| lacks_values(entry, input.metrics, pair))
}

/// Whether a baseline lacks values of a pair that has them, or may have had them.
fn lacks_values(entry: &BaselineEntry, metrics: &[GatedMetric], pair: &ComparedPair<'_>) -> bool {
    let Some(known) = entry.last_values(&pair.result.case) else {
        return true;
    };
    let mut values = metrics.iter().zip(&pair.result.values);
    values.any(|(metric, value)| {
        // A metric of the config may read an answer that has another form now.
        let may_be_lost = metric.spec.source == ValueSource::Expression;
        (value.value.is_some() || may_be_lost) && !known.contains_key(metric.spec.name)
    })
}

/// The base commit's own numbers: against the baseline, and as the reference of this run.
struct BaseComparison<'a> {
    runs: BaseRuns<'a>,
    own: ComparedNumbers<'a>,
    change: ComparedNumbers<'a>,
}

/// The result of a gate. Its reference is the baseline, or the base commit's own runs if these do not pass the gate against the baseline:
/// an approval let them through, and the baseline does not contain that yet.
fn gate(
    numbers: &ComparedNumbers<'_>,
    base: Option<&BaseComparison<'_>>,
    metric: usize,
    planned: &PlannedGate,
) -> GateResult {
    let result = numbers.gate(metric, planned);
    let Some(base) = base else { return result };
    let base_result = base.own.gate(metric, planned);
    if !base_result.gate.ruling.fails() && base_result.openness == Openness::Settled {
        return result;
    }
    let GateResult { gate, openness } = base.change.gate_of_same(metric, planned);
    let value = base.own.shared[metric].or(base.own.values[metric]);
    GateResult {
        gate: GateRuling {
            ruling: gate.ruling,
            base_commit: value.map(|value| BaseCommitValue {
                branch: base.runs.branch.map(str::to_owned),
                value,
            }),
            ..result.gate
        },
        openness,
    }
}

/// The pairs that the base commit measured itself: what it lacks of a new case fails nothing of it.
fn pairs_of(runs: BaseRuns<'_>) -> Vec<ComparedPair<'_>> {
    let measured = runs.results.iter().filter(|result| result.completed > 0);
    measured
        .map(|result| ComparedPair {
            result,
            document: &result.case,
            zone: None,
        })
        .collect()
}

/// What to compare with, and whether the committed baseline's entry is that.
fn compared_entries(input: &GateInput<'_>) -> (Comparability, ComparedEntries) {
    let comparability = comparability(input.identity, input.before);
    let mut entries = ComparedEntries::default();
    let Some(runs) = input.base else {
        return (comparability, entries);
    };
    let base_runs = entry_of_runs(&runs, input.metrics, input.identity);
    let comparability = match (comparability, input.before) {
        (Comparability::Comparable(mut remarks), Some(baseline)) => {
            if let Some(completed) = CompletedEntry::of(baseline, &base_runs, input.metrics) {
                remarks.push(format!(
                    "not in the baseline, so compared with the own runs of {}: {}",
                    runs.name(),
                    named(&completed.added)
                ));
                entries.completed = Some(completed.entry);
            }
            Comparability::Comparable(remarks)
        }
        (comparability, _) if base_runs.cases.is_empty() => comparability,
        (comparability, _) => {
            entries.completed = Some(base_runs.clone());
            let why = match comparability {
                Comparability::Incomparable(why) => why,
                Comparability::Absent | Comparability::Comparable(_) => "no baseline".to_owned(),
            };
            Comparability::Comparable(vec![format!(
                "{why}; compared with the own runs of {}",
                runs.name()
            )])
        }
    };
    entries.base_runs = Some(base_runs);
    (comparability, entries)
}

/// Adds the notes on the cases that are compared.
fn with_remarks(
    comparability: Comparability,
    input: &GateInput<'_>,
    numbers: &ComparedNumbers<'_>,
) -> Comparability {
    let Comparability::Comparable(mut remarks) = comparability else {
        return comparability;
    };
    remarks.extend(numbers.sets.remark(input.selection));
    for (metric, added) in input.metrics.iter().zip(&numbers.added) {
        remarks.extend(numbers.sets.added_remark(input, metric, *added));
    }
    Comparability::Comparable(remarks)
}

fn metric_report(
    spec: &MetricSpec,
    value: Option<f64>,
    gates: Vec<GateRuling>,
    ci95: Option<(f64, f64)>,
    comparison: Comparison,
) -> MetricReport {
    MetricReport {
        name: spec.name.to_owned(),
        value,
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

/// The worst verdict of the metrics. Coverage alone is not a pass.
fn verdict(specs: &[MetricSpec], metrics: &[MetricReport]) -> Ruling {
    let whole = Ruling::of_all(metrics.iter().map(|metric| &metric.verdict));
    let judged = specs
        .iter()
        .zip(metrics)
        .filter(|(spec, _)| !spec.is_precondition());
    let judged = Ruling::of_all(judged.map(|(_, metric)| &metric.verdict));
    match (judged.verdict(), whole.verdict()) {
        (None, None | Some(Verdict::Pass)) => judged,
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
        // Coverage is counted, not estimated.
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

/// Compares the identities of two measurements.
fn comparability(identity: &Identity, entry: Option<&BaselineEntry>) -> Comparability {
    let Some(entry) = entry else {
        return Comparability::Absent;
    };
    let Some(baseline) = &entry.identity else {
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
    } = baseline;
    for (dimension, baseline, current) in [
        ("scorer revision", scorer, &identity.scorer),
        ("judge", judge, &identity.judge),
    ] {
        if baseline != current {
            return Comparability::Incomparable(format!(
                "not comparable with the baseline: its {dimension} is {}, this run's is {}; write a new baseline with `goldgate run --update-baseline`",
                or_none(baseline),
                or_none(current)
            ));
        }
    }
    let mut remarks = Vec::new();
    if samples != &identity.samples {
        remarks.push(format!(
            "samples per case: {} in the baseline, {} in this run",
            count_or_unknown(*samples),
            count_or_unknown(identity.samples)
        ));
    }
    if model != &identity.model {
        remarks.push(format!(
            "the baseline's model is {}, this run's is {}",
            or_none(model),
            or_none(&identity.model)
        ));
    }
    if agent_sha256
        .as_ref()
        .zip(identity.agent_sha256.as_ref())
        .is_some_and(|(baseline, current)| baseline != current)
    {
        remarks.push("the agent's files have changed since the baseline".to_owned());
    }
    if tier != &identity.tier {
        remarks.push(format!(
            "the baseline's tier is {}, this run's is {}",
            or_none(tier),
            or_none(&identity.tier)
        ));
    }
    if suite_digest != &identity.suite_digest {
        remarks.push("cases or expectations have changed since the baseline".to_owned());
    }
    Comparability::Comparable(remarks)
}

fn or_none(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("none")
}

fn count_or_unknown(samples: Option<u32>) -> String {
    match samples {
        Some(samples) => samples.to_string(),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests;
