//! The report for a terminal.

mod cases;
mod frame;
mod notes;
mod numbers;
mod overview;
mod wrapping;

use self::cases::LISTED;
pub(super) use self::frame::{plain_style, plain_table, right};
use super::plain::{line, put, put_more};
use super::screen::{Detail, Screen, Style};
use super::words::GateCounts;
use super::{certainty, judges, words};
use crate::model::{GoldenChange, Report, Weight};

/// The report: one line for each agent, then each broken case with the gates that it moved, then notes. The verdict comes last, next to the
/// prompt.
pub fn terminal(report: &Report, screen: Screen) -> String {
    let mut out = String::new();
    if screen.detail != Detail::Verdict {
        body(&mut out, report, screen);
    }
    for why in &report.not_gateable {
        put(&mut out, &format!("no verdict: {}", words::reason(why)));
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
        "goldgate {} · {} tier · up to {samples} per case · {}",
        report.tool.version,
        words::tiers(report),
        words::graded_commit(report, "commit")
    );
    put(out, &facts);
    if !report.suites.is_empty() {
        put(out, &overview::overview(report, screen));
    }
    if screen.detail == Detail::Everything {
        if let Some(table) = numbers::numbers(report, screen) {
            put(out, &format!("\n{table}"));
        }
        out.push('\n');
        certain(out, report);
        advice(out, report);
    } else {
        out.push('\n');
    }
    cases::cases(out, report, screen.detail);
    cases::failed_before(out, report);
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
    moved
        .iter()
        .take(LISTED)
        .for_each(|sentence| put(out, sentence));
    put_more(out, moved.len(), LISTED, |more| {
        format!("… and {more} more numbers that moved; --out DIR shows all")
    });
    reliability.iter().for_each(|sentence| put(out, sentence));
    if !moved.is_empty() {
        certainty::detectable(report, line)
            .iter()
            .for_each(|sentence| put(out, sentence));
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
    put(
        out,
        &words::plural(
            report.golden_changes.len(),
            "golden change",
            "golden changes",
        ),
    );
    let (heavy, light): (Vec<_>, Vec<_>) = report
        .golden_changes
        .iter()
        .partition(|change| change.weight == Weight::NeedsApproval);
    let shown = heavy.len().min(LISTED);
    list(out, report, &heavy[..shown]);
    if let Some(approval) = &report.approval {
        put(out, &format!("  {}", line(&words::approval(approval), 200)));
    }
    if let Some(next) = words::next_of_changes(report, words::PUSH_FIRST) {
        put(out, &format!("  {next}"));
    }
    list(out, report, &light[..light.len().min(LISTED - shown)]);
    put_more(out, report.golden_changes.len(), LISTED, |more| {
        format!("  … and {more} more; --out DIR shows all")
    });
    out.push('\n');
}

fn list(out: &mut String, report: &Report, changes: &[&GoldenChange]) {
    for change in changes {
        let weight = words::weight(report, change);
        put(out, &format!("  [{weight}] {}", words::change(change)));
    }
}
