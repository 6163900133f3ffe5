//! The gate on a push: what it is compared with, and which approvals count on the branch that pull requests are merged into.

pub mod payloads;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{BASELINE, LABEL, base_sha};
use super::standin::pulls::test_merge;
use super::story::merges::{Default, LATER, Pull, RENTAL_RUN, copied};
use super::{Job, RUN};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

const NOT_APPROVED: &str = "no pull request merged with this commit was approved for this";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a direct push with a worse number is red, and nobody is blamed for what was there before",
            direct,
        ),
        trial(
            "a merge of an approved pull request is green on the branch, however it is merged",
            merged,
        ),
        trial(
            "an approval that is missing or withdrawn does not count on the branch",
            not_approved,
        ),
        trial(
            "a push of several commits is judged as a whole",
            several_commits,
        ),
        trial(
            "a push of more than what was approved is red, and says what nobody approved",
            more_than_approved,
        ),
        trial(
            "a push of two approved pull requests is green",
            two_approved,
        ),
        trial(
            "an approval counts after golden files were edited without another value",
            edited_before,
        ),
        trial(
            "a push of an approved pull request and one that adds a case to its suite is green",
            one_suite,
        ),
        trial(
            "a merge of an approved pull request that carries the baseline is green",
            carried,
        ),
        trial(
            "a push of a branch without checks is compared with where it left the default branch",
            other_branch,
        ),
        trial(
            "a push of a branch without checks is judged by the rules of the commit where it left the default branch",
            rules_of_its_beginning,
        ),
        trial(
            "a push of a pull request's head is no better than the pull request",
            open_pull,
        ),
        trial(
            "the approval of a pull request of more commits than GitHub lists counts after the merge",
            long,
        ),
        trial(
            "a push of a tag is compared with the commit where it left the default branch",
            tag,
        ),
        trial(
            "a tag, a release or a run by hand on the head of a pull request is not judged by its own rules",
            unattached,
        ),
        trial(
            "the first push of the default branch says that nothing is compared",
            first_push,
        ),
        trial(
            "a push whose approvals may not be read says which permission is missing",
            unread,
        ),
    ]
}

/// The default branch at the base commit.
pub fn trunk() -> Default {
    Default::new()
}

/// A pull request that makes an agent worse on purpose, on top of the base commit.
pub fn pull(trunk: &Default, number: u64, agent: &str) -> Pull {
    trunk.pull(number, agent, "the agent reports more on purpose")
}

fn all_files() -> Vec<String> {
    let rental = FILES.map(|file| {
        file.replace("golden/", "rentals/")
            .replace("legal", "rental")
    });
    FILES
        .iter()
        .map(|file| (*file).to_owned())
        .chain(rental)
        .chain([BASELINE.to_owned()])
        .collect()
}

/// The default branch with the changes of these pull requests.
pub fn with(trunk: &Default, pulls: &[&Pull]) -> Repository {
    let checkout = copied(&trunk.main);
    for file in all_files() {
        for pull in pulls
            .iter()
            .filter(|pull| pull.checkout.read(&file) != trunk.main.read(&file))
        {
            checkout.write(&file, pull.checkout.read(&file));
        }
    }
    checkout
}

/// The id of a commit of the default branch.
pub fn tip(number: u64) -> String {
    format!("{number:b<40}")
}

/// The gate's job on a push to a branch.
fn push<'a>(
    trunk: &'a Default,
    checkout: &'a Repository,
    [branch, before, after]: [&str; 3],
) -> Job<'a> {
    trunk.github.commit(after, checkout);
    trunk.github.branch(branch, after);
    let mut job = Job::new(checkout, &trunk.github, "push", "push");
    job.event["ref"] = json!(format!("refs/heads/{branch}"));
    (job.event["before"], job.event["after"]) = (json!(before), json!(after));
    job.event["repository"]["default_branch"] = json!("master");
    job.run = 60;
    job
}

fn pushed(trunk: &Default, checkout: &Repository, before: &str, after: &str) -> Ran {
    let job = push(trunk, checkout, ["master", before, after]).variable("GITHUB_SHA", after);
    job.variable("SOURCE_DATE_EPOCH", LATER).runs()
}

pub fn report(checkout: &Repository) -> Value {
    serde_json::from_str(&checkout.read(".goldgate/report/report.json")).unwrap()
}

#[track_caller]
pub fn is_green(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[track_caller]
pub fn is_red(ran: &Ran, says: &str) {
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(says),
        "{says}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

fn direct() {
    let trunk = trunk();
    let (first, second, third) = (tip(1), tip(2), tip(3));
    let checkout = copied(&trunk.main);
    trunk.github.parents(&first, &[&base_sha()]);
    is_green(&pushed(&trunk, &checkout, &base_sha(), &first));
    assert!(report(&checkout)["base"].is_string());
    let worse = pull(&trunk, 3, "legal").checkout;
    trunk.github.parents(&second, &[&first]);
    is_red(&pushed(&trunk, &worse, &first, &second), NOT_APPROVED);
    // A harmless push after it.
    trunk.github.parents(&third, &[&second]);
    worse.write("README.md", "Leases.\n");
    let ran = pushed(&trunk, &worse, &second, &third);
    is_green(&ran);
    assert!(
        ran.stdout.contains("master is already at"),
        "{}",
        ran.stdout
    );
    // A baseline that hides the number is no way around it.
    let hidden = copied(&trunk.main);
    for file in all_files().iter().filter(|file| *file != BASELINE) {
        hidden.write(file, worse.read(file));
    }
    hidden.goldgate(&["run", "--update-baseline"]);
    is_red(
        &pushed(&trunk, &hidden, &first, &second),
        "the baseline edited",
    );
}

/// The merge commit, the squashed commit, or the last of the rebased commits.
fn merged() {
    for how in ["merge", "squash", "rebase"] {
        let trunk = trunk();
        let pull = pull(&trunk, 2, "legal");
        trunk.is_approved(&pull);
        let (after, between) = (tip(1), tip(9));
        match how {
            "merge" => trunk.github.parents(&after, &[&base_sha(), &pull.head]),
            "squash" => trunk.github.parents(&after, &[&base_sha()]),
            _ => {
                trunk.github.parents(&between, &[&base_sha()]);
                trunk.github.parents(&after, &[&between]);
            }
        }
        trunk.github.merge_as(2, &after);
        trunk.github.lists_merges_late(2);
        let checkout = with(&trunk, &[&pull]);
        let ran = pushed(&trunk, &checkout, &base_sha(), &after);
        is_green(&ran);
        let report = report(&checkout);
        assert_eq!(
            [
                &report["approval"]["by"],
                &report["approval"]["head"],
                &report["base"],
            ],
            [
                &json!("alice on pull request 2"),
                &json!(pull.head),
                &json!(base_sha())
            ],
            "{how}"
        );
    }
}

fn not_approved() {
    let run = |change: &dyn Fn(&Default)| {
        let trunk = trunk();
        let pull = pull(&trunk, 2, "legal");
        trunk.is_approved(&pull);
        let after = tip(1);
        trunk.github.parents(&after, &[&base_sha()]);
        trunk.github.merge_as(2, &after);
        change(&trunk);
        pushed(&trunk, &with(&trunk, &[&pull]), &base_sha(), &after)
    };
    is_green(&run(&|_| ()));
    let says = "no pull request merged with this commit was approved for this: the numbers of contracts/legal";
    is_red(&run(&|trunk| trunk.github.unlabel(LABEL)), says);
    // Somebody without the permission set it again.
    let of_mallory = run(&|trunk| {
        trunk.github.unlabel(LABEL);
        trunk.github.label_by("mallory", LABEL);
    });
    is_red(&of_mallory, says);
    is_red(
        &of_mallory,
        "the label of pull request 2 does not count: mallory has the permission read",
    );
    // The pull request was not merged: somebody pushed its content.
    is_red(&run(&|trunk| trunk.github.reopen(2)), says);
    // It was merged into another branch.
    is_red(&run(&|trunk| trunk.github.retarget("release")), says);
    // It was merged earlier.
    is_red(&run(&|trunk| trunk.github.merge_as(2, &tip(7))), says);
}

fn several_commits() {
    let trunk = trunk();
    let worse = pull(&trunk, 3, "legal").checkout;
    let (first, last) = (tip(1), tip(2));
    trunk.github.commit(&first, &worse);
    trunk.github.parents(&first, &[&base_sha()]);
    trunk.github.parents(&last, &[&first]);
    let checkout = copied(&worse);
    checkout.write("README.md", "Leases.\n");
    is_red(&pushed(&trunk, &checkout, &base_sha(), &last), NOT_APPROVED);
    assert!(report(&checkout)["base"].is_string());
    // A forced push is compared with what the branch had.
    let other = tip(3);
    trunk.github.parents(&other, &[&"0".repeat(40)]);
    is_red(&pushed(&trunk, &checkout, &base_sha(), &other), "");
}

/// The merge of an approved pull request, and another commit in the same push.
fn more_than_approved() {
    let run = |change: &dyn Fn(&Repository)| {
        let trunk = trunk();
        let pull = pull(&trunk, 2, "legal");
        trunk.is_approved(&pull);
        let (merge, last) = (tip(1), tip(2));
        trunk.github.parents(&merge, &[&base_sha(), &pull.head]);
        trunk.github.parents(&last, &[&merge]);
        trunk.github.merge_as(2, &merge);
        let checkout = with(&trunk, &[&pull]);
        trunk.github.commit(&merge, &checkout);
        change(&checkout);
        pushed(&trunk, &checkout, &base_sha(), &last)
    };
    is_green(&run(&|_| ()));
    is_green(&run(&|checkout| checkout.write("README.md", "Leases.\n")));
    let says = "the approvals of the pull requests merged with this commit do not cover this: ";
    let rental = |checkout: &Repository| {
        checkout.write("prompts/rental.md", "Report little.\n");
        checkout.replace(
            RENTAL_RUN,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"},",
        );
    };
    is_red(
        &run(&rental),
        &format!("{says}the numbers of rentals/rental"),
    );
    let lowered = run(&|checkout| {
        checkout.replace(
            BASELINE,
            "\"finding_recall\": 1.0",
            "\"finding_recall\": 0.1",
        )
    });
    is_red(&lowered, &format!("{says}the baseline edited"));
    // More of the approved agent.
    let more = run(&|checkout| {
        checkout.replace(
            RUN,
            "{\"category\": \"a\"},",
            "{\"category\": \"a\"}, {\"category\": \"z\"},",
        )
    });
    is_red(&more, &format!("{says}the numbers of contracts/legal"));
    let gates = run(&|checkout| {
        checkout.replace(
            "goldgate.yaml",
            "    path: rentals\n",
            "    path: rentals\n    gates: { finding_recall: { off: true, reason: none } }\n",
        );
    });
    is_red(&gates, says);
}

fn two_approved() {
    for approves_second in [true, false] {
        let trunk = trunk();
        let (first, second) = (pull(&trunk, 2, "legal"), pull(&trunk, 3, "rental"));
        trunk.is_approved(&first);
        match approves_second {
            true => trunk.is_approved(&second),
            false => assert_eq!(trunk.gate(&second).code, 1),
        }
        let (one, two) = (tip(1), tip(2));
        trunk.github.parents(&one, &[&base_sha(), &first.head]);
        trunk.github.parents(&two, &[&one]);
        trunk.github.merge_as(2, &one);
        trunk.github.merge_as(3, &two);
        trunk.github.commit(&one, &with(&trunk, &[&first]));
        let checkout = with(&trunk, &[&first, &second]);
        let ran = pushed(&trunk, &checkout, &base_sha(), &two);
        match approves_second {
            true => {
                is_green(&ran);
                let by = json!("alice on pull request 3, alice on pull request 2");
                assert_eq!(report(&checkout)["approval"]["by"], by);
            }
            false => is_red(&ran, "do not cover this: the numbers of rentals/rental"),
        }
    }
}

/// Another approved pull request edits the golden files of the agent, and no value changes.
fn edited_before() {
    let trunk = trunk();
    let expected = "golden/expected/legal/lease.json";
    let [from, to] = [3, 9].map(|most| format!("\"max_expected_findings\": {most}"));
    let worse = pull(&trunk, 2, "legal");
    trunk.is_approved(&worse);
    let golden = trunk.opened(3, with(&trunk, &[]));
    golden.checkout.replace(expected, &from, &to);
    trunk.is_approved(&golden);
    trunk.merge(&golden, &[expected]);
    let before = trunk.github.head("master").unwrap();
    let after = tip(2);
    trunk.github.parents(&after, &[&before]);
    trunk.github.merge_as(2, &after);
    let checkout = copied(&trunk.main);
    for file in [RUN, "prompts/legal.md"] {
        checkout.write(file, worse.checkout.read(file));
    }
    is_green(&pushed(&trunk, &checkout, &before, &after));
}

fn add_case(checkout: &Repository) {
    crate::golden_changes::add_case(checkout, 1);
    let recording = crate::golden_changes::recording(1);
    checkout.write(&format!("golden/{recording}"), checkout.read(&recording));
}

/// Of one suite: the second pull request adds a case, so that nobody has seen the numbers of both together.
fn one_suite() {
    let trunk = trunk();
    let (first, second) = (pull(&trunk, 2, "legal"), trunk.opened(3, with(&trunk, &[])));
    trunk.is_approved(&first);
    add_case(&second.checkout);
    let ran = trunk.gate(&second);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let (one, two) = (tip(1), tip(2));
    trunk.github.parents(&one, &[&base_sha(), &first.head]);
    trunk.github.parents(&two, &[&one]);
    trunk.github.merge_as(2, &one);
    trunk.github.merge_as(3, &two);
    let checkout = with(&trunk, &[&first]);
    trunk.github.commit(&one, &checkout);
    add_case(&checkout);
    trunk.github.commit(&two, &checkout);
    is_green(&pushed(&trunk, &checkout, &base_sha(), &two));
    let by = json!("alice on pull request 2");
    assert_eq!(report(&checkout)["approval"]["by"], by);
}

fn carried() {
    let trunk = trunk();
    let pull = pull(&trunk, 2, "legal");
    trunk.gate(&pull);
    pull.checkout.write(
        BASELINE,
        pull.checkout
            .read(".goldgate/report/proposed-baseline.json"),
    );
    trunk.is_approved(&pull);
    let after = tip(1);
    trunk.github.parents(&after, &[&base_sha()]);
    trunk.github.merge_as(2, &after);
    let checkout = with(&trunk, &[&pull]);
    is_green(&pushed(&trunk, &checkout, &base_sha(), &after));
    let by = json!("alice on pull request 2");
    assert_eq!(report(&checkout)["approval"]["by"], by);
}

/// The first push makes it worse and the second one is harmless: its check counts for the pull request of the branch as well.
fn other_branch() {
    let trunk = trunk();
    let worse = pull(&trunk, 3, "legal").checkout;
    let (first, second, zero) = (tip(1), tip(2), "0".repeat(40));
    trunk.github.parents(&first, &[&base_sha()]);
    trunk.github.parents(&second, &[&first]);
    for (before, after) in [(&zero, &first), (&first, &second)] {
        let job = push(&trunk, &worse, ["feature", before, after]).variable("GITHUB_SHA", after);
        is_red(&job.runs(), "");
        assert_eq!(report(&worse)["base"], json!(base_sha()));
    }
    // A branch that requires checks is judged like the default branch.
    trunk.github.guard("feature");
    let job = push(&trunk, &worse, ["feature", &first, &second]).variable("GITHUB_SHA", &second);
    is_green(&job.runs());
    assert_eq!(report(&worse)["base"], json!(first));
}

const STRICT: &str = "    path: golden\n    gates: { tokens: { max: 1000 } }\n";

/// A copy whose config asks for more.
fn stricter(from: &Repository) -> Repository {
    let copy = copied(from);
    copy.replace("goldgate.yaml", "    path: golden\n", STRICT);
    copy
}

/// A copy whose agent uses that many tokens; only a stricter config asks for that.
fn using(from: &Repository, tokens: u32) -> Repository {
    let copy = copied(from);
    let metrics = format!("\"metrics\": {{ \"total_tokens\": {tokens} }}, \"outputs\"");
    copy.replace(RUN, "\"outputs\"", &metrics);
    copy.write("prompts/legal.md", format!("Use {tokens} tokens.\n"));
    copy
}

/// Whoever pushes chooses the commit where the branch leaves the default branch.
fn rules_of_its_beginning() {
    let trunk = trunk();
    let (newest, head) = (tip(1), tip(2));
    trunk
        .github
        .commit(&newest, &stricter(&using(&trunk.main, 100)));
    trunk.github.parents(&newest, &[&base_sha()]);
    trunk.github.parents(&head, &[&base_sha()]);
    let checkout = using(&trunk.main, 5000);
    let run = || {
        let zero = "0".repeat(40);
        push(&trunk, &checkout, ["feature", &zero, &head])
            .variable("GITHUB_SHA", &head)
            .runs()
    };
    is_green(&run());
    trunk.github.branch("master", &newest);
    is_green(&run());
    trunk.github.commit(&base_sha(), &stricter(&trunk.main));
    is_red(
        &run(),
        "fails by the rules of the base commit: tokens is 5,000, needs ≤ 1,000",
    );
}

/// The check of the push is on the commit of the pull request's check, and has the same name.
fn open_pull() {
    let trunk = trunk();
    let (release, head) = (tip(1), tip(2));
    let checkout = using(&trunk.main, 5000);
    trunk
        .github
        .commit(&release, &stricter(&using(&trunk.main, 100)));
    trunk.github.parents(&release, &[&base_sha()]);
    trunk.github.parents(&head, &[&base_sha()]);
    trunk.github.branch("release", &release);
    trunk.github.open_pull(3, "feature", &head);
    let run = || {
        let zero = "0".repeat(40);
        push(&trunk, &checkout, ["feature", &zero, &head])
            .variable("GITHUB_SHA", &head)
            .runs()
    };
    trunk.github.commit(&test_merge(3), &checkout);
    is_green(&run());
    trunk.github.retarget_of(3, "release");
    trunk.github.commit(&test_merge(3), &stricter(&checkout));
    is_red(
        &run(),
        "pull request 3 into release has the same head commit and fails",
    );
    trunk.github.close(3);
    is_green(&run());
    trunk.github.deny("pull-requests: read");
    let ran = run();
    is_green(&ran);
    assert!(
        ran.stdout.contains("`pull-requests: read`"),
        "{}",
        ran.stdout
    );
}

/// GitHub lists the 250 oldest commits of a comparison (REST, "Compare two commits").
fn long() {
    let trunk = trunk();
    let pull = pull(&trunk, 2, "legal");
    trunk.is_approved(&pull);
    let mut before = base_sha();
    for number in 0..260 {
        let commit = format!("{number:0>4}{}", "9".repeat(36));
        trunk.github.parents(&commit, &[&before]);
        before = commit;
    }
    trunk.github.parents(&pull.head, &[&before]);
    let after = tip(1);
    trunk.github.parents(&after, &[&base_sha(), &pull.head]);
    trunk.github.merge_as(2, &after);
    is_green(&pushed(
        &trunk,
        &with(&trunk, &[&pull]),
        &base_sha(),
        &after,
    ));
}

fn tag() {
    let trunk = trunk();
    let checkout = copied(&trunk.main);
    let tagged = "5".repeat(40);
    let mut job =
        push(&trunk, &checkout, ["master", &base_sha(), &tip(1)]).variable("GITHUB_SHA", &tagged);
    job.event["ref"] = json!("refs/tags/v1");
    is_green(&job.runs());
    assert!(report(&checkout)["base"].is_string());
    let worse = pull(&trunk, 3, "legal");
    job.repository = &worse.checkout;
    is_red(&job.runs(), "");
    // A tag of the default branch's own tip is judged as its push was.
    let (parent, own) = (tip(2), base_sha());
    trunk.github.parents(&own, &[&parent]);
    job.repository = &checkout;
    is_green(&job.variable("GITHUB_SHA", &own).runs());
    assert_eq!(report(&checkout)["base"], json!(parent));
}

/// A check belongs to its commit, whatever started it. The change loosens the gate that it fails.
fn unattached() {
    let trunk = trunk();
    let pull = pull(&trunk, 3, "legal");
    let loosened = |repository: &Repository| {
        let config = repository.read("goldgate.yaml");
        repository.write(
            "goldgate.yaml",
            config.replace(
                "    agents:",
                "    gates: { severity_accuracy: { off: true, reason: x } }\n    agents:",
            ),
        );
    };
    loosened(&pull.checkout);
    for (event, reference) in [
        ("push", "refs/tags/v1"),
        ("release", "refs/tags/v1"),
        ("workflow_dispatch", "refs/heads/other"),
    ] {
        let mut job = push(&trunk, &pull.checkout, ["other", &base_sha(), &pull.head]);
        job.event["ref"] = json!(reference);
        job.name = event;
        let ran = job.variable("GITHUB_SHA", &pull.head).runs();
        assert_eq!(ran.code, 1, "{event}: {}{}", ran.stdout, ran.stderr);
    }
}

fn first_push() {
    let trunk = trunk();
    let checkout = copied(&trunk.main);
    let ran = pushed(&trunk, &checkout, &"0".repeat(40), &tip(1));
    is_green(&ran);
    assert!(
        ran.stdout
            .contains("this is the first push of the branch, so nothing is compared"),
        "{}",
        ran.stdout
    );
    assert_eq!(report(&checkout)["base"], Value::Null);
    let worse = pull(&trunk, 3, "legal").checkout;
    is_red(&pushed(&trunk, &worse, &"0".repeat(40), &tip(1)), "");
}

fn unread() {
    for permission in ["pull-requests: read", "actions: read"] {
        let trunk = trunk();
        let pull = pull(&trunk, 2, "legal");
        trunk.is_approved(&pull);
        let after = tip(1);
        trunk.github.parents(&after, &[&base_sha()]);
        trunk.github.merge_as(2, &after);
        trunk.github.deny(permission);
        let ran = pushed(&trunk, &with(&trunk, &[&pull]), &base_sha(), &after);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(&format!("`{permission}`")),
            "{}",
            ran.stderr
        );
    }
}
