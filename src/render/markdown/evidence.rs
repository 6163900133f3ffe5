//! Why gates fail and numbers moved: the cases, each with the expected and the produced value.

use super::Links;
use crate::model::{AgentReport, CaseEvidence, MetricReport, PairResult, Report, Ruling, Verdict};
use crate::render::evidence;
use crate::render::evidence::FailedMetric;
use crate::render::plain::{inline, name, put, sentence};
use crate::text::encoded_path;

/// The number of failed gates that are listed with their cases.
const GATES: usize = 12;

/// The number of differences that are listed for the first case of a gate.
const FIRST: usize = 4;

/// The number of differences that are listed for each other case.
const OTHERS: usize = 2;

/// Each failed gate with the cases that moved it.
pub fn failed_gates(report: &Report, links: &Links) -> String {
    let failed = evidence::failed_metrics(report);
    let mut out = String::new();
    for FailedMetric { suite, agent, metric, gate } in failed.iter().take(GATES) {
        let text = sentence(&evidence::failed_gate(metric, gate), 300);
        put(&mut out, &format!("**{} / {}: {text}**\n", name(suite.id.as_str()), name(agent.agent.as_str())));
        cases(&mut out, agent, metric, links);
        out.push('\n');
    }
    if failed.len() > GATES {
        put(&mut out, &format!("… and {} more failed gates in the full report", failed.len() - GATES));
    }
    out
}

/// The cases behind numbers that are worse or inconclusive but do not fail.
pub fn moved_cases(report: &Report, links: &Links) -> String {
    let mut out = String::new();
    for suite in &report.suites {
        for agent in &suite.agents {
            let moved = |metric: &&MetricReport| {
                metric.verdict != Ruling::Judged(Verdict::Fail) && !metric.evidence.cases.is_empty()
            };
            for metric in agent.metrics.iter().filter(moved).take(GATES) {
                let title = format!(
                    "{} / {} / {}",
                    name(suite.id.as_str()),
                    name(agent.agent.as_str()),
                    inline(&metric.name, 60)
                );
                put(&mut out, &format!("{title}\n"));
                cases(&mut out, agent, metric, links);
                out.push('\n');
            }
        }
    }
    if out.is_empty() {
        return out;
    }
    format!("<details><summary>Cases behind the other moved numbers</summary>\n\n{out}</details>\n")
}

fn cases(out: &mut String, agent: &AgentReport, metric: &MetricReport, links: &Links) {
    for (index, (one, case)) in evidence::cases_with_reports(agent, metric).enumerate() {
        let value = evidence::case_value(metric, one);
        let value = if value.is_empty() { value } else { format!(" {value}") };
        put(out, &format!("- {}{value}", linked(one, case, links)));
        let limit = if index == 0 { FIRST } else { OTHERS };
        for line in one.differences.iter().take(limit) {
            let samples = evidence::in_samples(case, line);
            let (expected, produced) = (&line.difference.expected, &line.difference.produced);
            put(out, &format!("  - expected {}<br>got {}{samples}", inline(expected, 200), inline(produced, 300)));
        }
        if one.differences.len() > limit {
            put(out, &format!("  - … and {} more", one.differences.len() - limit));
        }
    }
    if let Some(more) = evidence::more_cases(metric) {
        put(out, &format!("- … and {more}"));
    }
}

/// The name of a case, linked to the golden file at the line of its first difference.
fn linked(evidence: &CaseEvidence, case: Option<&PairResult>, links: &Links) -> String {
    let title = name(evidence.case.as_str());
    let golden = case.map(|case| case.golden.as_str());
    match (&links.files, golden, evidence.differences.first()) {
        (Some(address), Some(golden), Some(line)) => {
            format!("[{title}]({address}/{}#L{})", encoded_path(golden), line.difference.line)
        }
        (_, _, _) => title,
    }
}
