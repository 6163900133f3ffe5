//! What several formats say of the same report.

use super::screen::{Detail, Screen, Style};
use super::{annotations, html, markdown, terminal};
use crate::model::{ChangeClass, GoldenChange, NotGateable, Report, Tier, Weight};

const REASON: &str = "contracts/legal: 57 recordings are stale: prompts/legal.md changed since they were made (a.json, b.json and 55 more); record again: `goldgate run --tier model --suite contracts --agent legal --record golden/runs`; if the change cannot alter an answer: `goldgate stamp --suite contracts --agent legal --stale`";

fn change(weight: Weight, words: &str) -> GoldenChange {
    GoldenChange {
        words: words.to_owned(),
        weight,
        file: None,
        class: ChangeClass::Recording,
        files: Vec::new(),
        content: String::new(),
    }
}

fn with_changes() -> Report {
    Report {
        golden_changes: vec![
            change(Weight::NeedsApproval, "heavy of `contracts`"),
            change(Weight::Listed, "light of `contracts`"),
        ],
        ..Report::passing(vec![Tier::Deterministic])
    }
}

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
    let headline = "Merge blocked: no verdict is possible: contracts/legal: 57 recordings are stale: prompts/legal.md changed since they were made (a.json, b.json and 55 more).";
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
        format!("::error title=goldgate::{REASON}\n")
    );
}

#[test]
fn the_next_step_is_below_the_changes_that_need_an_approval() {
    let report = with_changes();
    let next = "If the change that needs an approval is intended, push; ";
    let screen = on_screen(&report);
    let place = |text: &str| screen.find(text).unwrap();
    assert!(
        place("heavy of") < place(next) && place(next) < place("light of"),
        "{screen}"
    );
    let page = html::html(&report);
    assert!(
        page.contains(next) && page.contains("heavy of <code>contracts</code>"),
        "{page}"
    );
    let pushed = markdown::Links {
        acceptance: markdown::Acceptance::PushedFirst,
        ..markdown::Links::default()
    };
    assert!(markdown::summary(&report, &pushed).contains(next));
    assert!(!markdown::summary(&report, &markdown::Links::default()).contains("intended"));
}

#[test]
fn the_label_accepts_what_there_is() {
    let changes = "If the change that needs an approval is intended, somebody with write access adds the label `x`.";
    for (reason, says) in [(None, false), (Some("Reason: why"), true)] {
        let links = markdown::Links {
            acceptance: markdown::Acceptance::Label {
                name: "x".to_owned(),
                reason,
            },
            ..markdown::Links::default()
        };
        let text = markdown::summary(&with_changes(), &links);
        assert!(text.contains(changes), "{text}");
        assert_eq!(text.contains("Reason: why"), says, "{text}");
        assert!(!text.contains("Accept the failed gates"), "{text}");
    }
}
