//! Which commit of the base branch may excuse a number on GitHub.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::{BASELINE, base_sha};
use super::standin::Standin;
use super::{Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a run that was started by hand is excused by the tip of the base branch alone", by_hand),
        trial("a run that does not grade the test merge is excused by the tip of the base branch alone", not_the_merge),
        trial(
            "a returned baseline is recognised over the API, and brings back no entry that is not measured",
            returned,
        ),
    ]
}

fn tip() -> String {
    "d".repeat(40)
}

fn worsen(repository: &Repository) {
    repository.replace(RUN, "\"findings\": [", "\"findings\": [ {\"category\": \"a\"},");
}

/// The merge base of the pull request is worse than its baseline, and the head shows the same. The tip is as good as `tip_is`.
fn behind(tip_is: fn(&Repository)) -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.goldgate(&["run", "--update-baseline"]);
    let of_tip = Repository::small();
    of_tip.write(BASELINE, repository.read(BASELINE));
    tip_is(&of_tip);
    github.commit(&tip(), &of_tip);
    github.branch("master", &tip());
    worsen(&repository);
    github.commit(&base_sha(), &repository);
    repository.write("README.md", "Leases.\n");
    (repository, github)
}

fn is_red(ran: &Ran) {
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("already at"), "{}", ran.stdout);
}

fn is_excused(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("master is already at"), "{}", ran.stdout);
}

fn by_hand() {
    let run = |tip_is: fn(&Repository)| {
        let (repository, github) = behind(tip_is);
        let mut job = Job::new(&repository, &github, "workflow_dispatch", "workflow_dispatch");
        job.event["ref"] = json!("refs/heads/changes");
        job.event["repository"]["default_branch"] = json!("master");
        job.variable("GITHUB_SHA", &head_sha()).runs()
    };
    is_red(&run(|_| ()));
    is_excused(&run(worsen));
}

/// On `pull_request_target` the workflow's own commit is the base branch's.
fn not_the_merge() {
    let run = |tip_is: fn(&Repository)| {
        let (repository, github) = behind(tip_is);
        let job = Job::new(&repository, &github, "pull_request.opened", "pull_request_target");
        job.variable("GITHUB_SHA", &tip()).runs()
    };
    is_red(&run(|_| ()));
    is_excused(&run(worsen));
}

/// A baseline was moved and moves back with the numbers that are measured, as a revert does.
fn returned() {
    let run = |forge: &dyn Fn(String) -> String| {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        repository.goldgate(&["run", "--update-baseline"]);
        let good = forge(repository.read(BASELINE));
        let now = Repository::small();
        worsen(&now);
        now.goldgate(&["run", "--update-baseline"]);
        github.commit(&base_sha(), &now);
        let earlier = "7".repeat(40);
        github.file_at(&earlier, BASELINE, &good);
        github.history(&base_sha(), BASELINE, &[base_sha(), earlier]);
        repository.write(BASELINE, good);
        repository.write("prompts/legal.md", "Report each change of control.\n");
        opened(&repository, &github).runs()
    };
    let ran = run(&|text| text);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("it returns to an earlier baseline"), "{}", ran.stdout);
    let ran = run(&|text| {
        let mut baseline: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entry = baseline["suites"]["contracts"]["agents"]["legal"].clone();
        baseline["suites"]["contracts"]["agents"]["later"] = entry;
        serde_json::to_string_pretty(&baseline).unwrap()
    });
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("it returns to an earlier baseline"), "{}", ran.stdout);
}
