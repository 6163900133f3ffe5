//! A base branch that somebody chose.

use libtest_mimic::Trial;

use super::{LABEL, Recorded, base_sha};
use crate::live::endpoint::{Answer, Endpoint};
use crate::live::{GOOD, KEY};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a pull request into a branch that anybody may push is not recorded",
        open_base,
    )]
}

/// Whoever may push a branch may write its config, and with it the address that gets the keys.
fn open_base() {
    let evil = Endpoint::new(std::time::Duration::ZERO, |_, _| {
        Answer::Says(GOOD.to_owned())
    });
    let into_mine = || {
        let story = Recorded::new();
        let own = format!("{}/v1", story.model.address());
        for side in [&story.base, &story.head] {
            side.replace("goldgate.yaml", &own, &format!("{}/v1", evil.address()));
        }
        story.github.branch("mine", &"e".repeat(40));
        story.github.commit(&"e".repeat(40), &story.base);
        story.github.retarget("mine");
        story
    };
    let story = into_mine();
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.is_refused(
        &ran,
        "the config of the base branch mine would decide where the keys are sent",
    );
    // A protected pattern fits branches that anybody may create.
    let (story, default) = (into_mine(), Recorded::new());
    story.github.guard("mine");
    story.github.branch("master", &"f".repeat(40));
    story.github.commit(&"f".repeat(40), &default.base);
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.is_refused(
        &ran,
        "the config of the base branch mine would decide where the keys are sent",
    );
    // Where nobody may know it, it is not known.
    let story = into_mine();
    story.github.guard("mine");
    story.github.deny("metadata: read");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The control: the default branch has the same addresses.
    let story = into_mine();
    story.github.guard("mine");
    story.github.branch("master", &"e".repeat(40));
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(evil.keys().iter().all(|key| key.ends_with(KEY)));
    // Nor does the run of a label that is dropped and seen later, after a change of the base.
    let story = Recorded::new();
    story.commit();
    story.github.label_by("alice", LABEL);
    story.github.branch("mine", &base_sha());
    story.github.retarget("mine");
    let ran = story.job().runs();
    story.is_refused(&ran, "the base branch mine");
}
