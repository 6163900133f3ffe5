//! All numbers of each suite, and the results of its judges.

use maud::{Markup, html};

use super::plots;
use super::texts::bounded;
use crate::model::{
    AgentReport, JudgeReport, MetricReport, Report, Ruling, SuiteReport, Unit, Verdict,
    metric_value,
};
use crate::render::number::ValueDirection;
use crate::render::plain::line;
use crate::render::{certainty, judges, number, words};

/// One table for each suite; suites with a failed gate first.
pub fn numbers(report: &Report) -> Markup {
    let (failed, others): (Vec<&SuiteReport>, Vec<&SuiteReport>) = report
        .suites
        .iter()
        .partition(|suite| suite.verdict.fails());
    html! {
        @if !report.suites.is_empty() {
            section aria-labelledby="numbers" {
                h2 id="numbers" { "All numbers" } "\n"
                @for suite in failed.into_iter().chain(others) { (suite_part(suite)) }
            } "\n"
        }
    }
}

fn suite_part(suite: &SuiteReport) -> Markup {
    html! {
        h3 { (suite.id) " " span.soft { (bounded(&suite.kind)) " · " (suite.tier.as_str()) " tier" } } "\n"
        div.wide role="region" tabindex="0" aria-label={ "Numbers of " (suite.id) } { table {
            thead { tr { @for (index, name) in COLUMNS.iter().enumerate() { th scope="col" class=[NUMBERS.contains(&index).then_some("n")] { (name) } } } }
            tbody {
                "\n"
                @for agent in &suite.agents {
                    @for metric in agent.metrics.iter().filter(|metric| !metric.is_silent()) { (row(agent, metric)) }
                    @for judge in &agent.judges { (judge_row(agent, judge)) }
                }
            }
        } } "\n"
        @for sentence in judges::of_suite(suite, line) { p.soft { (bounded(&sentence)) } "\n" }
        // A failed one is shown with its cases.
        @for agent in suite.agents.iter().filter(|agent| !agent.verdict.fails()) { (plots::unchanged_sums(agent)) }
        @for agent in &suite.agents {
            @if let Some(text) = certainty::agent_reliability(agent) { p { (agent.agent) ": " (text) } "\n" }
        }
    }
}

const COLUMNS: [&str; 9] = [
    "agent",
    "metric",
    "baseline",
    "now",
    "delta",
    "verdict",
    "gate",
    "95% interval of the delta",
    "smallest detectable change",
];

/// The columns of numbers.
const NUMBERS: [usize; 5] = [2, 3, 4, 7, 8];

fn judge_row(agent: &AgentReport, judge: &JudgeReport) -> Markup {
    let [baseline, current, delta] = judges::numbers(judge);
    html! {
        tr {
            td { (agent.agent) }
            th scope="row" { (judges::row_name(judge)) }
            td.n { (metric_value(Unit::Share, baseline)) }
            td.n { (metric_value(Unit::Share, current)) }
            td.n { (number::delta(Unit::Share, delta)) }
            td.soft { (judges::standing_word(judge)) }
            td { (judges::ADVISORY) }
            td {}
            td {}
        } "\n"
    }
}

fn row(agent: &AgentReport, metric: &MetricReport) -> Markup {
    let gates: Vec<String> = metric
        .gates
        .iter()
        .map(|gate| bounded(&words::gate(metric, gate)))
        .collect();
    let verdict = match &metric.verdict {
        _ if metric.gates.is_empty() => String::new(),
        Ruling::Judged(verdict @ (Verdict::Pass | Verdict::Inconclusive | Verdict::Fail)) => {
            verdict.as_str().to_owned()
        }
        Ruling::Skipped(reason) | Ruling::Off(reason) => format!("skipped: {}", bounded(reason)),
    };
    let comparison = &metric.comparison;
    let moved = number::direction_of(metric) != ValueDirection::Same;
    let fails = metric.verdict.fails();
    let noise = match (comparison.noise, comparison.ci95) {
        (Some(_), Some(ends)) if moved && fails => certainty::interval(metric.unit, ends),
        (Some(noise), Some(ends)) if moved => {
            format!(
                "{}, {}",
                certainty::interval(metric.unit, ends),
                certainty::noise_phrase(noise)
            )
        }
        (Some(noise), None) if moved => certainty::noise_phrase(noise).to_owned(),
        _ => String::new(),
    };
    let seen = comparison
        .detectable
        .map_or(String::new(), |width| words::spread(metric.unit, width));
    html! {
        tr {
            td { (agent.agent) }
            th scope="row" { (bounded(&metric.name)) }
            td.n { (metric_value(metric.unit, comparison.baseline)) }
            td.n {
                (words::value(metric))
                @if let Some(ends) = metric.ci95 { br; span.soft { (certainty::between(metric.unit, ends)) } }
            }
            td.n { (number::change(metric)) }
            td class=(metric.verdict.as_str()) { (verdict) }
            td { (gates.join(", ")) }
            td.n { (noise) }
            td.n { (seen) }
        } "\n"
    }
}
