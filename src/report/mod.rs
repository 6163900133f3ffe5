//! Builds the report: the evidence of each gate, what changed since the base commit, the taxonomy, and the verdict.
//!
//! All decisions that renderers, comment and exit code need are made here, once. No text is laid out here.

mod approved;
mod case_moves;
#[cfg(feature = "github")]
mod covered;
mod drafts;
mod evidence;
mod history;
mod output_changes;
mod policy;
mod redacted;
mod text_changes;

use std::collections::BTreeMap;

pub use self::approved::{approve, asks_for_approval};
pub use self::case_moves::{CaseMove, CaseMoves, CaseName, MeasuredNumbers, case_moves};
#[cfg(feature = "github")]
pub use self::covered::{fails_for, uncovered};
pub use self::drafts::{add_drafts, only_drafts};
pub use self::history::{
    History, Measurement, NumberMove, NumberName, NumberScale, NumberTrend, history,
    numbers_of_baseline, numbers_of_report,
};

pub use self::output_changes::{changed_outputs, moved_uses};
pub use self::policy::{TestRuling, TestState, add_regression};
pub use self::redacted::redact;
pub use self::text_changes::changed_paragraphs;

use self::evidence::{EvidenceEntries, add_evidence};
use crate::fold;
use crate::fold::Interval;
use crate::gate::{Comparability, GateOutcome, OpenMetric};
use crate::model::{
    AgentName, AgentReport, Approval, Authority, BaselineEntry, BaselineUse, COVERAGE, CaseId,
    ChangeClass, EPSILON, Exclusion, GoldenChange, Identity, Interruption, Layer, MetricReport,
    MetricSpec, NotGateable, OtherOutcome, OtherPullRequest, PairResult, RecordingRow, Report,
    Ruling, Shard, SinceBase, SuiteId, SuiteReport, Tier, UngradedReason, ValueSource, Verdict,
    six_places,
};
use crate::text::{line_with_end, named};

/// An agent's part of the report, with the reasons why it has no verdict.
pub struct AgentPart {
    pub report: AgentReport,
    /// The reasons why there is no verdict; empty if there is one.
    pub not_gateable: Vec<NotGateable>,
}

/// The input of an agent's part.
pub struct AgentFacts<'a> {
    pub suite: &'a SuiteId,
    pub agent: AgentName,
    pub specs: &'a [MetricSpec],
    /// The identity of the measurement: model, prompt, scorer and so on.
    pub identity: Identity,
    /// Its pairs, by case.
    pub pairs: Vec<PairResult>,
    pub remarks: Vec<String>,
    /// The reason why its runs give no verdict, if they do not.
    pub refused: Option<String>,
    /// The rows of the table of recordings that hold for it.
    pub recordings: Vec<RecordingRow>,
    /// How to get recordings that it lacks, if it replays some.
    pub record_missing: Option<String>,
    /// Retired cases with their reasons.
    pub retired: Vec<(CaseId, String)>,
    pub judgement: GateOutcome,
    /// The baseline's entry.
    pub before: Option<&'a BaselineEntry>,
}

/// Why metrics could fail a gate with the values that are missing. One lost case takes a value from each metric: one sentence says it.
fn could_fail(open: &[OpenMetric], pairs: &[PairResult], record: Option<&str>) -> Vec<String> {
    let mut groups: Vec<Vec<&OpenMetric>> = Vec::new();
    for metric in open {
        match groups
            .iter_mut()
            .find(|group| group.iter().all(|member| member.cases == metric.cases))
        {
            Some(group) => group.push(metric),
            None => groups.push(vec![metric]),
        }
    }
    groups
        .iter()
        .filter_map(|group| group_could_fail(group, pairs, record))
        .collect()
}

/// Why metrics could fail that lack values in the same cases; `record` says how to get recordings that the agent lacks.
fn group_could_fail(
    group: &[&OpenMetric],
    pairs: &[PairResult],
    record: Option<&str>,
) -> Option<String> {
    let (metric, others) = group.split_first()?;
    let others: Vec<&str> = others.iter().map(|metric| metric.metric.as_str()).collect();
    let also = if others.is_empty() {
        String::new()
    } else {
        format!(", and so could {}", others.join(", "))
    };
    let cases = named(&metric.cases);
    if let Some(record) = record
        && metric.source != ValueSource::Use
        && metric.cases.iter().all(|case| lacks_samples(pairs, case))
    {
        return Some(format!(
            "more samples are planned than are recorded of {cases}: {} {}, so its gate could fail{also}; {record}",
            metric.metric,
            range(metric.interval),
        ));
    }
    let next = if metric.source == ValueSource::Use {
        "record them with `metrics`, or remove the gate"
    } else if metric.cases.iter().all(|case| is_measured(pairs, case)) {
        "these cases were measured, but not for this number: their answers changed, which an approval accepts"
    } else {
        "run or record these cases again"
    };
    Some(format!(
        "{} {}, because values are missing in {cases}: its gate could fail{also}; {next}",
        metric.metric,
        range(metric.interval),
    ))
}

/// Whether a case was measured: then a new recording has no more values.
fn is_measured(pairs: &[PairResult], case: &CaseId) -> bool {
    pairs
        .iter()
        .any(|pair| pair.case == *case && pair.lost.is_empty())
}

/// Whether every sample of a case that is there completed, and more are planned.
fn lacks_samples(pairs: &[PairResult], case: &CaseId) -> bool {
    for pair in pairs {
        let has_lost = pair.completed > 0 && !pair.lost.is_empty();
        let mut lost = pair.lost.iter();
        if pair.case == *case
            && has_lost
            && lost.all(|lost| lost.why == UngradedReason::NotRecorded)
        {
            return true;
        }
    }
    false
}

/// What a value is known to be.
fn range(interval: Interval) -> String {
    let Interval { least, most } = interval;
    match (least.is_finite(), most.is_finite()) {
        (true, true) => format!(
            "lies between {} and {}",
            six_places(least),
            six_places(most)
        ),
        (true, false) => format!("is at least {}", six_places(least)),
        (false, true) => format!("is at most {}", six_places(most)),
        (false, false) => "is unknown".to_owned(),
    }
}

/// Why some numbers of an agent were not measured.
fn unmeasured(facts: &AgentFacts<'_>) -> Vec<String> {
    let GateOutcome {
        metrics,
        verdict,
        open,
        ..
    } = &facts.judgement;
    let mut reasons = Vec::new();
    if fold::all_excluded(facts.pairs.iter()) {
        reasons.push(
            "every case is excluded, because no majority of its samples completed".to_owned(),
        );
    }
    let coverage = metrics.iter().find(|metric| metric.name == COVERAGE);
    let is_covered =
        coverage.is_none_or(|coverage| coverage.verdict != Ruling::Judged(Verdict::Inconclusive));
    if !is_covered {
        let next = facts
            .record_missing
            .as_ref()
            .map_or(String::new(), |next| format!("; {next}"));
        reasons.push(format!("{}{next}", not_covered(&facts.pairs, facts.before)));
    }
    // A failed gate is the better explanation, and so are the cases that were not measured.
    if is_covered && verdict.verdict() == Some(Verdict::Inconclusive) {
        reasons.extend(could_fail(
            open,
            &facts.pairs,
            facts.record_missing.as_deref(),
        ));
    }
    reasons
}

pub fn agent_part(facts: AgentFacts<'_>) -> AgentPart {
    let unmeasured = unmeasured(&facts);
    let AgentFacts {
        suite,
        agent,
        specs,
        identity,
        pairs,
        remarks,
        refused,
        recordings,
        record_missing: _,
        retired,
        judgement,
        before: entry,
    } = facts;
    let GateOutcome {
        mut metrics,
        mut verdict,
        reliability,
        cases,
        removed,
        comparability,
        open: _,
        compared_with,
    } = judgement;
    if refused.is_some() {
        withhold(&mut metrics);
        verdict = Ruling::Judged(Verdict::Inconclusive);
    }
    let reference = compared_with.reference(&comparability, entry);
    let mut not_gateable = Vec::new();
    for why in unmeasured {
        not_gateable.push(about_agent(suite, &agent, &why));
    }
    let waits = metrics
        .iter()
        .filter(|metric| metric.value.is_some())
        .flat_map(|metric| &metric.gates)
        .any(|gate| gate.from_baseline && !gate.is_off() && gate.ruling.verdict().is_none());
    let mut notes = remarks;
    notes.extend(match comparability {
        Comparability::Absent => vec!["no baseline: gates that need one are skipped".to_owned()],
        Comparability::Comparable(remarks) => remarks,
        Comparability::Incomparable(why) => {
            if waits {
                not_gateable.push(about_agent(suite, &agent, &why));
            }
            vec![why]
        }
    });
    not_gateable.extend(refused.map(|why| about_agent(suite, &agent, &why)));
    let cases = pairs
        .into_iter()
        .zip(cases)
        .map(|(pair, (verdict, trend))| PairResult {
            verdict,
            trend,
            ..pair
        })
        .collect();
    let mut report = AgentReport {
        agent,
        verdict,
        identity,
        policy: None,
        metric_order: Vec::new(),
        metrics,
        recordings,
        judges: Vec::new(),
        reliability,
        cases,
        drafts: Vec::new(),
        retired: retired.into_iter().collect(),
        removed,
        notes,
        read_layers: BTreeMap::new(),
        taxonomy_before: entry
            .filter(|entry| !entry.cases.is_empty())
            .map(|entry| entry.taxonomy.clone()),
        infra_before: entry.and_then(|entry| entry.infra),
        since_base: SinceBase::default(),
    };
    report.complete();
    let entries = EvidenceEntries {
        reference,
        base_runs: compared_with.base_runs.as_ref(),
    };
    add_evidence(specs, &mut report, entries);
    report
        .notes
        .extend(entry.and_then(|entry| parsing_change(&entry.layers, &report.read_layers)));
    AgentPart {
        report,
        not_gateable,
    }
}

/// A reason for a missing verdict on an agent.
fn about_agent(suite: &SuiteId, agent: &AgentName, why: &str) -> NotGateable {
    NotGateable::new(format!("{suite}/{agent}: {why}"))
}

/// Takes the rulings of gates back: numbers of recordings that do not count are shown, and neither pass nor fail.
fn withhold(metrics: &mut [MetricReport]) {
    let skipped = Ruling::Skipped("no verdict on these recordings".to_owned());
    for metric in metrics {
        for gate in &mut metric.gates {
            if gate.ruling.verdict().is_some() {
                gate.ruling = skipped.clone();
            }
        }
        if metric.verdict.verdict().is_some() {
            metric.verdict = skipped.clone();
        }
    }
}

/// The number of unmeasured cases that are named.
const NAMED: usize = 10;

/// The length of a sample's error, in characters.
const ERROR: usize = 400;

/// The cases that were not measured, with reasons; those in the baseline come first.
fn not_covered(pairs: &[PairResult], entry: Option<&BaselineEntry>) -> String {
    let planned = pairs
        .iter()
        .filter(|pair| pair.exclusion != Exclusion::Quarantined)
        .count();
    let lost = pairs
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::NoMajority);
    let (known, fresh): (Vec<&PairResult>, Vec<&PairResult>) =
        lost.partition(|pair| is_in_entry(entry, pair));
    let count = known.len() + fresh.len();
    // Where the agent answered no case, a headline says why.
    let first = known.iter().chain(&fresh).next();
    let cause = match first {
        Some(pair) if count == planned && count > 1 => format!(": {}", why_lost(pair)),
        Some(_) | None => String::new(),
    };
    let mut parts = Vec::new();
    if !known.is_empty() {
        parts.push(format!(
            "measured in the baseline: {}",
            cases_with_reasons(&known)
        ));
    }
    if !fresh.is_empty() {
        parts.push(format!(
            "not in the baseline: {}",
            cases_with_reasons(&fresh)
        ));
    }
    format!(
        "{count} of {planned} cases not measured{cause}; {}",
        parts.join("; ")
    )
}

fn is_in_entry(entry: Option<&BaselineEntry>, pair: &PairResult) -> bool {
    let values = entry.and_then(|entry| entry.cases.get(&pair.case));
    values.is_some_and(|values| !values.is_empty())
}

fn why_lost(pair: &PairResult) -> String {
    match pair.lost.first() {
        Some(lost) => line_with_end(&lost.why.text(), ERROR),
        None => "no sample".to_owned(),
    }
}

/// The first cases, those with the same reason together.
fn cases_with_reasons(pairs: &[&PairResult]) -> String {
    let shown = &pairs[..pairs.len().min(NAMED)];
    let mut named = Vec::new();
    for alike in shown.chunk_by(|left, right| why_lost(left) == why_lost(right)) {
        let cases: Vec<&str> = alike.iter().map(|pair| pair.case.as_str()).collect();
        named.push(format!("{} ({})", cases.join(", "), why_lost(alike[0])));
    }
    let more = match pairs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// The reason for no verdict if lost and quarantined cases together are more than a tenth of a suite.
pub fn too_many_left_out(suite: &SuiteReport) -> Option<NotGateable> {
    let (mut all, mut lost, mut quarantined) = (0, 0, 0);
    for case in suite.agents.iter().flat_map(|agent| &agent.cases) {
        all += 1;
        match case.exclusion {
            Exclusion::Counted => {}
            Exclusion::NoMajority => lost += 1,
            Exclusion::Quarantined => quarantined += 1,
        }
    }
    // Quarantined cases alone were checked before the run; lost cases alone are reported by the coverage.
    let is_reported = suite
        .agents
        .iter()
        .flat_map(|agent| &agent.metrics)
        .any(|metric| {
            metric.name == COVERAGE && metric.verdict == Ruling::Judged(Verdict::Inconclusive)
        });
    (!is_reported && lost > 0 && quarantined > 0 && (lost + quarantined) * 10 > all).then(|| {
        let lost = if lost == 1 { "1 case was".to_owned() } else { format!("{lost} cases were") };
        let quarantined = if quarantined == 1 { "1 is".to_owned() } else { format!("{quarantined} are") };
        let id = &suite.id;
        NotGateable::new(format!(
            "{id}: {lost} not measured and {quarantined} in quarantine, more than a tenth of {all} together"
        ))
    })
}

/// A note if the parsing of answers changed since the baseline: the first sign of a prompt that lost its output format.
fn parsing_change(baseline: &BTreeMap<Layer, u32>, run: &BTreeMap<Layer, u32>) -> Option<String> {
    // Shares, not counts: a run with more samples is not a difference.
    let is_same = Layer::ALL
        .iter()
        .all(|layer| (layer_share(baseline, *layer) - layer_share(run, *layer)).abs() < EPSILON);
    if baseline.is_empty() || run.is_empty() || is_same {
        return None;
    }
    Some(format!(
        "output parsing changed since the baseline: {} before, {} now",
        layer_counts(baseline),
        layer_counts(run)
    ))
}

fn layer_share(counts: &BTreeMap<Layer, u32>, layer: Layer) -> f64 {
    let all: u32 = counts.values().sum();
    f64::from(counts.get(&layer).copied().unwrap_or(0)) / f64::from(all.max(1))
}

fn layer_counts(counts: &BTreeMap<Layer, u32>) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|(layer, count)| format!("{count} {}", layer.as_str()))
        .collect();
    parts.join(", ")
}

pub fn suite(id: SuiteId, kind: &str, tier: Tier, agents: Vec<AgentReport>) -> SuiteReport {
    let verdict = Ruling::of_all(agents.iter().map(|agent| &agent.verdict));
    SuiteReport {
        id,
        kind: kind.to_owned(),
        tier,
        verdict,
        agents,
    }
}

pub fn shard_note(shard: Shard) -> String {
    format!(
        "this is shard {shard} of the cases: `goldgate merge` combines the shards and evaluates the gates"
    )
}

/// Marks a report as a shard of a run. Metrics over a part of the cases say nothing about all of them, so no gate is evaluated.
pub fn shard(report: &mut Report, shard: Shard) {
    let skipped = Ruling::Skipped("a shard of the suite: `goldgate merge` decides".to_owned());
    for suite in &mut report.suites {
        suite.verdict = skipped.clone();
        for agent in &mut suite.agents {
            agent.verdict = skipped.clone();
            for metric in &mut agent.metrics {
                metric.verdict = skipped.clone();
                for gate in &mut metric.gates {
                    gate.ruling = skipped.clone();
                }
            }
        }
    }
    report.verdict = skipped;
    report.not_gateable.clear();
    report.authority = Authority::Advisory;
    report.notes.push(shard_note(shard));
}

/// Adds reasons why there is no verdict. With at least one, the run does not pass, whatever its gates say.
pub fn refuse(report: &mut Report, why: Vec<NotGateable>) {
    report.not_gateable.extend(why);
    report.not_gateable.sort();
    report.not_gateable.dedup();
    // A golden change that waits for its approval fails no gate.
    let is_only_held = report.verdict == Ruling::Judged(Verdict::Fail)
        && report.is_held_by_changes()
        && !has_failed_gate(report);
    let passes = report.verdict == Ruling::Judged(Verdict::Pass) || is_only_held;
    if !report.not_gateable.is_empty() && passes {
        report.verdict = Ruling::Judged(Verdict::Inconclusive);
    }
}

/// Adds the verdict of another pull request with the same head commit; the worst counts. `note` says why.
pub fn add_other(report: &mut Report, pull_request: OtherPullRequest, note: String) {
    match pull_request.outcome {
        OtherOutcome::Passes => report.notes.push(note),
        OtherOutcome::Fails => {
            report.notes.push(note);
            report.verdict = Ruling::Judged(Verdict::Fail);
        }
        OtherOutcome::NoVerdict => refuse(report, vec![NotGateable::new(note)]),
    }
    report.others.push(pull_request);
}

/// Whether a gate fails, by the rules of this change or by those of the base commit.
fn has_failed_gate(report: &Report) -> bool {
    let mut suites = report.suites.iter();
    suites.any(|suite| suite.verdict.verdict() == Some(Verdict::Fail)) || fails_on_base(report)
}

/// Whether a gate fails by the rules of the base commit, and nobody approved that.
fn fails_on_base(report: &Report) -> bool {
    report
        .unapproved()
        .any(|change| change.class == ChangeClass::BaseRules)
}

/// Removes the reason for a missing verdict if it is only that every gate waits for the baseline that this run writes.
pub fn begin_baseline(report: &mut Report) {
    // Without a judged gate, the first reason says so; any other one is a reason of its own.
    let is_only_reason = report.verdict.verdict().is_none() && report.not_gateable.len() == 1;
    let waits = report
        .agents()
        .flat_map(|agent| &agent.metrics)
        .any(waits_for_baseline);
    if is_only_reason && waits {
        report.not_gateable.clear();
        report.baseline_use = BaselineUse::Begun;
    }
}

fn waits_for_baseline(metric: &MetricReport) -> bool {
    metric.value.is_some()
        && metric.comparison.baseline.is_none()
        && metric
            .gates
            .iter()
            .any(|gate| gate.from_baseline && !gate.is_off() && gate.ruling.verdict().is_none())
}

/// Removes the verdict of an interrupted run: its results until then say nothing about the rest.
pub fn call_off(report: &mut Report, interruption: Interruption) {
    let why = format!("not all samples were made: {}", interruption.message());
    report.called_off = Some(interruption);
    report.verdict = Ruling::Skipped(why.clone());
    report.not_gateable.push(NotGateable(why));
}

/// Adds the golden changes and their approval. A blocking run with an unapproved change that needs an approval fails, if it has a
/// verdict; one that fails by the rules of the base commit fails anyway.
pub fn add_golden_changes(
    report: &mut Report,
    mut changes: Vec<GoldenChange>,
    approval: Option<Approval>,
) {
    changes.sort_by(|left, right| {
        (left.weight, left.class, &left.file, &left.words).cmp(&(
            right.weight,
            right.class,
            &right.file,
            &right.words,
        ))
    });
    report.golden_changes = changes;
    report.approval = approval;
    let has_verdict = report.not_gateable.is_empty() || fails_on_base(report);
    if report.is_held_by_changes() && has_verdict && report.called_off.is_none() {
        report.verdict = Ruling::Judged(Verdict::Fail);
    }
}

#[cfg(test)]
mod tests {
    use super::{add_golden_changes, refuse};
    use crate::model::{
        Approval, Authority, ChangeClass, GoldenChange, NotGateable, Report, Ruling, Tier, Verdict,
        Weight,
    };

    fn passed(authority: Authority, tier: Tier) -> Report {
        Report {
            authority,
            ..Report::passing(vec![tier])
        }
    }

    #[test]
    fn a_change_blocks_the_merge_until_somebody_approves_it() {
        let approval = || {
            let [by, at, head] = ["a", "b", "c"].map(str::to_owned);
            Some(Approval {
                by,
                at,
                head,
                reason: None,
            })
        };
        let table = [
            (
                Authority::Blocking,
                Tier::Deterministic,
                Weight::NeedsApproval,
                None,
                1,
            ),
            (
                Authority::Blocking,
                Tier::Deterministic,
                Weight::NeedsApproval,
                approval(),
                0,
            ),
            (
                Authority::Blocking,
                Tier::Deterministic,
                Weight::Listed,
                None,
                0,
            ),
            (
                Authority::Advisory,
                Tier::Deterministic,
                Weight::NeedsApproval,
                None,
                0,
            ),
            (
                Authority::Blocking,
                Tier::Model,
                Weight::NeedsApproval,
                None,
                1,
            ),
        ];
        for (authority, tier, weight, approval, code) in table {
            let mut report = passed(authority, tier);
            add_golden_changes(
                &mut report,
                vec![GoldenChange {
                    words: "x".to_owned(),
                    weight,
                    file: None,
                    class: ChangeClass::Config,
                    files: Vec::new(),
                    content: String::new(),
                }],
                approval,
            );
            let verdict = if code == 1 {
                Verdict::Fail
            } else {
                Verdict::Pass
            };
            assert_eq!(
                (report.exit_code(), &report.verdict),
                (code, &Ruling::Judged(verdict)),
                "{report:?}"
            );
        }
    }

    #[test]
    fn a_run_without_a_verdict_does_not_pass() {
        let why = || vec![NotGateable::new("stale")];
        let table = [
            (
                Ruling::Judged(Verdict::Pass),
                Vec::new(),
                Ruling::Judged(Verdict::Pass),
                0,
            ),
            (
                Ruling::Judged(Verdict::Pass),
                why(),
                Ruling::Judged(Verdict::Inconclusive),
                3,
            ),
            (
                Ruling::Judged(Verdict::Fail),
                why(),
                Ruling::Judged(Verdict::Fail),
                1,
            ),
        ];
        for (verdict, refusals, expected, code) in table {
            let mut report = Report {
                verdict,
                ..passed(Authority::Blocking, Tier::Deterministic)
            };
            refuse(&mut report, refusals);
            assert_eq!((&report.verdict, report.exit_code()), (&expected, code));
        }
    }

    #[test]
    fn changes_that_need_an_approval_come_first() {
        let mut report = passed(Authority::Blocking, Tier::Deterministic);
        let change = |words: &str, weight| GoldenChange {
            words: words.to_owned(),
            weight,
            file: None,
            class: ChangeClass::Config,
            files: Vec::new(),
            content: String::new(),
        };
        let changes = vec![
            change("a", Weight::Listed),
            change("c", Weight::NeedsApproval),
            change("b", Weight::NeedsApproval),
        ];
        add_golden_changes(&mut report, changes, None);
        let words: Vec<&str> = report
            .golden_changes
            .iter()
            .map(|change| change.words.as_str())
            .collect();
        assert_eq!(words, ["b", "c", "a"]);
    }
}
