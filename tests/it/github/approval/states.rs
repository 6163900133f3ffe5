//! States of a pull request that an approval meets: closed, retargeted, without a baseline, labelled by a program.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a label that is removed while the pull request is closed is withdrawn when it is open again",
            closed,
        ),
        trial(
            "an approval does not cover what a new base branch asks for",
            retargeted,
        ),
        trial(
            "a golden change is approved where no baseline is configured",
            no_baseline,
        ),
        trial(
            "a label by a program, by a deleted user or by nobody approves nothing",
            by_nobody,
        ),
    ]
}

fn closed() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.github.close(2);
    story.github.concluded(7, "success");
    story.github.unlabel(LABEL);
    story
        .job("pull_request.unlabeled", "trudy", 21)
        .input("mode", "approve")
        .runs();
    story.github.reopen(2);
    let ran = story
        .job("pull_request.opened", "trudy", 22)
        .input("mode", "approve")
        .runs();
    let last = story.github.statuses(&head_sha()).pop();
    assert!(
        last.is_some_and(|last| last.starts_with("failure withdrawn: trudy")),
        "{}",
        ran.stdout
    );
    assert_eq!(story.github.reruns().len(), 2);
    assert_eq!(story.graded(9).code, 1);
}

fn retargeted() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
    let tip = "e".repeat(40);
    story.github.branch("release", &tip);
    story.github.retarget("release");
    let gates = "    path: golden\n    gates: { finding_count: { max: 0, hard: true } }\n";
    let strict = story
        .github
        .text("goldgate.yaml")
        .replace("    path: golden\n", gates);
    story.github.file_at(&tip, "goldgate.yaml", &strict);
    story.checkout.write("goldgate.yaml", &strict);
    let mut job = Job::new(
        &story.checkout,
        &story.github,
        "pull_request.opened",
        "pull_request",
    );
    job.event["pull_request"]["base"]["ref"] = json!("release");
    job.event["action"] = json!("edited");
    let ran = job.runs();
    assert!(
        ran.code == 1 && ran.stdout.contains("because it is for another result"),
        "{}",
        ran.stdout
    );
}

fn no_baseline() {
    let story = Story::new();
    story
        .checkout
        .replace("goldgate.yaml", "baseline: baselines/latest.json\n", "");
    story.checkout.remove(BASELINE);
    story.checkout.write(RUN, crate::repository::RUN);
    for file in ["goldgate.yaml", "prompts/legal.md"] {
        let text = if file == "goldgate.yaml" {
            story.checkout.read(file)
        } else {
            story.github.text(file)
        };
        story.checkout.write(file, &text);
        story.github.file(file, &text);
    }
    story.checkout.replace(
        "golden/expected/legal/lease.json",
        "\"expected_gaps\": [\"Missing_Doc\"],",
        "",
    );
    assert_eq!(story.gate(7).code, 1);
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.statuses(&head_sha()).len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(story.github.reruns().len(), 1);
    assert_eq!(story.graded(8).code, 0);
}

fn by_nobody() {
    for (by, role) in [
        ("acme-label[bot]", "none"),
        ("acme-label[bot]", "read"),
        ("ghost", "none"),
        ("", "admin"),
    ] {
        let story = Story::new();
        story.gate(7);
        story.github.role(by, role);
        let ran = story.labeled(by);
        let why = if by.is_empty() {
            "does not show who added it"
        } else {
            "but an approval needs write"
        };
        story.is_refused(&ran, why);
    }
}
