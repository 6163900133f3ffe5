//! A draft is judged like any other pull request. GitHub starts workflows on drafts too, and a skipped job would count as passed (docs,
//! "Troubleshooting required status checks"), so "Ready for review" has nothing left to do.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::Story;
use super::{BOT, Job, head_sha};
use crate::repository::Ran;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a draft has the verdict, the comment and the approval of any pull request",
            judged,
        ),
        trial(
            "an approval of a draft counts when it is ready for review, and the event changes nothing",
            ready,
        ),
        #[cfg(feature = "models")]
        trial("a draft is recorded by its label", recorded),
    ]
}

/// The payload of a draft (webhooks, `pull_request`: `draft`, and the actions `ready_for_review` and `converted_to_draft`).
fn draft<'a>(mut job: Job<'a>, action: &str) -> Job<'a> {
    job.event["action"] = json!(action);
    job.event["pull_request"]["draft"] = json!(action != "ready_for_review");
    job.event["pull_request"]["mergeable_state"] = json!("draft");
    job
}

fn gate(story: &Story, mode: &str, action: &str) -> Ran {
    let (folder, event) = match mode {
        "run" => (&story.checkout, "pull_request"),
        _ => (&story.elsewhere, "pull_request_target"),
    };
    draft(
        Job::new(folder, &story.github, "pull_request.opened", event),
        action,
    )
    .input("mode", mode)
    .runs()
}

fn judged() {
    for mode in ["run", "trusted"] {
        let story = Story::new();
        story.has_merge();
        story.github.draft(true);
        for action in [
            "opened",
            "synchronize",
            "converted_to_draft",
            "ready_for_review",
        ] {
            let ran = gate(&story, mode, action);
            assert_eq!(ran.code, 1, "{mode} {action}: {}{}", ran.stdout, ran.stderr);
        }
        let body = story.comment();
        story.github.draft(false);
        assert_eq!(gate(&story, mode, "ready_for_review").code, 1);
        assert_eq!(story.github.bodies(BOT).len(), 1);
        assert_eq!(body.lines().next(), story.comment().lines().next());
        // A draft with a conflict has no merge either.
        story.github.mergeable(json!(false));
        assert_eq!(gate(&story, "trusted", "opened").code, 3);
    }
}

fn ready() {
    let story = Story::new();
    story.github.draft(true);
    story.gate(7);
    let ran = story.labeled("alice");
    let approved = story.github.statuses(&head_sha());
    assert_eq!(approved.len(), 1, "{}{}", ran.stdout, ran.stderr);
    for action in ["converted_to_draft", "ready_for_review"] {
        let ran = draft(story.job("pull_request.opened", "Codertocat", 30), action)
            .input("mode", "approve")
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(
            story.github.statuses(&head_sha()),
            approved,
            "{action}: {}",
            ran.stdout
        );
    }
    story.github.draft(false);
    assert_eq!(gate(&story, "run", "ready_for_review").code, 0);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!(report["approval"]["by"], json!("alice"));
}

#[cfg(feature = "models")]
fn recorded() {
    let story = super::record::Recorded::new();
    story.github.draft(true);
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
