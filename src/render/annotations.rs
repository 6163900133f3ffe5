//! GitHub's workflow commands: errors and warnings at the golden file's line.

use super::markdown;
use super::plain::line;
use crate::model::{Authority, Report, Ruling, Verdict};

/// GitHub shows at most this many of each kind a step.
const SHOWN: usize = 10;

/// One line an annotation: failed checks of failing agents as errors where the run blocks, all others as warnings, the rest
/// counted.
pub fn annotations(report: &Report) -> String {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    for failed in report.failures() {
        let Some(failure) = failed.check.failure.as_deref() else { continue };
        let pair = &failed.case.pair;
        let title = format!("{}/{}/{} {}", failed.suite.id, failed.agent.agent, pair.case, failed.check.name);
        let place =
            format!("file={},line={},title={}", property(pair.golden.as_str()), failed.check.line, property(&title));
        let text = message(&format!(
            "[{}] {} Next: {}",
            failure.tag.as_str(),
            line(&failure.detail, 300),
            line(&failure.next_action, 300)
        ));
        match (&failed.agent.verdict, report.authority) {
            (Ruling::Judged(Verdict::Fail), Authority::Blocking) => errors.push(format!("::error {place}::{text}")),
            (Ruling::Judged(_) | Ruling::Skipped(_), Authority::Blocking | Authority::Advisory) => {
                warnings.push(format!("::warning {place}::{text}"))
            }
        }
    }
    let held = if report.approval.is_none() { markdown::shown_changes(report) } else { Vec::new() };
    for (change, more) in held {
        let more = if more > 0 { format!(" (and {more} more of this kind)") } else { String::new() };
        let text = message(&format!("golden change, needs approval: {}{more}", line(&change.words, 300)));
        let place = match &change.file {
            Some(file) => format!("file={},line=1,title=golden change", property(file.as_str())),
            None => "title=golden change".to_owned(),
        };
        match report.is_held_by_changes() {
            true => errors.push(format!("::error {place}::{text}")),
            false => warnings.push(format!("::warning {place}::{text}")),
        }
    }
    let mut out = String::new();
    for (kind, lines) in [("errors", errors), ("warnings", warnings)] {
        for shown in lines.iter().take(SHOWN) {
            out.push_str(shown);
            out.push('\n');
        }
        if lines.len() > SHOWN {
            out.push_str(&format!(
                "::notice title=goldgate::{} more {kind}; the job summary has all\n",
                lines.len() - SHOWN
            ));
        }
    }
    out
}

/// What GitHub's runner takes as the end of a value, escaped as it wants it.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(&line(text, 200)).replace(':', "%3A").replace(',', "%2C")
}
