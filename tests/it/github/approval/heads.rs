//! Several pull requests with one head: a status belongs to the commit, and each pull request has a label and a result of its own.

use super::super::standin::pulls::test_merge;
use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an event of another pull request with the same head withdraws no approval",
            other_event,
        ),
        trial(
            "a label on another pull request with the same head approves nothing that it does not show",
            other_label,
        ),
        trial(
            "pull requests with one head into two branches are approved one after the other",
            both,
        ),
        trial("an approved head that comes back is approved", returned),
    ]
}

/// Pull request 5 has the head of pull request 2, and goes into another branch.
const OTHER: u64 = 5;

fn with_other() -> Story {
    let story = Story::new();
    story.gate(7);
    story.github.branch("lax", &"e".repeat(40));
    story.github.second_pull(OTHER, "lax");
    story
}

/// The approval's job on an event of the other pull request.
fn on_other(story: &Story, event: &str, label: Option<&str>) -> Ran {
    let mut job = story.job(event, "alice", 25);
    job.event["pull_request"]["number"] = json!(OTHER);
    if let Some(label) = label {
        job.event["label"]["name"] = json!(label);
    }
    job.input("mode", "approve").runs()
}

fn other_event() {
    let story = with_other();
    story.labeled("alice");
    for (event, label) in [
        ("pull_request.opened", None),
        ("pull_request.labeled", Some("bug")),
        ("pull_request.synchronize", None),
    ] {
        let ran = on_other(&story, event, label);
        assert_eq!(
            story.github.statuses(&head_sha()).len(),
            1,
            "{event}: {}",
            ran.stdout
        );
    }
    assert_eq!(story.graded(8).code, 0);
    // Somebody sets the label there and takes it away. The label that is still set approves again.
    story.github.label_on(OTHER, "trudy", LABEL);
    story.github.unlabel_on(OTHER, LABEL);
    on_other(&story, "pull_request.unlabeled", Some(LABEL));
    story.approve("alice");
    let last = story.github.statuses(&head_sha()).pop();
    assert!(last.is_some_and(|last| last.starts_with("success approved by alice")));
}

fn other_label() {
    let story = with_other();
    story.github.label_on(OTHER, "alice", LABEL);
    let ran = on_other(&story, "pull_request.labeled", Some(LABEL));
    assert!(
        story.github.statuses(&head_sha()).is_empty(),
        "{}",
        ran.stdout
    );
    assert_eq!(story.graded(8).code, 1);
}

fn both() {
    let story = Story::new();
    story.has_merge();
    let (lax, merge) = (Repository::empty(), Repository::empty());
    for file in FILES.iter().chain(&[BASELINE]) {
        lax.write(file, story.github.text(file));
        merge.write(file, story.checkout.read(file));
    }
    // The numbers of the other branch are others.
    for side in [&lax, &merge] {
        side.replace(BASELINE, "\"f1_score\": 1.0", "\"f1_score\": 0.9");
    }
    story.github.branch("lax", &"e".repeat(40));
    story.github.second_pull(OTHER, "lax");
    story.github.commit(&"e".repeat(40), &lax);
    story.github.commit(&test_merge(OTHER), &merge);
    let gate = |run: u64| {
        let commit = test_merge(OTHER);
        let mut job = Job::new(&merge, &story.github, "pull_request.opened", "pull_request");
        job.event["pull_request"]["number"] = json!(OTHER);
        job.event["pull_request"]["base"]["ref"] = json!("lax");
        job.run = run;
        let ran = job.variable("GITHUB_SHA", &commit).runs();
        let report = merge.read(".goldgate/report/report.json");
        story.upload(run, &head_sha(), &report);
        ran
    };
    // The newest result on the commit is that of the other pull request.
    assert_eq!((story.gate(7).code, gate(8).code), (1, 1));
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}",
        ran.stdout
    );
    assert_eq!(
        story.graded(9).code,
        1,
        "the other pull request is not approved"
    );
    story.github.label_on(OTHER, "alice", LABEL);
    let ran = on_other(&story, "pull_request.labeled", Some(LABEL));
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        2,
        "{}",
        ran.stdout
    );
    let (own, other) = (story.gate(10), gate(11));
    assert_eq!(
        (own.code, other.code),
        (0, 0),
        "{}{}",
        own.stdout,
        other.stdout
    );
    // A withdrawal takes all of them away.
    story.unlabeled(10);
    assert_eq!((story.gate(12).code, gate(13).code), (1, 1));
}

fn returned() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let next = "c".repeat(40);
    story.github.push(&next);
    let pushed = |run: u64, before: &str, head: &str| {
        let mut job = story
            .job("pull_request.synchronize", "author", run)
            .head(head);
        job.event["before"] = before.into();
        job.input("mode", "approve").runs();
    };
    pushed(21, &head_sha(), &next);
    assert!(story.github.labels().is_empty());
    story.github.push(&head_sha());
    pushed(22, &next, &head_sha());
    assert_eq!(story.graded(9).code, 0);
    assert!(story.github.statuses(&next).is_empty());
    // Whatever event comes next: goldgate removed the label, and nobody else.
    let mut job = story
        .job("pull_request.opened", "author", 23)
        .head(&head_sha());
    job.event["action"] = "edited".into();
    job.input("mode", "approve").runs();
    assert_eq!(story.graded(10).code, 0);
}
