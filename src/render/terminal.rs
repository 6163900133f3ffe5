//! The report for a terminal.

mod frame;
mod gates;
mod notes;
mod numbers;
mod overview;
mod wrapping;

pub(super) use self::frame::{plain_style, plain_table, right};
use self::gates::LISTED;
use super::plain::{line, put, put_more};
use super::screen::{Detail, Screen, Style};
use super::since_base::{changed_names, explains};
use super::words::GateCounts;
use super::{certainty, evidence, judges, words};
use crate::model::{CaseTrend, FailureLine, GoldenChange, Report, Tag, Weight};

/// The report: one line for each agent, the numbers that moved or failed, then what failed and why. The verdict comes last, next to
/// the prompt.
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
    if let Some(table) = numbers::numbers(report, screen) {
        put(out, &format!("\n{table}"));
    }
    out.push('\n');
    if screen.detail == Detail::Everything {
        certain(out, report);
        advice(out, report);
    }
    gates::gates(out, report);
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

/// The failed checks. Those of newly failing cases come first; one that failed before has one line only.
fn failures(out: &mut String, report: &Report, detail: Detail) {
    let mut all: Vec<_> = report.failures().collect();
    if all.is_empty() {
        differences_by_tag(out, report);
        return;
    }
    all.sort_by_key(|line| has_failed_before(line));
    let explained = |failed: &FailureLine<'_>| explains(failed.agent, Some(failed.case));
    let counts = Tag::ALL.into_iter().filter_map(|tag| {
        let has_tag = |line: &&FailureLine<'_>| {
            line.check
                .failure
                .as_ref()
                .is_some_and(|failure| failure.tag == tag)
        };
        let count = all
            .iter()
            .filter(has_tag)
            .filter(|line| !explained(line))
            .count();
        (count > 0).then(|| format!("{} {count}", tag.as_str()))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let counts = if counts.is_empty() {
        counts
    } else {
        format!(" ({counts})")
    };
    put(
        out,
        &format!(
            "{}{counts}",
            words::plural(all.len(), "failed check", "failed checks")
        ),
    );
    let metrics = evidence::failed_metrics(report);
    let is_shown = |failed: &FailureLine<'_>| evidence::is_shown(&metrics, failed);
    // What failed before has one line for each case.
    let share_line = |one: &FailureLine<'_>, next: &FailureLine<'_>| {
        detail != Detail::Everything && has_failed_before(one) && std::ptr::eq(one.case, next.case)
    };
    let groups: Vec<&[FailureLine<'_>]> = all.chunk_by(share_line).collect();
    for group in groups.iter().take(LISTED) {
        let Some((failed, failure)) = group
            .first()
            .and_then(|one| Some((one, one.check.failure.as_deref()?)))
        else {
            continue;
        };
        let FailureLine {
            suite,
            agent,
            case,
            check,
        } = failed;
        let checks: Vec<String> = group.iter().map(|one| one.check.name.to_string()).collect();
        let tags = if explained(failed) {
            String::new()
        } else {
            tags_of(group)
        };
        put(
            out,
            &format!(
                "  {}/{}/{} {}{tags}",
                suite.id,
                agent.agent,
                case.case,
                checks.join(", ")
            ),
        );
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
        let place = format!("{}:{}", case.golden, check.location.line);
        match explained(failed) {
            true => put(
                out,
                &format!(
                    "    likely cause: {}  ({place})",
                    changed_names(agent, |text| line(text, 160))
                ),
            ),
            false => put(
                out,
                &format!("    next: {}  ({place})", line(&failure.next_action, 200)),
            ),
        }
    }
    let more: usize = groups.iter().skip(LISTED).map(|group| group.len()).sum();
    if more > 0 {
        put(
            out,
            &format!("  … and {more} more; `goldgate explain CASE` or --out DIR shows all"),
        );
    }
    out.push('\n');
}

/// The likely causes of differences that fail a gate, where every check passes.
fn differences_by_tag(out: &mut String, report: &Report) {
    let count = |tag: Tag| -> u32 { report.agents().map(|agent| agent.taxonomy()[&tag]).sum() };
    let counts = Tag::ALL.into_iter().map(|tag| (tag, count(tag)));
    let counts: Vec<String> = counts
        .filter(|(_, count)| *count > 0)
        .map(|(tag, count)| format!("{} {count}", tag.as_str()))
        .collect();
    if !counts.is_empty() {
        put(out, &format!("likely cause: {}\n", counts.join(", ")));
    }
}

/// The tags of the failures of one line: ` [prompt, failed before]`.
fn tags_of(group: &[FailureLine<'_>]) -> String {
    let has = |tag: &Tag| {
        group.iter().any(|one| {
            one.check
                .failure
                .as_ref()
                .is_some_and(|failure| failure.tag == *tag)
        })
    };
    let mut words: Vec<&str> = Tag::ALL.into_iter().filter(has).map(Tag::as_str).collect();
    words.extend(
        group
            .first()
            .is_some_and(has_failed_before)
            .then_some("failed before"),
    );
    format!(" [{}]", words.join(", "))
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
    let list = |out: &mut String, changes: &[&GoldenChange]| {
        for change in changes {
            let weight = words::weight(report, change);
            put(out, &format!("  [{weight}] {}", words::change(change)));
        }
    };
    let shown = heavy.len().min(LISTED);
    list(out, &heavy[..shown]);
    if let Some(approval) = &report.approval {
        put(out, &format!("  {}", line(&words::approval(approval), 200)));
    }
    if let Some(next) = words::next_of_changes(report, words::PUSH_FIRST) {
        put(out, &format!("  {next}"));
    }
    list(out, &light[..light.len().min(LISTED - shown)]);
    put_more(out, report.golden_changes.len(), LISTED, |more| {
        format!("  … and {more} more; --out DIR shows all")
    });
    out.push('\n');
}
