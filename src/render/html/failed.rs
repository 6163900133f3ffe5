//! What blocks: each failed gate with the cases that moved it, then the other failed checks.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::plots;
use super::texts::{agent_name, bounded, with_commands};
use crate::model::{
    AgentReport, CaseEvidence, CaseTrend, ChangedText, EvidenceLine, FailureLine, GateKind,
    MetricReport, PairResult, Report, Tag, metric_value,
};
use crate::render::evidence::FailedMetric;
use crate::render::plain::title;
use crate::render::since_base::{LIKELY_CAUSE, UNDO_IT, changed_names, explains};
use crate::render::{evidence, words};
use crate::text::{WordPiece, changed_words};

/// The number of failed checks that are listed.
const LISTED: usize = 200;

/// Each failed gate with its cases: expected, baseline, now.
pub fn failed_gates(report: &Report) -> Markup {
    let failed = evidence::failed_metrics(report);
    html! {
        @if !failed.is_empty() {
            section aria-labelledby="failed" {
                h2 id="failed" { (words::plural(failed.len(), "failed gate", "failed gates")) } "\n"
                @for failed in &failed { (failed_gate(failed)) }
            } "\n"
        }
    }
}

fn failed_gate(failed: &FailedMetric<'_>) -> Markup {
    let FailedMetric {
        suite,
        agent,
        metric,
        gate,
    } = failed;
    let name = agent_name(suite, agent);
    // A hint that an earlier case has is not repeated.
    let mut hints = BTreeSet::new();
    html! {
        h3.fail { (name) ": " (bounded(&evidence::failed_gate(metric, gate))) } "\n"
        @if let Some(chance) = words::steady_failures(agent, metric) { p.soft { (with_commands(&title(&chance))) } "\n" }
        (agent_changes(agent))
        @if gate.gate == GateKind::Test { (plots::unchanged_sums(agent)) }
        div.wide role="region" tabindex="0" aria-label={ "Cases behind " (name) " " (bounded(&metric.name)) } {
            table.cases {
                thead { tr { th scope="col" { "case" } th scope="col" { "expected" } th scope="col" { "baseline" } th scope="col" { "now" } } }
                tbody {
                    "\n"
                    @for (one, case) in evidence::cases_with_reports(agent, metric) { (case_rows(agent, metric, one, case, &mut hints)) }
                }
            }
        } "\n"
        @if let Some(past) = evidence::past_baselines(metric) {
            p.soft { (title(&past)) }
            (plots::trend(metric))
            "\n"
        }
        @if let Some(more) = evidence::more_cases(metric) { p.soft { "… and " (more) } "\n" }
    }
}

/// One row for each expectation. Differences with the same expectation share it.
fn case_rows<'a>(
    agent: &AgentReport,
    metric: &MetricReport,
    one: &'a CaseEvidence,
    case: Option<&PairResult>,
    hints: &mut BTreeSet<(Tag, &'a str)>,
) -> Markup {
    let same = |one: &EvidenceLine, next: &EvidenceLine| {
        one.difference.expected == next.difference.expected
    };
    let groups: Vec<&[EvidenceLine]> = one.differences.chunk_by(same).collect();
    let changed = agent.since_base.outputs_of(&one.case);
    html! {
        @for (index, group) in groups.iter().enumerate() {
            tr {
                @if index == 0 {
                    th scope="rowgroup" rowspan=(groups.len()) {
                        (one.case)
                        @if let Some(case) = case {
                            br; span.file { (bounded(case.golden.as_str())) ":" (group.first().map_or(1, |line| line.difference.line)) }
                            @if let Some(recording) = &case.recording { br; span.file { (bounded(recording.as_str())) } }
                        }
                        (plots::samples(agent, metric, one, case))
                        @if let Some(case) = case { (plots::lanes(case)) }
                    }
                }
                td data-label="expected" { @if let Some(line) = group.first() { (bounded(&line.difference.expected)) } }
                @if index == 0 {
                    td data-label="baseline" rowspan=(groups.len()) {
                        @if !evidence::is_rule(metric) { b { (metric_value(metric.unit, one.baseline)) } }
                        @for change in changed { (side(change, change.before.as_deref())) }
                    }
                }
                td data-label="now" {
                    @if index == 0 {
                        @if !evidence::is_rule(metric) { b.fail { (metric_value(metric.unit, one.value)) } }
                        @for change in changed { (marked(change)) }
                    }
                    @for line in *group {
                        p { (bounded(&line.difference.produced)) span.soft { (evidence::in_samples(case, line)) } }
                        @if let (Some(tag), Some(next), false) = (line.tag, &line.next_action, explains(agent, case)) {
                            @if hints.insert((tag, next)) {
                                p.soft { "Likely cause: " b { (tag.as_str()) } ". Next: " (bounded(next)) }
                            }
                        }
                    }
                }
            } "\n"
        }
    }
}

/// A value of the base commit's output.
fn side(change: &ChangedText, text: Option<&str>) -> Markup {
    html! { p { span.file { (bounded(&change.name)) ": " } (text.map_or("–".to_owned(), bounded)) } }
}

/// A changed text with its words marked.
fn marked(change: &ChangedText) -> Markup {
    let pieces = changed_words(
        change.before.as_deref().unwrap_or_default(),
        change.now.as_deref().unwrap_or_default(),
    );
    html! {
        p {
            span.file { (bounded(&change.name)) ": " }
            @for piece in &pieces {
                @match piece {
                    WordPiece::Same(text) => { (bounded(text)) " " }
                    WordPiece::Removed(text) => { del { (bounded(text)) } " " }
                    WordPiece::Added(text) => { ins { (bounded(text)) } " " }
                }
            }
        }
    }
}

/// What this commit changed in an agent.
fn agent_changes(agent: &AgentReport) -> Markup {
    html! {
        @if !agent.since_base.agent.is_empty() {
            p { (title(LIKELY_CAUSE)) ":" }
            @for change in &agent.since_base.agent { (marked(change)) }
            p { (title(UNDO_IT)) "." }
            "\n"
        }
    }
}

/// The failed checks of counted cases that no failed gate shows; those of newly failing cases first.
pub fn failed_checks(report: &Report) -> Markup {
    let metrics = evidence::failed_metrics(report);
    let others: Vec<FailureLine<'_>> = report
        .failures()
        .filter(|failed| !evidence::is_shown(&metrics, failed))
        .collect();
    let (new, old): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|failed| failed.case.trend == CaseTrend::NewlyFailing);
    html! {
        @if !new.is_empty() {
            section aria-labelledby="newly" {
                h2 id="newly" { "Newly failing cases" } "\n"
                (checks(&new))
            } "\n"
        }
        @if !old.is_empty() {
            details {
                summary { (words::outside_gates(old.len())) }
                (checks(&old))
            } "\n"
        }
    }
}

fn checks(all: &[FailureLine<'_>]) -> Markup {
    html! {
        ul {
            "\n"
            @for failed in all.iter().take(LISTED) {
                li {
                    b { (agent_name(failed.suite, failed.agent)) "/" (failed.case.case) } " "
                    (bounded(&failed.check.name.to_string())) " "
                    span.soft { (bounded(failed.case.golden.as_str())) ":" (failed.check.location.line) }
                    @if let Some(failure) = failed.check.failure.as_deref() {
                        @if let Some(expected) = &failed.check.expected { p { "expected " (bounded(expected)) } }
                        p { "got " (bounded(&failure.detail)) }
                        @if explains(failed.agent, Some(failed.case)) {
                            p.soft { "Likely cause: " (changed_names(failed.agent, bounded)) }
                        } @else {
                            p.soft { "Likely cause: " b { (failure.tag.as_str()) } ". Next: " (bounded(&failure.next_action)) }
                        }
                    }
                } "\n"
            }
        }
        @if all.len() > LISTED { p { "… and " (all.len() - LISTED) " more" } }
        "\n"
    }
}
