//! A merge group's job: the label of the pull request whose merge it tests counts for the same result, and nothing else does.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{BASELINE, LABEL, base_sha};
use super::pushes::{is_green, is_red, pull, report, tip, trunk, with};
use super::standin::settings::Queue;
use super::story::merges::{Default, LATER, Pull, RENTAL_RUN};
use super::{Job, RUN, head_sha};
use crate::repository::{Ran, Repository};
use crate::trial;

const EXPECTED: &str = "golden/expected/legal/lease.json";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a merge group takes the approval of its pull request for the same result",
            same_result,
        ),
        trial(
            "a merge group with the baseline that its pull request carries is green by its approval",
            carried,
        ),
        trial(
            "a merge group with another result than the approved one is red and says so",
            other_result,
        ),
        trial(
            "a merge group that is about no open pull request into its branch gives no verdict",
            not_its_own,
        ),
        trial(
            "a merge group gives no verdict unless every entry of the queue has to pass",
            failed_entries,
        ),
        trial(
            "two approved pull requests in one merge queue need no new approval",
            two_approved,
        ),
        trial(
            "an approval counts in a group on a base branch that moved on, for what was approved",
            other_base,
        ),
        trial(
            "a merge group without a checkout is judged as data",
            as_data,
        ),
        trial(
            "a merge group that may not read pull requests says which permission is missing",
            unread,
        ),
    ]
}

/// The gate on the commit that the queue made of a pull request on top of another commit.
fn job<'a>(
    trunk: &'a Default,
    checkout: &'a Repository,
    number: u64,
    [before, commit]: [String; 2],
) -> Job<'a> {
    trunk.github.parents(&commit, &[&before]);
    let mut job = Job::new(checkout, &trunk.github, "merge_group", "merge_group");
    job.event["repository"]["default_branch"] = json!("master");
    job.event["merge_group"] = json!({
        "head_ref": format!("refs/heads/gh-readonly-queue/master/pr-{number}-{before}"),
        "base_ref": "refs/heads/master", "base_sha": before, "head_sha": commit,
    });
    job.run = 60;
    job.variable("SOURCE_DATE_EPOCH", LATER)
}

/// The same of the first entry of the queue.
fn queued(trunk: &Default, checkout: &Repository, number: u64) -> Ran {
    trunk.github.commit(&tip(1), checkout);
    job(trunk, checkout, number, [base_sha(), tip(1)]).runs()
}

/// A pull request that edits an expectation.
fn golden_change(trunk: &Default) -> Pull {
    let checkout = with(trunk, &[]);
    checkout.replace(EXPECTED, "\"expected_gaps\": [\"Missing_Doc\"],", "");
    trunk.opened(2, checkout)
}

fn same_result() {
    let worse: fn(&Default) -> Pull = |trunk| pull(trunk, 2, "legal");
    for make in [golden_change, worse] {
        let trunk = trunk();
        let pull = make(&trunk);
        let group = with(&trunk, &[&pull]);
        assert_eq!(queued(&trunk, &group, 2).code, 1, "nobody has approved it");
        trunk.is_approved(&pull);
        is_green(&queued(&trunk, &group, 2));
        let report = report(&group);
        assert_eq!(
            [
                &report["commit"],
                &report["base"],
                &report["approval"]["by"],
                &report["approval"]["head"]
            ],
            [
                &json!(tip(1)),
                &json!(base_sha()),
                &json!("alice on pull request 2"),
                &json!(head_sha())
            ]
        );
        trunk.github.unlabel(LABEL);
        assert_eq!(queued(&trunk, &group, 2).code, 1, "the label is gone");
    }
}

fn carried() {
    let trunk = trunk();
    let pull = pull(&trunk, 2, "legal");
    trunk.gate(&pull);
    let proposed = ".goldgate/report/proposed-baseline.json";
    pull.checkout.write(BASELINE, pull.checkout.read(proposed));
    trunk.is_approved(&pull);
    is_green(&queued(&trunk, &with(&trunk, &[&pull]), 2));
}

fn other_result() {
    let says = "does not count: it was set for another result, without this: ";
    let trunk = trunk();
    let approved = golden_change(&trunk);
    trunk.is_approved(&approved);
    // Another pull request of the queue changed something else below it.
    let group = with(&trunk, &[&approved]);
    group.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    is_red(&queued(&trunk, &group, 2), says);
    assert_eq!(report(&group)["approval"], Value::Null);
    assert_eq!(
        trunk.github.labels(),
        [LABEL],
        "it still counts at its head"
    );
    // Or the same agent.
    let trunk = super::pushes::trunk();
    let approved = pull(&trunk, 2, "legal");
    trunk.is_approved(&approved);
    let group = with(&trunk, &[&approved]);
    group.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"q\"},",
    );
    let numbers = format!("{says}the numbers of contracts/legal");
    is_red(&queued(&trunk, &group, 2), &numbers);
}

#[track_caller]
fn is_no_verdict(ran: &Ran, says: &str) {
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(says), "{says}: {}", ran.stderr);
}

fn not_its_own() {
    let trunk = trunk();
    let group = with(&trunk, &[]);
    is_green(&queued(&trunk, &group, 2));
    // Any branch is not the queue's.
    let mut other = job(&trunk, &group, 2, [base_sha(), tip(1)]);
    other.event["merge_group"]["head_ref"] = json!("refs/heads/mine/pr-2-of-mine");
    is_no_verdict(&other.runs(), "does not name its pull request");
    // There is no such pull request, which looks like one that the token may not read.
    is_no_verdict(&queued(&trunk, &group, 9), "`pull-requests: read`");
    trunk.github.retarget("release");
    is_no_verdict(&queued(&trunk, &group, 2), "is not open on master");
    trunk.github.retarget("master");
    trunk.github.close(2);
    is_no_verdict(&queued(&trunk, &group, 2), "is not open on master");
}

/// GitHub docs, "Managing a merge queue", "Only merge non-failing pull requests".
fn failed_entries() {
    let allgreen = "require all entries to pass";
    for (rule, queue, why) in [
        (Some("ALLGREEN"), Queue::Hidden, None),
        (Some("HEADGREEN"), Queue::Hidden, Some(allgreen)),
        // Classic branch protection, which no rule shows.
        (None, Queue::All, None),
        (None, Queue::HeadOnly, Some(allgreen)),
        (None, Queue::Hidden, Some("set it up in a ruleset")),
    ] {
        let trunk = trunk();
        trunk.github.branch("main", &base_sha());
        trunk.github.retarget("main");
        trunk.github.queue(queue);
        if let Some(strategy) = rule {
            let parameters = json!({ "grouping_strategy": strategy });
            let rule = json!({ "type": "merge_queue", "parameters": parameters });
            trunk.github.rule(rule);
        }
        let group = with(&trunk, &[]);
        let mut job = job(&trunk, &group, 2, [base_sha(), tip(1)]);
        job.event["merge_group"]["base_ref"] = json!("refs/heads/main");
        let ran = job.runs();
        let code = if why.is_some() { 3 } else { 0 };
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(why.unwrap_or_default()),
            "{}",
            ran.stderr
        );
    }
}

/// Squashed, so no commit of the groups names a pull request. Each group is judged from the one before it.
fn two_approved() {
    let trunk = trunk();
    let (first, second) = (golden_change(&trunk), pull(&trunk, 3, "rental"));
    trunk.is_approved(&first);
    let group = with(&trunk, &[&first, &second]);
    is_green(&queued(&trunk, &with(&trunk, &[&first]), 2));
    trunk.github.commit(&tip(2), &group);
    let run = || job(&trunk, &group, 3, [tip(1), tip(2)]).runs();
    is_red(&run(), "Merge blocked");
    trunk.is_approved(&second);
    is_green(&run());
    let of_second = report(&group);
    assert_eq!(of_second["base"], json!(tip(1)));
    assert_eq!(
        of_second["approval"]["by"],
        json!("alice on pull request 3")
    );
}

/// The same pull request, approved on the base of then, on top of a base branch that moved on.
fn other_base() {
    let merged = |change: &dyn Fn(&Repository)| {
        let trunk = trunk();
        let approved = pull(&trunk, 2, "legal");
        trunk.is_approved(&approved);
        let (base, group) = (with(&trunk, &[]), with(&trunk, &[&approved]));
        change(&base);
        change(&group);
        trunk.github.commit(&tip(7), &base);
        trunk.github.commit(&tip(8), &group);
        trunk.github.parents(&tip(7), &[&base_sha()]);
        trunk.github.branch("master", &tip(7));
        job(&trunk, &group, 2, [tip(7), tip(8)]).runs()
    };
    is_green(&merged(&|base| base.write("README.md", "Leases.\n")));
    // Another agent got another prompt, and its recordings with it.
    is_green(&merged(&|base| {
        base.write("prompts/rental.md", "Report each change of control.\n");
        base.replace(RENTAL_RUN, "Needs prior approval.", "Needs approval first.");
    }));
    // A gate that alice did not know of.
    let strict = merged(&|base| {
        let gates = "    path: golden\n    gates: { finding_count: { max: 1, hard: true } }\n";
        base.replace("goldgate.yaml", "    path: golden\n", gates);
    });
    is_red(&strict, "the numbers of contracts/legal");
}

fn as_data() {
    let trunk = trunk();
    let approved = pull(&trunk, 2, "legal");
    let workspace = Repository::empty();
    workspace.remove(".git");
    trunk.github.commit(&tip(1), &with(&trunk, &[&approved]));
    let run = || job(&trunk, &workspace, 2, [base_sha(), tip(1)]).runs();
    is_red(&run(), "Merge blocked");
    trunk.is_approved(&approved);
    is_green(&run());
    assert_eq!(report(&workspace)["commit"], json!(tip(1)));
}

fn unread() {
    for permission in ["pull-requests: read", "actions: read"] {
        let trunk = trunk();
        let approved = pull(&trunk, 2, "legal");
        trunk.is_approved(&approved);
        trunk.github.deny(permission);
        let ran = queued(&trunk, &with(&trunk, &[&approved]), 2);
        is_no_verdict(&ran, &format!("`{permission}`"));
    }
}
