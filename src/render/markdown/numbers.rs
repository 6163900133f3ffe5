//! The tables of numbers: moved, unchanged, and the smallest detectable change.

use super::broken::MARKS;
use crate::model::{
    AgentReport, Approval, MetricReport, NEWLY_FAILING, Noise, Report, Ruling, SuiteReport,
    Verdict, metric_value,
};
use crate::render::evidence::{approved_gate, has_moved};
use crate::render::number::ValueDirection;
use crate::render::plain::{inline, name, put};
use crate::render::{certainty, number, since_base, words};

/// Five columns, so that a phone shows them.
const HEAD: &str = "| | baseline | now | change | gate |\n|---|--:|--:|--:|---|\n";

fn is_changed(metric: &MetricReport) -> bool {
    let unwell = matches!(
        metric.verdict,
        Ruling::Judged(Verdict::Fail | Verdict::Inconclusive)
    );
    // It has no number in the baseline to move from.
    let newly_failing =
        metric.name == NEWLY_FAILING && metric.value.is_some_and(|count| count > 0.0);
    has_moved(metric) || unwell || newly_failing
}

/// The rows of each agent under its name.
fn rows(
    suites: &[SuiteReport],
    approval: Option<&Approval>,
    included: impl Fn(&MetricReport) -> bool,
) -> (usize, String) {
    let mut out = String::new();
    let mut count = 0;
    for suite in suites {
        for agent in &suite.agents {
            let chosen = agent
                .metrics
                .iter()
                .filter(|metric| included(metric) && !metric.is_silent());
            for (index, metric) in chosen.enumerate() {
                if index == 0 {
                    let (suite, name) = (name(suite.id.as_str()), name(agent.agent.as_str()));
                    put(&mut out, &format!("| **{suite} / {name}** | | | | |"));
                }
                count += 1;
                put(&mut out, &row(agent, metric, approval));
            }
        }
    }
    (count, out)
}

fn has_failed_gate(agent: &AgentReport) -> bool {
    agent.metrics.iter().any(|metric| metric.verdict.fails())
}

fn row(agent: &AgentReport, metric: &MetricReport, approval: Option<&Approval>) -> String {
    let direction = number::direction_of(metric);
    let arrow = match direction {
        ValueDirection::Better => " ▲&nbsp;better",
        ValueDirection::Worse => " ▼&nbsp;worse",
        ValueDirection::Other | ValueDirection::Same => "",
    };
    let noise = match metric.comparison.noise {
        // A failed gate of the agent decides. "Within noise" next to it would read as an excuse, and the same case may have moved both.
        Some(Noise::Within) if !arrow.is_empty() && !has_failed_gate(agent) => " (within noise)",
        Some(Noise::Within | Noise::Beyond | Noise::Untold) | None => "",
    };
    format!(
        "| {} | {} | {} | {}{arrow}{noise} | {} |",
        inline(&metric.name, 60),
        metric_value(metric.unit, metric.comparison.baseline),
        words::value(metric),
        number::change(metric).replace(' ', "&nbsp;"),
        gate_cell(metric, approval)
    )
}

/// The verdict on a metric and its gates; empty without a gate.
fn gate_cell(metric: &MetricReport, approval: Option<&Approval>) -> String {
    if metric.gates.is_empty() {
        return String::new();
    }
    let gates = metric.gates.iter().map(|gate| {
        words::gate_with(metric, gate, |branch| inline(branch, words::NAME))
            .replace(" pp", "&nbsp;pp")
    });
    let gates = gates.collect::<Vec<_>>().join(", ");
    match &metric.verdict {
        Ruling::Judged(Verdict::Fail) if approved_gate(approval, metric).is_some() => {
            format!("✅ approved: {gates}")
        }
        Ruling::Judged(Verdict::Pass) => format!("✅ pass: {gates}"),
        Ruling::Judged(Verdict::Inconclusive) => format!("❔ inconclusive: {gates}"),
        Ruling::Judged(Verdict::Fail) => format!("❌ **fail**: {gates}"),
        Ruling::Skipped(reason) | Ruling::Off(reason) => {
            format!("⏭️ skipped ({}): {gates}", inline(reason, 80))
        }
    }
}

/// How the numbers that moved or failed are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedNumbers {
    Open,
    /// What is broken comes first.
    Folded,
}

/// The numbers of these suites that moved or failed. A gate that passes because of an approval says so.
pub fn changed(
    suites: &[SuiteReport],
    approval: Option<&Approval>,
    shown: ChangedNumbers,
) -> String {
    let (count, rows) = rows(suites, approval, is_changed);
    if count == 0 {
        return String::new();
    }
    if shown == ChangedNumbers::Open {
        return format!("{HEAD}{rows}");
    }
    let count = words::plural(count, "number", "numbers");
    format!(
        "<details><summary>{count} that moved or failed</summary>\n\n{HEAD}{rows}\n</details>\n"
    )
}

pub fn unchanged(report: &Report) -> String {
    let (count, rows) = rows(&report.suites, report.approval.as_ref(), |metric| {
        !is_changed(metric)
    });
    if count == 0 {
        return String::new();
    }
    format!(
        "<details><summary>{}</summary>\n\n{HEAD}{rows}\n</details>\n",
        words::plural(count, "unchanged number", "unchanged numbers")
    )
}

/// The certainty of moved numbers, and the cases that pass in every sample.
pub fn certainty(report: &Report) -> String {
    let sure = folded(
        "Certainty of the moved numbers",
        &certainty::moved(report, inline),
    );
    let every = folded(
        "Cases that pass in every sample",
        &certainty::reliability(report),
    );
    format!("{sure}{every}")
}

/// The smallest change that these suites can detect: with few cases, a small drop looks like noise.
pub fn detectable(report: &Report) -> String {
    folded(
        "Smallest changes that these cases can detect",
        &certainty::detectable(report, inline),
    )
}

fn folded(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("<details><summary>{title}</summary>\n\n{lines}\n</details>\n")
}

/// The number of changes of an agent that are listed.
const CHANGES: usize = 3;

/// What the samples of each agent use more or less of than at the base commit.
pub fn moved_uses(report: &Report) -> String {
    let mut out = String::new();
    for (suite, agent) in report.suite_agents() {
        // A failed gate shows them already.
        let fails = agent.verdict.fails();
        let changes = if fails {
            Vec::new()
        } else {
            since_base::agent_changes(agent, MARKS)
        };
        if let Some(uses) = since_base::moved_uses(agent) {
            let (suite, agent) = (name(suite.id.as_str()), name(agent.agent.as_str()));
            put(&mut out, &format!("- **{suite} / {agent}**, {uses}"));
            changes.iter().take(CHANGES).for_each(|change| {
                put(
                    &mut out,
                    &format!("  - changed since the base commit: {change}"),
                )
            });
        }
    }
    out
}
