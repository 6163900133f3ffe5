//! One agent against its gates and its baseline.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use rayon::iter::IndexedParallelIterator;
use rayon::iter::IntoParallelRefIterator;
use rayon::iter::ParallelIterator;

use super::limits::Planned;
use super::rule::BaseNumber;
use super::rule::Subject;
use super::rule::ruling;
use super::statistics::Cases;
use super::statistics::Paired;
use super::statistics::detectable;
use super::statistics::intervals;
use super::statistics::reliability;
use super::statistics::wilson;
use crate::fold;
use crate::model::Aggregate;
use crate::model::BaselineEntry;
use crate::model::Better;
use crate::model::CaseId;
use crate::model::CaseTrend;
use crate::model::Comparison;
use crate::model::Edge;
use crate::model::Exclusion;
use crate::model::Gate;
use crate::model::GateRuling;
use crate::model::Identity;
use crate::model::Limit;
use crate::model::MetricReport;
use crate::model::MetricSpec;
use crate::model::PairResult;
use crate::model::Reliability;
use crate::model::Ruling;
use crate::model::SWITCHED_OFF;
use crate::model::Verdict;
use crate::model::six_places;

/// Whether all of the agent's cases ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All.
    Whole,
    /// Those that a filter chose; the others are not missing.
    Part,
}

/// What is judged, and against what.
pub struct Judged<'a> {
    /// The kind's metrics.
    pub specs: &'a [MetricSpec],
    /// The gates of each metric.
    pub gates: &'a [Vec<Planned>],
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
    pub selection: Selection,
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
pub struct Judgement {
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
}

/// Judges one agent.
pub fn agent(judged: &Judged<'_>) -> Judgement {
    let mut comparability = comparability(judged.identity, judged.before);
    let entry = match comparability {
        Comparability::Comparable(_) => judged.before,
        Comparability::Absent | Comparability::Incomparable(_) => None,
    };
    let sets = CaseSets::of(judged, entry);
    if let (Comparability::Comparable(remarks), Some(remark)) = (&mut comparability, sets.remark(judged.selection)) {
        remarks.push(remark);
    }
    let values = fold::agent(judged.specs, judged.pairs);
    let (shared, before) = sets.values(judged, entry, &values);
    let delta_intervals = sets.intervals(judged, entry);
    let all_excluded = fold::all_excluded(judged.pairs);
    let apart = judged.cases_apart();
    let bases = before.iter().map(|number| match (&comparability, number) {
        (Comparability::Incomparable(why), _) => BaseNumber::Incomparable(why.clone()),
        (_, Some(number)) => BaseNumber::Known(*number),
        (_, None) => BaseNumber::Absent,
    });
    let bases: Vec<BaseNumber> = bases.collect();
    let mut metrics = Vec::with_capacity(judged.specs.len());
    for (place, spec) in judged.specs.iter().enumerate() {
        let subject = Subject { value: values[place], shared_value: shared[place], all_excluded };
        let gates: Vec<GateRuling> =
            judged.gates[place].iter().map(|planned| ruled(planned, &subject, &bases[place])).collect();
        let delta = shared[place].zip(before[place]).map(|(now, before)| now - before);
        metrics.push(MetricReport {
            name: spec.name.to_owned(),
            value: values[place],
            ci95: share_interval(spec, &fold::column(judged.pairs, place), apart),
            better: spec.better,
            unit: spec.unit,
            aggregate: spec.aggregate.word().to_owned(),
            comparison: Comparison {
                baseline: before[place],
                delta,
                ci95: delta.and(delta_intervals[place]),
                detectable: detectable(spec, &fold::column(judged.pairs, place)),
            },
            verdict: Ruling::of_all(gates.iter().map(|gate| &gate.ruling)),
            gates,
        });
    }
    let cases = judged.pairs.par_iter().zip(judged.zones);
    let cases = cases.map(|(pair, zone)| case(judged, &bases, pair, *zone, entry)).collect();
    Judgement {
        verdict: Ruling::of_all(metrics.iter().map(|metric| &metric.verdict)),
        metrics,
        reliability: reliability(judged.pairs, apart),
        cases,
        removed: sets.removed,
        comparability,
    }
}

impl Judged<'_> {
    fn cases_apart(&self) -> Cases {
        let documents: BTreeSet<&CaseId> = self.documents.iter().copied().collect();
        if documents.len() == self.documents.len() { Cases::Apart } else { Cases::Together }
    }
}

/// The interval of a share of cases; of cases that share a document it would be too narrow.
fn share_interval(spec: &MetricSpec, values: &[f64], cases: Cases) -> Option<(f64, f64)> {
    match (spec.aggregate, cases) {
        (Aggregate::Rate, Cases::Apart) => wilson(values.iter().filter(|value| **value >= 0.5).count(), values.len()),
        (Aggregate::Rate, Cases::Together)
        | (Aggregate::Worst | Aggregate::Mean | Aggregate::Sum | Aggregate::Harmonic(..), _) => None,
    }
}

fn ruled(planned: &Planned, subject: &Subject, base: &BaseNumber) -> GateRuling {
    let judged = ruling(&planned.gate, subject, base);
    match &planned.off {
        None => judged,
        Some(reason) => GateRuling { ruling: Ruling::Skipped(format!("{SWITCHED_OFF}{reason}")), ..judged },
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

/// One row of values a case.
type Rows = Vec<Vec<Option<f64>>>;

/// How many cases a remark names.
const NAMED: usize = 5;

/// The cases of this run and of the baseline.
struct CaseSets {
    /// Whether both measured the same, or the baseline does not say.
    same: bool,
    /// The places of the pairs that both measured, in the order of the pairs.
    shared: Vec<usize>,
    removed: Vec<CaseId>,
    added: usize,
    /// Cases that both have and only one measured: a recording was lost, or a quarantine began or ended.
    one_sided: Vec<CaseId>,
}

impl CaseSets {
    fn of(judged: &Judged<'_>, entry: Option<&BaselineEntry>) -> Self {
        let Some(before) = entry.map(|entry| &entry.cases).filter(|cases| !cases.is_empty()) else {
            return Self { same: true, shared: Vec::new(), removed: Vec::new(), added: 0, one_sided: Vec::new() };
        };
        let now: BTreeSet<&CaseId> = judged.pairs.iter().map(|pair| &pair.case).collect();
        let gone = || before.iter().filter(|(case, _)| !now.contains(case));
        let removed: Vec<CaseId> = gone().map(|(case, _)| case.clone()).collect();
        let added = now.iter().filter(|case| !before.contains_key(**case)).count();
        // A pair that a side excluded has no value there to pair with, and none that could be missed.
        let mut same = gone().all(|(_, values)| values.is_empty());
        let (mut shared, mut one_sided, mut any) = (Vec::new(), Vec::new(), false);
        for (place, pair) in judged.pairs.iter().enumerate() {
            let measured =
                pair.exclusion == Exclusion::Counted && pair.values.iter().any(|value| value.value.is_some());
            any |= measured;
            let Some(values) = before.get(&pair.case) else {
                same &= !measured;
                continue;
            };
            match (measured, !values.is_empty()) {
                (true, true) => shared.push(place),
                (false, false) => {}
                (true, false) | (false, true) => one_sided.push(pair.case.clone()),
            }
        }
        // Where this run measured nothing, nothing is compared, and the baseline's number stands for the reader.
        let same = !any || (same && one_sided.is_empty());
        Self { same, shared, removed, added, one_sided }.only_listed(judged.selection)
    }

    fn only_listed(self, selection: Selection) -> Self {
        match selection {
            Selection::Whole => self,
            Selection::Part => Self { removed: Vec::new(), ..self },
        }
    }

    fn remark(&self, selection: Selection) -> Option<String> {
        let shared = self.shared.len();
        let one_sided: Vec<&str> = self.one_sided.iter().take(NAMED).map(CaseId::as_str).collect();
        let more = match self.one_sided.len() - one_sided.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match (self.same, selection) {
            (true, _) => None,
            (false, Selection::Part) => {
                Some(format!("a selection of cases: compared on the {shared} that the baseline has as well"))
            }
            (false, Selection::Whole) if self.added > 0 || !self.removed.is_empty() => Some(format!(
                "the case sets differ ({} new, {} removed): compared on the {shared} that both have",
                self.added,
                self.removed.len()
            )),
            (false, Selection::Whole) => Some(format!(
                "measured in this run or in the baseline, and not in both: {}{more}: compared on the {shared} that both measured",
                one_sided.join(", ")
            )),
        }
    }

    fn rows(&self, judged: &Judged<'_>, entry: &BaselineEntry) -> (Rows, Rows) {
        let pairs = || self.shared.iter().map(|place| &judged.pairs[*place]);
        let now = pairs().map(|pair| pair.values.iter().map(|value| value.value).collect());
        let before = pairs().map(|pair| case_before(judged.specs, entry, &pair.case));
        (now.collect(), before.collect())
    }

    /// This run's and the baseline's values, on the cases that both have.
    fn values(
        &self,
        judged: &Judged<'_>,
        entry: Option<&BaselineEntry>,
        whole: &[Option<f64>],
    ) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
        let Some(entry) = entry else { return (whole.to_vec(), vec![None; judged.specs.len()]) };
        if self.same {
            return (whole.to_vec(), judged.specs.iter().map(|spec| entry.metrics.get(spec.name).copied()).collect());
        }
        let (now, before) = self.rows(judged, entry);
        let fold =
            |rows: &[Vec<Option<f64>>]| fold::aggregates(judged.specs, rows.len(), |row, column| rows[row][column]);
        (fold(&now), fold(&before))
    }

    fn intervals(&self, judged: &Judged<'_>, entry: Option<&BaselineEntry>) -> Vec<Option<(f64, f64)>> {
        let Some(entry) = entry else { return vec![None; judged.specs.len()] };
        let (now, before) = self.rows(judged, entry);
        let mut numbers = BTreeMap::new();
        let documents = self.shared.iter().map(|place| {
            let next = numbers.len();
            *numbers.entry(judged.documents[*place]).or_insert(next)
        });
        let documents: Vec<usize> = documents.collect();
        intervals(&Paired { specs: judged.specs, now: &now, before: &before, documents: &documents })
    }
}

/// The folded values of a case in the baseline.
fn case_before(specs: &[MetricSpec], entry: &BaselineEntry, case: &CaseId) -> Vec<Option<f64>> {
    let values = entry.cases.get(case);
    let of = |spec: &MetricSpec| fold::folded(spec, values?.get(spec.name)?);
    specs.iter().map(of).collect()
}

/// A case's own verdict against the same thresholds, and how it stood in the baseline.
fn case(
    judged: &Judged<'_>,
    bases: &[BaseNumber],
    pair: &PairResult,
    zone: Option<f64>,
    entry: Option<&BaselineEntry>,
) -> (Ruling, CaseTrend) {
    let excluded = !pair.has_majority();
    let now: Vec<Option<f64>> = pair.values.iter().map(|value| value.value).collect();
    let verdict = match excluded {
        true => Ruling::Judged(Verdict::Inconclusive),
        false => {
            let by_threshold = |gate: &Gate| matches!(gate, Gate::Threshold { .. });
            own_verdict(judged, bases, &now, zone, &by_threshold)
        }
    };
    let Some(entry) = entry.filter(|entry| !entry.cases.is_empty()) else { return (verdict, CaseTrend::Unknown) };
    let trend = match entry.cases.get(&pair.case) {
        None => CaseTrend::New,
        Some(values) if values.is_empty() || excluded => CaseTrend::Unknown,
        Some(_) => {
            let before = case_before(judged.specs, entry, &pair.case);
            trend(fails(judged, bases, &rounded(&before), zone), fails(judged, bases, &rounded(&now), zone))
        }
    };
    (verdict, trend)
}

/// Whether a case with these values fails, then as now: by the numbers of the config, and by what a gated share counts.
///
/// An average of the baseline says nothing about whether one of its cases failed then; of a share each case is 1 or 0 by itself.
fn fails(judged: &Judged<'_>, bases: &[BaseNumber], values: &[Option<f64>], zone: Option<f64>) -> bool {
    let fixed = |gate: &Gate| matches!(gate, Gate::Threshold { limit: Limit::Number(_), .. });
    let by_number = own_verdict(judged, bases, values, zone, &fixed);
    let by_share = judged.specs.iter().zip(judged.gates).zip(values).any(|((spec, gates), value)| {
        let gated = spec.aggregate == Aggregate::Rate && gates.iter().any(|planned| planned.off.is_none());
        let short = match spec.better {
            Better::Lower => value.is_some_and(|value| value >= 0.5),
            Better::Higher | Better::Neither => value.is_some_and(|value| value < 0.5),
        };
        gated && short
    });
    by_share || by_number.verdict() == Some(Verdict::Fail)
}

/// As a baseline keeps values: what is the same on both sides has the same verdict.
fn rounded(values: &[Option<f64>]) -> Vec<Option<f64>> {
    values.iter().map(|value| value.map(six_places)).collect()
}

/// The verdict of one case's values on the gates that are looked at.
fn own_verdict(
    judged: &Judged<'_>,
    bases: &[BaseNumber],
    values: &[Option<f64>],
    zone: Option<f64>,
    looked_at: &dyn Fn(&Gate) -> bool,
) -> Ruling {
    let mut rulings = Vec::new();
    for (place, value) in values.iter().copied().enumerate() {
        let subject = Subject { value, shared_value: value, all_excluded: false };
        let gates = judged.gates[place].iter().filter(|planned| looked_at(&planned.gate));
        rulings.extend(gates.map(|planned| ruled(&banded(planned, zone), &subject, &bases[place]).ruling));
    }
    Ruling::of_all(&rulings)
}

fn trend(before: bool, now: bool) -> CaseTrend {
    match (before, now) {
        (true, true) => CaseTrend::StillFailing,
        (false, true) => CaseTrend::NewlyFailing,
        (true, false) => CaseTrend::NewlyPassing,
        (false, false) => CaseTrend::StillPassing,
    }
}

/// A case's `ambiguity_zone` takes the place of a band, and never touches a hard gate.
fn banded(planned: &Planned, zone: Option<f64>) -> Planned {
    match (planned.gate, zone) {
        (Gate::Threshold { side, limit, edge: Edge::Band(_) }, Some(zone)) => {
            Planned { gate: Gate::Threshold { side, limit, edge: Edge::Band(zone) }, off: planned.off.clone() }
        }
        _ => planned.clone(),
    }
}

#[cfg(test)]
mod tests;
