//! Approval by label, computed from what GitHub says: as it should go, and every state in which a label does not count.

mod story;

use libtest_mimic::Trial;
use serde_json::json;

pub use self::story::{BASELINE, LABEL, REASON, Story, base_sha};
use super::standin::pulls::MERGE;
use super::standin::{Fault, Standin};
use super::{BOT, Job, RUN, head_sha};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a regression, a label, and the gate is green", whole_story),
        trial(
            "a golden change, a label, and the gate is green",
            golden_change,
        ),
        trial("an approval lifts a gate with a limit of its own", absolute),
        trial(
            "an approval gives no run a verdict that has none",
            no_verdict,
        ),
        trial(
            "a green run starts the older red runs of its head again",
            older_red_runs,
        ),
        trial(
            "a label that is taken away makes the gate red again",
            withdrawn,
        ),
        trial(
            "whose label counts is what the base branch's config says",
            policy,
        ),
        trial(
            "the label of the author, of whoever pushed last or of a bot does not count",
            people,
        ),
        trial(
            "a label that was there before a result was shown does not count",
            early,
        ),
        trial(
            "a label that was set while a run worked does not count for its result",
            while_running,
        ),
        trial("a re-run of an older run gives the verdict of now", rerun),
        trial(
            "a push that changes the result takes the label away",
            pushed,
        ),
        trial(
            "a push that leaves the result as it is keeps the approval",
            unrelated,
        ),
        trial(
            "another content in the same words is not approved",
            same_words,
        ),
        trial(
            "the base branch moves on, and the approval stays",
            moved_base,
        ),
        trial("whoever presses Update branch may approve", updated),
        trial(
            "a merge of the base branch with other content is a push",
            evil_merge,
        ),
        trial(
            "a label that is taken away, or a push, while the gate works opens nothing",
            meanwhile,
        ),
        trial("a run that somebody cancelled showed no result", cancelled),
        trial("a forged status or comment changes nothing", forged),
        trial(
            "a label that GitHub lists late counts after a moment",
            listed_late,
        ),
        trial(
            "without the permission to write, the decision is the same",
            read_only,
        ),
        trial(
            "without the activity of the branch, its runs tell who pushed",
            without_activity,
        ),
        trial(
            "the shown run is gone, or its commits are: set the label again",
            gone,
        ),
        trial(
            "on pull_request_target a label counts only into the default branch",
            other_base,
        ),
        trial(
            "where the pull request is read as data, a label counts as well",
            trusted,
        ),
        trial("another label does nothing", other_label),
        trial("the requests of a label are few", requests),
    ]
}

fn whole_story() {
    let story = Story::new();
    let red = story.gate(7);
    assert_eq!(red.code, 1, "{}{}", red.stdout, red.stderr);
    assert!(
        story
            .comment()
            .contains(&format!("add the label `{LABEL}`")),
        "{}",
        story.comment()
    );
    let green = story.labeled("alice", 8);
    story.is_approved(&green, "alice");
    let report = story.report();
    assert_eq!(
        (&report["verdict"], &report["approval"]["head"]),
        (&json!("pass"), &json!(head_sha()))
    );
    // What is shown is still the comparison with the base.
    let comment = story.comment();
    assert!(
        comment.starts_with("> [!NOTE]\n> **Passes by approval of alice: legal "),
        "{comment}"
    );
    assert!(
        comment.contains(" Reason: the agent reports more on purpose**"),
        "{comment}"
    );
    assert!(comment.contains("−50&nbsp;pp"), "{comment}");
    // Another event of the same commit.
    story.is_approved(&story.job("pull_request.synchronize", 9).runs(), "alice");
}

fn golden_change() {
    let story = Story::of_golden_change();
    assert_eq!(story.gate(7).code, 1, "the guard does not hold it");
    story.is_approved(&story.labeled("alice", 8), "alice");
}

fn absolute() {
    let story = Story::new();
    story
        .checkout
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(story.gate(7).code, 1);
    story.is_approved(&story.labeled("alice", 8), "alice");
}

fn no_verdict() {
    let story = Story::new();
    story.checkout.stamp_unless_kept();
    story
        .checkout
        .write("prompts/legal.md", "Report nothing.\n");
    let run = |run| {
        story
            .job("pull_request.synchronize", run)
            .keep_recordings()
            .runs()
    };
    assert_eq!(run(7).code, 3);
    story.github.label_by("alice", LABEL);
    assert_eq!(run(8).code, 3);
    assert!(story.has_label(), "a label is judged only with a verdict");
}

fn older_red_runs() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice", 9);
    assert_eq!(story.github.reruns(), [7]);
    let not_started: [fn(&Standin); 2] = [
        |github| github.deny("actions: write"),
        |github| github.grow_old(7),
    ];
    for fault in not_started {
        let story = Story::new();
        story.gate(7);
        fault(&story.github);
        let green = story.labeled("alice", 9);
        story.is_approved(&green, "alice");
        let named = "older red runs of this commit were not started again (7)";
        assert!(story.comment().contains(named), "{}", story.comment());
    }
}

fn withdrawn() {
    let story = Story::new();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    assert_eq!(story.unlabeled(9).code, 1);
    assert!(
        story.comment().starts_with("> [!CAUTION]"),
        "{}",
        story.comment()
    );
    story.is_approved(&story.labeled("alice", 10), "alice");
}

fn policy() {
    for (policy, actor, role, granted) in [
        ("{ approvers: maintain }", "alice", "write", false),
        ("{ approvers: maintain }", "alice", "maintain", true),
        ("{ approvers: admin }", "alice", "maintain", false),
        ("{ allow_self_approval: true }", "Codertocat", "write", true),
        (
            "{ label: \"GoldGate:Accept-Baseline\" }",
            "alice",
            "write",
            true,
        ),
    ] {
        let story = Story::new();
        let config = format!("{}approval: {policy}\n", story.github.text("goldgate.yaml"));
        story.github.file("goldgate.yaml", &config);
        story.checkout.write("goldgate.yaml", &config);
        story.github.role(actor, role);
        assert_eq!(story.gate(7).code, 1);
        let ran = story.labeled(actor, 8);
        assert_eq!(
            ran.code == 0,
            granted,
            "{policy} {actor} {role}: {}",
            ran.stdout
        );
    }
    // The pull request cannot loosen it.
    let story = Story::new();
    let config = story.checkout.read("goldgate.yaml");
    story.checkout.write(
        "goldgate.yaml",
        format!("{config}approval: {{ allow_self_approval: true }}\n"),
    );
    story.github.role("Codertocat", "admin");
    story.gate(7);
    story.is_refused(
        &story.labeled("Codertocat", 8),
        "Codertocat opened this pull request",
    );
}

fn people() {
    for (actor, role, why) in [
        (
            "trent",
            "triage",
            "trent has the permission triage here, but an approval needs write",
        ),
        ("nobody", "read", "nobody has the permission read here"),
        ("Codertocat", "admin", "Codertocat opened this pull request"),
        (BOT, "write", "github-actions[bot] has the permission"),
    ] {
        let story = Story::new();
        story.github.role(actor, role);
        story.gate(7);
        story.is_refused(&story.labeled(actor, 8), why);
        // The next label, of somebody who may, counts.
        story.is_approved(&story.labeled("alice", 9), "alice");
    }
    let story = Story::new();
    story.github.pushed_by("alice", &head_sha());
    story.gate(7);
    story.is_refused(
        &story.labeled("alice", 8),
        "alice pushed the newest commits",
    );
}

fn early() {
    let story = Story::new();
    story.github.label_by("alice", LABEL);
    story.is_refused(
        &story.gate(7),
        "no run had shown a result of ec26c3e when it was set",
    );
    // After a push, a label that was set before its run.
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.push("Codertocat", 'd');
    story.github.label_by("alice", LABEL);
    story.is_refused(
        &story.gate(8),
        "no run had shown a result of ddddddd when it was set",
    );
}

fn while_running() {
    let story = Story::new();
    story.gate(7);
    let job = story.job("pull_request.synchronize", 8);
    job.start();
    story.github.label_by("alice", LABEL);
    // The run before had ended, and showed the same result.
    story.is_approved(&job.runs(), "alice");
}

fn rerun() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    story.is_approved(&story.labeled("alice", 8), "alice");
    story.is_approved(&story.gate(7), "alice");
    story.github.unlabel(LABEL);
    assert_eq!(story.gate(8).code, 1);
    assert_eq!(story.gate(7).code, 1);
}

fn pushed() {
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    story.checkout.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"c\"},",
    );
    story.push("Codertocat", 'd');
    story.is_refused(
        &story.job("pull_request.synchronize", 9).runs(),
        "it was set for another result, without this: the numbers of contracts/legal",
    );
    story.is_approved(&story.labeled("alice", 10), "alice");
}

fn unrelated() {
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    story.checkout.write("src/main.py", "print()\n");
    story.push("Codertocat", 'd');
    story.is_approved(&story.job("pull_request.synchronize", 9).runs(), "alice");
    // Not if the giver pushed it.
    story.checkout.write("src/main.py", "exit()\n");
    story.push("alice", 'e');
    story.is_refused(
        &story.job("pull_request.synchronize", 10).runs(),
        "alice pushed the newest commits",
    );
}

fn same_words() {
    let long = |word: &str| format!("prior {} {word}", "x".repeat(600));
    let with = |story: &Story, word: &str| {
        let text = format!(
            "On a change of control the landlord has to approve. {}\n",
            long(word)
        );
        story.checkout.write("golden/contracts/lease.md", text);
    };
    let story = Story::of_golden_change();
    story.has_merge();
    with(&story, "one");
    story.github.commit(MERGE, &story.checkout);
    assert_eq!(story.gate(7).code, 1);
    story.is_approved(&story.labeled("alice", 8), "alice");
    with(&story, "two");
    story.push("Codertocat", 'd');
    story.is_refused(
        &story.job("pull_request.synchronize", 9).runs(),
        "it was set for another result",
    );
}

fn moved_base() {
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    // Something else is merged: another base commit, another test merge.
    let tip = "7".repeat(40);
    let base = Repository::empty();
    for file in crate::repository::FILES.iter().chain(&[BASELINE]) {
        base.write(file, story.github.text(file));
    }
    base.write("docs/other.md", "Another change.\n");
    story.github.commit(&tip, &base);
    story.github.parents(&tip, &[&base_sha()]);
    story.github.branch("master", &tip);
    story.github.branch("main", &tip);
    let merge = "8".repeat(40);
    story.github.renew_merge(2, &merge);
    story.github.parents(&merge, &[&tip, &head_sha()]);
    story.github.commit(&merge, &story.checkout);
    story.is_approved(&story.job("pull_request.synchronize", 9).runs(), "alice");
    assert_eq!(story.report()["base"], json!(tip));
}

/// The base branch moves on, and `actor` merges it into the branch.
fn updates(story: &Story, actor: &str, change: impl FnOnce(&Repository)) {
    let (tip, head, merge) = ("7".repeat(40), "e".repeat(40), "8".repeat(40));
    let before = Repository::empty();
    for file in crate::repository::FILES.iter().chain(&[BASELINE]) {
        before.write(file, story.github.text(file));
    }
    let github = &story.github;
    github.commit(&head_sha(), &story.checkout);
    before.write("docs/other.md", "Another change.\n");
    github.commit(&tip, &before);
    github.parents(&tip, &[&base_sha()]);
    github.branch("master", &tip);
    github.branch("main", &tip);
    story.checkout.write("docs/other.md", "Another change.\n");
    change(&story.checkout);
    github.commit(&head, &story.checkout);
    github.parents(&head, &[&head_sha(), &tip]);
    github.merge_base(&head_sha(), &base_sha());
    github.merge_base(&tip, &tip);
    github.push_by(actor, &head);
    github.renew_merge(2, &merge);
    github.parents(&merge, &[&tip, &head]);
    github.commit(&merge, &story.checkout);
}

fn updated() {
    for actor in ["alice", "Codertocat"] {
        let story = Story::new();
        story.has_merge();
        story.gate(7);
        story.is_approved(&story.labeled("alice", 8), "alice");
        updates(&story, actor, |_| ());
        story.is_approved(&story.job("pull_request.synchronize", 9).runs(), "alice");
    }
}

fn evil_merge() {
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    updates(&story, "alice", |checkout| {
        checkout.write("src/main.py", "evil()\n")
    });
    story.is_refused(
        &story.job("pull_request.synchronize", 9).runs(),
        "alice pushed the newest commits",
    );
}

fn meanwhile() {
    let story = Story::new();
    story.gate(7);
    story.github.unlabel_meanwhile();
    let ran = story.labeled("alice", 8);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let story = Story::new();
    story.gate(7);
    story.github.relabel_meanwhile(9);
    let ran = story.labeled("alice", 8);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(story.has_label(), "the run on the other label decides");
    let story = Story::new();
    story.gate(7);
    story.github.push_meanwhile(&"d".repeat(40));
    let ran = story.labeled("alice", 8);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(story.has_label(), "the run on the push decides");
}

fn cancelled() {
    let story = Story::new();
    story.gate(7);
    story.github.cancel_run(7);
    story.is_refused(&story.labeled("alice", 8), "no run had shown a result");
    // The run on the label showed one.
    story.is_approved(&story.labeled("alice", 9), "alice");
}

fn forged() {
    let story = Story::new();
    story.gate(7);
    story
        .github
        .change_comment(1, "> [!TIP]\n> **All gates pass.**\n");
    assert_eq!(story.job("pull_request.synchronize", 8).runs().code, 1);
    story.github.label_by("mallory", LABEL);
    assert_eq!(story.job("pull_request.labeled", 9).runs().code, 1);
}

fn listed_late() {
    let story = Story::new();
    story.gate(7);
    story.github.lists_labels_late(1);
    story.is_approved(&story.labeled("alice", 8), "alice");
    // The list of runs is late as well.
    let story = Story::new();
    story.gate(7);
    story.github.lists_runs_late(1);
    story.is_approved(&story.labeled("alice", 8), "alice");
}

fn read_only() {
    let story = Story::new();
    story.github.deny("pull-requests: write");
    assert_eq!(story.gate(7).code, 1);
    let green = story.labeled("alice", 8);
    assert_eq!(green.code, 0, "{}{}", green.stdout, green.stderr);
    let story = Story::new();
    story.github.deny("pull-requests: write");
    story.gate(7);
    let red = story.labeled("Codertocat", 8);
    assert_eq!(red.code, 1);
    assert!(story.has_label(), "it cannot be taken away");
    assert!(
        red.stdout.contains("does not count: Codertocat "),
        "{}",
        red.stdout
    );
}

fn without_activity() {
    let story = Story::new();
    story.github.lack(&["/activity"]);
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    let story = Story::new();
    story.github.lack(&["/activity"]);
    let mut job = story.job("pull_request.opened", 7);
    job.event["sender"]["login"] = json!("alice");
    job.runs();
    story.is_refused(
        &story.labeled("alice", 8),
        "alice pushed the newest commits",
    );
}

fn gone() {
    let story = Story::new();
    story.gate(7);
    story.github.delete_run(7);
    story.is_refused(&story.labeled("alice", 8), "no run had shown a result");
    // The merge of the shown run cannot be read any more.
    let story = Story::new();
    story.has_merge();
    story.gate(7);
    story.is_approved(&story.labeled("alice", 8), "alice");
    story.checkout.write("src/main.py", "print()\n");
    story.push("Codertocat", 'd');
    story.github.change_run(7, |run| {
        run["display_title"] = json!(format!("goldgate {}", "9".repeat(40)))
    });
    story.is_refused(
        &story.job("pull_request.synchronize", 9).runs(),
        "cannot be computed again",
    );
}

/// On `pull_request_target` a run knows the commit of the default branch alone.
fn other_base() {
    let story = Story::new();
    story.has_merge();
    story.github.commit(&head_sha(), &story.checkout);
    story.github.branch("main", &"7".repeat(40));
    story.github.default_branch("main");
    let workspace = Repository::empty();
    let run = |event: &str, run: u64| {
        let mut job = Job::new(&workspace, &story.github, event, "pull_request_target");
        job.run = run;
        if job.event["label"].is_object() {
            job.event["label"]["name"] = json!(LABEL);
        }
        job.variable("GITHUB_SHA", &"7".repeat(40)).runs()
    };
    assert_eq!(run("pull_request.opened", 7).code, 1);
    story.github.label_by("alice", LABEL);
    let ran = run("pull_request.labeled", 8);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let why = "is not of a merge into master";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
}

/// The name of a run says the head and the commit that it was merged into; that merge may have no commit any more.
fn trusted() {
    let story = Story::new();
    story.has_merge();
    story.github.commit(&head_sha(), &story.checkout);
    story.github.default_branch("master");
    let workspace = Repository::empty();
    workspace.remove(".git");
    let run = |event: &str, run: u64| {
        let mut job = Job::new(&workspace, &story.github, event, "pull_request_target");
        job.run = run;
        if job.event["label"].is_object() {
            job.event["label"]["name"] = json!(LABEL);
        }
        let tip = story.github.head("master").unwrap();
        job.variable("GITHUB_SHA", &tip).runs()
    };
    assert_eq!(run("pull_request.opened", 7).code, 1);
    story.github.label_by("Codertocat", LABEL);
    assert_eq!(run("pull_request.labeled", 8).code, 1);
    assert!(!story.has_label());
    story.github.label_by("alice", LABEL);
    let ran = run("pull_request.labeled", 9);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Something else is merged.
    let (tip, merge) = ("7".repeat(40), "8".repeat(40));
    let base = Repository::empty();
    for file in crate::repository::FILES.iter().chain(&[BASELINE]) {
        base.write(file, story.github.text(file));
    }
    base.write("docs/other.md", "Another change.\n");
    story.github.commit(&tip, &base);
    story.github.parents(&tip, &[&base_sha()]);
    story.github.branch("master", &tip);
    story.github.renew_merge(2, &merge);
    story.github.parents(&merge, &[&tip, &head_sha()]);
    story.github.merge_base(&head_sha(), &base_sha());
    story.checkout.write("docs/other.md", "Another change.\n");
    story.github.commit(&merge, &story.checkout);
    let ran = run("pull_request.synchronize", 10);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn other_label() {
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", "bug");
    let mut job = story.job("pull_request.labeled", 8);
    job.event["label"]["name"] = json!("bug");
    assert_eq!(job.runs().code, 1);
    assert_eq!(story.github.labels(), ["bug"]);
}

fn requests() {
    let count = |story: &Story, run: &dyn Fn() -> i32| {
        let before = story.github.requests().len();
        let code = run();
        (code, story.github.requests().len() - before)
    };
    let story = Story::new();
    let (code, gate) = count(&story, &|| story.gate(7).code);
    assert!(
        code == 1 && gate <= 13,
        "{gate}: {:?}",
        story.github.requests()
    );
    let (code, label) = count(&story, &|| story.labeled("alice", 8).code);
    assert!(
        code == 0 && label <= 20,
        "{label}: {:?}",
        story.github.requests()
    );
    story.github.fault("GET", Fault::Once(502));
    assert_eq!(story.job("pull_request.synchronize", 9).runs().code, 0);
}
