//! The whole story of docs/story.md, through the real program: each stage's exit code, comment, status and labels.
//!
//! With `GOLDGATE_STORY=DIR` every stage writes its comment there; `docs/pictures/render.sh` makes the pictures of them.

pub mod merges;
mod others;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{BASELINE, LABEL, REASON, Story, base_sha, uploaded};
use super::standin::{Fault, Standin};
use super::{BOT, Job, RUN, head_sha};
use crate::repository::{Ran, Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the story of a pull request: regression, refused, approved, withdrawn, approved, merge queue",
            pull_request,
        ),
        trial(
            "the story of two approved pull requests that are merged one after the other",
            merges::story,
        ),
        trial(
            "the story of a fork: measured without rights, judged by the trusted gate, approved",
            fork,
        ),
        trial(
            "the story of a pull request whose base branch is changed",
            others::retargeted,
        ),
        trial(
            "the story of a monorepo with two configs",
            others::two_configs,
        ),
        trial(
            "the story of the default branch: one baseline pull request, updated, closed, never a second",
            default_branch,
        ),
        trial("the page of the story shows every stage's picture", page),
    ]
}

/// The stages that have a picture, in the order of the page.
const STAGES: [&str; 10] = [
    "1-green",
    "2-regression",
    "3-refused",
    "4-approved",
    "5-withdrawn",
    "6-behind",
    "7-baseline-pull-request",
    "9-trusted",
    "10-retargeted",
    "11-two-configs",
];

/// Keeps a stage's text for its picture.
fn keep(stage: &str, text: &str) {
    assert!(STAGES.contains(&stage), "{stage}");
    if let Some(folder) = std::env::var_os("GOLDGATE_STORY") {
        std::fs::write(
            std::path::Path::new(&folder).join(format!("{stage}.md")),
            text,
        )
        .unwrap();
    }
}

/// The one comment, as it stands on GitHub.
fn one(github: &Standin) -> String {
    let mut bodies = github.bodies(BOT);
    assert_eq!(bodies.len(), 1, "one comment");
    bodies.remove(0)
}

fn is_opened_by(body: &str, alert: &str, says: &str) {
    let mut lines = body.lines();
    assert_eq!(
        lines.next(),
        Some(format!("> [!{alert}]").as_str()),
        "{body}"
    );
    assert!(
        lines.next().unwrap().starts_with(&format!("> **{says}")),
        "{body}"
    );
}

fn warnings(ran: &Ran) -> Vec<&str> {
    ran.stdout
        .lines()
        .filter(|line| line.starts_with("::warning"))
        .collect()
}

fn pull_request() {
    let story = Story::new();
    let worse = story.checkout.read(RUN);
    let prompt = story.checkout.read("prompts/legal.md");
    story
        .checkout
        .write("prompts/legal.md", "Report every change of control.\n");
    is_opened(&story);
    story.checkout.write(RUN, worse);
    story.checkout.write("prompts/legal.md", prompt);
    story.github.describe(2, "");

    // The regression: red, and the comment says what and how to accept it.
    let ran = story.gate(8);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let body = one(&story.github);
    is_opened_by(&body, "CAUTION", "Merge blocked: legal ");
    assert!(
        body.contains("−50&nbsp;pp") && body.contains(&format!("add the label `{LABEL}`")),
        "{body}"
    );
    keep("2-regression", &body);

    is_refused(&story);
    is_approved(&story);
    is_withdrawn(&story);
    is_queued(&story);
    is_pushed(&story);
}

/// The pull request is opened with nothing changed.
fn is_opened(story: &Story) {
    story.checkout.write(RUN, crate::repository::RUN);
    let ran = story.graded(7);
    assert_eq!(
        (ran.code, story.github.labels().len()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    is_opened_by(&one(&story.github), "TIP", "All ");
    keep("1-green", &one(&story.github));
}

/// Somebody who may only triage adds the label: it is taken away, nothing is kept, and the gate stays red.
fn is_refused(story: &Story) {
    story.github.role("trudy", "triage");
    let ran = story.labeled("trudy");
    assert_eq!(
        (
            ran.code,
            story.github.labels().len(),
            story.github.statuses(&head_sha()).len()
        ),
        (0, 0, 0)
    );
    let body = story.comment();
    assert!(
        body.contains("**Not approved**") && body.contains("trudy has the permission triage"),
        "{body}"
    );
    assert!(story.github.reruns().is_empty());
    assert_eq!(story.graded(8).code, 1);
    keep("3-refused", &one(&story.github));
}

/// A maintainer adds the label: a status keeps it, the failed job of the same run starts again, and the same check is green. No
/// commit is made.
fn is_approved(story: &Story) {
    story.github.role("alice", "maintain");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.labels()),
        (0, vec![LABEL.to_owned()]),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
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
    assert!(
        story.comment().contains("Before the merge, copy this line"),
        "{}",
        story.comment()
    );
    let reruns = story.github.reruns();
    assert_eq!(
        (reruns.len(), reruns[0].run, reruns[0].what.as_str()),
        (1, 8, "rerun-failed-jobs")
    );
    assert!(story.github.commits().is_empty());
    let ran = story.gate(8);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story.comment().contains("−50&nbsp;pp"),
        "the approval hides the change: {}",
        story.comment()
    );
    keep("4-approved", &one(&story.github));
}

/// The label is taken away: the approval does not count any more, all jobs start again, and the same check is red.
fn is_withdrawn(story: &Story) {
    let ran = story.unlabeled(8);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses
            .iter()
            .any(|status| status == "failure withdrawn: trudy removed the label; #2"),
        "{statuses:?}"
    );
    let reruns = story.github.reruns();
    assert_eq!(
        (reruns.len(), reruns[1].run, reruns[1].what.as_str()),
        (2, 8, "rerun")
    );
    assert_eq!(story.gate(8).code, 1);
    keep("5-withdrawn", &one(&story.github));
    // With the reason in the description it is approved again.
    story.github.describe(2, REASON);
    story.github.label(LABEL);
    let ran = story
        .job("pull_request.labeled", "alice", 22)
        .input("mode", "approve")
        .runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        story.comment().contains("**Approved** on")
            && !story.comment().contains("Before the merge, copy"),
        "{}",
        story.comment()
    );
    assert_eq!(story.gate(8).code, 0);
}

/// The merge queue's commit is green by the same approval.
fn is_queued(story: &Story) {
    let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
    job.event["merge_group"]["head_ref"] = json!(format!(
        "refs/heads/gh-readonly-queue/master/pr-2-{}",
        base_sha()
    ));
    job.event["merge_group"]["base_sha"] = json!(base_sha());
    let ran = job.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    assert_eq!(
        (&report["approval"]["by"], &report["approval"]["head"]),
        (&json!("alice"), &json!(head_sha()))
    );
}

/// A push takes the label away.
fn is_pushed(story: &Story) {
    let next = "c".repeat(40);
    story.github.push(&next);
    let mut job = story
        .job("pull_request.synchronize", "author", 41)
        .input("mode", "approve");
    job.event["pull_request"]["head"]["sha"] = json!(next);
    assert_eq!(job.runs().code, 0);
    assert_eq!(
        (
            story.github.labels().len(),
            story.github.statuses(&next).len()
        ),
        (0, 0)
    );
    assert!(
        story.comment().contains("commits were pushed after it"),
        "{}",
        story.comment()
    );
}

/// A fork's pull request with the files of both commits.
struct Fork {
    base: Repository,
    head: Repository,
    workspace: Repository,
    github: Standin,
}

impl Fork {
    fn new() -> Self {
        let (base, head) = (Repository::small(), Repository::small());
        base.goldgate(&["run", "--update-baseline"]);
        head.write(BASELINE, base.read(BASELINE));
        head.replace(
            RUN,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
        head.write("prompts/legal.md", "Report what is dear.\n");
        let github = Standin::new(&head_sha());
        for file in [
            "goldgate.yaml",
            "prompts/legal.md",
            BASELINE,
            RUN,
            "golden/contracts/lease.md",
            "golden/expected/legal/lease.json",
        ] {
            github.file(file, &base.read(file));
        }
        github.commit(&base_sha(), &base);
        github.commit(&head_sha(), &head);
        github.commit(super::standin::pulls::MERGE, &head);
        github.fork();
        github.role("alice", "maintain");
        Self {
            base,
            head,
            workspace: Repository::empty(),
            github,
        }
    }

    fn job<'a>(
        &'a self,
        repository: &'a Repository,
        event: &str,
        name: &'a str,
        run: u64,
    ) -> Job<'a> {
        let mut job = Job::new(repository, &self.github, event, name);
        if job.event["pull_request"].is_object() {
            job.event["pull_request"]["head"]["repo"]["id"] = json!(77);
        }
        job.run = run;
        job
    }

    /// A run that has ended, with the folder that it uploaded.
    fn upload(&self, run: u64, event: &str, name: &str, folder: &Repository) {
        let commit = if event == "pull_request_target" {
            base_sha()
        } else {
            head_sha()
        };
        self.github.run(json!({
            "id": run, "run_attempt": 1, "head_sha": commit, "head_branch": "changes", "event": event,
            "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate.yml",
            "head_repository": { "id": 77, "owner": { "login": "mallory" } },
        }));
        let report = folder.read(".goldgate/report/report.json");
        self.github.artifact(run, name, uploaded(&report));
    }

    fn trusted(&self, event: &str, run: u64) -> Ran {
        let ran = self
            .job(&self.workspace, event, "pull_request_target", run)
            .input("mode", "trusted")
            .runs();
        self.upload(
            run,
            "pull_request_target",
            &format!("goldgate-report-{}", head_sha()),
            &self.workspace,
        );
        ran
    }

    fn approve(&self) -> Ran {
        let event = "pull_request.labeled";
        let mut job = self
            .job(&self.workspace, event, "pull_request_target", 12)
            .input("mode", "approve");
        job.event["sender"]["login"] = json!("alice");
        job.event["label"]["name"] = json!(LABEL);
        job.runs()
    }
}

fn fork() {
    let fork = Fork::new();
    is_measured(&fork);

    // The trusted gate judges the same commit as data.
    let ran = fork.trusted("pull_request.opened", 11);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    is_opened_by(&one(&fork.github), "CAUTION", "Merge blocked: legal ");
    keep("9-trusted", &one(&fork.github));

    // A maintainer approves it: the failed job of that run starts again, and is green. Nothing is committed to the fork.
    fork.github.label(LABEL);
    let ran = fork.approve();
    assert_eq!(
        fork.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let reruns = fork.github.reruns();
    assert_eq!(
        (reruns.len(), reruns[0].run, reruns[0].what.as_str()),
        (1, 11, "rerun-failed-jobs")
    );
    let ran = fork.trusted("pull_request.opened", 11);
    assert_eq!(
        (ran.code, fork.github.commits().len()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    is_opened_by(
        &one(&fork.github),
        "NOTE",
        "Passes by approval of alice: legal ",
    );
    assert!(fork.base.read(RUN) != fork.head.read(RUN) && !fork.workspace.path("golden").exists());
}

/// The fork's own job has a token that may only read: the whole verdict, one warning, no comment.
fn is_measured(fork: &Fork) {
    fork.github.fault("POST", Fault::Always(403));
    let ran = fork
        .job(&fork.head, "pull_request.opened", "pull_request", 10)
        .runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        warnings(&ran).len() == 1 && warnings(&ran)[0].contains("is read-only"),
        "{}",
        ran.stdout
    );
    assert!(fork.github.bodies(BOT).is_empty());
    fork.github.change(super::standin::State::heal);
    fork.upload(10, "pull_request", "goldgate-report", &fork.head);
}

/// The default branch after merges, measured on a schedule.
struct Branch {
    repository: Repository,
    github: Standin,
}

impl Branch {
    /// The two steps of the scheduled job.
    fn scheduled(&self) -> Ran {
        for file in [BASELINE, "goldgate.yaml"] {
            self.github
                .file_at(&"5".repeat(40), file, &self.repository.read(file));
        }
        let step = |mode: &'static str, blocking: &'static str| {
            let mut job = Job::new(&self.repository, &self.github, "schedule", "schedule");
            job.event["repository"]["default_branch"] = json!("master");
            let job = job.input("mode", mode).input("blocking", blocking);
            job.variable("GITHUB_REF", "refs/heads/master").runs()
        };
        assert_eq!(step("run", "false").code, 0);
        step("baseline-pr", "")
    }

    /// The pull requests beside the one of the payloads.
    fn pulls(&self) -> Vec<u64> {
        self.github
            .open_pulls()
            .into_iter()
            .filter(|number| *number != 2)
            .collect()
    }
}

fn default_branch() {
    let branch = Branch {
        repository: Repository::small(),
        github: Standin::new(&head_sha()),
    };
    branch.repository.stamp_unless_kept();
    branch.repository.goldgate(&["run", "--update-baseline"]);
    let ran = branch.scheduled();
    assert_eq!(
        (ran.code, branch.pulls()),
        (0, vec![]),
        "{}{}",
        ran.stdout,
        ran.stderr
    );

    // A number moved: one pull request, with the numbers as its table.
    branch.repository.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    let ran = branch.scheduled();
    assert_eq!(
        (ran.code, branch.pulls()),
        (0, vec![3]),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let first = branch.github.head("goldgate/baseline").unwrap();
    assert!(
        branch.github.description(3).contains("−50 pp"),
        "{}",
        branch.github.description(3)
    );

    // A week later it moved on: the same pull request with another commit. Again, and nothing is written.
    branch.repository.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"c\"},",
    );
    branch.scheduled();
    let second = branch.github.head("goldgate/baseline").unwrap();
    assert_eq!((branch.pulls(), second == first), (vec![3], false));
    branch.scheduled();
    assert_eq!(
        (
            branch.pulls(),
            branch.github.head("goldgate/baseline").unwrap()
        ),
        (vec![3], second)
    );

    // Merged: nothing is left to do, and the pull request is closed.
    branch.repository.write(
        BASELINE,
        branch
            .repository
            .read(".goldgate/report/proposed-baseline.json"),
    );
    let ran = branch.scheduled();
    assert_eq!((ran.code, branch.pulls()), (0, vec![]), "{}", ran.stdout);
}

fn page() {
    let text = std::fs::read_to_string(root().join("docs/story.md")).unwrap();
    for stage in STAGES {
        for shade in ["light", "dark"] {
            let file = format!("pictures/story/{stage}-{shade}.png");
            assert!(text.contains(&file), "docs/story.md does not show {file}");
            assert!(
                root().join("docs").join(&file).exists(),
                "docs/{file} is not there"
            );
        }
    }
}
