//! A retarget, and two configs.

use serde_json::json;

use super::{Fork, is_opened_by, keep, one};
use crate::github::configs::{SERVICES, in_one_run};
use crate::github::standin::pulls::MERGE;
use crate::github::{RUN, head_sha};
use crate::repository::Repository;

/// A fork's pull request into an older branch that asks for less. It is green there; for the default branch it is judged again.
pub fn retargeted() {
    let fork = Fork::new();
    let (release, weak) = ("e".repeat(40), Repository::small());
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
    fork.github.branch("release-1.0", &release);
    fork.github.guard("release-1.0");
    fork.github.retarget("release-1.0");
    fork.github.commit(MERGE, &head);
    let ran = fork.trusted("pull_request.opened", 11);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    is_opened_by(&one(&fork.github), "TIP", "First run: all ");

    // Its author changes the base branch: the same commit, the same check, and the workflow listens to `edited`.
    fork.github.retarget("master");
    fork.github.commit(MERGE, &fork.head);
    let mut job = fork
        .job(
            &fork.workspace,
            "pull_request.opened",
            "pull_request_target",
            12,
        )
        .input("mode", "trusted");
    job.event["action"] = json!("edited");
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = one(&fork.github);
    is_opened_by(&body, "CAUTION", "Merge blocked: legal ");
    assert!(body.contains("baseline of master"), "{body}");
    keep("10-retargeted", &body);
    // The old run, started again, has the payload of then; it is judged for the base branch of today.
    let mut job = fork
        .job(
            &fork.workspace,
            "pull_request.opened",
            "pull_request_target",
            11,
        )
        .input("mode", "trusted");
    job.event["pull_request"]["base"]["ref"] = json!("release-1.0");
    assert_eq!(job.runs().code, 1);
}

/// Two services with a config each, whose gates are jobs of one run: one label, two approvals, one start of the run.
pub fn two_configs() {
    let services = in_one_run(&SERVICES);
    for service in SERVICES {
        let ran = services.labeled(service);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let of_a = services.github.bodies_on(2).remove(0);
        if service == "a" {
            assert!(
                services.github.reruns().is_empty() && of_a.contains("once the result of"),
                "{of_a}"
            );
            keep("11-two-configs", &of_a);
        }
    }
    assert_eq!(
        services.github.contexts(&head_sha()),
        ["goldgate/baseline/a", "goldgate/baseline/b"]
    );
    assert_eq!(services.github.reruns().len(), 1);
    assert_eq!(
        SERVICES.map(|service| services.gate(service, 7).code),
        [0, 0]
    );
    assert_eq!(
        services.github.bodies_on(2).len(),
        2,
        "each config has one comment"
    );
}
