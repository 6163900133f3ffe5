//! Reports that an approval does not take, and where they are downloaded from.

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
    story.upload(8, &head_sha(), &advisory);
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
    story.upload(7, &other, &story.report());
    story.labeled("alice");
    story.has_no_result();
    let story = Story::new();
    story.graded(7);
    story.upload(7, &head_sha(), &story.report().replace(&head_sha(), &other));
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
    let report = story.report();
    for (zip, why) in [
        (b"no archive".to_vec(), "the archive cannot be read"),
        (
            zipped(&[("a/report.json", &report)]),
            "it has no report.json",
        ),
        (uploaded("{"), "report.json&#58;1&#58;"),
        (uploaded(&"[".repeat(1_000_000)), "report.json&#58;1&#58;"),
        (
            uploaded(&report.replace("goldgate.report/1", "goldgate.report/2")),
            "unknown schema",
        ),
        (
            zipped(&[("report.json", &report), ("../x", "")]),
            "leaves the repository",
        ),
        (
            zipped(&[("report.json", &report), ("/etc/x", "")]),
            "is absolute",
        ),
    ] {
        let story = Story::new();
        story.graded(7);
        story.upload(7, &head_sha(), &report);
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

/// A run of the pull request's own workflow leaves a report that claims what the gate does not find. Somebody believes it and adds the
/// label.
pub fn forged_artifacts() {
    let story = Story::new();
    assert_eq!(story.graded(7).code, 1);
    let real = story.report();
    let change = |change: &dyn Fn(&mut Value)| {
        let mut report: Value = serde_json::from_str(&real).unwrap();
        change(&mut report);
        report.to_string()
    };
    let harmless = |report: &mut Value| {
        let agent = &mut report["suites"][0]["agents"][0];
        agent["metrics"]["f1_score"]["value"] = json!(0.999);
        agent["cases"][0]["metrics"]["f1_score"]["samples"] = json!([0.999]);
    };
    for (what, forged) in [
        ("better numbers", change(&harmless)),
        (
            "no case",
            change(&|report| report["suites"][0]["agents"][0]["cases"] = json!([])),
        ),
        (
            "no golden change",
            change(&|report| report["golden_changes"] = json!([])),
        ),
        (
            "another suite",
            change(&|report| report["suites"][0]["id"] = json!("other")),
        ),
    ] {
        let story = Story::new();
        assert_eq!(story.graded(7).code, 1);
        story.upload(7, &head_sha(), &forged);
        let ran = story.labeled("alice");
        assert_eq!(ran.code, 0, "{what}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(story.graded(8).code, 1, "{what}");
    }
    // The control: what the gate itself has measured.
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
}

pub fn redirected() {
    for (address, wanted) in [
        (None, None),
        (
            Some("PORT/_stored/artifact-500?signature=of-the-storage"),
            None,
        ),
        (
            Some("PORT/_stored/round"),
            Some("there were more than 3 redirects"),
        ),
        (
            Some("ftp://127.0.0.1/x"),
            Some("an address without TLS, which is not followed"),
        ),
        (
            Some("/relative"),
            Some("an address without TLS, which is not followed"),
        ),
        (
            Some("http://[broken"),
            Some("a redirect has an invalid address"),
        ),
    ] {
        let story = Story::new();
        story.gate(7);
        if let Some(address) = address {
            let address = address.replace("PORT", &story.github.address());
            story.github.send_elsewhere(&address);
        }
        let ran = story.labeled("alice");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let count = story.github.statuses(&head_sha()).len();
        match wanted {
            None => assert_eq!((ran.code, count), (0, 1), "{address:?}: {said}"),
            Some(sentence) => assert!(
                (ran.code, count) == (0, 0) && said.contains(sentence),
                "{address:?}: {said}"
            ),
        }
        assert_eq!(story.github.leaks(), Vec::<String>::new(), "{address:?}");
    }
}

/// The reason of a worse number goes from the description into the comment.
pub fn hostile_reason() {
    let story = Story::new();
    story.gate(7);
    let hostile = "@acme/all closes #1 ![x](http://e/x.png) <img> \u{202e}`` --> <!-- goldgate:end --> \"}]\\ ::error::x";
    story.github.describe(
        2,
        &format!("Goldgate-Reason: {hostile}{}\nlines", "y".repeat(70_000)),
    );
    story.labeled("alice");
    let ran = story.graded(8);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    let reason = report["approval"]["reason"].as_str().unwrap();
    assert!(
        reason.chars().count() <= 301 && !reason.contains(['\n', '\u{202e}']),
        "{reason}"
    );
    let comment = story.github.bodies(BOT).remove(0);
    assert!(comment.contains(" Reason: "), "{comment}");
    for bad in ["@acme", "![", "<img", "http://", "\u{202e}"] {
        assert!(!comment.contains(bad), "{bad}: {comment}");
    }
    assert!(
        ran.stdout.lines().all(|line| !line.starts_with("::error")),
        "{}",
        ran.stdout
    );
    assert_eq!(comment.matches("<!-- goldgate:comment").count(), 1);
}
