//! The baseline's pull request after somebody touched it by hand: its branch, its description, its state.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::super::approval::base_sha;
use super::{BASELINE, BRANCH, LATER, Merged};
use crate::github::{BOT, Job, RUN};
use crate::repository::Ran;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a baseline pull request whose branch is updated with the default branch stays green by itself",
            updated,
        ),
        trial(
            "a number that somebody edits in the baseline pull request is replaced by the next run",
            replaced,
        ),
        trial(
            "other changes in the baseline pull request are judged like those of any pull request",
            other_changes,
        ),
        trial(
            "a label on an edited baseline pull request is of one head and of what the comment shows",
            labeled,
        ),
        trial(
            "other files that somebody commits to the baseline pull request stay in it",
            other_files,
        ),
        trial(
            "a reason that somebody adds later is in the file after the next run",
            reason_later,
        ),
        trial(
            "a branch with the name of the baseline's in a fork is not the baseline's",
            of_fork,
        ),
    ]
}

impl Merged {
    /// The job of the default branch at a commit of it.
    fn pushed(&self, tip: &str) -> Ran {
        let mut last = None;
        for mode in ["run", "baseline-pr"] {
            let job = Job::new(&self.story.checkout, &self.story.github, "push", "push")
                .input("mode", mode);
            let mut job = job.input("blocking", "false");
            job.event["repository"]["default_branch"] = json!("master");
            let job = job
                .variable("GITHUB_REF", "refs/heads/master")
                .variable("GITHUB_SHA", tip);
            let ran = job.variable("SOURCE_DATE_EPOCH", LATER).runs();
            assert_eq!(ran.code, 0, "{mode}: {}{}", ran.stdout, ran.stderr);
            last = Some(ran);
        }
        last.unwrap()
    }

    /// Somebody pushes a commit to its branch, with this baseline.
    fn edited(&self, from: &str, to: &str) -> String {
        let (before, after) = (self.head(), "c".repeat(40));
        let text = String::from_utf8(self.story.github.read_at(&before, BASELINE)).unwrap();
        assert!(text.contains(from), "{text}");
        self.story.github.parents(&after, &[&before]);
        self.story.github.branch(BRANCH, &after);
        self.story
            .github
            .file_at(&after, BASELINE, &text.replace(from, to));
        self.check_out();
        after
    }
}

/// The button "Update branch" merges the default branch into it.
fn updated() {
    let merged = Merged::new();
    let (before, tip, after) = (merged.head(), "d".repeat(40), "c".repeat(40));
    let github = &merged.story.github;
    github.parents(&tip, &[&base_sha()]);
    github.branch("master", &tip);
    github.parents(&after, &[&before, &tip]);
    github.branch(BRANCH, &after);
    github.file_at(
        &after,
        BASELINE,
        &String::from_utf8(github.read_at(&before, BASELINE)).unwrap(),
    );
    merged.check_out();
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // With other numbers on the default branch it is not what is measured there, until the next run writes it.
    for checkout in [&merged.checkout, &merged.story.checkout] {
        checkout.replace(RUN, "{\"category\": \"a\"},", "");
    }
    github.file(RUN, &merged.story.checkout.read(RUN));
    assert_eq!(merged.gate().code, 1);
    merged.pushed(&tip);
    assert_ne!(merged.head(), after);
    merged.check_out();
    let written: Value = serde_json::from_str(&merged.checkout.read(BASELINE)).unwrap();
    assert_eq!(written["commit"], json!(tip));
    // Nobody approved the numbers that are new.
    assert_eq!(merged.gate().code, 1);
}

fn replaced() {
    let merged = Merged::new();
    let first = merged.checkout.read(BASELINE);
    let edited = merged.edited("\"f1_score\": 0.5", "\"f1_score\": 0.1");
    assert_eq!(merged.gate().code, 1);
    merged.pushed(&base_sha());
    assert_ne!(merged.head(), edited);
    merged.check_out();
    assert_eq!(merged.checkout.read(BASELINE), first);
    assert_eq!(merged.gate().code, 0);
    assert_eq!(merged.story.github.open_pulls(), [3]);
}

fn other_files() {
    let merged = Merged::new();
    let edited = merged.edited("\"f1_score\": 0.5", "\"f1_score\": 0.1");
    let github = &merged.story.github;
    github.file_at(&edited, "README.md", "# Agents\n");
    github.describe(3, &format!("See #12.\n\n{}", github.description(3)));
    merged.pushed(&base_sha());
    let head = merged.head();
    assert_ne!(head, edited);
    assert_eq!(github.read_at(&head, "README.md"), b"# Agents\n");
    assert!(
        String::from_utf8(github.read_at(&head, BASELINE))
            .unwrap()
            .contains("\"f1_score\": 0.5")
    );
    assert!(
        github.description(3).starts_with("See #12.\n\n<!--"),
        "{}",
        github.description(3)
    );
}

/// What the gate does not read is not its business; what it reads is.
fn other_changes() {
    let merged = Merged::new();
    merged.checkout.write("README.md", "# Agents\n");
    assert_eq!(merged.gate().code, 0);
    let changes: [(&str, &str, &str); 3] = [
        (
            "goldgate.yaml",
            "    path: golden\n",
            "    path: golden\n    gates: { f1_score: { off: true, reason: none } }\n",
        ),
        (
            "golden/expected/legal/lease.json",
            "\"max_expected_findings\": 3",
            "\"max_expected_findings\": 9",
        ),
        (
            RUN,
            "{\"category\": \"a\"},",
            "{\"category\": \"a\"}, {\"category\": \"z\"},",
        ),
    ];
    for (file, from, to) in changes {
        let merged = Merged::new();
        merged.checkout.replace(file, from, to);
        let ran = merged.gate();
        assert_eq!(ran.code, 1, "{file}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Somebody edits it, alice approves what the comment shows, and somebody edits it again.
fn labeled() {
    let merged = Merged::new();
    let approved = |merged: &Merged, head: &str| {
        let read = |file: &str| merged.checkout.read(&format!(".goldgate/report/{file}"));
        merged.story.upload(70, head, &read("report.json"));
        merged
            .story
            .github
            .label_on(3, "alice", super::super::approval::LABEL);
        let mut job = merged
            .story
            .job("pull_request.labeled", "alice", 71)
            .head(head);
        job.event["pull_request"]["number"] = json!(3);
        let ran = job.input("mode", "approve").runs();
        (ran, merged.story.github.statuses(head))
    };
    let head = merged.edited("\"finding_count\": 3", "\"finding_count\": 7");
    assert_eq!(merged.gate().code, 1);
    let body = merged.story.github.bodies_on(3).remove(0);
    assert!(body.contains("baseline edited"), "{body}");
    let (ran, statuses) = approved(&merged, &head);
    assert!(
        statuses.len() == 1 && statuses[0].contains("approved by alice"),
        "{statuses:?} {}",
        ran.stdout
    );
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    // The next commit has no approval.
    let next = "7".repeat(40);
    merged.story.github.branch(BRANCH, &next);
    let text = merged
        .checkout
        .read(BASELINE)
        .replace("\"finding_count\": 7", "\"finding_count\": 30");
    merged.story.github.file_at(&next, BASELINE, &text);
    merged.check_out();
    assert_eq!(merged.gate().code, 1);
}

fn reason_later() {
    let merged = Merged::new();
    assert_eq!(merged.gate().code, 0, "the control");
    let body = merged.story.github.description(3);
    merged.story.github.describe(
        3,
        &format!("{body}\nGoldgate-Reason: it reports more on purpose\n"),
    );
    // The file still writes only what was approved.
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    merged.pushed(&base_sha());
    merged.check_out();
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let written: Value = serde_json::from_str(&merged.checkout.read(BASELINE)).unwrap();
    let entry = &written["accepted"][0];
    assert_eq!(
        (&entry["by"], &entry["reason"]),
        (&json!(BOT), &json!("it reports more on purpose"))
    );
}

fn of_fork() {
    let merged = Merged::new();
    assert_eq!(merged.gate().code, 0, "the control");
    merged.story.github.fork_of(3);
    let ran = merged.gate();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}
