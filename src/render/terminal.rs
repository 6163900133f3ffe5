//! The report for a terminal.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle};

use super::evidence::FailedMetric;
use super::number::ValueDirection;
use super::plain::{line, put};
use super::words::GateCounts;
use super::{certainty, evidence, judges, number, words};
use crate::model::{
    AgentReport, CaseTrend, Exclusion, MetricReport, Report, Ruling, SuiteReport, Tag, Unit, Verdict, metric_value,
};

/// Whether the terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// With colours.
    Coloured,
    /// Without.
    Plain,
}

/// The number of failed checks, and of numbers that moved, that are listed.
const LISTED: usize = 12;

/// The report: a table, then what failed and why. The verdict comes last, next to the prompt.
pub fn terminal(report: &Report, style: Style, width: u16) -> String {
    let mut out = String::new();
    let samples = words::plural(report.samples as usize, "sample", "samples");
    let facts = format!(
        "goldgate {} · {} tier · up to {samples} per case · commit {}",
        report.tool.version,
        words::tiers(report),
        words::short(report.commit.as_deref())
    );
    put(&mut out, &facts);
    if !report.suites.is_empty() {
        put(&mut out, &table(report, style, width));
    }
    certain(&mut out, report);
    advice(&mut out, report);
    failed_gates(&mut out, report);
    failures(&mut out, report);
    golden_changes(&mut out, report);
    remarks(&mut out, report);
    for why in &report.not_gateable {
        put(&mut out, &format!("no verdict: {}", line(&why.0, 400)));
    }
    put(&mut out, &format!("{}\n{}", words::headline(report), GateCounts::of(&report.suites).to_words()));
    out
}

fn table(report: &Report, style: Style, width: u16) -> String {
    let mut table = Table::new();
    plain_style(&mut table, width);
    match style {
        Style::Coloured => table.enforce_styling(),
        Style::Plain => table.force_no_tty(),
    };
    table.set_header(["suite", "agent", "metric", "baseline", "now", "delta", "gate", "verdict"]);
    for suite in &report.suites {
        for (first, agent) in flagged(&suite.agents) {
            let rows = agent.metrics.iter().filter(|metric| !metric.is_silent()).flat_map(gate_rows);
            for (top, (metric, gate, ruling)) in flagged(rows) {
                let delta = number::delta(metric.unit, metric.comparison.delta);
                table.add_row(vec![
                    Cell::new(if first && top { suite_name(report, suite) } else { String::new() }),
                    Cell::new(if top { agent.agent.as_str() } else { "" }),
                    Cell::new(&metric.name),
                    right(metric_value(metric.unit, metric.comparison.baseline)),
                    right(words::value(metric)),
                    right(delta).fg(colour(number::direction(metric.better, metric.unit, metric.comparison.delta))),
                    Cell::new(gate),
                    verdict(ruling),
                ]);
            }
            for judge in &agent.judges {
                let [baseline, now, delta] = judges::numbers(judge);
                table.add_row(vec![
                    Cell::new(""),
                    Cell::new(""),
                    Cell::new(judges::row_name(judge)),
                    right(metric_value(Unit::Share, baseline)),
                    right(metric_value(Unit::Share, now)),
                    right(number::delta(Unit::Share, delta)),
                    Cell::new(judges::ADVISORY),
                    Cell::new(judges::standing_word(judge)).fg(Color::DarkGrey),
                ]);
            }
        }
    }
    table.to_string()
}

/// Rules above, below the header and at the end; none between rows.
pub(super) fn plain_style(table: &mut Table, width: u16) {
    let rule = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new().top_border(rule).header_separator(rule).bottom_border(rule);
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
}

/// Each element with whether it is the first.
fn flagged<T>(all: impl IntoIterator<Item = T>) -> impl Iterator<Item = (bool, T)> {
    all.into_iter().enumerate().map(|(index, one)| (index == 0, one))
}

fn suite_name(report: &Report, suite: &SuiteReport) -> String {
    match report.tiers.len() {
        1 => suite.id.to_string(),
        _ => format!("{} ({})", suite.id, suite.tier.as_str()),
    }
}

/// One row per gate; a metric without a gate has one row.
fn gate_rows(metric: &MetricReport) -> Vec<(&MetricReport, String, Option<&Ruling>)> {
    if metric.gates.is_empty() {
        return vec![(metric, String::new(), None)];
    }
    metric.gates.iter().map(|gate| (metric, words::gate(metric, gate), Some(&gate.ruling))).collect()
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn colour(direction: ValueDirection) -> Color {
    match direction {
        ValueDirection::Better => Color::Green,
        ValueDirection::Worse => Color::Red,
        ValueDirection::Other | ValueDirection::Same => Color::Reset,
    }
}

fn verdict(ruling: Option<&Ruling>) -> Cell {
    let Some(ruling) = ruling else { return Cell::new("") };
    let cell = Cell::new(ruling.as_str());
    match ruling {
        Ruling::Judged(Verdict::Pass) => cell.fg(Color::Green),
        Ruling::Judged(Verdict::Inconclusive) => cell.fg(Color::Yellow),
        Ruling::Judged(Verdict::Fail) => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Ruling::Skipped(_) | Ruling::Off(_) => cell.fg(Color::DarkGrey),
    }
}

/// The certainty of moved numbers, cases that pass in every sample, and the smallest detectable changes if a number moved.
fn certain(out: &mut String, report: &Report) {
    let moved = certainty::moved(report, line);
    let reliability = certainty::reliability(report);
    if moved.is_empty() && reliability.is_empty() {
        return;
    }
    moved.iter().take(LISTED).for_each(|sentence| put(out, sentence));
    if moved.len() > LISTED {
        put(out, &format!("… and {} more numbers that moved; --out DIR shows all", moved.len() - LISTED));
    }
    reliability.iter().for_each(|sentence| put(out, sentence));
    if !moved.is_empty() {
        certainty::detectable(report, line).iter().for_each(|sentence| put(out, sentence));
    }
    out.push('\n');
}

/// Each failed gate with the cases that moved it.
fn failed_gates(out: &mut String, report: &Report) {
    let failed = evidence::failed_metrics(report);
    for FailedMetric { suite, agent, metric, gate } in failed.iter().take(LISTED) {
        put(out, &format!("{}/{}: {}", suite.id, agent.agent, evidence::failed_gate(metric, gate)));
        for (one, case) in evidence::cases_with_reports(agent, metric) {
            put(out, format!("  {} {}", one.case, evidence::case_value(metric, one)).trim_end());
            for difference in &one.differences {
                let samples = evidence::in_samples(case, difference);
                put(out, &format!("    expected {}", line(&difference.difference.expected, 200)));
                put(out, &format!("    got      {}{samples}", line(&difference.difference.produced, 300)));
            }
        }
        if let Some(more) = evidence::more_cases(metric) {
            put(out, &format!("  … and {more}"));
        }
    }
    if failed.len() > LISTED {
        put(out, &format!("… and {} more failed gates; --out DIR shows all", failed.len() - LISTED));
    }
    if !failed.is_empty() {
        out.push('\n');
    }
}

fn failures(out: &mut String, report: &Report) {
    let all: Vec<_> = report.failures().collect();
    if all.is_empty() {
        return;
    }
    let counts = Tag::ALL.into_iter().map(|tag| {
        let count =
            all.iter().filter(|line| line.check.failure.as_ref().is_some_and(|failure| failure.tag == tag)).count();
        format!("{} {count}", tag.as_str())
    });
    put(
        out,
        &format!(
            "{} ({})",
            words::plural(all.len(), "failed check", "failed checks"),
            counts.collect::<Vec<_>>().join(", ")
        ),
    );
    for failed in all.iter().take(LISTED) {
        let Some(failure) = failed.check.failure.as_deref() else { continue };
        let case = &failed.case;
        put(
            out,
            &format!(
                "  {}/{}/{} {} [{}]",
                failed.suite.id,
                failed.agent.agent,
                case.case,
                failed.check.name,
                failure.tag.as_str()
            ),
        );
        put(out, &format!("    {}", line(&failure.detail, 200)));
        put(
            out,
            &format!("    next: {}  ({}:{})", line(&failure.next_action, 200), case.golden, failed.check.location.line),
        );
    }
    if all.len() > LISTED {
        put(out, &format!("  … and {} more; `goldgate explain CASE` or --out DIR shows all", all.len() - LISTED));
    }
    out.push('\n');
}

/// The results of judges, if there are any.
fn advice(out: &mut String, report: &Report) {
    let sentences = judges::judge_lines(report, line);
    sentences.iter().for_each(|sentence| put(out, sentence));
    if !sentences.is_empty() {
        out.push('\n');
    }
}

/// The golden changes since the base commit.
fn golden_changes(out: &mut String, report: &Report) {
    if report.golden_changes.is_empty() {
        return;
    }
    put(out, &words::plural(report.golden_changes.len(), "golden change", "golden changes"));
    for change in report.golden_changes.iter().take(LISTED) {
        put(out, &format!("  [{}] {}", words::weight(report, change), line(&change.words, 400)));
    }
    if report.golden_changes.len() > LISTED {
        put(out, &format!("  … and {} more; --out DIR shows all", report.golden_changes.len() - LISTED));
    }
    if let Some(approval) = &report.approval {
        put(out, &format!("  {}", line(&words::approval(approval), 200)));
    }
    out.push('\n');
}

/// Remarks, and cases that are excluded, lost, quarantined, moved or removed.
fn remarks(out: &mut String, report: &Report) {
    let before = out.len();
    for note in &report.notes {
        put(out, &format!("note: {}", line(note, 400)));
    }
    for suite in &report.suites {
        for agent in &suite.agents {
            agent_remarks(out, suite, agent);
        }
    }
    if out.len() > before {
        out.push('\n');
    }
}

fn agent_remarks(out: &mut String, suite: &SuiteReport, agent: &AgentReport) {
    let who = format!("{}/{}", suite.id, agent.agent);
    for note in &agent.notes {
        put(out, &format!("{who}: {}", line(note, 400)));
    }
    for case in &agent.cases {
        let pair = case;
        let lost: Vec<String> =
            pair.lost.iter().map(|lost| format!("sample {} {}", lost.sample, line(&lost.why.text(), 120))).collect();
        match (pair.exclusion, lost.is_empty()) {
            (Exclusion::NoMajority, _) => put(
                out,
                &format!(
                    "{who}/{}: excluded, {} of {} samples completed: {}",
                    pair.case,
                    pair.completed,
                    pair.planned,
                    lost.join("; ")
                ),
            ),
            (Exclusion::Quarantined, _) => put(out, &format!("{who}/{}: {}", pair.case, words::quarantine(pair))),
            (Exclusion::Counted, false) => put(out, &format!("{who}/{}: inconclusive: {}", pair.case, lost.join("; "))),
            (Exclusion::Counted, true) => {}
        }
    }
    for trend in [CaseTrend::NewlyFailing, CaseTrend::NewlyPassing, CaseTrend::New] {
        let cases: Vec<&str> =
            agent.cases.iter().filter(|case| case.trend == trend).map(|case| case.case.as_str()).collect();
        if !cases.is_empty() {
            put(out, &format!("{who}: {}: {}", trend.as_str().replace('_', " "), cases.join(", ")));
        }
    }
    if !agent.removed.is_empty() {
        let cases: Vec<&str> = agent.removed.iter().map(|case| case.as_str()).collect();
        put(out, &format!("{who}: removed since the baseline: {}", cases.join(", ")));
    }
}
