//! What is broken, by case, and the other failed checks.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::plots;
use super::texts::{agent_name, bounded, with_commands};
use crate::model::{AgentReport, ChangedText, FailureLine, GateKind, Report};
use crate::render::broken::{
    BrokenAgent, BrokenCase, CaseRow, Differences, SHOWN, broken_agents, other_checks,
};
use crate::render::plain::title;
use crate::render::since_base::{changed_names, explains};
use crate::render::{evidence, words};
use crate::text::{WordPiece, changed_words};

/// The number of failed checks that are listed.
const LISTED: usize = 200;

/// Each agent with its broken cases, expected, baseline and now, and the gates that they moved.
pub fn broken_cases(report: &Report) -> Markup {
    let agents = broken_agents(report, SHOWN);
    html! {
        @if !agents.is_empty() {
            section aria-labelledby="broken" {
                h2 id="broken" { "What is broken" } "\n"
                @for broken in &agents { (broken_agent(broken)) }
            } "\n"
        }
    }
}

fn broken_agent(broken: &BrokenAgent<'_>) -> Markup {
    let name = agent_name(broken.suite, broken.agent);
    let agent = broken.agent;
    let is_tested = broken
        .gates
        .iter()
        .any(|(_, gate)| gate.gate == GateKind::Test);
    // A hint that an earlier case has is not repeated.
    let mut hints = BTreeSet::new();
    html! {
        h3 class=[broken.fails().then_some("fail")] { (name) ": " (broken.title()) } "\n"
        @if broken.fails() { (agent_changes(broken)) }
        @if !broken.cases.is_empty() {
            div.wide role="region" tabindex="0" aria-label={ "Broken cases of " (name) } {
                table.cases {
                    thead { tr { th scope="col" { "case" } th scope="col" { "expected" } th scope="col" { "baseline" } th scope="col" { "now" } } }
                    tbody {
                        "\n"
                        @for case in &broken.cases { (case_rows(agent, case, &mut hints)) }
                    }
                }
            } "\n"
        }
        @if let Some(others) = broken.others(bounded) { p { (others) } "\n" }
        @if !broken.gates.is_empty() { p { "Gates: " (broken.gate_line(bounded)) } "\n" }
        @if is_tested { (plots::unchanged_sums(agent)) }
        @for (metric, _) in &broken.gates {
            @if let Some(past) = evidence::past_baselines(metric) {
                p.soft { (bounded(&metric.name)) ", " (past) }
                (plots::trend(metric))
                "\n"
            }
        }
    }
}

/// One row for each result, with the expectations that it does not meet.
fn case_rows<'a>(
    agent: &AgentReport,
    case: &BrokenCase<'a>,
    hints: &mut BTreeSet<&'a str>,
) -> Markup {
    let mut asked = None;
    let (mut next, mut missing) = (None, None);
    let mut pairs: Vec<(Vec<&str>, String)> = Vec::new();
    for row in case.rows(Differences::All, hints) {
        match row {
            CaseRow::Asked(text) => asked = Some(text),
            CaseRow::Expected(all) => pairs.push((all, String::new())),
            CaseRow::Got(text, samples) => {
                let text = format!("{}{samples}", bounded(text));
                match pairs.last_mut() {
                    Some((_, got)) if got.is_empty() => *got = text,
                    _ => pairs.push((Vec::new(), text)),
                }
            }
            CaseRow::Missing(needed, how) => missing = Some((needed, how)),
            CaseRow::Next(tag, text) => next = Some((tag, text)),
            // The table has all changes, and all differences.
            CaseRow::Changed(..) | CaseRow::More(_) => {}
        }
    }
    if pairs.is_empty() {
        pairs.push((Vec::new(), String::new()));
    }
    let changed = agent.since_base.outputs_of(case.case);
    html! {
        @for (index, (expected, got)) in pairs.iter().enumerate() {
            tr {
                @if index == 0 {
                    th scope="rowgroup" rowspan=(pairs.len()) {
                        (case.case)
                        @if let Some(file) = case.golden() { br; span.file { (bounded(file)) ":" (case.line()) } }
                        @if let Some(recording) = case.result.and_then(|result| result.recording.as_ref()) {
                            br; span.file { (bounded(recording.as_str())) }
                        }
                        @if let Some(asked) = asked { p { "asked " (bounded(asked)) } }
                        @let standing = case.standing();
                        @if !standing.is_empty() { p.soft { (bounded(&standing)) } }
                        @if let Some((metric, evidence)) = case.measured() { (plots::samples(agent, metric, evidence, case.result)) }
                        @if let Some(result) = case.result { (plots::lanes(result)) }
                    }
                }
                td data-label="expected" { @for text in expected { p { (bounded(text)) } } }
                @if index == 0 {
                    td data-label="baseline" rowspan=(pairs.len()) {
                        @for change in changed { (side(change, change.before.as_deref())) }
                    }
                }
                td data-label="now" {
                    p { (got) }
                    @if index == 0 { @for change in changed { (marked(change)) } }
                    @if let (0, Some((needed, how))) = (index, missing) { p { "Missing: " (bounded(needed)) "; " (with_commands(how)) } }
                    @if let (0, Some((tag, next))) = (index, next) { p.soft { "Next: " (bounded(next)) " (" (tag.as_str()) ")" } }
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
fn agent_changes(broken: &BrokenAgent<'_>) -> Markup {
    let changes = &broken.agent.since_base.agent;
    html! {
        @if !changes.is_empty() {
            p { (title(broken.likely_cause())) ":" }
            @for change in changes { (marked(change)) }
            @if let Some(next) = broken.undo_it() { p { (title(next)) "." } }
            "\n"
        }
    }
}

/// The failed checks of cases that are not broken by this change, folded.
pub fn other_failures(report: &Report) -> Markup {
    let others = other_checks(report);
    html! {
        @if !others.is_empty() {
            details {
                summary { (words::outside_gates(others.len())) }
                (checks(&others))
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
                            p.soft { "Next: " (bounded(&failure.next_action)) " (" (failure.tag.as_str()) ")" }
                        }
                    }
                } "\n"
            }
        }
        @if all.len() > LISTED { p { "… and " (all.len() - LISTED) " more" } }
        "\n"
    }
}
