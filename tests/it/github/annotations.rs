//! The annotations of a job. GitHub shows ten errors and ten warnings of a step (docs, "Limits for annotations"), so the rest is counted.

use libtest_mimic::Trial;

use super::standin::{Fault, Standin};
use super::{Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("ten errors are annotated, and the rest is counted", errors),
        trial(
            "ten warnings are annotated, and the rest is counted",
            warnings,
        ),
        trial("no rest is counted where every annotation is shown", few),
        trial(
            "a missing verdict is annotated with its reason, and stamped recordings at one of their files",
            no_verdict,
        ),
        trial(
            "an error of every mode is an annotation and in the summary, and its text is data",
            failed_modes,
        ),
    ]
}

/// Suites of which each has two failed checks.
fn failing(suites: usize) -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let mut config = "version: 1\nsuites:\n".to_owned();
    for number in 0..suites {
        config.push_str(&format!(
            "  - id: contracts-{number:02}\n    kind: findings\n    policy: seed\n    path: golden\n    agents:\n      legal: {{ deterministic: {{ replay: \
             golden/runs }}, fingerprint: [prompts/legal.md] }}\n"
        ));
    }
    repository.write("goldgate.yaml", config);
    github.files(&repository);
    repository.write("prompts/legal.md", "Report nothing.\n");
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    (repository, github)
}

fn count(ran: &Ran, command: &str) -> usize {
    ran.stdout
        .lines()
        .filter(|line| line.starts_with(command))
        .count()
}

#[track_caller]
fn counts(ran: &Ran, errors: usize, warnings: usize, rest: Option<&str>) {
    assert_eq!(
        (count(ran, "::error "), count(ran, "::warning ")),
        (errors, warnings),
        "{}",
        ran.stdout
    );
    let notices = ran
        .stdout
        .lines()
        .filter(|line| line.contains("see the job summary"));
    assert_eq!(
        notices.collect::<Vec<_>>(),
        rest.into_iter().collect::<Vec<_>>(),
        "{}",
        ran.stdout
    );
}

fn errors() {
    let (repository, github) = failing(11);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    // A case of each suite is broken.
    let rest = ran
        .stdout
        .lines()
        .filter(|line| line.contains("see the job summary"));
    assert_eq!(
        rest.collect::<Vec<_>>(),
        ["::notice title=goldgate::1 more error; see the job summary"],
        "{}",
        ran.stdout
    );
    assert_eq!(
        (count(&ran, "::error "), count(&ran, "::warning ")),
        (10, 0)
    );
}

fn warnings() {
    let (repository, github) = failing(12);
    let ran = opened(&repository, &github)
        .input("blocking", "false")
        .runs();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    counts(
        &ran,
        0,
        10,
        Some("::notice title=goldgate::2 more warnings; see the job summary"),
    );
}

/// The recordings are of another prompt; then they are stamped, so that another person has to approve them.
fn no_verdict() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.stamp_unless_kept();
    repository.keep_digests();
    github.files(&repository);
    repository.write("prompts/legal.md", "Report nothing.\n");
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let annotation = "::error title=goldgate::contracts/legal: 1 recording is stale: prompts/legal.md changed since it was made (lease.json); ";
    assert!(ran.stdout.contains(annotation), "{}", ran.stdout);
    repository.goldgate(&["stamp", "--stale"]);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let annotation = format!("::error file={RUN},line=1,title=goldgate::");
    assert!(ran.stdout.contains(&annotation), "{}", ran.stdout);
}

fn few() {
    let (repository, github) = failing(2);
    let run = |blocking| {
        opened(&repository, &github)
            .input("blocking", blocking)
            .runs()
    };
    let ran = run("true");
    counts(&ran, 2, 0, None);
    // A red gate says by itself why, at the line of its worst case, and after the folded table.
    let gate = "::error file=golden/expected/legal/lease.json,line=3,title=goldgate::contracts-00/legal/lease: ";
    assert!(ran.stdout.contains(gate), "{}", ran.stdout);
    let (_, shown) = ran.stdout.split_once("::endgroup::\n").unwrap();
    assert!(shown.starts_with("goldgate: First run: "), "{shown}");
    counts(&run("false"), 0, 2, None);
}

fn failed_modes() {
    let hostile = "x\"@acme/all ![x](http://e/x.png) <img> %0A::error::pwned";
    for (event, name, input, code, wanted) in [
        (
            "pull_request.opened",
            "pull_request",
            ("mode", "none"),
            2,
            "mode",
        ),
        (
            "pull_request.opened",
            "pull_request",
            ("tier", hostile),
            2,
            "@acme/all",
        ),
        (
            "pull_request.opened",
            "pull_request",
            ("comment-key", "größe"),
            2,
            "comment-key is",
        ),
        (
            "pull_request.opened",
            "pull_request",
            ("config", "missing.yaml"),
            2,
            "missing.yaml",
        ),
        (
            "pull_request.labeled",
            "pull_request_target",
            ("mode", "record"),
            3,
            "pull request cannot be read",
        ),
    ] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        if code == 3 {
            github.fault("GET", Fault::Always(403));
        }
        let ran = Job::new(&repository, &github, event, name)
            .input(input.0, input.1)
            .runs();
        assert_eq!(ran.code, code, "{input:?}: {}{}", ran.stdout, ran.stderr);
        let level = if code == 2 {
            "::error title=goldgate::"
        } else {
            "::warning title=goldgate::"
        };
        let first = ran
            .stdout
            .lines()
            .find(|line| line.starts_with(level))
            .unwrap_or_default();
        assert!(
            first.contains(wanted) && !first.contains("%0A"),
            "{input:?}: {}",
            ran.stdout
        );
        let summary = repository.read(".runner/summary");
        assert!(
            summary.starts_with("**goldgate: no result**\n\n- "),
            "{input:?}: {summary}"
        );
        for bad in ["@acme", "![", "<img", "http:"] {
            assert!(!summary.contains(bad), "{bad}: {summary}");
        }
    }
}
