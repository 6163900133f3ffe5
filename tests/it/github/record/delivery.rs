//! Where recordings go: to the branch, or to a folder that the workflow uploads.

use libtest_mimic::Trial;
use serde_json::json;

use super::{BOT, LABEL, Recorded, head_sha};
use crate::github::RUN;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a fork's recordings are left with the command that applies them",
            fork,
        ),
        trial("without the right to push the recordings are left", no_push),
        trial(
            "what was recorded is named in the outputs, also where the label cannot be removed",
            kept,
        ),
        trial(
            "a head that moves while it is recorded gets no commit",
            moved,
        ),
        trial("a fork that pushes after the label is not recorded", pushed),
        trial(
            "recordings by an app's token are committed in its name",
            app,
        ),
    ]
}

/// What is uploaded is the recording, and nothing of an earlier step.
#[track_caller]
fn is_left(story: &Recorded) {
    assert_eq!(story.github.commits().len(), 0);
    let artifact = format!("goldgate-recordings-{}", head_sha());
    assert_eq!(
        [story.output("report"), story.output("artifact")],
        [".goldgate/recordings", artifact.as_str()]
    );
    let run = story.workspace.read(&format!(".goldgate/recordings/{RUN}"));
    assert!(run.contains("\"goldgate.run/1\""), "{run}");
    let command = format!(
        "gh run download 7 --repo acme/agents --name {artifact} --dir \"$dir\" && cp -R \"$dir\"/. ."
    );
    assert!(story.note().contains(&command), "{}", story.note());
    assert!(
        !story
            .workspace
            .path(".goldgate/recordings/old.json")
            .exists()
    );
}

fn fork() {
    let story = Recorded::new();
    story.workspace.write(".goldgate/recordings/old.json", "{}");
    story.commit();
    story.github.fork();
    story.github.label_by("alice", LABEL);
    let ran = story.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    is_left(&story);
    assert!(
        story.note().contains("because the branch is in a fork"),
        "{}",
        story.note()
    );
}

fn no_push() {
    let story = Recorded::new();
    story.github.deny("contents: write");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    is_left(&story);
    assert!(
        story
            .note()
            .contains("because the token may not push to the branch"),
        "{}",
        story.note()
    );
}

/// The answers were paid for: a failure after they are delivered must not hide where they are.
fn kept() {
    for denied in [
        &["pull-requests: write"][..],
        &["pull-requests: write", "contents: write"],
    ] {
        let story = Recorded::new();
        denied
            .iter()
            .for_each(|permission| story.github.deny(permission));
        let ran = story.labeled("alice");
        assert_eq!(
            (ran.code, story.model.requests()),
            (3, 1),
            "{denied:?}: {}{}",
            ran.stdout,
            ran.stderr
        );
        let is_left = denied.len() == 2;
        // The list of what was recorded is uploaded in any case.
        assert_eq!(story.output("report"), ".goldgate/recordings");
        assert!(
            ran.stdout.contains("the label cannot be removed"),
            "{}",
            ran.stdout
        );
        // The log says what the comment cannot.
        assert!(
            ran.stdout.contains(if is_left {
                "gh run download"
            } else {
                "1 recording"
            }),
            "{}",
            ran.stdout
        );
    }
}

fn moved() {
    let story = Recorded::new();
    let newer = "d".repeat(40);
    story.github.push_before_commit(&newer);
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (3, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(story.github.head("changes"), Some(newer));
    assert!(
        story
            .note()
            .contains("**Not committed**: the head moved from"),
        "{}",
        story.note()
    );
    assert_eq!([story.output("report"), story.output("artifact")], ["", ""]);
}

fn pushed() {
    let story = Recorded::new();
    story.commit();
    story.github.fork();
    story.github.label_by("alice", LABEL);
    for action in ["synchronize", "reopened"] {
        let mut job = story.job();
        job.event["action"] = json!(action);
        assert_eq!((job.runs().code, story.model.requests()), (0, 0));
    }
    // A run that is started again has the event of that time.
    let ran = story.job().head(&"e".repeat(40)).runs();
    story.is_refused(&ran, "commits were pushed after it");
    // The label that is set on this head counts.
    story.github.label_by("alice", LABEL);
    assert_eq!((story.job().runs().code, story.model.requests()), (0, 1));
}

fn app() {
    let story = Recorded::new();
    story.github.app("acme-recorder[bot]");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let note = story.github.bodies("acme-recorder[bot]").concat();
    assert!(
        note.contains("**Recorded**") && !note.contains("starts no checks"),
        "{note}"
    );
    // A push with the workflow's own token starts no workflow (docs, "Triggering a workflow from a workflow").
    let story = Recorded::new();
    story.labeled("alice");
    assert!(
        story
            .github
            .bodies(BOT)
            .concat()
            .contains("starts no checks"),
        "{}",
        story.note()
    );
}
