//! What a job grades is what it has checked out, which need not be the commit of its event.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a checkout without the head of the pull request gives no verdict, however good it is",
            without_the_head,
        ),
        trial(
            "a checkout of the test merge is judged on any event",
            of_the_merge,
        ),
        trial(
            "a checkout of the head is compared with where it began, and judged by the rules of there",
            of_the_head,
        ),
        trial(
            "files that are not those of the checked-out commit give no verdict",
            not_the_commit,
        ),
        trial("a commit that the job made gives no verdict", of_the_job),
        trial(
            "a checkout without git is not judged: the test merge is",
            without_git,
        ),
        trial(
            "a merge group is judged itself, whatever is checked out",
            other_than_the_group,
        ),
        trial(
            "an event without the commits that it is about gives no verdict",
            without_commits,
        ),
    ]
}

fn tip() -> String {
    "d".repeat(40)
}

fn check_out(repository: &Repository, commit: &str) {
    repository.write(".git/HEAD", format!("{commit}\n"));
}

fn is_no_verdict(ran: &Ran, github: &Standin) {
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("does not contain the head of pull request 2, ec26c3e"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("check out refs/pull/2/merge"),
        "{}",
        ran.stderr
    );
    assert!(github.bodies(BOT).is_empty());
}

/// On `pull_request_target` actions/checkout takes the default branch, which always passes.
fn without_the_head() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.branch("master", &tip());
    check_out(&repository, &tip());
    let job = Job::new(
        &repository,
        &github,
        "pull_request.opened",
        "pull_request_target",
    );
    is_no_verdict(&job.variable("GITHUB_SHA", &tip()).runs(), &github);
    // Another `ref`, or a commit of the branch before its last one.
    is_no_verdict(&opened(&repository, &github).runs(), &github);
    let before = "e".repeat(40);
    github.parents(&before, &[&base_sha()]);
    github.parents(&head_sha(), &[&before]);
    check_out(&repository, &before);
    is_no_verdict(&opened(&repository, &github).runs(), &github);
}

fn of_the_merge() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.commit(&tip(), &repository);
    github.branch("master", &tip());
    check_out(&repository, MERGE);
    let run = || {
        let job = Job::new(
            &repository,
            &github,
            "pull_request.opened",
            "pull_request_target",
        );
        job.variable("GITHUB_SHA", &tip()).runs()
    };
    let ran = run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: serde_json::Value =
        serde_json::from_str(&repository.read(".goldgate/report/report.json")).unwrap();
    assert_eq!(
        (&report["base"], &report["commit"]),
        (&json!(tip()), &json!(head_sha()))
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(run().code, 1);
}

/// `actions/checkout` with `ref: ${{ github.event.pull_request.head.sha }}`, which many workflows have.
fn of_the_head() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.commit(&base_sha(), &repository);
    let newest = Repository::small();
    crate::golden_changes::add_case(&newest, 1);
    let recording = crate::golden_changes::recording(1);
    newest.write(&format!("golden/{recording}"), newest.read(&recording));
    github.commit(&tip(), &newest);
    github.branch("master", &tip());
    check_out(&repository, &head_sha());
    let ran = opened(&repository, &github).runs();
    assert_eq!(
        ran.code, 0,
        "the case that the base gained is not missing: {}{}",
        ran.stdout, ran.stderr
    );
    // One commit is the base for everything: newer rules are judged with the merge that actions/checkout takes by itself.
    newest.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { finding_count: { max: 0, hard: true } }\n",
    );
    github.commit(&tip(), &newest);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// A step that ran before wrote another prompt, or the commit of the checkout has a worse one.
fn not_the_commit() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.commit(&base_sha(), &repository);
    github.branch("master", &tip());
    github.commit(&head_sha(), &repository);
    check_out(&repository, &head_sha());
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    // The recordings are the commit's in any case.
    repository.keep_digests();
    let prompt = repository.read("prompts/legal.md");
    repository.write("prompts/legal.md", "Report nothing.\n");
    github.commit(&head_sha(), &repository);
    repository.write("prompts/legal.md", prompt);
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.code == 3
            && ran
                .stdout
                .contains("which is checked out: prompts/legal.md;"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn of_the_job() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    assert_eq!(opened(&repository, &github).runs().code, 0, "the control");
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    check_out(&repository, &"9".repeat(40));
    is_no_verdict(&opened(&repository, &github).runs(), &github);
}

/// Where git is missing, actions/checkout unpacks an archive (its README, "Git must be installed"): of which commit, nothing says.
fn without_git() {
    let (checkout, worse, github) = (
        Repository::small(),
        Repository::small(),
        Standin::new(&head_sha()),
    );
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    github.commit(&tip(), &checkout);
    github.branch("master", &tip());
    github.parents(MERGE, &[&tip(), &head_sha()]);
    let run = |event: &str| {
        let (job, base) = (
            Job::new(&checkout, &github, "pull_request.opened", event),
            tip(),
        );
        job.variable(
            "GITHUB_SHA",
            if event == "pull_request" {
                MERGE
            } else {
                &base
            },
        )
        .runs()
    };
    github.commit(MERGE, &checkout);
    checkout.remove(".git");
    for (merged, code) in [(&checkout, 0), (&worse, 1)] {
        github.commit(MERGE, merged);
        github.parents(MERGE, &[&tip(), &head_sha()]);
        for event in ["pull_request_target", "pull_request"] {
            let ran = run(event);
            assert_eq!(ran.code, code, "{event}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

/// `ref: main` in the step of actions/checkout: the good files of another commit are there, and the check is of the group.
fn other_than_the_group() {
    let (checkout, worse, github) = (
        Repository::small(),
        Repository::small(),
        Standin::new(&head_sha()),
    );
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let head = super::payload("merge_group")["merge_group"]["head_sha"]
        .as_str()
        .unwrap()
        .to_owned();
    let base = base_sha();
    github.commit(&base, &checkout);
    let group = || {
        let mut job = Job::new(&checkout, &github, "merge_group", "merge_group");
        job.event["merge_group"]["base_sha"] = json!(base);
        job
    };
    let run = |files: &Repository, here: &str| {
        github.commit(&head, files);
        github.parents(&head, &[&base]);
        check_out(&checkout, here);
        group().runs()
    };
    for (files, here, code) in [
        (&checkout, &head, 0),
        (&checkout, &base, 0),
        (&worse, &base, 1),
    ] {
        let ran = run(files, here);
        assert_eq!(ran.code, code, "{here}: {}{}", ran.stdout, ran.stderr);
    }
    // Models need the files.
    let ran = group().input("tier", "all").runs();
    let wanted = "leave out `ref` in actions/checkout";
    assert!(
        ran.code == 3 && ran.stderr.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn without_commits() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    for event in ["pull_request", "pull_request_target", "merge_group"] {
        let mut job = Job::new(&repository, &github, "push", event);
        job.event = json!({ "action": "opened", "repository": { "id": 1 } });
        let ran = job.runs();
        assert_eq!(ran.code, 3, "{event}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr
                .contains("does not say which commits it is about"),
            "{}",
            ran.stderr
        );
    }
}
