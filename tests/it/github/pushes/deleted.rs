//! The push event of a deleted branch.

use serde_json::json;

use super::{pull, push, tip, trunk};

/// GitHub runs it on the tip of the default branch (docs, "Events that trigger workflows", `push`), so a check without a judgement would
/// be a green one of that commit.
pub fn deleted() {
    let trunk = trunk();
    let worse = pull(&trunk, 3, "legal").checkout;
    for (checkout, expected) in [(&trunk.main, 0), (&worse, 1)] {
        let main = tip(1);
        let mut job = push(&trunk, checkout, ["other", &tip(5), &main]);
        trunk.github.branch("master", &main);
        (job.event["after"], job.event["deleted"]) = (json!("0".repeat(40)), json!(true));
        let ran = job.variable("GITHUB_SHA", &main).variable("GITHUB_REF", "refs/heads/master").runs();
        assert_eq!(ran.code, expected, "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("permission"), "{}", ran.stdout);
    }
}
