//! GitHub's workflow commands: errors and warnings at the golden file's line.

use super::plain::line;
use super::{markdown, words};
use crate::model::{Authority, Report, Ruling, Verdict};
use crate::text::clauses;

/// GitHub shows at most this many annotations of each kind per step.
const MOST: usize = 10;

/// One annotation per line. Reasons for a missing verdict, and failed checks of failing agents, are errors if the run blocks the merge; all
/// others are warnings.
/// A notice counts those beyond GitHub's limit.
pub fn annotations(report: &Report) -> String {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    for why in &report.not_gateable {
        let text = message(&words::reason(why));
        match report.authority {
            Authority::Blocking => errors.push(format!("::error title=no verdict::{text}")),
            Authority::Advisory => warnings.push(format!("::warning title=no verdict::{text}")),
        }
    }
    for failed in report.failures() {
        let Some(failure) = failed.check.failure.as_deref() else {
            continue;
        };
        let pair = &failed.case;
        let title = format!(
            "{}/{}/{} {}",
            failed.suite.id, failed.agent.agent, pair.case, failed.check.name
        );
        let location = format!(
            "file={},line={},title={}",
            property(pair.golden.as_str()),
            failed.check.location.line,
            property(&title)
        );
        let text = message(&format!(
            "[{}] {} Next: {}",
            failure.tag.as_str(),
            line(&failure.detail, 300),
            clauses(&failure.next_action, 300)
        ));
        match (&failed.agent.verdict, report.authority) {
            (Ruling::Judged(Verdict::Fail), Authority::Blocking) => {
                errors.push(format!("::error {location}::{text}"))
            }
            (
                Ruling::Judged(_) | Ruling::Skipped(_) | Ruling::Off(_),
                Authority::Blocking | Authority::Advisory,
            ) => warnings.push(format!("::warning {location}::{text}")),
        }
    }
    let unapproved = if report.approval.is_none() {
        markdown::shown_changes(report)
    } else {
        Vec::new()
    };
    for (change, more) in unapproved {
        let more = if more > 0 {
            format!(" (and {more} more of this kind)")
        } else {
            String::new()
        };
        let text = message(&format!(
            "golden change, needs approval: {}{more}",
            words::change(change)
        ));
        let location = match &change.file {
            Some(file) => format!(
                "file={},line=1,title=golden change",
                property(file.as_str())
            ),
            None => "title=golden change".to_owned(),
        };
        match report.is_held_by_changes() {
            true => errors.push(format!("::error {location}::{text}")),
            false => warnings.push(format!("::warning {location}::{text}")),
        }
    }
    let mut out = String::new();
    for (kind, lines) in [("errors", errors), ("warnings", warnings)] {
        for line in lines.iter().take(MOST) {
            out.push_str(line);
            out.push('\n');
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
