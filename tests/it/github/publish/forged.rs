//! A fork's job can upload anything. What it uploads is shown as its own word, on its own pull request, and approves nothing.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Fork, RUN_ID, zipped};
use crate::github::approval::{LABEL, Story};
use crate::github::{BOT, RUN, head_sha, opened};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a forged report stays the word of the pull request, whatever it claims",
            claims,
        ),
        trial(
            "a forged report of another tier does not come before our own verdict",
            other_tier,
        ),
        trial("the artifact of another run is not published", other_run),
        trial(
            "an archive with tricks in it is refused or read like any other",
            tricks,
        ),
        trial(
            "a forged report that somebody approves does not make the gate green",
            approved,
        ),
    ]
}

/// A report that somebody wrote, with all that a real one has.
fn forged(fork: &Fork, change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut report = fork.report.clone();
    change(&mut report);
    zipped(&[("report.json", report.to_string().as_bytes())])
}

type Change = fn(&mut Value);

fn claims() {
    let table: [(&str, Change); 7] = [
        ("a pass", |report| {
            (report["verdict"], report["exit_code"]) = (json!("pass"), json!(0));
            for metric in report["suites"][0]["agents"][0]["metrics"]
                .as_object_mut()
                .unwrap()
                .values_mut()
            {
                metric["verdict"] = json!("pass");
                metric["gates"]
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                    .for_each(|gate| gate["verdict"] = json!("pass"));
            }
        }),
        ("an approval", |report| {
            report["approval"] = json!({
                "by": "alice", "at": "2026-11-21T01:00:00Z", "head": head_sha(), "digest": "a".repeat(64),
            });
        }),
        ("that it blocks", |report| report["blocking"] = json!(true)),
        ("another pull request", |report| {
            report["other_pull_requests"] =
                json!([{ "number": 99, "into": "main", "verdict": "pass" }]);
        }),
        ("another base branch", |report| {
            report["base_branch"] = json!("release")
        }),
        ("no suites", |report| report["suites"] = json!([])),
        ("changes that need no approval", |report| {
            report["golden_changes"] = json!([])
        }),
    ];
    for (what, change) in table {
        let fork = Fork::new(true);
        let ran = fork.publishes(Some(forged(&fork, change)));
        let bodies = fork.github.bodies(BOT);
        if ran.code == 3 {
            assert!(
                bodies.is_empty() && ran.stdout.contains("the report is refused"),
                "{what}: {}",
                ran.stdout
            );
            continue;
        }
        assert_eq!(
            (ran.code, bodies.len()),
            (0, 1),
            "{what}: {}{}",
            ran.stdout,
            ran.stderr
        );
        let body = &bodies[0];
        let alert = body.lines().next().unwrap();
        assert!(
            ["> [!WARNING]", "> [!NOTE]"].contains(&alert),
            "{what}: {body}"
        );
        assert!(
            body.contains("> **As measured by the pull request itself: "),
            "{what}: {body}"
        );
        assert!(
            !body.contains("by approval of") && !body.contains("blocks the merge"),
            "{what}: {body}"
        );
        assert!(fork.github.bodies_on(99).is_empty(), "{what}");
        // Nothing is written but the comment.
        let written = fork.github.requests();
        let written: Vec<&String> = written
            .iter()
            .filter(|request| !request.starts_with("GET "))
            .collect();
        assert!(
            written
                .iter()
                .all(|request| request.ends_with("/comments") || request.ends_with("/graphql")),
            "{what}: {written:?}"
        );
        assert!(
            fork.github.statuses(&head_sha()).is_empty() && fork.github.check_runs().is_empty(),
            "{what}"
        );
    }
}

/// The sections of the tiers are in a fixed order, and each verdict of our own has precedence over a stranger's of the same tier.
fn other_tier() {
    for tiers in [
        json!(["model"]),
        json!(["model", "deterministic"]),
        json!(["deterministic", "model"]),
        json!([]),
    ] {
        let fork = Fork::new(true);
        assert_eq!(opened(&fork.repository, &fork.github).runs().code, 1);
        let before = fork.github.bodies(BOT).remove(0);
        let archive = forged(&fork, |report| {
            (report["verdict"], report["exit_code"], report["tier"]) =
                (json!("pass"), json!(0), tiers.clone());
        });
        let ran = fork.publishes(Some(archive));
        let bodies = fork.github.bodies(BOT);
        let [body] = bodies.as_slice() else {
            panic!("{tiers}: {bodies:?}")
        };
        let first = |body: &str| {
            body.split("<!-- goldgate:end -->")
                .next()
                .unwrap()
                .to_owned()
        };
        assert_eq!(first(body), first(&before), "{tiers}: {}", ran.stdout);
        assert!(body.starts_with("> [!CAUTION]"), "{tiers}: {body}");
    }
}

fn other_run() {
    let fork = Fork::new(true);
    fork.github.run(fork.run.clone());
    fork.github.pull_from("mallory:changes", fork.pull.clone());
    // It lies in another run of the repository, which the event does not name.
    fork.github
        .artifact(RUN_ID + 1, "goldgate-report", fork.artifact());
    let ran = fork.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("run 4711 has no artifact goldgate-report"),
        "{}",
        ran.stdout
    );
    // A run that is not of this repository.
    let mut job = fork.job();
    job.event["workflow_run"]["id"] = json!(RUN_ID + 2);
    let ran = job.runs();
    assert_eq!(
        (ran.code, fork.github.bodies(BOT).len()),
        (3, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // One with a name that is almost the artifact's.
    for name in [
        "goldgate-report ",
        "Goldgate-Report",
        "goldgate-report-default",
    ] {
        fork.github.artifact(RUN_ID, name, fork.artifact());
    }
    let ran = fork.job().runs();
    assert_eq!(
        (ran.code, fork.github.bodies(BOT).len()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn tricks() {
    let fork = Fork::new(true);
    let green =
        |report: &mut Value| (report["verdict"], report["exit_code"]) = (json!("pass"), json!(0));
    let (own, other) = (fork.artifact(), forged(&fork, green));
    let text = fork.report.to_string();
    let mut damaged = own.clone();
    damaged[60] ^= 0xff;
    let mut behind = b"#!/bin/sh\n".to_vec();
    behind.extend(&own);
    let renamed = |from: &[u8], to: &[u8]| {
        let mut bytes = zipped(&[("report.json", text.as_bytes()), ("Report.json", b"{}")]);
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|place| bytes[*place..].starts_with(from))
            .collect();
        places
            .iter()
            .for_each(|place| bytes[*place..*place + to.len()].copy_from_slice(to));
        bytes
    };
    let table: Vec<(&str, Vec<u8>)> = vec![
        (
            "the same name twice",
            renamed(b"Report.json", b"report.json"),
        ),
        (
            "one archive behind another",
            [own.clone(), other.clone()].concat(),
        ),
        ("a program in front of it", behind),
        ("damaged data", damaged),
        ("no end", own[..own.len() - 10].to_vec()),
        (
            "a name with a dot in front",
            zipped(&[("./report.json", text.as_bytes())]),
        ),
        (
            "a name with a backslash",
            zipped(&[("a\\..\\report.json", text.as_bytes())]),
        ),
        (
            "a name in capitals",
            zipped(&[("REPORT.JSON", text.as_bytes())]),
        ),
        ("a folder of this name", zipped(&[("report.json/", b"")])),
        (
            "a name with an invisible letter",
            zipped(&[("report\u{200b}.json", text.as_bytes())]),
        ),
    ];
    for (what, bytes) in table {
        let fork = Fork::new(true);
        let ran = fork.publishes(Some(bytes));
        let bodies = fork.github.bodies(BOT);
        match ran.code {
            0 => assert!(
                bodies.len() == 1 && bodies[0].contains("As measured by the pull request itself"),
                "{what}"
            ),
            code => assert!(
                code == 3 && bodies.is_empty(),
                "{what}: {}{}",
                ran.stdout,
                ran.stderr
            ),
        }
        assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
    }
}

/// A run of a fork's own workflow leaves a report that claims what the gate does not find. Somebody believes it and adds the label.
fn approved() {
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
        story.upload(7, &head_sha(), &forged, &story.proposed());
        let ran = story.labeled("alice");
        assert_eq!(ran.code, 0, "{what}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(story.graded(8).code, 1, "{what}");
        assert_eq!(
            (story.bump().code, story.github.commits().len()),
            (0, 0),
            "{what}"
        );
    }
    // The control: what the gate itself has measured.
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", LABEL);
    story.approve("alice");
    assert_eq!(story.graded(8).code, 0);
    assert!(story.checkout.path(RUN).exists());
}
