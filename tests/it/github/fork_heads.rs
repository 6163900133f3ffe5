//! A pull request of a fork with the head of one of the repository's own.

use libtest_mimic::Trial;

use super::present::{into_lax, shared};
use super::{RUN, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a pull request of a fork with the same head is judged by the run of the repository's own",
        of_fork,
    )]
}

/// GitHub may not list it among the pull requests of the commit.
fn of_fork() {
    let (repository, github) = shared();
    github.fork_of(5);
    assert_eq!(opened(&repository, &github).runs().code, 0, "the control");
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    into_lax(&github, &Repository::small(), &worse);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}
