//! What a run is about is asked of GitHub: payloads are frozen, checks belong to commits, and base branches change.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{Story, base_sha};
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, head_sha, opened, payload};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("the base is the commit that the head was merged into, not the payload's frozen one", first_parent),
        trial("a run that is started again after a retarget gives no verdict", retargeted),
        trial("a run on an older head than the present one gives no verdict", older_head),
        trial("a commit that two pull requests have as their head gives no verdict", two_pulls),
        trial("a run that was started by hand is compared with the merge base", by_hand),
        trial("the trusted gate judges the present test merge against the present base branch", trusted),
        trial("the trusted gate gives no verdict without a test merge of the present base", no_merge),
    ]
}

const EXPECTED: &str = "golden/expected/legal/lease.json";

fn report(repository: &Repository) -> Value {
    serde_json::from_str(&repository.read(".goldgate/report/report.json")).unwrap()
}

/// GitHub freezes `base.sha`, and builds the merge that is checked out on the tip of the base branch (measured in
/// shakacode/react_on_rails#4819, lablup/backend.ai#11862).
fn first_parent() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    for file in ["goldgate.yaml", "prompts/legal.md", "golden/contracts/lease.md", EXPECTED, RUN] {
        github.file(file, &repository.read(file));
    }
    // Meanwhile the base branch got a reviewed golden change, which stands in the merge as well.
    let tip = "d".repeat(40);
    repository.replace(EXPECTED, "\"max_expected_findings\": 3", "\"max_expected_findings\": 9");
    github.file(EXPECTED, &repository.read(EXPECTED));
    github.branch("master", &tip);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report(&repository)["base"], json!(tip));
    let asked = github.requests();
    assert!(asked.iter().all(|request| !request.contains(&base_sha())), "{asked:?}");
}

fn is_no_verdict(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no verdict: ") && ran.stderr.contains(why), "{why}: {}", ran.stderr);
}

/// Checks belong to commits, and a run that is started again has its old payload and GITHUB_SHA (GitHub docs, "Re-running workflows
/// and jobs": "the same GITHUB_SHA and GITHUB_REF of the original event").
fn retargeted() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&repository, &github).runs().code, 1);
    let before = github.bodies(BOT);
    // On `lax` nobody asks for anything; the run of then is started again once the pull request is for master.
    let mut lax = opened(&repository, &github);
    lax.event["pull_request"]["base"]["ref"] = json!("lax");
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { finding_recall: { off: true, reason: none } }\n",
    );
    is_no_verdict(
        &lax.runs(),
        "this run is for the merge into lax, but the base branch of pull request 2 is now master",
    );
    assert_eq!(github.bodies(BOT), before);
    // The run that the change of base started is judged, against the new base.
    github.branch("lax", &"e".repeat(40));
    github.retarget("lax");
    lax.runs();
    assert_eq!(report(&repository)["base"], json!("e".repeat(40)));
}

fn older_head() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.push(&"c".repeat(40));
    is_no_verdict(&opened(&repository, &github).runs(), "the head of pull request 2 moved from ec26c3e to ccccccc");
    assert!(github.bodies(BOT).is_empty());
}

fn two_pulls() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.branch("lax", &"e".repeat(40));
    github.second_pull(5, "lax");
    let why = "is the head of the pull requests 2 and 5";
    is_no_verdict(&opened(&repository, &github).runs(), why);
    let mut job = Job::new(&repository, &github, "workflow_dispatch", "workflow_dispatch");
    job.event["ref"] = json!("refs/heads/changes");
    is_no_verdict(&job.variable("GITHUB_SHA", &head_sha()).runs(), why);
    assert!(github.bodies(BOT).is_empty());
}

fn by_hand() {
    let story = Story::new();
    story.github.branch("master", &"d".repeat(40));
    let mut job = Job::new(&story.checkout, &story.github, "workflow_dispatch", "workflow_dispatch");
    job.event["ref"] = json!("refs/heads/changes");
    let ran = job.variable("GITHUB_SHA", &head_sha()).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report(&story.checkout)["base"], json!(base_sha()));
}

/// A fork's pull request: the base has gained a case since, the head has not.
fn behind() -> (Standin, Repository, Repository) {
    let (base, head, github) = (Repository::small(), Repository::small(), Standin::new(&head_sha()));
    let merge = Repository::small();
    for repository in [&base, &merge] {
        crate::golden_changes::add_case(repository, 1);
        let recording = crate::golden_changes::recording(1);
        repository.write(&format!("golden/{recording}"), repository.read(&recording));
    }
    let tip = "d".repeat(40);
    github.branch("master", &tip);
    github.commit(&tip, &base);
    github.commit(&head_sha(), &head);
    github.commit(MERGE, &merge);
    (github, merge, Repository::empty())
}

fn gate(workspace: &Repository, github: &Standin) -> Ran {
    let mut job = Job::new(workspace, github, "pull_request.opened", "pull_request_target");
    job.event["pull_request"]["head"]["repo"]["id"] = json!(1);
    job.input("mode", "trusted").runs()
}

fn trusted() {
    let (github, _, workspace) = behind();
    let ran = gate(&workspace, &github);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = report(&workspace);
    assert_eq!((&report["base"], &report["commit"]), (&json!("d".repeat(40)), &json!(head_sha())));
    assert_eq!(report["golden_changes"], json!([]));
    // A base branch that asks for more than the one that the event was about.
    let strict = Repository::small();
    strict.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { finding_count: { max: 0, hard: true } }\n",
    );
    github.branch("strict", &"e".repeat(40));
    github.commit(&"e".repeat(40), &strict);
    github.retarget("strict");
    let ran = gate(&workspace, &github);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    github.push(&"c".repeat(40));
    is_no_verdict(&gate(&workspace, &github), "the head of pull request 2 moved from");
}

fn no_merge() {
    let (github, _, workspace) = behind();
    github.mergeable(json!(false));
    is_no_verdict(&gate(&workspace, &github), "pull request 2 conflicts with master");
    github.mergeable(Value::Null);
    is_no_verdict(&gate(&workspace, &github), "GitHub has not created the test merge yet; run this job again");
    // Right after a retarget GitHub still shows the merge into the branch before.
    github.mergeable(json!(true));
    github.keep_merge(&"9".repeat(40), payload("pull_request.opened")["pull_request"]["head"]["sha"].as_str().unwrap());
    is_no_verdict(&gate(&workspace, &github), "GitHub's test merge does not match the current master and head");
    assert!(github.bodies(BOT).is_empty());
}
