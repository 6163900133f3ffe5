//! The report as one HTML page that loads nothing; light or dark by the reader's setting. The templates escape every value.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::evidence::FailedMetric;
use super::number::ValueDirection;
use super::plain::line;
use super::words::GateCounts;
use super::{certainty, evidence, judges, number, words};
use crate::model::{
    AgentReport, JudgeReport, MetricReport, Report, Ruling, SuiteReport, Unit, Verdict, Weight, metric_value,
};

const STYLE: &str = "
:root{color-scheme:light dark;--line:#d0d7de;--soft:#57606a;--pass:#1a7f37;--fail:#cf222e;--unsure:#9a6700}
@media(prefers-color-scheme:dark){:root{--line:#3d444d;--soft:#9198a1;--pass:#3fb950;--fail:#f85149;--unsure:#d29922}}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.pass{color:var(--pass)}.fail{color:var(--fail);font-weight:600}.inconclusive{color:var(--unsure)}.skipped,.soft{color:var(--soft)}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}.verdict{border-left:.35rem solid;padding:.5rem 1rem;font-size:1.1rem}code{font-size:.9em}li{margin:.4rem 0}
";

/// The report as an HTML page.
pub fn html(report: &Report) -> String {
    let headline = bounded(&words::headline(report));
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width"; "\n"
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"; "\n"
                title { "goldgate: " (headline) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                "\n"
                h1 { "goldgate · " (words::tiers(report)) " tier" } "\n"
                p class={ "verdict " (report.verdict.as_str()) } { (headline) } "\n"
                p.soft {
                    (GateCounts::of(&report.suites).to_words())
                    " · commit " (bounded(words::short(report.commit.as_deref())))
                    " · baseline of " (bounded(&words::base(report, str::to_owned)))
                    " · goldgate " (bounded(&report.tool.version))
                } "\n"
                @for why in report.not_gateable.iter().map(|why| &why.0).chain(&report.notes) {
                    p { (bounded(why)) } "\n"
                }
                (golden_changes(report))
                (failed_gates(report))
                @for suite in &report.suites { (suite_part(suite)) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// An untrusted text on one line.
fn bounded(text: &str) -> String {
    line(text, 1000)
}

/// The golden changes since the base commit.
fn golden_changes(report: &Report) -> Markup {
    let approval = report.approval.as_ref().map(words::approval).unwrap_or_default();
    html! {
        @if !report.golden_changes.is_empty() {
            h2 { "Golden changes" } "\n"
            p { (bounded(&approval)) } "\n"
            ul {
                "\n"
                @for change in &report.golden_changes {
                    @let class = match (change.weight, &report.approval) {
                        (Weight::NeedsApproval, None) => "fail",
                        (Weight::NeedsApproval, Some(_)) | (Weight::Listed, _) => "soft",
                    };
                    li { b class=(class) { (words::weight(report, change)) } " " (bounded(&change.words)) } "\n"
                }
            } "\n"
        }
    }
}

/// Each failed gate with the cases that moved it, expected and produced side by side.
fn failed_gates(report: &Report) -> Markup {
    let failed = evidence::failed_metrics(report);
    html! {
        @for (index, failed) in failed.iter().enumerate() {
            @if index == 0 { h2 { "Failed gates" } "\n" }
            (failed_gate(failed))
        }
    }
}

fn failed_gate(failed: &FailedMetric<'_>) -> Markup {
    let FailedMetric { suite, agent, metric, gate } = failed;
    html! {
        h3.fail { (suite.id) "/" (agent.agent) ": " (bounded(&evidence::failed_gate(metric, gate))) } "\n"
        table {
            thead { tr { th { "case" } th { "expected" } th { "got" } } }
            tbody {
                "\n"
                @for (one, case) in evidence::cases_with_reports(agent, metric) {
                    @for (index, line) in one.differences.iter().enumerate() {
                        tr {
                            td {
                                @if index == 0 {
                                    b { (one.case) } br; span.soft { (bounded(&evidence::case_value(metric, one))) }
                                }
                            }
                            td { (bounded(&line.difference.expected)) }
                            td { (bounded(&line.difference.produced)) (evidence::in_samples(case, line)) }
                        } "\n"
                    }
                }
            }
        } "\n"
        @if let Some(more) = evidence::more_cases(metric) { p.soft { "… and " (more) } "\n" }
    }
}

fn suite_part(suite: &SuiteReport) -> Markup {
    html! {
        h2 { (suite.id) " " span.soft { (bounded(&suite.kind)) " · " (suite.tier.as_str()) " tier" } } "\n"
        table {
            thead { tr { @for name in COLUMNS { th { (name) } } } }
            tbody {
                "\n"
                @for agent in &suite.agents {
                    @for metric in agent.metrics.iter().filter(|metric| !metric.is_silent()) { (row(agent, metric)) }
                    @for judge in &agent.judges { (judge_row(agent, judge)) }
                }
            }
        } "\n"
        @for sentence in judges::of_suite(suite, line) { p.soft { (bounded(&sentence)) } "\n" }
        @for agent in &suite.agents {
            @if let Some(text) = certainty::agent_reliability(agent) { p { (agent.agent) ": " (text) } "\n" }
        }
        (failed_checks(suite))
    }
}

/// The columns of a suite's table.
const COLUMNS: [&str; 9] = [
    "agent",
    "metric",
    "baseline",
    "now",
    "delta",
    "95% interval of the delta",
    "smallest detectable change",
    "gate",
    "verdict",
];

fn failed_checks(suite: &SuiteReport) -> Markup {
    let failed: Vec<_> = suite.failures().collect();
    html! {
        @if !failed.is_empty() {
            details {
                summary { (words::plural(failed.len(), "failed check", "failed checks")) }
                ul {
                    "\n"
                    @for failed in &failed {
                        @let pair = &failed.case;
                        @let failure = failed.check.failure.as_deref();
                        li {
                            code { @if let Some(failure) = failure { (failure.tag.as_str()) } } " "
                            b { (failed.agent.agent) "/" (pair.case) } " "
                            (bounded(&failed.check.name.to_string())) " "
                            span.soft { (bounded(pair.golden.as_str())) ":" (failed.check.location.line) } br;
                            @if let Some(failure) = failure { (bounded(&failure.detail)) } br;
                            i { "Next: " @if let Some(failure) = failure { (bounded(&failure.next_action)) } }
                        } "\n"
                    }
                }
            } "\n"
        }
    }
}

fn judge_row(agent: &AgentReport, judge: &JudgeReport) -> Markup {
    let [baseline, now, delta] = judges::numbers(judge);
    html! {
        tr {
            td { (agent.agent) }
            td { (judges::row_name(judge)) }
            td.n { (metric_value(Unit::Share, baseline)) }
            td.n { (metric_value(Unit::Share, now)) }
            td.n { (number::delta(Unit::Share, delta)) }
            td {}
            td {}
            td { (judges::ADVISORY) }
            td.soft { (judges::standing_word(judge)) }
        } "\n"
    }
}

fn row(agent: &AgentReport, metric: &MetricReport) -> Markup {
    let gates: Vec<String> = metric.gates.iter().map(|gate| bounded(&words::gate(metric, gate))).collect();
    let verdict = match &metric.verdict {
        _ if metric.gates.is_empty() => String::new(),
        Ruling::Judged(verdict @ (Verdict::Pass | Verdict::Inconclusive | Verdict::Fail)) => {
            verdict.as_str().to_owned()
        }
        Ruling::Skipped(reason) | Ruling::Off(reason) => format!("skipped: {}", bounded(reason)),
    };
    let comparison = &metric.comparison;
    let moved = number::direction(metric.better, metric.unit, comparison.delta) != ValueDirection::Same;
    let noise = match (comparison.noise, comparison.ci95) {
        (Some(noise), Some(ends)) if moved => {
            format!("{}, {}", certainty::interval(metric.unit, ends), certainty::noise_phrase(noise))
        }
        (Some(noise), None) if moved => certainty::noise_phrase(noise).to_owned(),
        _ => String::new(),
    };
    let seen = comparison.detectable.map_or(String::new(), |width| words::spread(metric.unit, width));
    html! {
        tr {
            td { (agent.agent) }
            td { (bounded(&metric.name)) }
            td.n { (metric_value(metric.unit, comparison.baseline)) }
            td.n {
                (words::value(metric))
                @if let Some(ends) = metric.ci95 { br; span.soft { (certainty::between(metric.unit, ends)) } }
            }
            td.n { (number::delta(metric.unit, comparison.delta)) }
            td { (noise) }
            td.n { (seen) }
            td { (gates.join(", ")) }
            td class=(metric.verdict.as_str()) { (verdict) }
        } "\n"
    }
}
