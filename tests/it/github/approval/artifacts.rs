//! Reports and baselines that an approval does not take, and heads that move.

use super::*;

/// A large repository has many workflows, and a pull request is labelled and edited: the gate's run is among the oldest of its head.
pub fn many_runs() {
    // The second has more newer reports of other pull requests than one answer of GitHub lists.
    for newer_reports in [0, 100] {
        let story = Story::new();
        story.gate(7);
        let run = |id: u64, head: &str| {
            story.github.run(json!({
                "id": id, "run_attempt": 1, "head_sha": head, "head_branch": "changes", "event": "pull_request",
                "status": "completed", "conclusion": "success", "path": format!(".github/workflows/{id}.yml"),
                "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } }, "actor": { "login": "Codertocat" },
            }));
        };
        (0..25).for_each(|number| run(100 + number, &head_sha()));
        for number in 0..newer_reports {
            run(200 + number, &"d".repeat(40));
            story
                .github
                .artifact(200 + number, "goldgate-report", Vec::new());
        }
        let before = story.github.requests().len();
        let ran = story.labeled("alice");
        assert_eq!(
            story.github.statuses(&head_sha()).len(),
            1,
            "{newer_reports}: {}{}",
            ran.stdout,
            story.comment()
        );
        assert_eq!(story.github.reruns().len(), 1);
        let asked = story.github.requests().split_off(before);
        let listed = asked
            .iter()
            .filter(|request| request.contains("/artifacts?"))
            .count();
        assert!(newer_reports > 0 || listed < 10, "{asked:?}");
    }
}

/// A workflow of the model tier uploads its report by the same name, later than the gate.
pub fn of_the_models() {
    let story = Story::new();
    story.gate(7);
    let model = story
        .report()
        .replace("\"tier\": \"deterministic\"", "\"tier\": \"model\"");
    let advisory = model
        .replace("\"blocking\": true", "\"blocking\": false")
        .replace("\"exit_code\": 1", "\"exit_code\": 0");
    assert!(model != story.report() && advisory != model, "{model}");
    story.upload(8, &head_sha(), &advisory, &story.proposed());
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        story.comment()
    );
    assert_eq!(story.github.reruns()[0].run, 7);
    // The step's output has another name for it.
    for (tier, blocking, expected) in [
        ("model", "false", "goldgate-model"),
        ("model", "true", "goldgate-report"),
        ("deterministic", "false", "goldgate-report"),
        ("all", "false", "goldgate-report"),
    ] {
        let (repository, github) = (
            super::super::writers::two_tiers(),
            Standin::new(&head_sha()),
        );
        super::super::opened(&repository, &github)
            .input("tier", tier)
            .input("blocking", blocking)
            .runs();
        let output = repository.read(".runner/output");
        assert!(
            output
                .lines()
                .any(|line| line == format!("artifact={expected}")),
            "{tier} {blocking}: {output}"
        );
    }
}

pub fn foreign_artifacts() {
    let other = "c".repeat(40);
    // A run on another commit, and a report on another commit in a run on this one.
    let story = Story::new();
    story.graded(7);
    story.upload(7, &other, &story.report(), &story.proposed());
    story.labeled("alice");
    story.has_no_result();
    let story = Story::new();
    story.graded(7);
    story.upload(
        7,
        &head_sha(),
        &story.report().replace(&head_sha(), &other),
        &story.proposed(),
    );
    let ran = story.labeled("alice");
    story.is_refused(&ran, "is for another commit");
    // Nothing is ever asked of another repository.
    assert!(story.github.requests().iter().all(|request| {
        request.ends_with("/repos/acme/agents")
            || ["/repos/acme/agents/", "/_stored/", "/graphql"]
                .iter()
                .any(|known| request.contains(known))
    }));
    assert!(story.github.leaks().is_empty());
}

pub fn broken_artifacts() {
    let story = Story::new();
    story.graded(7);
    let (report, proposed) = (story.report(), story.proposed());
    for (zip, why) in [
        (b"no archive".to_vec(), "the archive cannot be read"),
        (
            zipped(&[("report.json", &report)]),
            "it has no proposed-baseline.json",
        ),
        (
            zipped(&[("proposed-baseline.json", &proposed)]),
            "it has no report.json",
        ),
        (
            zipped(&[("report.json", "{"), ("proposed-baseline.json", &proposed)]),
            "report.json&#58;1&#58;",
        ),
        (
            zipped(&[("report.json", &report), ("proposed-baseline.json", "[]")]),
            "proposed-baseline.json&#58;1&#58;",
        ),
        (
            zipped(&[("../report.json", &report)]),
            "leaves the repository",
        ),
    ] {
        let story = Story::new();
        story.graded(7);
        story.upload(7, &head_sha(), &report, &proposed);
        story.github.artifact(7, "goldgate-report", zip);
        let ran = story.labeled("alice");
        story.is_refused(&ran, why);
    }
    let story = Story::new();
    story.gate(7);
    story.github.expire();
    let ran = story.labeled("alice");
    story.is_refused(&ran, "has expired; run the gate again");
}

pub fn not_as_measured() {
    let story = Story::new();
    story.graded(7);
    let lower = story
        .proposed()
        .replace("\"f1_score\": 0.5", "\"f1_score\": 0.1");
    assert_ne!(lower, story.proposed());
    story.upload(7, &head_sha(), &story.report(), &lower);
    story.labeled("alice");
    let ran = story.bump();
    assert!(story.github.commits().is_empty(), "{}", ran.stdout);
    assert!(
        story
            .comment()
            .contains("does not have the numbers of the run's own report"),
        "{}",
        story.comment()
    );
}

pub fn moved_during() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let next = "c".repeat(40);
    story.github.push_before_commit(&next);
    let ran = story.bump();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.head("changes").as_deref(), Some(next.as_str()));
    assert!(story.github.commits().is_empty() && story.github.dispatched().is_empty());
    assert!(story.github.statuses(&next).is_empty());
    assert!(
        ran.stdout.contains("the branch moved since the approval"),
        "{}",
        ran.stdout
    );
}

pub fn no_reason() {
    let story = Story::new();
    story.gate(7);
    story.github.describe(
        2,
        "<!-- Goldgate-Reason: a hint -->\nGoldgate-Reason:\nText.",
    );
    story.labeled("alice");
    story.bump();
    assert!(story.github.commits().is_empty());
    let comment = story.comment();
    assert!(
        comment.contains("a worse number needs a reason"),
        "{comment}"
    );
    assert!(
        comment.contains("f1&#95;score of contracts/legal"),
        "{comment}"
    );
    story.github.describe(2, REASON);
    story.bump();
    assert_eq!(story.github.commits().len(), 1);
}

pub fn hostile_reason() {
    let story = Story::new();
    story.gate(7);
    let hostile = "@acme/all closes #1 ![x](http://e/x.png) <img> \u{202e}`` --> <!-- goldgate:end --> \"}]\\ ::error::x";
    story.github.describe(
        2,
        &format!("Goldgate-Reason: {hostile}{}\nlines", "y".repeat(70_000)),
    );
    story.labeled("alice");
    let ran = story.bump();
    let head = story.github.head("changes").unwrap();
    let written: Value = serde_json::from_str(&committed(&story, &head)).unwrap();
    let reason = written["accepted"][0]["reason"].as_str().unwrap();
    assert!(
        reason.chars().count() <= 301 && !reason.contains(['\n', '\u{202e}']),
        "{reason}"
    );
    let message = &story.github.commits()[0]["message"];
    assert!(!message.to_string().contains("acme/all"), "{message}");
    for bad in ["@acme", "![", "<img", "http:"] {
        assert!(!story.comment().contains(bad), "{bad}");
    }
    assert!(
        ran.stdout.lines().all(|line| !line.starts_with("::error")),
        "{}",
        ran.stdout
    );
    assert_eq!(story.comment().matches("<!-- goldgate:comment").count(), 1);
}

/// An outage says nothing about the result, so nothing is refused.
pub fn storage_is_down() {
    let story = Story::new();
    story.gate(7);
    story.github.break_storage(true);
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story.github.labels().contains(&LABEL.to_owned())
            && !story.comment().contains("Not approved"),
        "{}",
        story.comment()
    );
    story.github.break_storage(false);
    story.approve("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
}
