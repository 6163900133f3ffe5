//! A comment always fits GitHub's limit.

use super::{
    CommentPlan, CommentRequest, ConfigResult, LIMIT, Note, NoteSubject, hidden_classes,
    is_note_written, is_written, plan, plan_note,
};
use crate::model::{
    Comment, GoldenChange, NotGateable, RepoPath, Report, ReportTool, RunNumber, Tier, Weight,
};
use crate::render::markdown::Links;

const BOT: &str = "github-actions[bot]";

fn report(tier: Tier, reasons: usize, changes: usize) -> Report {
    let long = |number: usize| format!("agent-{number:03}-{} is stale", "x".repeat(330));
    Report {
        tool: ReportTool::goldgate("www.evil.example"),
        commit: Some("a".repeat(40)),
        base: Some("b".repeat(40)),
        not_gateable: (0..reasons)
            .map(|number| NotGateable(long(number)))
            .collect(),
        golden_changes: (0..changes)
            .map(|number| GoldenChange {
                words: format!("expectation edited: {}", "<&>".repeat(120)),
                weight: Weight::NeedsApproval,
                file: RepoPath::root()
                    .join(&format!("suite-{number}/x.json"))
                    .ok(),
                class: crate::model::ChangeClass::Expectation,
                files: Vec::new(),
                content: String::new(),
            })
            .collect(),
        notes: (0..reasons).map(long).collect(),
        ..Report::passing(vec![tier])
    }
}

fn written(report: &Report, run: u64, comments: &[Comment]) -> String {
    let links = Links::default();
    let head = "a".repeat(40);
    let run = RunNumber { run, attempt: 1 };
    let results = [ConfigResult {
        report,
        links: &links,
    }];
    let request = CommentRequest {
        results: &results,
        key: "default",
        head: &head,
        current_head: &head,
        run,
        author: Some(BOT),
    };
    match plan(&request, comments) {
        CommentPlan::Create(body) | CommentPlan::Update { body, .. } => {
            assert!(is_written(&request, &body), "{body}");
            body
        }
        CommentPlan::Nothing(why) => unreachable!("{why:?}"),
    }
}

fn comment(body: &str) -> Comment {
    let (author, body) = (BOT.to_owned(), body.to_owned());
    Comment {
        id: 1,
        author,
        body,
        url: String::new(),
    }
}

#[test]
fn a_comment_with_hundreds_of_reasons_replaces_an_older_green_one() {
    let green = written(&report(Tier::Deterministic, 0, 0), 1, &[]);
    assert!(green.starts_with("> [!TIP]"), "{green}");
    let body = written(
        &report(Tier::Deterministic, 300, 300),
        2,
        &[comment(&green)],
    );
    assert!(
        body.len() <= LIMIT && body.starts_with("> [!CAUTION]"),
        "{}: {}",
        body.len(),
        &body[..200]
    );
    assert!(body.contains("more reasons in the full report"), "{body}");
    assert!(
        !body.contains("www.evil.example"),
        "the version is a link: {body}"
    );
    // Two long sections and a note fit together.
    let both = written(&report(Tier::Model, 300, 300), 3, &[comment(&body)]);
    assert!(both.len() <= LIMIT, "{}", both.len());
    let head = "a".repeat(40);
    let text = "note ".repeat(9_000);
    let note = Note {
        about: NoteSubject::Record,
        alert: "NOTE",
        headline: "A long note.",
        text: &text,
        key: "default",
        head: &head,
        current_head: &head,
        run: RunNumber { run: 4, attempt: 1 },
        author: Some(BOT),
    };
    let CommentPlan::Update { body: noted, .. } = plan_note(&note, &[comment(&both)]) else {
        unreachable!("there is a comment")
    };
    assert!(
        noted.len() <= LIMIT && is_note_written(&note, &noted),
        "{}",
        noted.len()
    );
}

#[test]
fn kinds_of_changes_without_room_are_counted() {
    let (few, many) = (
        report(Tier::Deterministic, 0, 3),
        report(Tier::Deterministic, 0, 60),
    );
    assert_eq!(hidden_classes(&few, 1), 0);
    assert!(hidden_classes(&many, 1) > 0);
}

/// Each config of a step has a section, and one that the step does not judge any more has none.
#[test]
fn the_sections_of_several_configs_fit_and_follow_the_configs() {
    let of = |config: &str, reasons| Report {
        config: RepoPath::root().join(config).ok(),
        ..report(Tier::Deterministic, reasons, reasons)
    };
    let links = Links::default();
    let head = "a".repeat(40);
    let body_of = |reports: &[Report], run: u64, comments: &[Comment]| {
        let results: Vec<ConfigResult<'_>> = reports
            .iter()
            .map(|report| ConfigResult {
                report,
                links: &links,
            })
            .collect();
        let request = CommentRequest {
            results: &results,
            key: "default",
            head: &head,
            current_head: &head,
            run: RunNumber { run, attempt: 1 },
            author: Some(BOT),
        };
        match plan(&request, comments) {
            CommentPlan::Create(body) | CommentPlan::Update { body, .. } => {
                assert!(is_written(&request, &body) && body.len() <= LIMIT, "{body}");
                body
            }
            CommentPlan::Nothing(why) => unreachable!("{why:?}"),
        }
    };
    let names = ["a", "b", "c", "d", "e"].map(|name| format!("{name}/goldgate.yaml"));
    let long = names.clone().map(|name| of(&name, 300));
    let body = body_of(&long, 1, &[]);
    assert!(
        names
            .iter()
            .all(|name| body.contains(&format!("**{name}: "))),
        "{body}"
    );
    let model = written(&report(Tier::Model, 0, 0), 2, &[comment(&body)]);
    let fewer = body_of(
        &[of("a/goldgate.yaml", 0), of("b/goldgate.yaml", 0)],
        3,
        &[comment(&model)],
    );
    assert!(
        fewer.contains("**b/goldgate.yaml: ") && !fewer.contains("c/goldgate.yaml"),
        "{fewer}"
    );
    assert!(fewer.contains("goldgate:section model "), "{fewer}");
}

/// Another workflow of the same account quotes a text that has goldgate's marker.
#[test]
fn a_comment_that_quotes_the_marker_is_not_goldgates() {
    let report = report(Tier::Deterministic, 0, 0);
    let own = written(&report, 1, &[]);
    let request = |comments: &[Comment]| {
        let (links, head, run) = (
            Links::default(),
            "a".repeat(40),
            RunNumber { run: 1, attempt: 1 },
        );
        let author = Some(BOT);
        let (head, current_head, key) = (head.as_str(), head.as_str(), "default");
        plan(
            &CommentRequest {
                results: &[ConfigResult {
                    report: &report,
                    links: &links,
                }],
                key,
                head,
                current_head,
                run,
                author,
            },
            comments,
        )
    };
    for quoted in [
        format!("Preview\n\n{own}"),
        format!("> {}", own.replace('\n', "\n> ")),
        format!("- {own}"),
    ] {
        assert!(
            matches!(request(&[comment(&quoted)]), CommentPlan::Create(_)),
            "{quoted}"
        );
    }
    // GitHub may change line ends.
    assert!(matches!(
        request(&[comment(&own.replace('\n', "\r\n"))]),
        CommentPlan::Update { .. }
    ));
}
