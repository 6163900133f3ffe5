//! What a job grades is what it has checked out, which need not be the commit of its event.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "whatever is checked out, the present test merge is judged",
            anything,
        ),
        trial(
            "a command is started in no other checkout than the pull request's",
            of_command,
        ),
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

/// On `pull_request_target` actions/checkout takes the default branch; a workflow may name another `ref`, and a job may make a commit.
fn anything() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    github.commit(&base_sha(), &repository);
    for (here, good, bad) in [(&repository, 0, 1), (&worse, 0, 1)] {
        for commit in [base_sha(), head_sha(), "9".repeat(40)] {
            for (merge, code) in [(&repository, good), (&worse, bad)] {
                github.commit(MERGE, merge);
                check_out(here, &commit);
                for event in ["pull_request", "pull_request_target"] {
                    let job = Job::new(here, &github, "pull_request.opened", event);
                    let ran = job.runs();
                    assert_eq!(
                        ran.code, code,
                        "{event} {commit}: {}{}",
                        ran.stdout, ran.stderr
                    );
                }
            }
        }
    }
}

fn of_command() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.commit(&base_sha(), &repository);
    check_out(&repository, &"9".repeat(40));
    let ran = opened(&repository, &github).input("tier", "all").runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    for says in [
        "does not contain the head of pull request 2, ec26c3e",
        "check out refs/pull/2/merge",
    ] {
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    assert!(github.bodies(BOT).is_empty());
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
    github.retarget("main");
    let group = || {
        let mut job = Job::new(&checkout, &github, "merge_group", "merge_group");
        job.event["merge_group"]["base_sha"] = json!(base);
        let queue = format!("refs/heads/gh-readonly-queue/main/pr-2-{base}");
        job.event["merge_group"]["head_ref"] = json!(queue);
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
