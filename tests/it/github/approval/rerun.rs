//! The run that made the result is started again: the same commit, the same check.

use super::super::standin::runs::Rerun;
use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an approval starts the failed jobs of the result's run again, after the status",
            granted,
        ),
        trial(
            "the run of the pull request starts again, not a later one by hand with the same result",
            by_hand,
        ),
        trial(
            "a withdrawal starts all jobs of the run again, because none failed",
            withdrawn,
        ),
        trial(
            "a withdrawal starts the gate again also where the label is set again without the right",
            withdrawn_by_the_way,
        ),
        trial(
            "without actions: write the comment says which button to press",
            denied,
        ),
        trial(
            "a run in progress is waited for before it is started again",
            in_progress,
        ),
        trial(
            "a job does not wait for its own run, and the comment says what to press",
            own_run,
        ),
        trial(
            "a run without a failed job is not started again, and the comment says so",
            nothing_failed,
        ),
        trial(
            "a run that is too old to be started again asks for a commit, and blames no permission",
            too_old,
        ),
        trial(
            "an approval whose run could not be started is caught up on by the next event",
            caught_up,
        ),
        trial(
            "a result of the trusted gate is approved while it is in progress, and its run starts again",
            trusted,
        ),
        trial(
            "where a repository has both gates, an approval starts the runs of both again",
            both_gates,
        ),
        trial(
            "a push while the approval is written starts nothing on the older commit",
            pushed,
        ),
    ]
}

fn again(run: u64, what: &str, statuses: usize) -> Rerun {
    Rerun {
        run,
        what: what.to_owned(),
        statuses: vec!["goldgate/baseline".to_owned(); statuses],
    }
}

const FAILED: &str = "rerun-failed-jobs";

/// GitHub does not count the checks of a run by hand for the pull request (cpplint#360).
fn by_hand() {
    let story = Story::new();
    story.gate(7);
    story.github.run(json!({
        "id": 8, "run_attempt": 1, "head_sha": head_sha(), "head_branch": "changes", "event": "workflow_dispatch",
        "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate.yml",
        "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } }, "actor": { "login": "Codertocat" },
    }));
    let zip = uploaded(&story.report());
    story.github.artifact(8, "goldgate-report", zip);
    let ran = story.labeled("alice");
    let reruns = story.github.reruns();
    assert!(
        reruns.len() == 1 && format!("{reruns:?}").contains('7'),
        "{reruns:?} {}",
        ran.stdout
    );
}

fn granted() {
    let story = Story::new();
    story.gate(7);
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.reruns(), [again(7, FAILED, 1)]);
    let wanted =
        "The failed jobs of [run 7](https://github.example/acme/agents/actions/runs/7) start again";
    assert!(story.comment().contains(wanted), "{}", story.comment());
    // No commit: the head and its reviews stay.
    assert!(story.github.commits().is_empty());
    // The same label twice starts nothing twice, nor do other events.
    story.approve("alice");
    story.github.concluded(7, "failure");
    story
        .job("pull_request.synchronize", "alice", 22)
        .input("mode", "approve")
        .runs();
    assert_eq!(story.github.reruns().len(), 1);
}

fn withdrawn() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let ran = story.unlabeled(7);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        story.github.reruns(),
        [again(7, FAILED, 1), again(7, "rerun", 2)]
    );
    assert!(
        story.comment().contains("All jobs of [run 7]"),
        "{}",
        story.comment()
    );
}

/// GitHub drops the run on the removal from its queue, and the label is set again by somebody who may not approve.
fn withdrawn_by_the_way() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.github.concluded(7, "success");
    story.github.unlabel_by("alice", 2, LABEL);
    let ran = story.labeled("mallory");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story
            .github
            .statuses(&head_sha())
            .iter()
            .any(|status| status.starts_with("failure withdrawn: "))
    );
    let started: Vec<String> = story
        .github
        .reruns()
        .into_iter()
        .map(|rerun| rerun.what)
        .collect();
    assert_eq!(started, [FAILED, "rerun"], "{}", ran.stdout);
}

fn denied() {
    let story = Story::new();
    story.gate(7);
    story.github.deny("actions: write");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    let comment = story.comment();
    assert!(
        comment.contains("press **Re-run failed jobs** in [run 7]"),
        "{comment}"
    );
    assert!(
        comment.contains("the job needs the permission `actions: write`"),
        "{comment}"
    );
    let ran = story.unlabeled(7);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story
            .comment()
            .contains("press **Re-run all jobs** in [run 7]"),
        "{}",
        story.comment()
    );
    assert!(story.github.reruns().is_empty());
}

/// The result is uploaded, and another job of its run still works (findings, P1-6).
fn in_progress() {
    let story = Story::new();
    story.gate(7);
    // The result is read before.
    story.github.ends_after(7, 1);
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.reruns(),
        [again(7, FAILED, 1)],
        "{}",
        ran.stdout
    );
    let asked = story.github.requests();
    let tries = asked
        .iter()
        .filter(|request| request.ends_with("/actions/runs/7/rerun-failed-jobs"))
        .count();
    assert_eq!(tries, 2, "{asked:?}");
}

fn own_run() {
    let story = Story::new();
    story.gate(20);
    story.github.in_progress(20);
    let started = std::time::Instant::now();
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(started.elapsed().as_secs() < 20, "it waits for itself");
    assert!(story.github.reruns().is_empty());
    let comment = story.comment();
    assert!(
        comment
            .contains("is still in progress. When it has finished, press **Re-run failed jobs**"),
        "{comment}"
    );
    assert!(!comment.contains("actions: write"), "{comment}");
}

/// GitHub starts a run again for 30 days (docs, "Re-running workflows and jobs").
fn too_old() {
    let story = Story::new();
    story.gate(7);
    story.github.grow_old(7);
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let comment = story.comment();
    assert!(
        comment.contains("older than 30 days") && comment.contains("Push a commit"),
        "{comment}"
    );
    assert!(!comment.contains("actions: write"), "{comment}");
}

fn nothing_failed() {
    let story = Story::new();
    story.gate(7);
    story.github.concluded(7, "success");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(story.github.reruns().is_empty());
    let comment = story.comment();
    assert!(
        comment.contains("No job of [run 7]") && !comment.contains("actions: write"),
        "{comment}"
    );
}

/// GitHub keeps one pending run of a concurrency group (docs, "Control the concurrency of workflows and jobs"), and people stop
/// jobs, so that a re-run may be lost.
fn caught_up() {
    let story = Story::new();
    story.gate(7);
    story.github.deny("actions: write");
    story.labeled("alice");
    story.github.change_denied(false);
    let other = |run| {
        let mut job = story
            .job("pull_request.labeled", "trudy", run)
            .input("mode", "approve");
        job.event["label"]["name"] = json!("bug");
        job.runs()
    };
    let ran = other(22);
    assert_eq!(
        story.github.reruns(),
        [again(7, FAILED, 1)],
        "{}",
        ran.stdout
    );
    // It ran after the approval: what is still red is red for another reason.
    story.github.concluded(7, "failure");
    other(23);
    assert_eq!(story.github.reruns().len(), 1);
}

/// The trusted gate of the same commit has uploaded the same result in run 40.
fn trusted_gate(story: &Story, event: &str) {
    story.github.run(json!({
        "id": 40, "run_attempt": 1, "head_sha": base_sha(), "head_branch": "master", "event": event,
        "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate-trusted.yml",
        "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } }, "actor": { "login": "Codertocat" },
    }));
    let zip = uploaded(&story.report());
    story
        .github
        .artifact(40, &format!("goldgate-report-{}", head_sha()), zip);
}

fn both_gates() {
    let story = Story::new();
    story.gate(7);
    trusted_gate(&story, "pull_request_target");
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.reruns(),
        [again(40, FAILED, 1), again(7, FAILED, 1)],
        "{}",
        ran.stdout
    );
    story.github.concluded(40, "success");
    story.github.concluded(7, "success");
    let ran = story.unlabeled(7);
    assert_eq!(
        story.github.reruns()[2..],
        [again(40, "rerun", 2), again(7, "rerun", 2)],
        "{}",
        ran.stdout
    );
}

fn trusted() {
    for event in ["pull_request_target", "workflow_run"] {
        let story = Story::new();
        story.graded(7);
        trusted_gate(&story, event);
        story.github.ends_after(40, 1);
        let ran = story.labeled("alice");
        assert_eq!(
            story.github.reruns(),
            [again(40, FAILED, 1)],
            "{event}: {}",
            ran.stdout
        );
    }
}

fn pushed() {
    let story = Story::new();
    story.gate(7);
    story.github.push_meanwhile(&"c".repeat(40));
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    assert!(story.github.reruns().is_empty(), "{}", ran.stdout);
}
