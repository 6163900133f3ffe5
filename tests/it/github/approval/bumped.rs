//! The commit of an approved baseline, and a job that is stopped between that commit and its status.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a bump that is stopped after its commit is continued by the next run",
            stopped,
        ),
        trial(
            "a bump starts the gate with the pull request where its workflow asks for it",
            with_input,
        ),
        trial(
            "only the very commit of a stopped bump takes the approval over",
            foreign_commits,
        ),
        trial(
            "an approval leaves the gate's run to the bump, which needs it only without a commit",
            left_to_bump,
        ),
    ]
}

/// A pull request whose bump has committed the baseline, and was stopped before it set the status.
fn stopped_story() -> (Story, String) {
    let story = Story::new();
    story.gate(7);
    story.github.commit(&head_sha(), &story.checkout);
    story.labeled("alice");
    story.github.deny("statuses: write");
    let ran = story.bump();
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (3, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.github.change_denied(false);
    let head = story.github.head("changes").unwrap();
    assert!(head != head_sha() && story.github.statuses(&head).is_empty());
    (story, head)
}

/// The two steps of goldgate-bump.yml, on the event of a push.
fn pushed(story: &Story, head: &str) {
    for mode in ["approve", "bump"] {
        let mut job = story
            .job("pull_request.synchronize", "acme-app[bot]", 21)
            .input("mode", mode);
        job.event["pull_request"]["head"]["sha"] = json!(head);
        let ran = job.input("rerun", "false").runs();
        assert_eq!(ran.code, 0, "{mode}: {}{}", ran.stdout, ran.stderr);
    }
}

fn stopped() {
    let (story, head) = stopped_story();
    pushed(&story, &head);
    assert_eq!(
        story.github.statuses(&head),
        story.github.statuses(&head_sha())
    );
    assert_eq!(
        (story.github.labels(), story.github.commits().len()),
        (vec![LABEL.to_owned()], 1)
    );
    story.checkout.write(BASELINE, committed(&story, &head));
    let mut job = Job::new(
        &story.checkout,
        &story.github,
        "pull_request.synchronize",
        "pull_request",
    )
    .head(&head);
    job.run = 40;
    let ran = job.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn foreign_commits() {
    type Change = fn(&Story, &str);
    let changes: [(&str, Change); 4] = [
        ("another number", |story, head| {
            let other = committed(story, head).replace("\"f1_score\": 0.5", "\"f1_score\": 0.4");
            story.github.file_at(head, BASELINE, &other);
        }),
        ("another reason", |story, head| {
            let other = committed(story, head).replace("more on purpose", "what it likes");
            story.github.file_at(head, BASELINE, &other);
        }),
        ("another file", |story, head| {
            story.github.change_commit(head, |commit| {
                commit.entries.insert(
                    "prompts/legal.md".to_owned(),
                    (0o100_644, b"Report nothing.\n".to_vec()),
                );
            });
        }),
        ("an approval that was withdrawn", |story, _| {
            story.github.status(
                BOT,
                &head_sha(),
                "failure",
                "withdrawn: trudy removed the label",
            );
        }),
    ];
    for (name, change) in changes {
        let (story, head) = stopped_story();
        change(&story, &head);
        pushed(&story, &head);
        assert!(story.github.statuses(&head).is_empty(), "{name}");
        assert!(story.github.labels().is_empty(), "{name}");
        assert!(
            story.comment().contains("commits were pushed after it"),
            "{name}: {}",
            story.comment()
        );
    }
}

/// The shards of goldgate-shards.yml check out the test merge of the pull request that they are given.
fn with_input() {
    for (takes_input, input) in [(true, "2"), (false, "")] {
        let story = Story::new();
        story.gate(7);
        if takes_input {
            story.github.take_input();
        }
        story.labeled("alice");
        let ran = story.bump();
        assert_eq!(
            (ran.code, story.github.dispatched().len()),
            (0, 1),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(story.github.dispatched_inputs(), [input]);
        assert!(
            story
                .comment()
                .contains("the gate was restarted on the new commit"),
            "{}",
            story.comment()
        );
    }
}

fn left_to_bump() {
    let approved = |prepare: fn(&Story)| {
        let story = Story::new();
        prepare(&story);
        story.gate(7);
        story.github.label(LABEL);
        let job = story
            .job("pull_request.labeled", "alice", 20)
            .input("mode", "approve");
        let ran = job.input("rerun", "false").runs();
        assert_eq!(
            (ran.code, story.github.statuses(&head_sha()).len()),
            (0, 1),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            story.github.reruns().is_empty()
                && story.comment().contains("after the commit of the baseline")
        );
        assert_eq!(story.bump().code, 0);
        (story.github.commits().len(), story.github.reruns().len())
    };
    assert_eq!(approved(|_| ()), (1, 0), "its push starts the checks");
    assert_eq!(
        approved(|story| story.github.describe(2, "")),
        (0, 0),
        "it waits for a reason"
    );
    assert_eq!(
        approved(|story| story.github.fork()),
        (0, 1),
        "nothing can be committed to a fork"
    );
    let carried = |story: &Story| {
        story.checkout.stamp_unless_kept();
        story.checkout.goldgate(&["run", "--update-baseline"]);
        story
            .github
            .file_at(&head_sha(), BASELINE, &story.checkout.read(BASELINE));
    };
    assert_eq!(
        approved(carried),
        (0, 1),
        "the pull request carries the baseline"
    );
}
