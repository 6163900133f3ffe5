//! GitHub's workflow commands: errors and warnings at the golden file's line.

use super::evidence::FailedMetric;
use super::plain::line;
use super::{evidence, markdown, words};
use crate::model::{Authority, FailureLine, OtherOutcome, Report};
use crate::text::clauses;

/// GitHub shows at most this many annotations of each kind per step.
const MOST: usize = 10;

/// One annotation per line: for each reason of a missing verdict, each other pull request with this head that fails, each failed gate at the golden file's line of its worst case, each golden
/// change that waits for an approval, and then each failed check. The failed checks are warnings, and so is everything where the run does
/// not block the merge. A notice counts those beyond GitHub's limit.
pub fn annotations(report: &Report) -> String {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for why in &report.not_gateable {
        errors.push(format!("title=goldgate::{}", message(&words::reason(why))));
    }
    for other in &report.others {
        if other.outcome == OtherOutcome::Fails {
            errors.push(format!("title=goldgate::{}", message(&words::other(other))));
        }
    }
    if report.approval.is_none() {
        errors.extend(evidence::failed_metrics(report).iter().map(failed_gate));
        errors.extend(unapproved(report));
    }
    if report.authority == Authority::Advisory {
        warnings.append(&mut errors);
    }
    warnings.extend(report.failures().filter_map(|failed| failed_check(&failed)));
    let mut out = String::new();
    for (command, kind, lines) in [
        ("error", "errors", errors),
        ("warning", "warnings", warnings),
    ] {
        for line in lines.iter().take(MOST) {
            out.push_str(&format!("::{command} {line}\n"));
        }
        if lines.len() > MOST {
            out.push_str(&format!(
                "::notice title=goldgate::{} more {kind}; see the job summary\n",
                lines.len() - MOST
            ));
        }
    }
    out
}

/// A failed gate, at the line of its worst case.
fn failed_gate(failed: &FailedMetric<'_>) -> String {
    let FailedMetric {
        suite,
        agent,
        metric,
        gate,
    } = failed;
    let worst = metric.evidence.cases.first();
    let pair = worst.and_then(|worst| agent.cases.iter().find(|pair| pair.case == worst.case));
    let location = pair.map_or(String::new(), |pair| {
        let mut checks = pair.checks.iter();
        let line = checks.find_map(|check| {
            let is_failed = check.failure.is_some();
            is_failed.then_some(check.location.line)
        });
        format!(
            "file={},line={},",
            property(pair.golden.as_str()),
            line.unwrap_or(1)
        )
    });
    let case = worst.map_or(String::new(), |worst| {
        format!("; worst case: {}", worst.case)
    });
    let text = format!(
        "{}/{}: {}{case}",
        suite.id,
        agent.agent,
        evidence::failed_gate(metric, gate)
    );
    format!("{location}title=goldgate::{}", message(&line(&text, 500)))
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

/// A failed check with its next step, at its line.
fn failed_check(failed: &FailureLine<'_>) -> Option<String> {
    let failure = failed.check.failure.as_deref()?;
    let pair = &failed.case;
    let title = format!(
        "{}/{}/{} {}",
        failed.suite.id, failed.agent.agent, pair.case, failed.check.name
    );
    let text = format!(
        "[{}] {} Next: {}",
        failure.tag.as_str(),
        line(&failure.detail, 300),
        clauses(&failure.next_action, 300)
    );
    Some(format!(
        "file={},line={},title={}::{}",
        property(pair.golden.as_str()),
        failed.check.location.line,
        property(&title),
        message(&text)
    ))
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
