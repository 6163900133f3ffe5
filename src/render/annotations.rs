//! GitHub's workflow commands: errors and warnings at the golden file's line.

use std::collections::BTreeSet;

use super::broken::{BrokenAgent, BrokenCase, CaseRow, Differences, broken_agents, other_checks};
use super::plain::line;
use super::{evidence, markdown, words};
use crate::model::{Authority, FailureLine, OtherOutcome, Report};
use crate::text::clauses;

/// GitHub shows at most this many annotations of each kind per step.
const MOST: usize = 10;

/// One annotation per line: for each reason of a missing verdict, each other pull request with this head that fails, each broken case at the
/// golden file's line of its first difference, each failed gate that no case explains, and each golden change that waits for an approval.
/// Cases that decide no failed gate are warnings, and so is everything where the run does not block the merge. A notice counts those beyond
/// GitHub's limit.
pub fn annotations(report: &Report) -> String {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for why in &report.not_gateable {
        errors.push(format!("title=goldgate::{}", message(&words::reason(why))));
    }
    for pull_request in &report.others {
        if pull_request.outcome == OtherOutcome::Fails {
            errors.push(format!(
                "title=goldgate::{}",
                message(&words::other(pull_request))
            ));
        }
    }
    let is_approved = report.approval.is_some();
    for broken in broken_agents(report, usize::MAX) {
        if !broken.fails() {
            warnings.extend(broken_agent(&broken));
        } else if !is_approved {
            errors.extend(broken_agent(&broken));
        }
    }
    if !is_approved {
        errors.extend(unapproved(report));
    }
    if report.authority == Authority::Advisory {
        warnings.append(&mut errors);
    }
    let others = other_checks(report);
    let cases = others.chunk_by(|left, right| std::ptr::eq(left.case, right.case));
    warnings.extend(cases.filter_map(failed_before));
    let mut out = String::new();
    for (command, many, lines) in [
        ("error", "more errors", errors),
        ("warning", "more warnings", warnings),
    ] {
        for line in lines.iter().take(MOST) {
            out.push_str(&format!("::{command} {line}\n"));
        }
        if lines.len() > MOST {
            let more = words::plural(lines.len() - MOST, &format!("more {command}"), many);
            out.push_str(&format!(
                "::notice title=goldgate::{more}; see the job summary\n"
            ));
        }
    }
    out
}

/// The broken cases of an agent; its first failed gate, if no case explains it.
fn broken_agent(broken: &BrokenAgent<'_>) -> Vec<String> {
    let who = format!("{}/{}", broken.suite.id, broken.agent.agent);
    if let (true, Some((metric, gate))) = (broken.cases.is_empty(), broken.gates.first()) {
        let text = format!("{who}: {}", evidence::failed_gate(metric, gate));
        return vec![format!("title=goldgate::{}", message(&line(&text, 500)))];
    }
    let mut hints = BTreeSet::new();
    let cases = broken.cases.iter();
    cases
        .map(|case| broken_case(&who, case, &mut hints))
        .collect()
}

/// A broken case in one line, at the line of its first difference.
fn broken_case<'a>(who: &str, case: &BrokenCase<'a>, hints: &mut BTreeSet<&'a str>) -> String {
    let location = case.golden().map_or(String::new(), |file| {
        format!("file={},line={},", property(file), case.line())
    });
    let mut parts: Vec<String> = Some(case.standing())
        .filter(|standing| !standing.is_empty())
        .into_iter()
        .collect();
    for row in case.rows(Differences::Few, hints) {
        match row {
            CaseRow::Expected(all) => parts.push(format!("expected {}", all.join("; "))),
            CaseRow::Got(text, samples) => parts.push(format!("got {text}{samples}")),
            CaseRow::Missing(needed, how) => parts.push(format!("missing {needed}; {how}")),
            CaseRow::Next(tag, next) => parts.push(format!("next: {next} ({})", tag.as_str())),
            CaseRow::Asked(_) | CaseRow::Changed(..) | CaseRow::More(_) => {}
        }
    }
    let parts: Vec<String> = parts.iter().map(|part| line(part, 300)).collect();
    let text = format!("{who}/{}: {}", case.case, parts.join(". "));
    format!(
        "{location}title=goldgate::{}",
        message(&clauses(&text, 1_000))
    )
}

/// A case that failed before, with its failed checks.
fn failed_before(failed: &[FailureLine<'_>]) -> Option<String> {
    let first = failed.first()?;
    let checks: Vec<String> = failed
        .iter()
        .map(|failure| failure.check.name.to_string())
        .collect();
    let text = format!(
        "{}/{}/{} failed before, too: {}",
        first.suite.id,
        first.agent.agent,
        first.case.case,
        checks.join(", ")
    );
    Some(format!(
        "file={},line={},title=goldgate::{}",
        property(first.case.golden.as_str()),
        first.check.location.line,
        message(&line(&text, 300))
    ))
}

/// The golden changes that wait for an approval.
fn unapproved(report: &Report) -> impl Iterator<Item = String> {
    markdown::shown_changes(report)
        .into_iter()
        .map(|(change, more)| {
            let more = match more {
                0 => String::new(),
                more => format!(" (and {more} more of this kind)"),
            };
            let text = format!(
                "golden change, needs approval: {}{more}",
                words::change(change)
            );
            let location = change.file.as_ref().map_or(String::new(), |file| {
                format!("file={},line=1,", property(file.as_str()))
            });
            format!("{location}title=goldgate::{}", message(&text))
        })
}

/// Escapes what GitHub's runner reads as the end of a value.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(&line(text, 200))
        .replace(':', "%3A")
        .replace(',', "%2C")
}
