//! The merge that a run checked out may be outdated. GitHub starts the run of a new base branch before it has made the new test merge
//! (actions/checkout#919, jenkinsci/github-branch-source-plugin#1534).

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a merge into the old base branch is not believed after a retarget",
            retargeted,
        ),
        trial(
            "a merge into a commit that the base branch no longer has is not believed",
            rewound,
        ),
        trial(
            "a merge into an older commit than the event names is not believed",
            older,
        ),
        trial("a closed pull request is said to be closed", closed),
    ]
}

/// The merge that the run has checked out.
const OLD: &str = "6666666666666666666666666666666666666666";

/// A checkout whose config asks for nothing, and a pull request that is worse.
fn lax() -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.commit(&base_sha(), &repository);
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    github.commit(MERGE, &repository);
    let off = "    path: golden\n    gates: { finding_recall: { off: true, reason: none } }\n";
    repository.replace("goldgate.yaml", "    path: golden\n", off);
    (repository, github)
}

fn run(repository: &Repository, github: &Standin, shard: &str) -> Ran {
    opened(repository, github)
        .variable("GITHUB_SHA", OLD)
        .input("shard", shard)
        .runs()
}

fn base_of(repository: &Repository) -> Value {
    let report: Value =
        serde_json::from_str(&repository.read(".goldgate/report/report.json")).unwrap();
    report["base"].clone()
}

/// Nothing is judged by the rules of another commit than one of the present base branch.
#[track_caller]
fn is_outdated(repository: &Repository, github: &Standin) {
    let ran = run(repository, github, "1/1");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("push a commit, or close and reopen the pull request"),
        "{}",
        ran.stderr
    );
    assert!(github.bodies(BOT).is_empty());
    // Recordings are read from the present test merge.
    let ran = run(repository, github, "");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(base_of(repository), json!(github.head("master").unwrap()));
}

fn retargeted() {
    let (repository, github) = lax();
    let weak = "e".repeat(40);
    github.branch("lax", &weak);
    github.parents(&weak, &[&base_sha()]);
    github.parents(OLD, &[&weak, &head_sha()]);
    is_outdated(&repository, &github);
}

fn rewound() {
    let (repository, github) = lax();
    let gone = "d".repeat(40);
    github.parents(&gone, &[&base_sha()]);
    github.parents(OLD, &[&gone, &head_sha()]);
    is_outdated(&repository, &github);
}

/// A branch that was left at an older commit of the base branch has its older rules.
fn older() {
    let (repository, github) = lax();
    let before = "c".repeat(40);
    github.parents(&base_sha(), &[&before]);
    github.parents(OLD, &[&before, &head_sha()]);
    is_outdated(&repository, &github);
}

fn closed() {
    let (_, github) = lax();
    github.close(2);
    let workspace = Repository::empty();
    let started = std::time::Instant::now();
    let ran = Job::new(
        &workspace,
        &github,
        "pull_request.opened",
        "pull_request_target",
    )
    .runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("pull request 2 is closed"),
        "{}",
        ran.stderr
    );
    assert!(started.elapsed().as_secs() < 8, "it waits for a test merge");
}
