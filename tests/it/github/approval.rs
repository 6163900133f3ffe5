//! Approval by label and the bump, played against the stand-in: the story as it should go, and every way to cheat.

mod artifacts;
mod bumped;
mod heads;
mod label;
mod lasting;
mod person;
mod rerun;
mod rights;
mod seen;
mod states;

use std::io::Write;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::artifacts::{
    broken_artifacts, foreign_artifacts, hostile_reason, many_runs, moved_during, no_reason, not_as_measured,
};
use self::rights::{by_hand, carried, fork, permissions, token, unread_statuses};
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, head_sha, payload};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub const LABEL: &str = "goldgate:accept-baseline";
pub const BASELINE: &str = "baselines/latest.json";
pub const REASON: &str = "Goldgate-Reason: the agent reports more on purpose";

pub fn trials() -> Vec<Trial> {
    let mut trials = seen::trials();
    trials.extend(rerun::trials());
    trials.extend(label::trials());
    trials.extend(bumped::trials());
    trials.extend(heads::trials());
    trials.extend(states::trials());
    trials.extend(lasting::trials());
    trials.extend(person::trials());
    trials.extend(vec![
        trial("a regression, a label, a bump, and the gate is green", whole_story),
        trial("an approval twice and a bump twice are one of each", twice),
        trial("the label of a triage user is removed and says why", triage),
        trial("who may approve is what the input approvers says", floors),
        trial("a label that was given for an older head is removed", moved_before),
        trial("a push after the label removes the label and leaves no approval", pushed_after),
        trial("the author's own label counts only where the workflow says so", own_label),
        trial("a label that was there when the pull request was opened approves nothing", mere_presence),
        trial("taking the label away withdraws the approval", unlabeled),
        trial("a label that is taken away while the approval is written leaves none", meanwhile),
        trial("another label does nothing", other_label),
        trial("a forged status by another creator proves nothing", forged),
        trial("an approval of another result does not count", other_result),
        trial("a golden change that needs an approval passes with one, and says so", golden_change),
        trial("an approval does not lift a gate with a threshold of its own", absolute),
        trial("an artifact on another commit, or a run on one, is refused", foreign_artifacts),
        trial("the result is found among the runs of 25 workflows", many_runs),
        trial("a broken or missing artifact is refused with its reason", broken_artifacts),
        trial("a proposed baseline that is not what the report measured is not committed", not_as_measured),
        trial("a head that moves during the bump is not overwritten", moved_during),
        trial("a worse number without a reason is not committed, and the comment asks for one", no_reason),
        trial("hostile text in the reason is data", hostile_reason),
        trial("a fork's approval counts, and the comment says how to commit", fork),
        trial("a pull request that carries the baseline needs the approval alone", carried),
        trial("a missing permission is one warning that names it", permissions),
        trial("without the permission to read statuses the run says so", unread_statuses),
        trial("where the gate cannot be restarted the comment says what to click", by_hand),
        trial("the token is in no output, comment or commit of any mode", token),
    ]);
    trials
}

/// A pull request whose recordings lower a number that only the baseline limits.
pub struct Story {
    pub checkout: Repository,
    /// The privileged jobs have nothing checked out.
    pub elsewhere: Repository,
    pub github: Standin,
}

pub fn base_sha() -> String {
    payload("pull_request.opened")["pull_request"]["base"]["sha"].as_str().unwrap().to_owned()
}

pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

impl Story {
    pub fn new() -> Self {
        let (checkout, github) = (Repository::small(), Standin::new(&head_sha()));
        checkout.goldgate(&["run", "--update-baseline"]);
        // What every commit has; what the pull request changes stands at its head alone.
        for file in FILES.iter().chain(&[BASELINE]) {
            github.file(file, &checkout.read(file));
        }
        checkout.write("prompts/legal.md", "Report what is dear.\n");
        checkout.replace(RUN, "\"findings\": [", "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},");
        github.role("alice", "write");
        github.describe(2, REASON);
        Self { checkout, elsewhere: Repository::empty(), github }
    }

    /// The gate on the head, whose report is uploaded.
    pub fn gate(&self, run: u64) -> Ran {
        let ran = self.graded(run);
        self.upload(run, &head_sha(), &self.report(), &self.proposed());
        ran
    }

    pub fn graded(&self, run: u64) -> Ran {
        let mut job = Job::new(&self.checkout, &self.github, "pull_request.opened", "pull_request");
        job.run = run;
        job.runs()
    }

    /// GitHub knows the files of the base commit, and those of the test merge.
    pub fn has_merge(&self) {
        let base = Repository::empty();
        for file in FILES.iter().chain(&[BASELINE]) {
            base.write(file, self.github.text(file));
        }
        self.github.commit(&base_sha(), &base);
        self.github.commit(MERGE, &self.checkout);
    }

    pub fn report(&self) -> String {
        self.checkout.read(".goldgate/report/report.json")
    }

    pub fn proposed(&self) -> String {
        self.checkout.read(".goldgate/report/proposed-baseline.json")
    }

    pub fn upload(&self, run: u64, head: &str, report: &str, proposed: &str) {
        let repository = json!({ "id": 186_853_002, "owner": { "login": "acme" } });
        self.github.run(json!({
            "id": run, "run_attempt": 1, "head_sha": head, "head_branch": "changes", "event": "pull_request",
            "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate.yml",
            "head_repository": repository, "actor": { "login": "Codertocat" },
        }));
        let zip = zipped(&[("report.json", report), ("proposed-baseline.json", proposed)]);
        self.github.artifact(run, "goldgate-report", zip);
    }

    pub fn job(&self, event: &str, actor: &str, run: u64) -> Job<'_> {
        let mut job = Job::new(&self.elsewhere, &self.github, event, "pull_request_target");
        job.event["sender"]["login"] = json!(actor);
        job.run = run;
        if job.event["label"].is_object() {
            job.event["label"]["name"] = json!(LABEL);
        }
        job
    }

    /// Somebody adds the label, and the job on that event runs.
    pub fn labeled(&self, actor: &str) -> Ran {
        self.github.label_by(actor, LABEL);
        self.approve(actor)
    }

    pub fn approve(&self, actor: &str) -> Ran {
        self.job("pull_request.labeled", actor, 20).input("mode", "approve").runs()
    }

    pub fn bump(&self) -> Ran {
        self.job("pull_request.labeled", "alice", 20).input("mode", "bump").runs()
    }

    pub fn comment(&self) -> String {
        let bodies = self.github.bodies(BOT);
        assert_eq!(bodies.len(), 1, "one comment");
        // What GitHub would make a link or a mention of is broken by a word joiner, which nobody sees.
        bodies[0].replace("&#8288;", "")
    }

    fn is_refused(&self, ran: &Ran, why: &str) {
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(!self.github.labels().contains(&LABEL.to_owned()), "the label stays");
        let given = self.github.statuses(&head_sha());
        assert!(given.iter().all(|status| !status.starts_with("success approved by")), "{given:?}");
        let comment = self.comment();
        assert!(comment.contains("**Not approved**") && comment.contains(why), "{why}: {comment}");
        assert_ne!(self.graded(30).code, 0, "the gate is green");
    }
}

impl Story {
    /// The label stays and approves nothing, and the comment says that it has to be set again.
    fn has_no_result(&self) {
        assert!(self.github.labels().contains(&LABEL.to_owned()), "the label is removed");
        assert!(self.github.statuses(&head_sha()).is_empty());
        let comment = self.comment();
        assert!(comment.contains("**Not approved yet**") && comment.contains("set the label again"), "{comment}");
        assert_ne!(self.graded(30).code, 0, "the gate is green");
    }

    /// Somebody takes the label away, after the gate's run has finished, and the job on that event runs.
    pub fn unlabeled(&self, run: u64) -> Ran {
        self.github.concluded(run, "success");
        self.github.unlabel(LABEL);
        self.job("pull_request.unlabeled", "trudy", 21).input("mode", "approve").runs()
    }
}

fn whole_story() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    assert!(story.comment().contains(&format!("add the label `{LABEL}`")), "{}", story.comment());
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let statuses = story.github.statuses(&head_sha());
    assert!(statuses.len() == 1 && statuses[0].starts_with("success approved by alice; result "), "{statuses:?}");
    assert!(story.comment().contains("**Approved** on `ec26c3e` by alice"), "{}", story.comment());
    // The approval alone makes the gate green, and what is shown is still the comparison with the base.
    let green = story.graded(8);
    assert_eq!(green.code, 0, "{}", green.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!((&report["verdict"], &report["approval"]["by"]), (&json!("pass"), &json!("alice")));
    assert!(story.comment().starts_with("> [!NOTE]\n> **Passes by approval of alice: legal "), "{}", story.comment());
    assert!(story.comment().contains(" Reason: the agent reports more on purpose**"), "{}", story.comment());
    assert!(story.comment().contains("−50&nbsp;pp"), "{}", story.comment());
    assert!(story.checkout.read(".runner/output").contains("\napproved=true\n"));

    let ran = story.bump();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let head = story.github.head("changes").unwrap();
    assert_ne!(head, head_sha(), "{}", ran.stdout);
    let commits = story.github.commits();
    assert_eq!((commits.len(), commits[0]["fileChanges"]["additions"].as_array().unwrap().len()), (1, 1));
    assert_eq!(commits[0]["fileChanges"]["additions"][0]["path"], BASELINE);
    assert_eq!(story.github.statuses(&head), statuses);
    assert_eq!(story.github.dispatched(), [("goldgate.yml".to_owned(), "changes".to_owned())]);
    assert!(story.comment().contains("are committed as"), "{}", story.comment());
    let written: Value = serde_json::from_str(&committed(&story, &head)).unwrap();
    let entry = &written["accepted"][0];
    assert_eq!((&entry["by"], &entry["pull_request"]), (&json!("alice"), &json!(2)));
    assert_eq!(entry["reason"], "the agent reports more on purpose");
    assert_eq!(entry["previous_sha256"].as_str().unwrap().len(), 64);

    // The gate that was started on the branch judges the test merge of its pull request, and is green.
    story.checkout.write(BASELINE, committed(&story, &head));
    story.has_merge();
    let mut job = Job::new(&story.checkout, &story.github, "workflow_dispatch", "workflow_dispatch");
    job.event["ref"] = json!("refs/heads/changes");
    job.run = 40;
    let ran = job.variable("GITHUB_SHA", &head).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(story.comment().starts_with("> [!NOTE]\n> **Passes by approval"), "{}", story.comment());
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!((&report["base"], &report["approval"]["head"]), (&json!(base_sha()), &json!(head)));
}

pub fn committed(story: &Story, commit: &str) -> String {
    let bytes = story.github.read_at(commit, BASELINE);
    String::from_utf8(bytes).unwrap()
}

fn twice() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.approve("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    story.bump();
    let head = story.github.head("changes").unwrap();
    let ran = story.bump();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!((story.github.head("changes").unwrap(), story.github.commits().len()), (head, 1));
    assert_eq!(story.github.dispatched().len(), 1);
    assert_eq!(story.github.bodies(BOT).len(), 1);
}

fn triage() {
    for (actor, why) in
        [("trudy", "trudy has the permission triage here"), ("mallory", "mallory has the permission read")]
    {
        let story = Story::new();
        story.gate(7);
        story.github.role("trudy", "triage");
        let ran = story.labeled(actor);
        story.is_refused(&ran, why);
        assert!(
            !story.github.requests().iter().any(|request| request.contains("/artifacts")),
            "it looked at the result"
        );
        assert_eq!((story.bump().code, story.github.commits().len()), (0, 0));
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
        let job = story.job("pull_request.labeled", "alice", 20).input("mode", "approve");
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
    story.is_refused(&ran, "it was added for ec26c3e, but the head is now ccccccc");
}

fn pushed_after() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let next = "c".repeat(40);
    story.github.push(&next);
    let mut job = story.job("pull_request.synchronize", "author", 21).input("mode", "approve");
    job.event["pull_request"]["head"]["sha"] = json!(next);
    let ran = job.runs();
    assert!(story.github.labels().is_empty(), "{}", ran.stdout);
    assert!(story.comment().contains("commits were pushed after it"), "{}", story.comment());
    assert!(story.github.statuses(&next).is_empty());
    // The same result on the new head is not approved: the approval is for one commit.
    let mut job = Job::new(&story.checkout, &story.github, "pull_request.synchronize", "pull_request").head(&next);
    job.run = 22;
    assert_eq!(job.runs().code, 1);
    assert_eq!((story.bump().code, story.github.commits().len()), (0, 0));
}

fn own_label() {
    let story = Story::new();
    story.gate(7);
    story.github.role("Codertocat", "admin");
    let ran = story.labeled("Codertocat");
    story.is_refused(&ran, "Codertocat opened this pull request, so somebody else has to approve it");
    story.github.label_by("Codertocat", LABEL);
    let job = story.job("pull_request.labeled", "Codertocat", 23).input("mode", "approve");
    job.input("allow-self-approval", "true").runs();
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
}

fn mere_presence() {
    let story = Story::new();
    story.github.label(LABEL);
    assert_eq!(story.gate(7).code, 1, "the label alone made the gate green");
    let ran = story.job("pull_request.opened", "alice", 20).input("mode", "approve").runs();
    story.is_refused(&ran, "it was added before the pull request was opened");
    assert_eq!((story.bump().code, story.github.commits().len()), (0, 0));
}

fn unlabeled() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
    let ran = story.unlabeled(7);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(story.github.statuses(&head_sha())[1], "failure withdrawn: trudy removed the label");
    assert!(story.comment().contains("**Withdrawn**"), "{}", story.comment());
    assert_eq!(story.graded(9).code, 1);
    assert_eq!((story.bump().code, story.github.commits().len()), (0, 0));
}

fn meanwhile() {
    let story = Story::new();
    story.gate(7);
    story.github.unlabel_meanwhile();
    let ran = story.labeled("alice");
    let statuses = story.github.statuses(&head_sha());
    assert_eq!(statuses.last().unwrap(), "failure withdrawn: the label was removed", "{}", ran.stdout);
    assert_eq!(story.graded(9).code, 1);
    // Two events of one label: the second comes when the label is gone.
    let ran = story.approve("alice");
    assert!(ran.stdout.contains("the label was removed meanwhile"), "{}", ran.stdout);
}

fn other_label() {
    let story = Story::new();
    story.gate(7);
    story.github.label("bug");
    let mut job = story.job("pull_request.labeled", "alice", 20).input("mode", "approve");
    job.event["label"]["name"] = json!("bug");
    let ran = job.runs();
    assert!(ran.stdout.contains("this label is not the one that approves"), "{}", ran.stdout);
    assert!(story.github.statuses(&head_sha()).is_empty());
    assert_eq!(story.github.labels(), ["bug"]);
}

fn forged() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let line = story.github.statuses(&head_sha())[0].trim_start_matches("success ").to_owned();
    for creator in ["mallory", "github-actions", "Github-Actions[bot]"] {
        let forged = Story::new();
        forged.gate(7);
        forged.github.status(creator, &head_sha(), "success", &line);
        assert_eq!(forged.graded(8).code, 1, "{creator}");
        let ran = forged.bump();
        assert!(forged.github.commits().is_empty(), "{creator}: {}", ran.stdout);
    }
    // Nor can another creator take an approval away.
    story.github.status("mallory", &head_sha(), "failure", "withdrawn: no");
    assert_eq!(story.graded(8).code, 0);
}

fn other_result() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.checkout.replace(RUN, "{\"category\": \"a\"},", "{\"category\": \"a\"}, {\"category\": \"c\"},");
    let ran = story.gate(8);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("the approval of this commit does not count, because it is for another result"),
        "{}",
        ran.stdout
    );
    story.bump();
    assert!(story.github.commits().is_empty());
    assert!(story.comment().contains("has another result than the approved one"), "{}", story.comment());
}

fn golden_change() {
    let story = Story::new();
    story.checkout.write(RUN, crate::repository::RUN);
    story.checkout.write("prompts/legal.md", story.github.text("prompts/legal.md"));
    story.checkout.replace("golden/expected/legal/lease.json", "\"expected_gaps\": [\"Missing_Doc\"],", "");
    assert_eq!(story.gate(7).code, 1, "the guard does not hold it");
    assert!(story.comment().contains(&format!("add the label `{LABEL}`")), "{}", story.comment());
    story.labeled("alice");
    let ran = story.graded(8);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!(
        (&report["approval"]["by"], &report["golden_changes"][0]["needs_approval"]),
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
    story.checkout.replace(RUN, "Needs prior approval.", "Needs nothing.");
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    let ran = story.graded(8);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    let metrics = &report["suites"][0]["agents"][0]["metrics"];
    assert_eq!(metrics["finding_recall"]["verdict"], "fail");
    assert_eq!(metrics["f1_score"]["verdict"], "pass", "what the baseline limits is approved");
}
