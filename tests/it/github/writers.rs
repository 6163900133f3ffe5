//! Two jobs that write into one comment at the same moment.

use std::thread;

use libtest_mimic::Trial;

use super::standin::Standin;
use super::{BOT, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a hundred times two writers at once lose no section and leave one comment",
        hundred_times,
    )]
}

pub fn two_tiers() -> Repository {
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }",
        "deterministic: { replay: golden/runs }, model: { replay: golden/runs }",
    );
    repository
}

fn hundred_times() {
    // They mostly wait, so several rounds run side by side; every other round finds a comment that stands already.
    thread::scope(|scope| {
        for worker in 0..10 {
            scope.spawn(move || {
                let (one, other) = (two_tiers(), two_tiers());
                for pair in 0..5 {
                    let github = Standin::new(&head_sha());
                    for round in 0..2 {
                        meet(&one, &other, &github, 10 * (pair + 1) + round, worker);
                    }
                }
            });
        }
    });
}

fn meet(one: &Repository, other: &Repository, github: &Standin, run: u64, worker: usize) {
    let write = |repository: &Repository, tier: &'static str| {
        let mut job = opened(repository, github).input("tier", tier);
        job.run = run;
        let ran = job.runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(
            !ran.stdout.contains("could not be written"),
            "{}",
            ran.stdout
        );
    };
    thread::scope(|scope| {
        scope.spawn(|| write(one, "deterministic"));
        scope.spawn(|| write(other, "model"));
    });
    let bodies = github.bodies(BOT);
    assert_eq!(bodies.len(), 1, "worker {worker}, run {run}: {bodies:#?}");
    for text in ["### Deterministic tier", "### Model tier"] {
        assert_eq!(
            bodies[0].matches(text).count(),
            1,
            "worker {worker}, run {run}: {}",
            bodies[0]
        );
    }
    assert_eq!(
        bodies[0].matches(&format!("\"run\":{run},")).count(),
        2,
        "worker {worker}, run {run}: {}",
        bodies[0]
    );
}
