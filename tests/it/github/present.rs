//! What a run is about is asked of GitHub: payloads are frozen, checks belong to commits, and base branches change.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::{MERGE, test_merge};
use super::{BOT, Job, RUN, head_sha, opened, payload};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the base is the commit that the head was merged into, not the payload's frozen one",
            first_parent,
        ),
        trial(
            "a run that is started again after a retarget judges the merge into the present base branch",
            retargeted,
        ),
        trial(
            "a run on an older head than the present one gives no verdict",
            older_head,
        ),
        trial(
            "a commit that two pull requests have as their head gets the worst of their verdicts",
            two_pulls,
        ),
        trial(
            "two pull requests from two branches with one commit are judged together",
            two_branches,
        ),
        trial(
            "two pull requests from a fork with one commit are judged together",
            two_of_fork,
        ),
        trial(
            "a pull request is not blamed for what its base branch already shows",
            behind_baseline,
        ),
        trial(
            "a case that the base branch gained while the prompt changed is named as gained",
            gained,
        ),
        trial(
            "the base commit's files take few requests, whatever their number",
            few_requests,
        ),
        trial(
            "a pull request is compared with its own base branch, whatever that branch requires",
            unprotected,
        ),
        trial(
            "the trusted gate judges the present test merge against the present base branch",
            trusted,
        ),
        trial(
            "the trusted gate gives no verdict without a test merge of the present base",
            no_merge,
        ),
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
    for file in [
        "goldgate.yaml",
        "prompts/legal.md",
        "golden/contracts/lease.md",
        EXPECTED,
        RUN,
    ] {
        github.file(file, &repository.read(file));
    }
    // Meanwhile the base branch got a reviewed golden change, which stands in the merge as well.
    let tip = "d".repeat(40);
    repository.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    github.file(EXPECTED, &repository.read(EXPECTED));
    github.branch("master", &tip);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report(&repository)["base"], json!(tip));
    let asked = github.requests();
    assert!(
        asked.iter().all(|request| !request.contains(&base_sha())),
        "{asked:?}"
    );
}

fn is_no_verdict(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("no verdict: ") && ran.stderr.contains(why),
        "{why}: {}",
        ran.stderr
    );
}

/// Checks belong to commits, and a run that is started again has its old payload and GITHUB_SHA (GitHub docs, "Re-running workflows
/// and jobs": "the same GITHUB_SHA and GITHUB_REF of the original event").
fn retargeted() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let mut lax = opened(&repository, &github);
    lax.event["pull_request"]["base"]["ref"] = json!("lax");
    assert_eq!(lax.runs().code, 1);
    assert_eq!(report(&repository)["base"], json!(base_sha()));
    github.branch("lax", &"e".repeat(40));
    github.retarget("lax");
    lax.runs();
    assert_eq!(report(&repository)["base"], json!("e".repeat(40)));
}

fn older_head() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.push(&"c".repeat(40));
    is_no_verdict(
        &opened(&repository, &github).runs(),
        "the head of pull request 2 moved from ec26c3e to ccccccc",
    );
    assert!(github.bodies(BOT).is_empty());
}

/// Pull request 2 into master and pull request 5 into lax, both with the same head. Lax asks for no more than what is given.
pub fn shared() -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.branch("lax", &"e".repeat(40));
    github.second_pull(5, "lax");
    into_lax(&github, &repository, &repository);
    (repository, github)
}

pub fn into_lax(github: &Standin, base: &Repository, merge: &Repository) {
    github.commit(&"e".repeat(40), base);
    github.commit(&test_merge(5), merge);
    github.commit(&base_sha(), base);
}

fn two_pulls() {
    let (repository, github) = shared();
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let note = "pull request 5 into lax has the same head commit and passes";
    assert!(
        github.bodies(BOT)[0].contains(note),
        "{}",
        github.bodies(BOT)[0]
    );
    // Worse there alone: what is merged into lax is something else.
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    into_lax(&github, &Repository::small(), &worse);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let says = "pull request 5 into lax has the same head commit and fails";
    let error = format!("::error title=goldgate::{says}\n");
    assert!(ran.stdout.contains(&error), "{}", ran.stdout);
    assert!(repository.read(".runner/output").contains("verdict=fail"));
    let body = github.bodies(BOT).remove(0);
    let headline = "> [!CAUTION]\n> **Merge blocked: pull request 5 into lax has the same head commit and fails.**";
    assert!(body.starts_with(headline), "{body}");
    assert_eq!(
        report(&repository)["other_pull_requests"],
        json!([{ "number": 5, "into": "lax", "verdict": "fail" }])
    );
    assert!(
        github.bodies_on(5).is_empty(),
        "its own run writes its comment"
    );
    // Red here is red, whatever lax says.
    into_lax(&github, &Repository::small(), &Repository::small());
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&repository, &github).runs().code, 1);
    repository.replace(RUN, "Needs nothing.", "Needs prior approval.");
    // What cannot be judged is not green.
    github.mergeable_of(5, Value::Null);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        github.bodies(BOT)[0].contains("GitHub has not created the test merge yet"),
        "{}",
        github.bodies(BOT)[0]
    );
    // The trusted gate judges both in the same way.
    let workspace = Repository::empty();
    github.commit(MERGE, &repository);
    assert_eq!(gate(&workspace, &github).code, 3);
    github.mergeable_of(5, json!(true));
    assert_eq!(gate(&workspace, &github).code, 0);
    into_lax(&github, &Repository::small(), &worse);
    assert_eq!(gate(&workspace, &github).code, 1);
}

/// GitHub lists no pull request under a commit that only the fork has.
fn two_of_fork() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.files(&repository);
    github.branch("lax", &"e".repeat(40));
    github.move_to_fork(&head_sha());
    github.second_pull(5, "lax");
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let run = || {
        let mut job = opened(&repository, &github);
        job.event["pull_request"]["head"]["repo"]["id"] = json!(1);
        job.runs()
    };
    into_lax(&github, &repository, &repository);
    let ran = run();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    into_lax(&github, &Repository::small(), &worse);
    let ran = run();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

/// Somebody pushes the commit to a second branch as well, and opens the pull request from there.
fn two_branches() {
    let (repository, github) = shared();
    let worse = Repository::small();
    worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
    into_lax(&github, &Repository::small(), &worse);
    github.branch("copy", &head_sha());
    github.move_pull(5, "copy");
    assert_eq!(opened(&repository, &github).runs().code, 1);
    github.branch("copy", &"7".repeat(40));
    assert_eq!(opened(&repository, &github).runs().code, 0);
}

/// The recordings of the base branch are worse than its baseline says: an approved change was merged, and the baseline is behind.
fn behind() -> (Repository, Standin) {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.goldgate(&["run", "--update-baseline"]);
    worsen(&repository);
    github.files(&repository);
    repository.write("README.md", "Leases.\n");
    (repository, github)
}

/// Lowers numbers that only the baseline limits.
fn worsen(repository: &Repository) {
    repository.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"},",
    );
}

fn behind_baseline() {
    let (repository, github) = behind();
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = github.bodies(BOT).remove(0);
    assert!(
        body.contains("master is already at 66.7%; baseline 100%, update pending"),
        "{body}"
    );
    // Worse than the base branch is worse.
    worsen(&repository);
    assert_eq!(opened(&repository, &github).runs().code, 1);
    // The trusted gate says the same of the same files.
    let (workspace, head) = (Repository::empty(), Repository::small());
    for file in [RUN, super::approval::BASELINE] {
        head.write(file, github.read_at(&base_sha(), file));
    }
    github.commit(&base_sha(), &head);
    github.commit(MERGE, &head);
    let ran = gate(&workspace, &github);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    worsen(&head);
    github.commit(MERGE, &head);
    assert_eq!(gate(&workspace, &github).code, 1);
}

/// The branch changes the prompt and records its own case again; the base branch gained another case meanwhile.
fn gained() {
    let (base, head, merge) = (
        Repository::small(),
        Repository::small(),
        Repository::small(),
    );
    for repository in [&base, &merge] {
        crate::golden_changes::add_case(repository, 1);
        let recording = crate::golden_changes::recording(1);
        repository.write(&format!("golden/{recording}"), repository.read(&recording));
    }
    let github = Standin::new(&head_sha());
    github.commit(&base_sha(), &base);
    github.commit(&head_sha(), &head);
    let ran = opened(&merge, &github).runs();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    for repository in [&head, &merge] {
        repository.keep_digests();
        repository.write("prompts/legal.md", "Report each change of control.\n");
        repository.replace(RUN, "Needs prior approval.", "Needs approval first.");
        let of_case = ["stamp", "--stale", "--case", "lease"];
        let ran = repository.goldgate_on_commit(&of_case, &[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    github.commit(&head_sha(), &head);
    let ran = opened(&merge, &github).runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let words = "master gained 1 case after this branch began: contracts/legal/lease-1; merge master into this branch and record it there";
    let body = github.bodies(BOT).remove(0);
    assert!(
        ran.stdout.contains(words) && body.contains("master gained 1 case"),
        "{}{body}",
        ran.stdout
    );
    github.commit(MERGE, &merge);
    let workspace = Repository::empty();
    let ran = gate(&workspace, &github);
    assert!(
        ran.code == 3 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// 500 recordings changed, in a golden set of 500 cases.
fn few_requests() {
    let (base, head) = (Repository::small(), Repository::small());
    for case in 0..500 {
        for repository in [&base, &head] {
            crate::golden_changes::add_case(repository, case);
            let recording = crate::golden_changes::recording(case);
            let text = repository.read(&recording);
            let text = if std::ptr::eq(repository, &head) {
                text.replace("prior approval", "an approval")
            } else {
                text
            };
            repository.write(&format!("golden/{recording}"), text);
            repository.remove(&recording);
        }
    }
    head.write("prompts/legal.md", "Report each change of control.\n");
    head.replace(RUN, "Needs prior approval.", "Needs approval first.");
    let github = Standin::new(&head_sha());
    github.commit(&base_sha(), &base);
    let ran = opened(&head, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("501 recordings of `contracts/legal` are of this change"),
        "{}",
        ran.stdout
    );
    // Two files are fetched on their own before the recordings show that much differs.
    assert_eq!(api_requests(&github, 0), 13, "{:?}", github.requests());
    let before = github.requests().len();
    assert_eq!(opened(&head, &github).runs().code, 0);
    // The account is asked for, because a comment exists.
    assert_eq!(
        api_requests(&github, before),
        14,
        "{:?}",
        github.requests().split_off(before)
    );
    let (before, workspace) = (github.requests().len(), Repository::empty());
    github.commit(MERGE, &head);
    let ran = gate(&workspace, &github);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The head's files are read as data, too.
    assert_eq!(
        api_requests(&github, before),
        13,
        "{:?}",
        github.requests().split_off(before)
    );
}

/// The number of requests of the API since then. A download from GitHub's storage is none.
fn api_requests(github: &Standin, before: usize) -> usize {
    github
        .requests()
        .split_off(before)
        .iter()
        .filter(|request| !request.contains("/_stored/"))
        .count()
}

/// What is merged into such a branch is judged again where that branch is merged.
fn unprotected() {
    let (repository, github) = behind();
    github.branch("mine", &"e".repeat(40));
    github.retarget("mine");
    let mut job = opened(&repository, &github);
    job.event["pull_request"]["base"]["ref"] = json!("mine");
    assert_eq!(job.runs().code, 0, "the branch is behind");
    let body = github.bodies(BOT).remove(0);
    assert!(
        body.contains("mine is already at 66.7%; baseline 100%, update pending"),
        "{body}"
    );
}

/// A fork's pull request: the base has gained a case since, the head has not.
fn behind_head() -> (Standin, Repository, Repository) {
    let (base, head, github) = (
        Repository::small(),
        Repository::small(),
        Standin::new(&head_sha()),
    );
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
    let mut job = Job::new(
        workspace,
        github,
        "pull_request.opened",
        "pull_request_target",
    );
    job.event["pull_request"]["head"]["repo"]["id"] = json!(1);
    job.runs()
}

fn trusted() {
    let (github, _, workspace) = behind_head();
    let ran = gate(&workspace, &github);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = report(&workspace);
    assert_eq!(
        (&report["base"], &report["commit"]),
        (&json!("d".repeat(40)), &json!(head_sha()))
    );
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
    is_no_verdict(
        &gate(&workspace, &github),
        "the head of pull request 2 moved from",
    );
}

fn no_merge() {
    let (github, _, workspace) = behind_head();
    github.mergeable(json!(false));
    is_no_verdict(
        &gate(&workspace, &github),
        "pull request 2 conflicts with master",
    );
    github.mergeable(Value::Null);
    is_no_verdict(
        &gate(&workspace, &github),
        "GitHub has not created the test merge yet; run this job again",
    );
    // Right after a retarget GitHub still shows the merge into the branch before.
    github.mergeable(json!(true));
    github.keep_merge(
        &"9".repeat(40),
        payload("pull_request.opened")["pull_request"]["head"]["sha"]
            .as_str()
            .unwrap(),
    );
    is_no_verdict(
        &gate(&workspace, &github),
        "GitHub's test merge does not match the current master and head",
    );
    assert!(github.bodies(BOT).is_empty());
}
