//! Approval by label, played against the stand-in: the story as it should go, and every way to cheat.

mod artifacts;
mod heads;
mod label;
mod lasting;
mod moved_base;
mod person;
mod rerun;
mod rights;
mod seen;
mod states;
mod story;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::artifacts::{
    broken_artifacts, foreign_artifacts, forged_artifacts, hostile_reason, many_runs,
    of_the_models, redirected, storage_is_down,
};
use self::rights::{carried, fork, permissions, token, unread_statuses};
pub use self::story::{BASELINE, LABEL, REASON, Story, base_sha, uploaded, zipped};
use super::standin::Standin;
use super::{BOT, Job, RUN, head_sha};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = seen::trials();
    trials.extend(rerun::trials());
    trials.extend(label::trials());
    trials.extend(heads::trials());
    trials.extend(states::trials());
    trials.extend(lasting::trials());
    trials.extend(moved_base::trials());
    trials.extend(person::trials());
    trials.extend(vec![
        trial("a regression, a label, and the gate is green", whole_story),
        trial(
            "an approval twice is one status, one comment and one start of the run",
            twice,
        ),
        trial("the label of a triage user is removed and says why", triage),
        trial("who may approve is what the input approvers says", floors),
        trial(
            "a label that was given for an older head is removed",
            moved_before,
        ),
        trial(
            "a push after the label removes the label and leaves no approval",
            pushed_after,
        ),
        trial(
            "the author's own label counts only where the workflow says so",
            own_label,
        ),
        trial(
            "a label that was there when the pull request was opened approves nothing",
            mere_presence,
        ),
        trial("taking the label away withdraws the approval", unlabeled),
        trial(
            "a label that is taken away while the approval is written leaves none",
            meanwhile,
        ),
        trial("another label does nothing", other_label),
        trial("a forged status by another creator proves nothing", forged),
        trial("an approval of another result does not count", other_result),
        trial(
            "a golden change that needs an approval passes with one, and says so",
            golden_change,
        ),
        trial(
            "an approval does not lift a gate with a threshold of its own",
            absolute,
        ),
        trial(
            "an artifact on another commit, or a run on one, is refused",
            foreign_artifacts,
        ),
        trial(
            "a newer result of the model tier that blocks nothing is not the one that is approved",
            of_the_models,
        ),
        trial(
            "the result is found among the runs of 25 workflows",
            many_runs,
        ),
        trial(
            "a broken or missing artifact is refused with its reason",
            broken_artifacts,
        ),
        trial(
            "while the storage of artifacts is down, an approval waits, and its label stays",
            storage_is_down,
        ),
        trial(
            "a forged report that somebody approves does not make the gate green",
            forged_artifacts,
        ),
        trial("a download is sent on without the token", redirected),
        trial("hostile text in the reason is data", hostile_reason),
        trial("an approval of a fork's pull request counts", fork),
        trial(
            "a pull request that carries the baseline needs the approval alone",
            carried,
        ),
        trial(
            "a missing permission is one warning that names it",
            permissions,
        ),
        trial(
            "without the permission to read statuses the run says so",
            unread_statuses,
        ),
        trial(
            "a number of thirds that did not move asks for no approval",
            thirds,
        ),
        trial(
            "the token and the storage's signature are in no output and no comment of an approval",
            token,
        ),
    ]);
    trials
}

fn whole_story() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    assert!(
        story
            .comment()
            .contains(&format!("add the label `{LABEL}`")),
        "{}",
        story.comment()
    );
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses.len() == 1 && statuses[0].starts_with("success approved by alice; result "),
        "{statuses:?}"
    );
    assert!(
        story
            .comment()
            .contains("**Approved** on `ec26c3e` by alice"),
        "{}",
        story.comment()
    );
    // The approval alone makes the gate green, and what is shown is still the comparison with the base.
    let green = story.graded(8);
    assert_eq!(green.code, 0, "{}", green.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!(
        (&report["verdict"], &report["approval"]["by"]),
        (&json!("pass"), &json!("alice"))
    );
    assert!(
        story
            .comment()
            .starts_with("> [!NOTE]\n> **Passes by approval of alice: legal "),
        "{}",
        story.comment()
    );
    assert!(
        story
            .comment()
            .contains(" Reason: the agent reports more on purpose**"),
        "{}",
        story.comment()
    );
    assert!(
        story.comment().contains("−50&nbsp;pp"),
        "{}",
        story.comment()
    );
    assert!(
        story
            .checkout
            .read(".runner/output")
            .contains("\napproved=true\n")
    );
    assert!(story.github.commits().is_empty());
}

fn twice() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.approve("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    assert_eq!(story.github.reruns().len(), 1);
    assert_eq!(story.github.bodies(BOT).len(), 1);
}

fn triage() {
    for (actor, why) in [
        ("trudy", "trudy has the permission triage here"),
        ("mallory", "mallory has the permission read"),
        ("helper[bot]", "has the permission none here"),
    ] {
        let story = Story::new();
        story.gate(7);
        story.github.role("trudy", "triage");
        story.github.role("helper[bot]", "write");
        let ran = story.labeled(actor);
        story.is_refused(&ran, why);
        assert!(
            !story
                .github
                .requests()
                .iter()
                .any(|request| request.contains("/artifacts")),
            "it looked at the result"
        );
    }
}

fn floors() {
    for (floor, role, approved) in [
        ("write", "maintain", true),
        ("maintain", "maintain", true),
        ("maintain", "write", false),
        ("admin", "maintain", false),
    ] {
        let story = Story::new();
        story.gate(7);
        story.github.role("alice", role);
        story.github.label(LABEL);
        let job = story
            .job("pull_request.labeled", "alice", 20)
            .input("mode", "approve");
        job.input("approvers", floor).runs();
        let given = story.github.statuses(&head_sha()).len() == 1;
        assert_eq!(given, approved, "{floor} {role}");
    }
}

fn moved_before() {
    let story = Story::new();
    story.gate(7);
    story.github.push(&"c".repeat(40));
    let ran = story.labeled("alice");
    story.is_refused(
        &ran,
        "it was added for ec26c3e, but the head is now ccccccc",
    );
}

fn pushed_after() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let next = "c".repeat(40);
    story.github.push(&next);
    let mut job = story
        .job("pull_request.synchronize", "author", 21)
        .input("mode", "approve");
    job.event["pull_request"]["head"]["sha"] = json!(next);
    let ran = job.runs();
    assert!(story.github.labels().is_empty(), "{}", ran.stdout);
    assert!(
        story.comment().contains("commits were pushed after it"),
        "{}",
        story.comment()
    );
    assert!(story.github.statuses(&next).is_empty());
    // The same result on the new head is not approved: the approval is for one commit.
    let mut job = Job::new(
        &story.checkout,
        &story.github,
        "pull_request.synchronize",
        "pull_request",
    )
    .head(&next);
    job.run = 22;
    assert_eq!(job.runs().code, 1);
}

fn own_label() {
    let story = Story::new();
    story.gate(7);
    story.github.role("Codertocat", "admin");
    let ran = story.labeled("Codertocat");
    story.is_refused(
        &ran,
        "Codertocat opened this pull request, so somebody else has to approve it",
    );
    story.github.label_by("Codertocat", LABEL);
    let job = story
        .job("pull_request.labeled", "Codertocat", 23)
        .input("mode", "approve");
    job.input("allow-self-approval", "true").runs();
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
}

fn mere_presence() {
    let story = Story::new();
    story.github.label(LABEL);
    assert_eq!(story.gate(7).code, 1, "the label alone made the gate green");
    let ran = story
        .job("pull_request.opened", "alice", 20)
        .input("mode", "approve")
        .runs();
    story.is_refused(&ran, "it was added before the pull request was opened");
}

fn unlabeled() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
    let ran = story.unlabeled(7);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(
        story.github.statuses(&head_sha())[1],
        "failure withdrawn: trudy removed the label; #2"
    );
    assert!(
        story.comment().contains("**Withdrawn**"),
        "{}",
        story.comment()
    );
    assert_eq!(story.graded(9).code, 1);
}

fn meanwhile() {
    let story = Story::new();
    story.gate(7);
    story.github.unlabel_meanwhile();
    let ran = story.labeled("alice");
    let statuses = story.github.statuses(&head_sha());
    assert_eq!(
        statuses.last().unwrap(),
        "failure withdrawn: the label was removed; #2",
        "{}",
        ran.stdout
    );
    assert_eq!(story.graded(9).code, 1);
    // Two events of one label: the second comes when the label is gone.
    let ran = story.approve("alice");
    assert!(
        ran.stdout.contains("the label was removed meanwhile"),
        "{}",
        ran.stdout
    );
}

fn other_label() {
    let story = Story::new();
    story.gate(7);
    story.github.label("bug");
    let mut job = story
        .job("pull_request.labeled", "alice", 20)
        .input("mode", "approve");
    job.event["label"]["name"] = json!("bug");
    let ran = job.runs();
    assert!(
        ran.stdout
            .contains("this label is not the one that approves"),
        "{}",
        ran.stdout
    );
    assert!(story.github.statuses(&head_sha()).is_empty());
    assert_eq!(story.github.labels(), ["bug"]);
}

fn forged() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let line = story.github.statuses(&head_sha())[0]
        .trim_start_matches("success ")
        .to_owned();
    for creator in ["mallory", "github-actions", "Github-Actions[bot]"] {
        let forged = Story::new();
        forged.gate(7);
        forged.github.status(creator, &head_sha(), "success", &line);
        assert_eq!(forged.graded(8).code, 1, "{creator}");
    }
    // Nor can another creator take an approval away.
    story
        .github
        .status("mallory", &head_sha(), "failure", "withdrawn: no");
    assert_eq!(story.graded(8).code, 0);
}

fn other_result() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.checkout.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"c\"},",
    );
    let ran = story.gate(8);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains(
            "the approval of this commit does not count, because it is for another result"
        ),
        "{}",
        ran.stdout
    );
}

/// A baseline keeps six decimal places, and a third has more.
fn thirds() {
    let (checkout, github) = (Repository::small(), Standin::new(&head_sha()));
    checkout.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    checkout.stamp_unless_kept();
    checkout.goldgate(&["run", "--update-baseline"]);
    for file in FILES.iter().chain(&[BASELINE]) {
        github.file(file, &checkout.read(file));
    }
    assert!(checkout.read(BASELINE).contains("0.333333"));
    let ran = crate::github::opened(&checkout, &github).runs();
    let comment = github.bodies(BOT).remove(0);
    assert!(
        ran.code == 0 && comment.contains("no number moved"),
        "{comment}"
    );
    assert!(
        !comment.contains(LABEL) && !comment.contains("Goldgate-Reason"),
        "{comment}"
    );
}

fn golden_change() {
    let story = Story::new();
    story.checkout.write(RUN, crate::repository::RUN);
    story
        .checkout
        .write("prompts/legal.md", story.github.text("prompts/legal.md"));
    story.checkout.replace(
        "golden/expected/legal/lease.json",
        "\"expected_gaps\": [\"Missing_Doc\"],",
        "",
    );
    assert_eq!(story.gate(7).code, 1, "the guard does not hold it");
    assert!(
        story
            .comment()
            .contains(&format!("adds the label `{LABEL}`")),
        "{}",
        story.comment()
    );
    story.labeled("alice");
    let ran = story.graded(8);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!(
        (
            &report["approval"]["by"],
            &report["golden_changes"][0]["needs_approval"]
        ),
        (&json!("alice"), &json!(true))
    );
    // Another change is another result.
    story.checkout.replace(
        "golden/expected/legal/lease.json",
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    assert_eq!(story.graded(9).code, 1);
}

fn absolute() {
    let story = Story::new();
    story
        .checkout
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    let ran = story.graded(8);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    let metrics = &report["suites"][0]["agents"][0]["metrics"];
    assert_eq!(metrics["finding_recall"]["verdict"], "fail");
    assert_eq!(
        metrics["f1_score"]["verdict"], "pass",
        "what the baseline limits is approved"
    );
}
