//! The gates that fail or are inconclusive, each with the cases that moved it.

use crate::model::{
    AgentName, AgentReport, CaseId, EvidenceLine, GateRuling, MetricReport, Report, Ruling,
    SuiteId, SuiteReport, Tier, Verdict, metric_value,
};
use crate::render::evidence::FailedMetric;
use crate::render::plain::{line, put, put_more};
use crate::render::since_base::{LIKELY_CAUSE, PLAIN_MARKS, UNDO_IT, agent_changes, change_line};
use crate::render::{evidence, words};

/// The number of gates, of failed checks, and of numbers that moved, that are listed.
pub(super) const LISTED: usize = 12;

/// The number of values of an output, and of changes of an agent, that are listed.
const OUTPUTS: usize = 3;

/// The cases whose outputs are listed already, each with its differences there.
#[derive(Default)]
struct ComparedCases<'a>(Vec<ComparedCase<'a>>);

/// A case whose outputs are listed.
struct ComparedCase<'a> {
    name: (&'a SuiteId, Tier, &'a AgentName, &'a CaseId),
    differences: &'a [EvidenceLine],
}

/// Each failed gate with the cases that moved it, then the inconclusive ones.
pub(super) fn gates(out: &mut String, report: &Report) {
    let before = out.len();
    let mut compared = ComparedCases::default();
    failed_gates(out, report, &mut compared);
    inconclusive_gates(out, report, &mut compared);
    if out.len() > before {
        out.push('\n');
    }
}

fn failed_gates<'a>(out: &mut String, report: &'a Report, compared: &mut ComparedCases<'a>) {
    let failed = evidence::failed_metrics(report);
    let mut above: Option<&AgentReport> = None;
    for FailedMetric {
        suite,
        agent,
        metric,
        gate,
    } in failed.iter().take(LISTED)
    {
        put(
            out,
            &format!(
                "{}/{}: {}",
                suite.id,
                agent.agent,
                evidence::failed_gate(metric, gate)
            ),
        );
        if above.is_none_or(|above| !std::ptr::eq(above, *agent)) {
            changes(out, agent);
        }
        above = Some(agent);
        compared.list(out, suite, agent, metric);
        if let Some(chance) = words::steady_failures(agent, metric) {
            put(out, &format!("  {chance}"));
        }
    }
    put_more(out, failed.len(), LISTED, |more| {
        format!("… and {more} more failed gates; --out DIR shows all")
    });
}

/// The inconclusive gates with a value: what is missing altogether has a note of its own.
fn inconclusive_gates<'a>(out: &mut String, report: &'a Report, compared: &mut ComparedCases<'a>) {
    let is_undecided = |gate: &&GateRuling| gate.ruling == Ruling::Judged(Verdict::Inconclusive);
    let mut shown = 0;
    for (suite, agent) in report.suite_agents() {
        for metric in agent
            .metrics
            .iter()
            .filter(|metric| !metric.evidence.cases.is_empty())
        {
            let undecided = metric.verdict == Ruling::Judged(Verdict::Inconclusive);
            let Some(gate) = metric.gates.iter().find(is_undecided).filter(|_| undecided) else {
                continue;
            };
            shown += 1;
            if shown > LISTED {
                continue;
            }
            let (name, value) = (
                line(&metric.name, words::NAME),
                metric_value(metric.unit, metric.value),
            );
            let limit = words::limit(metric, gate);
            put(
                out,
                &format!(
                    "{}/{}: {name} {value} is inconclusive: {limit}",
                    suite.id, agent.agent
                ),
            );
            compared.list(out, suite, agent, metric);
        }
    }
    put_more(out, shown, LISTED, |more| {
        format!("… and {more} more inconclusive gates; --out DIR shows all")
    });
}

impl<'a> ComparedCases<'a> {
    /// The cases that moved a metric, each with both sides.
    fn list(
        &mut self,
        out: &mut String,
        suite: &'a SuiteReport,
        agent: &'a AgentReport,
        metric: &'a MetricReport,
    ) {
        for (one, case) in evidence::cases_with_reports(agent, metric) {
            let title = format!("  {} {}", one.case, evidence::case_value(metric, one));
            let title = title.trim_end();
            let name = (&suite.id, suite.tier, &agent.agent, &one.case);
            let differences = one.differences.as_slice();
            let of_case = || self.0.iter().filter(|shown| shown.name == name);
            if of_case().any(|shown| shown.differences == differences) {
                put(out, &format!("{title}: as above"));
                continue;
            }
            put(out, title);
            let is_new = of_case().next().is_none();
            self.0.push(ComparedCase { name, differences });
            for difference in differences {
                let samples = evidence::in_samples(case, difference);
                put(
                    out,
                    &format!(
                        "    expected {}",
                        line(&difference.difference.expected, 200)
                    ),
                );
                put(
                    out,
                    &format!(
                        "    got      {}{samples}",
                        line(&difference.difference.produced, 300)
                    ),
                );
            }
            if is_new {
                let changed = agent.since_base.outputs_of(&one.case).iter().take(OUTPUTS);
                let completed = case.map_or(1, |case| case.completed);
                changed.for_each(|one| {
                    put(
                        out,
                        &format!("    changed  {}", change_line(one, completed, PLAIN_MARKS)),
                    )
                });
            }
        }
        if let Some(more) = evidence::more_cases(metric) {
            put(out, &format!("  … and {more}"));
        }
    }
}

/// What this commit changed in an agent.
fn changes(out: &mut String, agent: &AgentReport) {
    let all = agent_changes(agent, PLAIN_MARKS);
    if all.is_empty() {
        return;
    }
    put(out, &format!("  {LIKELY_CAUSE}:"));
    all.iter()
        .take(OUTPUTS)
        .for_each(|change| put(out, &format!("    {change}")));
    put_more(out, all.len(), OUTPUTS, |more| {
        format!(
            "    … and {}; --out DIR shows all",
            words::plural(more, "more change", "more changes")
        )
    });
    put(out, &format!("    {UNDO_IT}"));
}
