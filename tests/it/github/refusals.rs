//! A 403 is read before it is explained: four causes, four messages.

use libtest_mimic::Trial;
use serde_json::json;

use super::standin::{Fault, Standin};
use super::{BOT, RUN, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a used up rate limit is not reported as a missing permission",
            used_up,
        ),
        trial("a secondary limit is waited for, with a bound", secondary),
        trial("a locked conversation has its own message", locked),
        trial(
            "a read-only token of Dependabot or of a fork has its own message",
            read_only,
        ),
        trial("the missing permission is the one that GitHub names", named),
        trial(
            "a 403 for another reason is shown in GitHub's own words, as data",
            other,
        ),
    ]
}

fn warnings(stdout: &str) -> Vec<&str> {
    stdout
        .lines()
        .filter(|line| line.starts_with("::warning"))
        .collect()
}

/// "API rate limit exceeded", 403, `x-ratelimit-remaining: 0` (docs, "Rate limits for the REST API").
fn used_up() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("POST", Fault::UsedUp(1_790));
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("rate limit of this token is used up"),
        "{}",
        ran.stdout
    );
    assert!(
        said[0].contains("in 30 min") && !said[0].contains("permission"),
        "{}",
        ran.stdout
    );
    let github = Standin::new(&head_sha());
    github.fault("GET", Fault::UsedUp(1_790));
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("rate limit") && !ran.stderr.contains("permission"),
        "{}",
        ran.stderr
    );
}

fn secondary() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("GET", Fault::Secondary(1));
    github.fault("POST", Fault::Secondary(1));
    let ran = opened(&repository, &github).runs();
    assert_eq!(
        (ran.code, github.bodies(BOT).len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    github.fault("PATCH", Fault::Secondary(900));
    let started = std::time::Instant::now();
    let ran = opened(&repository, &github).runs();
    assert!(started.elapsed().as_secs() < 60, "it waits without a bound");
    assert_eq!(ran.code, 0);
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("too many requests in a short time"),
        "{}",
        ran.stdout
    );
    assert!(said[0].contains("in 15 min"), "{}", ran.stdout);
}

fn locked() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.lock();
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0);
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("the conversation is locked"),
        "{}",
        ran.stdout
    );
    assert!(!said[0].contains("permission"), "{}", ran.stdout);
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&repository, &github).runs().code, 1);
}

fn read_only() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.deny("pull-requests: write");
    let ran = opened(&repository, &github)
        .variable("GITHUB_ACTOR", "dependabot[bot]")
        .runs();
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("a run that Dependabot started is read-only"),
        "{}",
        ran.stdout
    );
    let mut fork = opened(&repository, &github);
    fork.event["pull_request"]["head"]["repo"]["id"] = json!(1);
    let ran = fork.runs();
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("the token of a fork's pull request is read-only"),
        "{}",
        ran.stdout
    );
    assert!(!said[0].contains("the job needs"), "{}", ran.stdout);
}

fn named() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.deny("pull-requests: write");
    let ran = opened(&repository, &github).runs();
    let said = warnings(&ran.stdout);
    assert!(
        said.len() == 1 && said[0].contains("needs the permission `pull-requests: write`"),
        "{}",
        ran.stdout
    );
}

/// An archived repository, an IP allow list, a single sign-on: GitHub gives the cause in its message alone.
fn other() {
    for (message, wanted) in [
        (
            "Repository was archived so is read-only.",
            "Repository was archived so is read-only.",
        ),
        (
            "the `acme` organization has an IP allow list enabled\n::error::x",
            "organization has an IP allow list enabled",
        ),
        (
            "Resource protected by organization SAML enforcement.",
            "organization SAML enforcement",
        ),
    ] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        github.fault("POST", Fault::Says(message));
        let ran = opened(&repository, &github).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let said = warnings(&ran.stdout);
        assert!(
            said.len() == 1 && said[0].contains(wanted) && !said[0].contains("permission `"),
            "{}",
            ran.stdout
        );
        assert!(
            !ran.stdout
                .lines()
                .any(|line| line.starts_with("::error::x")),
            "{}",
            ran.stdout
        );
    }
}
