//! Failed checks, and how many there are of each tag. A tag is a hint at the cause, not a finding.

use super::Links;
use super::broken::next_step;
use crate::model::{CaseTrend, FailureLine, Report, Tag};
use crate::render::broken::other_checks;
use crate::render::plain::{inline, name, put};
use crate::render::{since_base, words};
use crate::text::encoded_path;

/// The number of failed checks that are listed with their evidence.
const LISTED: usize = 25;

/// The number of cases that are named for the same failure.
const CASES: usize = 10;

/// The failed checks of cases that are not broken by this change, folded.
pub fn other_failures(report: &Report, links: &Links) -> String {
    let others = other_checks(report);
    if others.is_empty() {
        return String::new();
    }
    let have_failed_before = others
        .iter()
        .all(|failed| failed.case.trend == CaseTrend::StillFailing);
    let title = if have_failed_before {
        let count = words::plural(others.len(), "failed check", "failed checks");
        format!("{count} in cases that failed before this change")
    } else {
        words::outside_gates(others.len())
    };
    format!(
        "<details><summary>{title}</summary>\n\n{}\n</details>\n",
        listed(&others, links)
    )
}

/// One line for each check and result; cases with the same result share it.
fn listed(all: &[FailureLine<'_>], links: &Links) -> String {
    let mut out = String::new();
    let groups: Vec<&[FailureLine<'_>]> = all.chunk_by(is_alike).collect();
    groups
        .iter()
        .take(LISTED)
        .for_each(|alike| put(&mut out, &failures(alike, links)));
    let more: usize = groups.iter().skip(LISTED).map(|alike| alike.len()).sum();
    if more > 0 {
        put(&mut out, &format!("- … and {more} more in the full report"));
    }
    out
}

/// Whether a check of an agent failed in two cases with the same texts.
fn is_alike(left: &FailureLine<'_>, right: &FailureLine<'_>) -> bool {
    std::ptr::eq(left.agent, right.agent)
        && left.check.name.to_string() == right.check.name.to_string()
        && left.check.expected == right.check.expected
        && detail(left) == detail(right)
}

fn detail<'a>(failed: &FailureLine<'a>) -> Option<&'a str> {
    let failure = failed.check.failure.as_ref()?;
    Some(&failure.detail)
}

/// The failures of one check with the same texts, by case.
fn failures(alike: &[FailureLine<'_>], links: &Links) -> String {
    let Some(first) = alike.first() else {
        return String::new();
    };
    let mut cases: Vec<String> = alike
        .iter()
        .take(CASES)
        .map(|failed| linked_case(failed, links))
        .collect();
    if alike.len() > CASES {
        cases.push(format!("… and {} more", alike.len() - CASES));
    }
    let recording = if alike.len() == 1 {
        links.recording(Some(first.case))
    } else {
        String::new()
    };
    let title = format!(
        "{} / {} / {} / {}{recording}",
        name(first.suite.id.as_str()),
        name(first.agent.agent.as_str()),
        cases.join(", "),
        inline(&first.check.name.to_string(), 80)
    );
    let Some(failure) = first.check.failure.as_deref() else {
        return format!("- {title}");
    };
    let hint = if since_base::explains(first.agent, Some(first.case)) {
        format!(
            "likely cause: {}",
            since_base::changed_names(first.agent, |text| inline(text, 160))
        )
    } else {
        next_step(failure.tag, &failure.next_action)
    };
    let expected = first
        .check
        .expected
        .as_deref()
        .map_or(String::new(), |expected| {
            format!("expected {}<br>got ", inline(expected, 200))
        });
    format!(
        "- {title}<br>{expected}{}<br>{hint}",
        inline(&failure.detail, 300)
    )
}

/// The name of a failed case, linked to the line of the expectation.
fn linked_case(failed: &FailureLine<'_>, links: &Links) -> String {
    let (pair, case) = (&failed.case, name(failed.case.case.as_str()));
    match &links.files {
        Some(address) => {
            format!(
                "[{case}]({address}/{}#L{})",
                encoded_path(pair.golden.as_str()),
                failed.check.location.line
            )
        }
        None => case,
    }
}

const TAGS: &str =
    "| tag | what it hints at | count | change | how to fix it |\n|---|---|--:|--:|---|\n";

/// The change of a count since the baseline; a dash if the baseline does not have it.
fn counted_change(count: i64, baseline: Option<i64>) -> String {
    match baseline.map(|baseline| (count - baseline, baseline)) {
        None => "–".to_owned(),
        Some((0, _)) => "=".to_owned(),
        Some((more, 0)) if more > 0 => format!("+{more} NEW"),
        Some((more, _)) if more > 0 => format!("+{more}"),
        Some((less, _)) => format!("−{}", less.abs()),
    }
}

/// How many checks failed by tag, now and in the baseline, folded.
pub fn taxonomy(report: &Report) -> String {
    let known = report.agents().any(|agent| agent.taxonomy_before.is_some());
    let mut rows = String::new();
    for tag in Tag::ALL {
        let count: i64 = report
            .agents()
            .map(|agent| i64::from(agent.taxonomy()[&tag]))
            .sum();
        let failed: i64 = report
            .agents()
            .map(|agent| i64::from(agent.failed_checks_by_tag()[&tag]))
            .sum();
        let baseline: i64 = report
            .agents()
            .filter_map(|agent| agent.taxonomy_before.as_ref()?.get(&tag))
            .map(|count| i64::from(*count))
            .sum();
        // A baseline has only failed checks.
        let change = counted_change(failed, known.then_some(baseline));
        match (count, baseline) {
            (0, 0) => {}
            _ => put(
                &mut rows,
                &format!(
                    "| `{}` | {} | {count} | {change} | {} |",
                    tag.as_str(),
                    tag.meaning(),
                    tag.fix_strategy()
                ),
            ),
        }
    }
    let lost = i64::try_from(report.lost_samples()).unwrap_or(i64::MAX);
    let baseline: Vec<u32> = report
        .agents()
        .filter_map(|agent| agent.infra_before)
        .collect();
    let baseline = (!baseline.is_empty()).then(|| baseline.into_iter().map(i64::from).sum());
    if lost > 0 || baseline.is_some_and(|baseline: i64| baseline > 0) {
        put(
            &mut rows,
            &format!(
                "| `infra` | not a failure: the sample has no output to grade | {lost} | {} | check the infrastructure, or record again |",
                counted_change(lost, baseline)
            ),
        );
    }
    if rows.is_empty() {
        return rows;
    }
    format!("<details><summary>Failures by tag</summary>\n\n{TAGS}{rows}\n</details>\n")
}
