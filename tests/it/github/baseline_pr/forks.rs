//! Pull requests from a fork of the same owner, whose branch has the name of goldgate's own.

use libtest_mimic::Trial;

use super::{BRANCH, Branch};
use crate::trial;

/// The number of the fork's pull request.
const OF_FORK: u64 = 3;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an open pull request of a fork with the branch's name is left alone",
            open,
        ),
        trial(
            "a closed pull request of a fork with the branch's name declines nothing",
            closed,
        ),
    ]
}

fn with_fork() -> Branch {
    let branch = Branch::new();
    branch
        .github
        .open_pull_of_fork(OF_FORK, BRANCH, &"6".repeat(40));
    branch.worse();
    branch
}

fn open() {
    let branch = with_fork();
    branch.github.describe(OF_FORK, "mine");
    let ran = branch.job();
    assert!(
        ran.code == 0 && ran.stdout.contains("opened pull request 4"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = branch.job();
    assert!(
        ran.code == 0 && ran.stdout.contains("pull request 4 has the moved numbers"),
        "{}",
        ran.stdout
    );
    assert_eq!(branch.github.description(OF_FORK), "mine");
}

fn closed() {
    let branch = with_fork();
    // It has the proposal, as if somebody had declined it.
    branch.step("").runs();
    branch.github.file_at(
        &"6".repeat(40),
        super::BASELINE,
        &branch
            .repository
            .read(".goldgate/report/proposed-baseline.json"),
    );
    branch.github.close(OF_FORK);
    let ran = branch.job();
    assert!(
        ran.code == 0 && ran.stdout.contains("opened pull request 4"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
