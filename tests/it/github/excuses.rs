//! Which commit of the base branch may excuse a number on GitHub, and whom other pull requests with the same head may block.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::test_merge;
use super::{BOT, RUN, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a pull request with the same head into a branch without a config blocks nobody",
            no_config,
        ),
        trial(
            "a pull request with the same head that conflicts is judged without its merge",
            conflict,
        ),
        trial(
            "several pull requests with the same head into one branch count once",
            same_branch,
        ),
        trial(
            "of too many pull requests with the same head only those into checked branches count",
            too_many,
        ),
    ]
}

/// Pull request 2 into master, and another one with the same head into `pages`.
fn with_other() -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.commit(&base_sha(), &repository);
    github.branch("pages", &"e".repeat(40));
    github.second_pull(5, "pages");
    (repository, github)
}

fn no_config() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.commit(&base_sha(), &repository);
    github.branch("pages", &"e".repeat(40));
    github.second_pull(5, "pages");
    let bare = Repository::empty();
    bare.write("index.html", "Leases");
    github.commit(&"e".repeat(40), &bare);
    github.commit(&test_merge(5), &repository);
    for mergeable in [json!(true), json!(false)] {
        github.mergeable_of(5, mergeable);
        github.merge_base(&head_sha(), &"e".repeat(40));
        let ran = opened(&repository, &github).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let note = "pull request 5 into pages has the same head commit and passes: pages has no goldgate.yaml";
        assert!(ran.stdout.contains(note), "{}", ran.stdout);
    }
    // A branch that got a config since this one began is no branch without a config.
    github.commit(&"a".repeat(40), &bare);
    github.merge_base(&head_sha(), &"a".repeat(40));
    github.commit(&"e".repeat(40), &repository);
    assert_eq!(opened(&repository, &github).runs().code, 3);
}

fn conflict() {
    let (repository, github) = with_other();
    github.commit(&"e".repeat(40), &repository);
    github.merge_base(&head_sha(), &"e".repeat(40));
    github.mergeable_of(5, json!(false));
    github.commit(&head_sha(), &repository);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let note = "pull request 5 into pages has the same head commit and passes";
    assert!(
        github.bodies(BOT)[0].contains(note),
        "{}",
        github.bodies(BOT)[0]
    );
    // The conflict can go away without a new run, so a head that fails there is red here.
    let strict = Repository::small();
    strict.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { finding_count: { max: 0, hard: true } }\n",
    );
    github.commit(&"e".repeat(40), &strict);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

fn same_branch() {
    let (repository, github) = with_other();
    github.commit(&"e".repeat(40), &repository);
    github.commit(&test_merge(5), &repository);
    (6..12)
        .for_each(|number| github.second_pull(number, if number < 9 { "pages" } else { "master" }));
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        ran.stdout
            .matches("has the same head commit and passes")
            .count(),
        1,
        "{}",
        ran.stdout
    );
}

/// Five other pull requests with the same head, each into a branch of its own.
fn many() -> (Repository, Standin) {
    let (repository, github) = with_other();
    for number in 5..10 {
        let branch = format!("branch-{number}");
        github.branch(&branch, &"e".repeat(40));
        github.second_pull(number, &branch);
        github.commit(&test_merge(number), &repository);
    }
    github.commit(&"e".repeat(40), &repository);
    (repository, github)
}

/// The same, where one of the branches requires checks, and the pull request into it is red.
pub fn stricter_among_many() -> (Repository, Standin) {
    let (repository, github) = many();
    github.guard("branch-7");
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    github.commit(&test_merge(7), &worse);
    (repository, github)
}

fn too_many() {
    let (repository, github) = many();
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let note = "5 pull requests have the same head commit and are not judged: too many, and into branches that require no check";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    let (repository, github) = stricter_among_many();
    assert_eq!(opened(&repository, &github).runs().code, 1);
    // Where nobody may know what a branch requires, it counts.
    github.deny("metadata: read");
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.code == 3 && ran.stderr.contains("more than 5 branches"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    github.allow("metadata: read");
    (5..10).for_each(|number| github.guard(&format!("branch-{number}")));
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.code == 3
            && ran
                .stderr
                .contains("more than 5 branches that require checks"),
        "{}",
        ran.stderr
    );
}
