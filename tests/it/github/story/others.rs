//! A retarget, two configs, and an app's token.

use serde_json::json;

use super::{Fork, is_opened_by, keep, one};
use crate::github::approval::{BASELINE, LABEL, Story, committed};
use crate::github::configs::{SERVICES, in_one_run};
use crate::github::standin::pulls::MERGE;
use crate::github::{Job, RUN, head_sha};
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
        let ran = services.labeled(service, "approve");
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

/// With an app's token the approved baseline is a commit on the branch, and its push starts the gate.
pub fn app() {
    const APP: &str = "acme-goldgate[bot]";
    let story = Story::new();
    story.github.app(APP);
    assert_eq!(story.gate(8).code, 1);
    story.github.label(LABEL);
    let approve = story
        .job("pull_request.labeled", "alice", 20)
        .input("mode", "approve")
        .input("rerun", "false");
    let ran = approve.runs();
    assert_eq!(
        (ran.code, story.github.statuses(&head_sha()).len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = story.bump();
    let head = story.github.head("changes").unwrap();
    assert!(
        ran.code == 0 && head != head_sha(),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(
        story.github.statuses(&head),
        story.github.statuses(&head_sha())
    );
    assert!(story.github.reruns().is_empty());
    let bodies = story.github.bodies(APP);
    assert!(
        bodies.len() == 1 && bodies[0].contains("are committed as"),
        "{bodies:?}"
    );
    keep("12-bumped", &bodies[0]);

    // The steps run on the event of that push as well, and change nothing.
    for mode in ["approve", "bump"] {
        let mut job = story
            .job("pull_request.synchronize", APP, 21)
            .input("mode", mode)
            .input("rerun", "false");
        job.event["pull_request"]["head"]["sha"] = json!(head);
        assert_eq!(job.runs().code, 0);
    }
    assert_eq!(
        (
            story.github.commits().len(),
            story.github.statuses(&head).len()
        ),
        (1, 1)
    );
    story.checkout.write(BASELINE, committed(&story, &head));
    let mut job = Job::new(
        &story.checkout,
        &story.github,
        "pull_request.synchronize",
        "pull_request",
    )
    .head(&head);
    job.run = 40;
    let ran = job.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let bodies = story.github.bodies(APP);
    assert_eq!(bodies.len(), 1);
    is_opened_by(&bodies[0], "NOTE", "Passes by approval of alice: legal ");
}
