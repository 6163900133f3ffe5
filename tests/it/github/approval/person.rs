//! A personal token: its owner sets and removes labels by hand as the same account.

use libtest_mimic::Trial;

use super::{LABEL, Story};
use crate::github::standin::pulls::NUMBER;
use crate::github::{BOT, head_sha};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "with a personal token, its owner's removal of the label withdraws the approval",
            owner,
        ),
        trial(
            "a label that another workflow of the same account removed approves nothing",
            other_workflow,
        ),
        trial(
            "another workflow of the same account that removes the label withdraws the approval",
            withdrawn_by_other,
        ),
    ]
}

fn owner() {
    let story = Story::new();
    // Trudy takes labels away in the stand-in.
    story.github.app("trudy");
    assert_eq!(story.gate(7).code, 1);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
    let ran = story.unlabeled(7);
    let statuses = story.github.statuses(&head_sha());
    assert_eq!(
        statuses[1], "failure withdrawn: trudy removed the label; #2",
        "{}{}",
        ran.stdout, ran.stderr
    );
    // What goldgate removes as the same account is its own: the refused label leaves a status that says so.
    let ran = story.labeled("mallory");
    assert!(
        !story.github.labels().contains(&LABEL.to_owned()),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let mark =
        "success goldgate removes the label goldgate:accept-baseline of pull request 2 in run ";
    let statuses = story.github.removals(&head_sha());
    assert!(
        statuses.iter().any(|status| status.starts_with(mark)),
        "{statuses:?}"
    );
}

/// A policy workflow removes the label before goldgate reads it.
fn other_workflow() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    story.github.label_by("alice", LABEL);
    story.github.unlabel_by(BOT, NUMBER, LABEL);
    let ran = story.approve("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story.github.statuses(&head_sha()).is_empty(),
        "{}",
        ran.stdout
    );
    assert_eq!(story.graded(9).code, 1);
}

fn withdrawn_by_other() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0, "the control");
    story.github.unlabel_by(BOT, NUMBER, LABEL);
    let ran = story
        .job("pull_request.unlabeled", BOT, 21)
        .input("mode", "approve")
        .runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.graded(10).code, 1);
}
