//! The one sentence that says what a report means.

use std::collections::BTreeSet;

use super::evidence;
use super::plain::line;
use super::words::{GateCounts, NAME, limit, other_outcome, plural};
use crate::model::{Authority, CaseChoice, ChangeClass, MetricReport, OtherPullRequest, Report, Verdict, metric_value};

/// The verdict in one or two short sentences.
pub fn headline(report: &Report) -> String {
    let tally = GateCounts::of(&report.suites);
    let failed = failed_gates(report, tally.fail);
    if let Some(interruption) = report.called_off {
        let why = interruption.message();
        return format!("No verdict: {why} before all samples were recorded. This is not a pass.");
    }
    if report.is_held_by_changes() {
        let changes = plural(report.unapproved().count(), "golden change needs", "golden changes need");
        let base = report.unapproved().filter(|change| change.class == ChangeClass::BaseRules).count();
        let worse = match (tally.fail, base) {
            (0, 0) => String::new(),
            (0, base) => format!(
                "the gates pass with the rules of this change, but {} with those of the base commit; ",
                plural(base, "gate fails", "gates fail")
            ),
            (_, _) => format!("{failed}, and "),
        };
        return format!("Merge blocked: {worse}{changes} an approval.");
    }
    if let (Some(other), Authority::Blocking) = (report.worst_other(), report.authority)
        && tally.fail == 0
        && report.not_gateable.is_empty()
    {
        let OtherPullRequest { number, into, outcome } = other;
        let outcome = other_outcome(*outcome);
        return format!("Merge blocked: pull request {number} into {into} has the same head commit and {outcome}.");
    }
    match (report.verdict.verdict(), report.authority) {
        (Some(Verdict::Fail), Authority::Blocking) => format!("Merge blocked: {failed}."),
        (Some(Verdict::Fail), Authority::Advisory) => format!("{failed}. This does not block the merge."),
        (_, Authority::Blocking) if !report.not_gateable.is_empty() => {
            "Merge blocked: no verdict is possible.".to_owned()
        }
        (None, _) => "No gate was evaluated. This is not a pass.".to_owned(),
        (Some(Verdict::Inconclusive), Authority::Advisory) if !report.not_gateable.is_empty() => {
            "No verdict is possible. This does not block the merge.".to_owned()
        }
        (Some(Verdict::Inconclusive), _) => {
            format!("No gate fails, but {} inconclusive.", plural(tally.inconclusive, "gate is", "gates are"))
        }
        (Some(Verdict::Pass), _) => passed(report, tally.pass),
    }
}

/// How many gates pass on how many cases.
pub(super) fn passed(report: &Report, gates: usize) -> String {
    let cases = report.suites.iter().map(|suite| {
        let cases = suite.agents.iter().flat_map(|agent| &agent.cases).map(|case| &case.case);
        cases.collect::<BTreeSet<_>>().len()
    });
    let cases = plural(cases.sum(), "case", "cases");
    if let Some(approved) = approved(report) {
        return approved;
    }
    let excused = excused_gates(report);
    let moved = if has_baseline(report) && !has_moved(report) { " (no number moved)" } else { "" };
    let partly = match report.choice {
        CaseChoice::All => "",
        CaseChoice::Matching => " Only cases that match --case or --tag were graded; the others are not judged.",
        CaseChoice::Failed => " Only cases that failed before were graded; the others are not judged.",
    };
    match gates {
        0 => format!("No gate fails.{partly}"),
        1 => format!("The only gate passes on {cases}{moved}{excused}.{partly}"),
        _ => format!("All {} pass on {cases}{moved}{excused}.{partly}", plural(gates, "gate", "gates")),
    }
}

/// Who approved the worst number that no gate would let pass otherwise; `None` if no number needed it.
fn approved(report: &Report) -> Option<String> {
    let by = &report.approval.as_ref()?.by;
    let agents = report.suites.iter().flat_map(|suite| &suite.agents);
    let approved = agents.flat_map(|agent| agent.metrics.iter().map(move |metric| (agent, metric))).filter_map(
        |(agent, metric)| Some((agent, metric, evidence::approved_gate(report.approval.as_ref(), metric)?)),
    );
    let approved: Vec<_> = approved.collect();
    let (agent, metric, gate) = approved.first()?;
    let value = |value| metric_value(metric.unit, value);
    let more = match approved.len() - 1 {
        0 => String::new(),
        more => format!(" + {}", plural(more, "more number", "more numbers")),
    };
    Some(format!(
        "Passes by approval of {}: {} {} {} (baseline {}, {}){more}.",
        line(by, NAME),
        agent.agent,
        line(&metric.name, NAME),
        value(metric.value),
        value(metric.comparison.baseline),
        limit(metric, gate)
    ))
}

/// Whether the run passes only by an approval of numbers.
pub fn passes_by_approval(report: &Report) -> bool {
    metrics(report).any(|metric| evidence::approved_gate(report.approval.as_ref(), metric).is_some())
}

/// Whether any number is compared with a baseline.
fn has_baseline(report: &Report) -> bool {
    metrics(report).any(|metric| metric.comparison.baseline.is_some())
}

/// Whether any number is shown as moved.
fn has_moved(report: &Report) -> bool {
    metrics(report).any(evidence::has_moved)
}

fn metrics(report: &Report) -> impl Iterator<Item = &MetricReport> {
    report.suites.iter().flat_map(|suite| &suite.agents).flat_map(|agent| &agent.metrics)
}

/// How many of the gates pass only because the base branch fails them as well.
fn excused_gates(report: &Report) -> String {
    let gates = metrics(report).flat_map(|metric| &metric.gates);
    match gates.filter(|gate| gate.base_commit.is_some()).count() {
        0 => String::new(),
        1 => "; 1 gate is excused because the base branch fails it as well".to_owned(),
        count => format!("; {count} gates are excused because the base branch fails them as well"),
    }
}

/// The first failed gate with its numbers, and the number of further ones.
pub(super) fn failed_gates(report: &Report, count: usize) -> String {
    let failed = evidence::failed_metrics(report);
    let Some(first) = failed.first() else { return plural(count, "gate fails", "gates fail") };
    let more = match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" + {}", plural(more, "more gate", "more gates")),
    };
    format!("{} {}{more}", first.agent.agent, evidence::failed_gate(first.metric, first.gate))
}
