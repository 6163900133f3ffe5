//! The report for a terminal.

mod frame;
mod notes;
mod numbers;
mod overview;
mod wrapping;

pub(super) use self::frame::plain_style;
use super::evidence::FailedMetric;
use super::plain::{line, put};
use super::screen::{Detail, Screen, Style};
use super::since_base::{LIKELY_CAUSE, PLAIN_MARKS, UNDO_IT, agent_changes, change_line};
use super::words::GateCounts;
use super::{certainty, evidence, judges, words};
use crate::model::{AgentReport, CaseTrend, FailureLine, Report, Tag};
use crate::text::line_with_end;

/// The number of failed checks, and of numbers that moved, that are listed.
const LISTED: usize = 12;

/// The report: one line for each agent, the numbers that moved or failed, then what failed and why. The verdict comes last, next to
/// the prompt.
pub fn terminal(report: &Report, screen: Screen) -> String {
    let mut out = String::new();
    if screen.detail != Detail::Verdict {
        body(&mut out, report, screen);
    }
    for why in &report.not_gateable {
        put(&mut out, &format!("no verdict: {}", line_with_end(&why.0, 400)));
    }
    if screen.detail != Detail::Verdict {
        put(&mut out, &GateCounts::of(&report.suites).to_words());
    }
    put(&mut out, &words::headline(report));
    match screen.style {
        Style::Coloured => wrapping::fitted(&out, usize::from(screen.columns)),
        // A file or a pipe has no width: searching in it works by line.
        Style::Plain => out,
    }
}

fn body(out: &mut String, report: &Report, screen: Screen) {
    let samples = words::plural(report.samples as usize, "sample", "samples");
    let facts = format!(
        "goldgate {} · {} tier · up to {samples} per case · commit {}",
        report.tool.version,
        words::tiers(report),
        words::short(report.commit.as_deref())
    );
    put(out, &facts);
    if !report.suites.is_empty() {
        put(out, &overview::overview(report, screen));
    }
    if let Some(table) = numbers::numbers(report, screen) {
        put(out, &format!("\n{table}"));
    }
    out.push('\n');
    if screen.detail == Detail::Everything {
        certain(out, report);
        advice(out, report);
    }
    failed_gates(out, report);
    failures(out, report, screen.detail);
    golden_changes(out, report);
    notes::notes(out, report, screen.detail);
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
    let (mut above, mut compared): (Option<&AgentReport>, Vec<_>) = (None, Vec::new());
    for FailedMetric { suite, agent, metric, gate } in failed.iter().take(LISTED) {
        put(out, &format!("{}/{}: {}", suite.id, agent.agent, evidence::failed_gate(metric, gate)));
        if above.is_none_or(|above| !std::ptr::eq(above, *agent)) {
            changes(out, agent);
        }
        above = Some(agent);
        for (one, case) in evidence::cases_with_reports(agent, metric) {
            put(out, format!("  {} {}", one.case, evidence::case_value(metric, one)).trim_end());
            for difference in &one.differences {
                let samples = evidence::in_samples(case, difference);
                put(out, &format!("    expected {}", line(&difference.difference.expected, 200)));
                put(out, &format!("    got      {}{samples}", line(&difference.difference.produced, 300)));
            }
            let name = (&suite.id, suite.tier, &agent.agent, &one.case);
            if !compared.contains(&name) {
                compared.push(name);
                let changed = agent.since_base.outputs_of(&one.case).iter().take(OUTPUTS);
                let completed = case.map_or(1, |case| case.completed);
                changed.for_each(|one| put(out, &format!("    changed  {}", change_line(one, completed, PLAIN_MARKS))));
            }
        }
        if let Some(more) = evidence::more_cases(metric) {
            put(out, &format!("  … and {more}"));
        }
        if let Some(chance) = words::chance_of_failed_metric(metric) {
            put(out, &format!("  {chance}"));
        }
    }
    if failed.len() > LISTED {
        put(out, &format!("… and {} more failed gates; --out DIR shows all", failed.len() - LISTED));
    }
    if !failed.is_empty() {
        out.push('\n');
    }
}

/// The number of values of an output, and of changes of an agent, that are listed.
const OUTPUTS: usize = 3;

/// What this commit changed in an agent.
fn changes(out: &mut String, agent: &AgentReport) {
    let all = agent_changes(agent, PLAIN_MARKS);
    if all.is_empty() {
        return;
    }
    put(out, &format!("  {LIKELY_CAUSE}:"));
    all.iter().take(OUTPUTS).for_each(|change| put(out, &format!("    {change}")));
    if all.len() > OUTPUTS {
        put(
            out,
            &format!(
                "    … and {}; --out DIR shows all",
                words::plural(all.len() - OUTPUTS, "more change", "more changes")
            ),
        );
    }
    put(out, &format!("    {UNDO_IT}"));
}

/// The failed checks. Those of newly failing cases come first; one that failed before has one line only.
fn failures(out: &mut String, report: &Report, detail: Detail) {
    let mut all: Vec<_> = report.failures().collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|line| has_failed_before(line));
    let counts = Tag::ALL.into_iter().filter_map(|tag| {
        let count =
            all.iter().filter(|line| line.check.failure.as_ref().is_some_and(|failure| failure.tag == tag)).count();
        (count > 0).then(|| format!("{} {count}", tag.as_str()))
    });
    put(
        out,
        &format!(
            "{} ({})",
            words::plural(all.len(), "failed check", "failed checks"),
            counts.collect::<Vec<_>>().join(", ")
        ),
    );
    let metrics = evidence::failed_metrics(report);
    let is_shown = |failed: &FailureLine<'_>| evidence::is_shown(&metrics, failed);
    for failed in all.iter().take(LISTED) {
        let Some(failure) = failed.check.failure.as_deref() else { continue };
        let FailureLine { suite, agent, case, check } = failed;
        let before = if has_failed_before(failed) { ", failed before" } else { "" };
        let name = format!("{}/{}/{} {}", suite.id, agent.agent, case.case, check.name);
        put(out, &format!("  {name} [{}{before}]", failure.tag.as_str()));
        if has_failed_before(failed) && detail != Detail::Everything {
            continue;
        }
        // A failed gate shows both sides already.
        if !is_shown(failed) {
            if let Some(expected) = &check.expected {
                put(out, &format!("    expected {}", line(expected, 200)));
            }
            put(out, &format!("    got      {}", line(&failure.detail, 300)));
        }
        put(out, &format!("    next: {}  ({}:{})", line(&failure.next_action, 200), case.golden, check.location.line));
    }
    if all.len() > LISTED {
        put(out, &format!("  … and {} more; `goldgate explain CASE` or --out DIR shows all", all.len() - LISTED));
    }
    out.push('\n');
}

/// Whether the case failed in the baseline as well.
fn has_failed_before(line: &FailureLine<'_>) -> bool {
    line.case.trend == CaseTrend::StillFailing
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
