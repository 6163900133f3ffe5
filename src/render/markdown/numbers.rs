//! The tables of numbers: what moved, what did not, and how small a change can be seen.

use super::put;
use crate::model::AgentReport;
use crate::model::MetricReport;
use crate::model::Report;
use crate::model::Ruling;
use crate::model::SuiteReport;
use crate::model::Verdict;
use crate::render::number;
use crate::render::number::Direction;
use crate::render::plain::inline;
use crate::render::words;

const HEAD: &str =
    "| suite | agent | metric | baseline | this commit | delta | gate | verdict |\n|---|---|---|--:|--:|--:|---|---|\n";

fn is_changed(metric: &MetricReport) -> bool {
    let moved = number::direction(metric.better, metric.unit, metric.comparison.delta) != Direction::Same;
    let unwell = matches!(metric.verdict, Ruling::Judged(Verdict::Fail | Verdict::Inconclusive));
    moved || unwell
}

fn rows(suites: &[SuiteReport], wanted: impl Fn(&MetricReport) -> bool) -> (usize, String) {
    let mut out = String::new();
    let mut count = 0;
    for suite in suites {
        for agent in &suite.agents {
            for metric in agent.metrics.iter().filter(|metric| wanted(metric) && !metric.is_silent()) {
                count += 1;
                put(&mut out, &row(suite, agent, metric));
            }
        }
    }
    (count, out)
}

fn row(suite: &SuiteReport, agent: &AgentReport, metric: &MetricReport) -> String {
    let arrow = match number::direction(metric.better, metric.unit, metric.comparison.delta) {
        Direction::Better => " ▲ better",
        Direction::Worse => " ▼ worse",
        Direction::Other | Direction::Same => "",
    };
    let noise = match metric.comparison.ci95 {
        // A failed gate decides; that the difference might be noise would only excuse it.
        Some((low, high))
            if low <= 0.0 && high >= 0.0 && !arrow.is_empty() && metric.verdict != Ruling::Judged(Verdict::Fail) =>
        {
            " (within noise)"
        }
        _ => "",
    };
    let gates: Vec<String> = metric.gates.iter().map(|gate| words::gate(metric, gate)).collect();
    let verdict = match &metric.verdict {
        _ if metric.gates.is_empty() => String::new(),
        Ruling::Judged(Verdict::Pass) => "✅ pass".to_owned(),
        Ruling::Judged(Verdict::Inconclusive) => "❔ inconclusive".to_owned(),
        Ruling::Judged(Verdict::Fail) => "❌ **fail**".to_owned(),
        Ruling::Skipped(reason) => format!("⏭️ skipped: {}", inline(reason, 80)),
    };
    format!(
        "| {} | {} | {} | {} | {} | {}{arrow}{noise} | {} | {verdict} |",
        suite.id,
        agent.agent,
        inline(&metric.name, 60),
        number::value(metric.unit, metric.comparison.baseline),
        number::value(metric.unit, metric.value),
        number::delta(metric.unit, metric.comparison.delta),
        gates.join(", ")
    )
}

pub fn changed(suites: &[SuiteReport]) -> String {
    match rows(suites, is_changed) {
        (0, _) => String::new(),
        (_, rows) => format!("{HEAD}{rows}"),
    }
}

pub fn unchanged(report: &Report) -> String {
    let (count, rows) = rows(&report.suites, |metric| !is_changed(metric));
    if count == 0 {
        return String::new();
    }
    format!(
        "<details><summary>{}</summary>\n\n{HEAD}{rows}\n</details>\n",
        words::plural(count, "unchanged number", "unchanged numbers")
    )
}

/// How small a change these suites can see at all: with few cases, a small drop looks like noise.
pub fn detectable(report: &Report) -> String {
    let mut out = String::new();
    for suite in &report.suites {
        for agent in &suite.agents {
            let seen = agent.metrics.iter().filter_map(|metric| {
                let width = words::spread(metric.unit, metric.comparison.detectable?);
                Some(format!("{} {width}", inline(&metric.name, 60)))
            });
            let seen: Vec<String> = seen.collect();
            if !seen.is_empty() {
                let cases = words::plural(agent.cases.len(), "case", "cases");
                put(&mut out, &format!("- {}/{}, {cases}: {}", suite.id, agent.agent, seen.join(", ")));
            }
        }
    }
    if out.is_empty() {
        return out;
    }
    format!("<details><summary>Smallest change that these cases can tell from noise</summary>\n\n{out}\n</details>\n")
}
