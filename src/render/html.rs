//! The report as one HTML page that loads nothing; light or dark by the reader's setting.

use std::fmt::Write;

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
    let mut out = String::new();
    let mut put = |text: &str| writeln!(out, "{text}").expect("a string accepts every write");
    put(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">",
    );
    put("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    put(&format!("<title>goldgate: {}</title><style>{STYLE}</style></head><body>", escaped(&words::headline(report))));
    put(&format!("<h1>goldgate · {} tier</h1>", words::tiers(report)));
    put(&format!("<p class=\"verdict {}\">{}</p>", report.verdict.as_str(), escaped(&words::headline(report))));
    put(&format!(
        "<p class=\"soft\">{} · commit {} · baseline of {} · goldgate {}</p>",
        GateCounts::of(&report.suites).to_words(),
        escaped(words::short(report.commit.as_deref())),
        escaped(&words::base(report, str::to_owned)),
        escaped(&report.tool.version)
    ));
    for why in report.not_gateable.iter().map(|why| &why.0).chain(&report.notes) {
        put(&format!("<p>{}</p>", escaped(why)));
    }
    put(&golden_changes(report));
    put(&failed_gates(report));
    for suite in &report.suites {
        put(&suite_part(suite));
    }
    put("</body></html>");
    out
}

/// The golden changes since the base commit.
fn golden_changes(report: &Report) -> String {
    if report.golden_changes.is_empty() {
        return String::new();
    }
    let approval = report.approval.as_ref().map(words::approval).unwrap_or_default();
    let rows = report.golden_changes.iter().map(|change| {
        let class = match (change.weight, &report.approval) {
            (Weight::NeedsApproval, None) => "fail",
            (Weight::NeedsApproval, Some(_)) | (Weight::Listed, _) => "soft",
        };
        format!("<li><b class=\"{class}\">{}</b> {}</li>", words::weight(report, change), escaped(&change.words))
    });
    format!(
        "<h2>Golden changes</h2>\n<p>{}</p>\n<ul>\n{}\n</ul>",
        escaped(&approval),
        rows.collect::<Vec<_>>().join("\n")
    )
}

/// Each failed gate with the cases that moved it, expected and produced side by side.
fn failed_gates(report: &Report) -> String {
    let mut out = String::new();
    for FailedMetric { suite, agent, metric, gate } in evidence::failed_metrics(report) {
        let gate = escaped(&evidence::failed_gate(metric, gate));
        out.push_str(&format!("<h3 class=\"fail\">{}/{}: {gate}</h3>\n<table><thead>", suite.id, agent.agent));
        out.push_str("<tr><th>case<th>expected<th>got</tr></thead><tbody>\n");
        for (one, case) in evidence::cases_with_reports(agent, metric) {
            let value = escaped(&evidence::case_value(metric, one));
            for (index, line) in one.differences.iter().enumerate() {
                let title = match index {
                    0 => format!("<b>{}</b><br><span class=\"soft\">{value}</span>", one.case),
                    _ => String::new(),
                };
                out.push_str(&format!(
                    "<tr><td>{title}<td>{}<td>{}{}</tr>\n",
                    escaped(&line.difference.expected),
                    escaped(&line.difference.produced),
                    evidence::in_samples(case, line)
                ));
            }
        }
        out.push_str("</tbody></table>\n");
        out.extend(evidence::more_cases(metric).map(|more| format!("<p class=\"soft\">… and {more}</p>\n")));
    }
    if out.is_empty() { out } else { format!("<h2>Failed gates</h2>\n{out}") }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in line(text, 1000).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn suite_part(suite: &SuiteReport) -> String {
    let mut out = format!(
        "<h2>{} <span class=\"soft\">{} · {} tier</span></h2>\n",
        suite.id,
        escaped(&suite.kind),
        suite.tier.as_str()
    );
    out.push_str(
        "<table><thead><tr><th>agent<th>metric<th>baseline<th>now<th>delta<th>95% interval of the delta<th>smallest detectable change<th>gate<th>verdict</tr></thead><tbody>\n",
    );
    for agent in &suite.agents {
        for metric in agent.metrics.iter().filter(|metric| !metric.is_silent()) {
            out.push_str(&row(agent, metric));
        }
        agent.judges.iter().for_each(|judge| out.push_str(&judge_row(agent, judge)));
    }
    out.push_str("</tbody></table>\n");
    for sentence in judges::of_suite(suite, line) {
        out.push_str(&format!("<p class=\"soft\">{}</p>\n", escaped(&sentence)));
    }
    for agent in &suite.agents {
        if let Some(text) = certainty::agent_reliability(agent) {
            out.push_str(&format!("<p>{}: {text}</p>\n", agent.agent));
        }
    }
    let failed: Vec<String> = suite.failures().map(|failed| {
        let pair = &failed.case;
        let failure = failed.check.failure.as_deref();
        let (tag, detail, next) = failure.map_or(("", "", ""), |failure| (failure.tag.as_str(), failure.detail.as_str(), failure.next_action.as_str()));
        format!("<li><code>{tag}</code> <b>{}/{}</b> {} <span class=\"soft\">{}:{}</span><br>{}<br><i>Next: {}</i></li>",
            failed.agent.agent, pair.case, escaped(&failed.check.name.to_string()), escaped(pair.golden.as_str()), failed.check.location.line, escaped(detail), escaped(next))
    }).collect();
    if !failed.is_empty() {
        out.push_str(&format!(
            "<details><summary>{}</summary><ul>\n{}\n</ul></details>\n",
            words::plural(failed.len(), "failed check", "failed checks"),
            failed.join("\n")
        ));
    }
    out
}

fn judge_row(agent: &AgentReport, judge: &JudgeReport) -> String {
    let [baseline, now, delta] = judges::numbers(judge);
    format!(
        "<tr><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td><td><td>{}<td class=\"soft\">{}</tr>\n",
        agent.agent,
        judges::row_name(judge),
        metric_value(Unit::Share, baseline),
        metric_value(Unit::Share, now),
        number::delta(Unit::Share, delta),
        judges::ADVISORY,
        judges::standing_word(judge)
    )
}

fn row(agent: &AgentReport, metric: &MetricReport) -> String {
    let gates: Vec<String> = metric.gates.iter().map(|gate| escaped(&words::gate(metric, gate))).collect();
    let verdict = match &metric.verdict {
        _ if metric.gates.is_empty() => String::new(),
        Ruling::Judged(verdict @ (Verdict::Pass | Verdict::Inconclusive | Verdict::Fail)) => {
            verdict.as_str().to_owned()
        }
        Ruling::Skipped(reason) | Ruling::Off(reason) => format!("skipped: {}", escaped(reason)),
    };
    let comparison = &metric.comparison;
    let own = metric.ci95.map_or(String::new(), |ends| {
        format!("<br><span class=\"soft\">{}</span>", certainty::between(metric.unit, ends))
    });
    let moved = number::direction(metric.better, metric.unit, comparison.delta) != ValueDirection::Same;
    let noise = match (comparison.noise, comparison.ci95) {
        (Some(noise), Some(ends)) if moved => {
            format!("{}, {}", certainty::interval(metric.unit, ends), certainty::noise_phrase(noise))
        }
        (Some(noise), None) if moved => certainty::noise_phrase(noise).to_owned(),
        _ => String::new(),
    };
    let seen = comparison.detectable.map_or(String::new(), |width| words::spread(metric.unit, width));
    format!(
        "<tr><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{}{own}<td class=\"n\">{}<td>{noise}<td class=\"n\">{seen}<td>{}<td class=\"{}\">{verdict}</tr>\n",
        agent.agent,
        escaped(&metric.name),
        metric_value(metric.unit, metric.comparison.baseline),
        words::value(metric),
        number::delta(metric.unit, metric.comparison.delta),
        gates.join(", "),
        metric.verdict.as_str()
    )
}
