//! Pull requests into branches that require no checks: the check of their head counts on the default branch, too, once the base branch is
//! changed. GitHub starts no run if a workflow's token changes it (GitHub docs, "Triggering a workflow from a workflow").

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{Job, RUN, head_sha};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a head whose base branch requires no checks is judged for the default branch as well",
        judged_twice,
    )]
}

const EXPECTED: &str = "golden/expected/legal/lease.json";
const WEAK: &str = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const TRUNK: &str = "dddddddddddddddddddddddddddddddddddddddd";

/// A pull request into `weak`, whose agent is worse. On `weak` nothing asks for more.
fn into_weak() -> Standin {
    let (trunk, weak, head, github) = (
        Repository::small(),
        Repository::small(),
        Repository::small(),
        Standin::new(&head_sha()),
    );
    head.replace(RUN, "Needs prior approval.", "Needs nothing.");
    for repository in [&weak, &head] {
        let mut golden: Value = serde_json::from_str(&repository.read(EXPECTED)).unwrap();
        golden["expected_findings"][0] =
            json!({ "category": "change_of_control", "must_contain_keywords": ["nothing"] });
        repository.write(EXPECTED, golden.to_string());
    }
    weak.replace(RUN, "Needs prior approval.", "Needs nothing.");
    for (branch, commit, files) in [("master", TRUNK, &trunk), ("weak", WEAK, &weak)] {
        github.branch(branch, commit);
        github.commit(commit, files);
    }
    // The head left the default branch here.
    github.commit(&base_sha(), &trunk);
    github.commit(&head_sha(), &head);
    github.commit(MERGE, &head);
    github.retarget("weak");
    github
}

fn gate(github: &Standin) -> Ran {
    let workspace = Repository::empty();
    let mut job = Job::new(
        &workspace,
        github,
        "pull_request.opened",
        "pull_request_target",
    );
    job.event["pull_request"]["base"]["ref"] = json!("weak");
    job.runs()
}

fn judged_twice() {
    let github = into_weak();
    let ran = gate(&github);
    assert_eq!(
        ran.code, 0,
        "the control, a default branch that requires nothing: {}{}",
        ran.stdout, ran.stderr
    );
    github.guard("master");
    let ran = gate(&github);
    let says = "weak requires no checks, so the commit is judged for master as well (or require the gate in weak), and there it fails";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    // GitHub says the same where a token may not read the commits.
    let orphan = into_weak();
    orphan.guard("master");
    orphan.unrelated(&head_sha());
    let ran = gate(&orphan);
    let says = "the head and its base have no common history, or the job needs the permission `contents: read`";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    // The default branch has another name since the event, and a run is started again.
    let renamed = into_weak();
    renamed.branch("trunk", TRUNK);
    renamed.guard("trunk");
    assert_eq!(
        gate(&renamed).code,
        0,
        "the control: the payload's default branch requires nothing"
    );
    renamed.default_branch("trunk");
    let ran = gate(&renamed);
    let says = "so the commit is judged for trunk as well";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    // A check that an organization requires of every branch is not the gate.
    github.require("weak", "DCO");
    let ran = gate(&github);
    let says = "weak does not require goldgate, as master does, so the commit is judged for master as well";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    let own_name = into_weak();
    own_name.guard("master");
    own_name.require("weak", "goldgate (trusted: weak)");
    assert_eq!(
        gate(&own_name).code,
        0,
        "the control, a check that counts for this branch alone"
    );
    // Whoever names a branch after a part of a check's name gains nothing.
    let part = into_weak();
    part.guard("master");
    part.require("weak", "tests of weak code");
    assert_eq!(gate(&part).code, 3);
    // Nor after a part of the matrix of a job that every branch requires.
    part.require("master", "tests (weak)");
    part.require("weak", "tests (weak)");
    assert_eq!(gate(&part).code, 3);
    github.guard("weak");
    let ran = gate(&github);
    assert_eq!(
        ran.code, 0,
        "the control, a branch that requires a check: {}{}",
        ran.stdout, ran.stderr
    );
}
