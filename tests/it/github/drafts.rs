//! A draft is judged like any other pull request. GitHub starts workflows on drafts too, and a skipped job would count as passed (docs,
//! "Troubleshooting required status checks"), so "Ready for review" has nothing left to do.

use libtest_mimic::Trial;
use serde_json::json;

use super::Job;
use super::approval::Story;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a draft has the verdict, the comment and the approval of any pull request",
            judged,
        ),
        trial(
            "an approval of a draft counts when it is ready for review, too",
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

fn judged() {
    for event in ["pull_request", "pull_request_target"] {
        let story = Story::new();
        story.has_merge();
        let elsewhere = Repository::empty();
        let folder = match event {
            "pull_request" => &story.checkout,
            _ => &elsewhere,
        };
        let gate = |action: &str| {
            let job = Job::new(folder, &story.github, "pull_request.opened", event);
            draft(job, action).runs().code
        };
        story.github.draft(true);
        for action in ["opened", "synchronize", "converted_to_draft"] {
            assert_eq!(gate(action), 1, "{event} {action}");
        }
        let body = story.comment();
        story.github.draft(false);
        assert_eq!(gate("ready_for_review"), 1, "{event}");
        assert_eq!(body.lines().next(), story.comment().lines().next());
        // A draft with a conflict has no merge either.
        story.github.draft(true);
        story.github.mergeable(json!(false));
        assert_eq!(gate("opened"), 3, "{event}");
    }
}

fn ready() {
    let story = Story::new();
    story.github.draft(true);
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    story.github.draft(false);
    let job = draft(story.job("pull_request.opened", 9), "ready_for_review");
    story.is_approved(&job.runs(), "alice");
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
