//! What several formats say of the same report.

use super::screen::{Detail, Screen, Style};
use super::{annotations, html, markdown, terminal};
use crate::model::{NotGateable, Report, Tier};

const REASON: &str = "contracts/legal: 57 recordings are stale; prompts/legal.md changed since they were made (a.json, b.json and 55 more); record again: `goldgate run --tier model --suite contracts --agent legal --record golden/runs`; if the change cannot alter an answer: `goldgate stamp --suite contracts --agent legal --stale`";

fn on_screen(report: &Report) -> String {
    let screen = Screen {
        columns: 80,
        style: Style::Plain,
        detail: Detail::Changes,
    };
    terminal::terminal(report, screen)
}

#[test]
fn a_headline_says_what_and_the_reason_has_the_commands() {
    let report = Report {
        not_gateable: vec![NotGateable(REASON.to_owned())],
        verdict: crate::model::Ruling::Judged(crate::model::Verdict::Inconclusive),
        ..Report::passing(vec![Tier::Deterministic])
    };
    let headline =
        "Merge blocked: no verdict is possible: contracts/legal: 57 recordings are stale.";
    assert_eq!(super::words::headline(&report), headline);
    assert!(on_screen(&report).contains(&format!("no verdict: {REASON}\n")));
    let code = "<code>goldgate stamp --suite contracts --agent legal --stale</code>";
    let comment = markdown::summary(&report, &markdown::Links::default());
    assert!(
        comment.contains(headline) && comment.contains(code),
        "{comment}"
    );
    assert!(html::html(&report).contains(code));
    assert_eq!(
        annotations::annotations(&report),
        format!("::error title=no verdict::{REASON}\n")
    );
}
