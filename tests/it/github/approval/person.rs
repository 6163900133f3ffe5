//! A personal token: its owner sets and removes labels by hand as the same account.

use libtest_mimic::Trial;

use super::{LABEL, Story};
use crate::github::head_sha;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("with a personal token, its owner's removal of the label withdraws the approval", owner)]
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
    assert_eq!(statuses[1], "failure withdrawn: trudy removed the label", "{}{}", ran.stdout, ran.stderr);
    // What goldgate removes as the same account is its own: the refused label leaves a status that says so.
    let ran = story.labeled("mallory");
    assert!(!story.github.labels().contains(&LABEL.to_owned()), "{}{}", ran.stdout, ran.stderr);
    let mark = "success goldgate removes the label goldgate:accept-baseline of pull request 2";
    let statuses = story.github.statuses(&head_sha());
    assert!(statuses.iter().any(|status| status == mark), "{statuses:?}");
}
