//! A retarget, and two configs.

use serde_json::json;

use super::{Fork, is_opened_by, keep, one};
use crate::github::approval::LABEL;
use crate::github::configs::Services;
use crate::github::standin::pulls::MERGE;
use crate::github::{RUN, head_sha};
use crate::repository::Repository;

/// A fork's pull request into an older branch that asks for less. It is green there; for the default branch it is judged again.
pub fn retargeted() {
    let fork = Fork::new();
    let (release, weak, merge) = ("e".repeat(40), Repository::small(), "8".repeat(40));
    weak.replace("goldgate.yaml", "baseline: baselines/latest.json\n", "");
    let head = Repository::small();
    for file in ["prompts/legal.md", RUN] {
        // There the agent is no better.
        weak.write(file, fork.head.read(file));
        head.write(file, fork.head.read(file));
    }
    head.write("goldgate.yaml", weak.read("goldgate.yaml"));
    fork.github.commit(&release, &weak);
    fork.github.commit(&head_sha(), &head);
    fork.github.commit(&merge, &head);
    fork.github.branch("release-1.0", &release);
    fork.github.guard("release-1.0");
    fork.github.retarget("release-1.0");
    fork.github.renew_merge(2, &merge);
    let ran = fork.trusted("pull_request.opened", 11).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    is_opened_by(&one(&fork.github), "TIP", "First run: all ");

    // Its author changes the base branch: the same commit, the same check, and the workflow listens to `edited`.
    fork.github.retarget("master");
    fork.github.renew_merge(2, MERGE);
    let mut job = fork.trusted("pull_request.opened", 12);
    job.event["action"] = json!("edited");
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = one(&fork.github);
    is_opened_by(&body, "CAUTION", "Merge blocked: legal ");
    assert!(body.contains("baseline of master"), "{body}");
    keep("10-retargeted", &body);
    // The old run, started again, has the payload of then; it is judged for the base branch of today.
    let mut job = fork.trusted("pull_request.opened", 11);
    job.event["pull_request"]["base"]["ref"] = json!("release-1.0");
    assert_eq!(job.runs().code, 1);
}

/// Two services with a config each: one step, one comment, one label.
pub fn two_configs() {
    let services = Services::regressed(&["b"]);
    let ran = services.step("pull_request.opened", 7).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    services.github.label_by("alice", LABEL);
    let ran = services.step("pull_request.labeled", 8).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = one(&services.github);
    assert!(
        body.contains("b/goldgate.yaml: Passes by approval of alice: "),
        "{body}"
    );
    keep("11-two-configs", &body);
}
