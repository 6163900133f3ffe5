//! Push events of deleted branches, and without what GitHub always states.

use libtest_mimic::Trial;
use serde_json::json;

use super::{base_sha, is_green, is_red, pull, push, tip, trunk};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a push that deletes a branch judges the commit that its check belongs to",
            deleted,
        ),
        trial(
            "a push event without the tip before is compared with the parent",
            without_before,
        ),
    ]
}

/// GitHub runs it on the tip of the default branch (docs, "Events that trigger workflows", `push`), so a check without a judgement would
/// be a green one of that commit.
fn deleted() {
    let trunk = trunk();
    let worse = pull(&trunk, 3, "legal").checkout;
    for (checkout, expected) in [(&trunk.main, 0), (&worse, 1)] {
        let main = tip(1);
        let mut job = push(&trunk, checkout, ["other", &tip(5), &main]);
        trunk.github.branch("master", &main);
        (job.event["after"], job.event["deleted"]) = (json!("0".repeat(40)), json!(true));
        let ran = job
            .variable("GITHUB_SHA", &main)
            .variable("GITHUB_REF", "refs/heads/master")
            .runs();
        assert_eq!(ran.code, expected, "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("permission"), "{}", ran.stdout);
    }
}

/// GitHub always states it. A server that does not must not make a commit its own base.
fn without_before() {
    let trunk = trunk();
    let worse = pull(&trunk, 3, "legal").checkout;
    let run = |checkout: &Repository, after: &str| {
        trunk.github.parents(after, &[&base_sha()]);
        let mut job = push(&trunk, checkout, ["master", &base_sha(), after]);
        job.event.as_object_mut().unwrap().remove("before");
        job.variable("GITHUB_SHA", after).runs()
    };
    is_green(&run(&trunk.main, &tip(1)));
    is_red(&run(&worse, &tip(2)), "contracts/legal");
}
