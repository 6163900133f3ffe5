//! The whole story of docs/story.md, through the real program: each stage's exit code, comment and labels.
//!
//! With `GOLDGATE_STORY=DIR` every stage writes its comment there; `docs/pictures/render.sh` makes the pictures of them.

pub mod merges;
mod others;

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::{BASELINE, LABEL, REASON, Story, base_sha};
use super::standin::pulls::MERGE;
use super::standin::{Fault, Standin, State};
use super::{BOT, Job, RUN, head_sha};
use crate::repository::{Repository, root};
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
            "an approved loss by the policy regression gets into the baseline and blocks nobody else",
            merges::regression,
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

fn pull_request() {
    let story = Story::new();
    let (worse, prompt) = (
        story.checkout.read(RUN),
        story.checkout.read("prompts/legal.md"),
    );
    story.github.role("alice", "maintain");
    story.github.describe(2, "");
    story.checkout.write(RUN, crate::repository::RUN);
    story
        .checkout
        .write("prompts/legal.md", "Report every change of control.\n");
    story.has_merge();
    is_opened(&story);
    story.checkout.write(RUN, worse);
    story.checkout.write("prompts/legal.md", prompt);
    story.push("Codertocat", 'c');
    is_regression(&story);
    is_refused(&story);
    is_approved(&story);
    is_withdrawn(&story);
    is_queued(&story);
    // A push with another result takes the label away.
    story.checkout.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"c\"},",
    );
    story.push("Codertocat", 'd');
    story.is_refused(&story.gate(51), "it was set for another result");
}

fn is_opened(story: &Story) {
    let ran = story.gate(7);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    is_opened_by(&one(&story.github), "TIP", "All ");
    keep("1-green", &one(&story.github));
}

/// The comment says what failed and how to accept it.
fn is_regression(story: &Story) {
    let ran = story.gate(8);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = one(&story.github);
    is_opened_by(&body, "CAUTION", "Merge blocked: legal ");
    for says in [
        "−50&nbsp;pp",
        &format!("add the label `{LABEL}`"),
        "Copy this line into the description",
    ] {
        assert!(body.contains(says), "{says}: {body}");
    }
    keep("2-regression", &body);
}

fn is_refused(story: &Story) {
    story.github.role("trudy", "triage");
    let ran = story.labeled("trudy", 9);
    story.is_refused(&ran, "trudy has the permission triage");
    keep("3-refused", &one(&story.github));
}

/// The same commit and the same check are green, and so are the older red runs once they have started again.
fn is_approved(story: &Story) {
    let ran = story.labeled("alice", 10);
    story.is_approved(&ran, "alice");
    assert_eq!(story.github.reruns(), [9, 8]);
    assert!(story.github.commits().is_empty());
    assert!(story.comment().contains("−50&nbsp;pp"));
    keep("4-approved", &one(&story.github));
    story.is_approved(&story.gate(8), "alice");
}

fn is_withdrawn(story: &Story) {
    assert_eq!(story.unlabeled(11).code, 1);
    keep("5-withdrawn", &one(&story.github));
    story.github.describe(2, REASON);
    story.is_approved(&story.labeled("alice", 12), "alice");
    let reason = " Reason: the agent reports more on purpose**";
    assert!(story.comment().contains(reason), "{}", story.comment());
}

/// The merge queue's commit is green by the same approval.
fn is_queued(story: &Story) {
    let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
    job.event["merge_group"]["head_ref"] = json!(format!(
        "refs/heads/gh-readonly-queue/master/pr-2-{}",
        base_sha()
    ));
    job.event["merge_group"]["base_ref"] = json!("refs/heads/master");
    job.event["merge_group"]["base_sha"] = json!(base_sha());
    job.run = 50;
    story.is_approved(&job.runs(), "alice on pull request 2");
}

/// A fork's pull request with the files of both commits.
struct Fork {
    head: Repository,
    workspace: Repository,
    github: Standin,
    /// The tip of the base branch, which is the commit of a workflow on `pull_request_target`.
    tip: String,
}

impl Fork {
    fn new() -> Self {
        let (base, head) = (Repository::small(), Repository::small());
        base.stamp_unless_kept();
        base.goldgate(&["run", "--update-baseline"]);
        head.write(BASELINE, base.read(BASELINE));
        head.replace(
            RUN,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
        head.write("prompts/legal.md", "Report what is dear.\n");
        let github = Standin::new(&head_sha());
        github.commit(&base_sha(), &base);
        github.commit(&head_sha(), &head);
        github.commit(MERGE, &head);
        github.fork();
        github.role("alice", "maintain");
        Self {
            head,
            workspace: Repository::empty(),
            github,
            tip: base_sha(),
        }
    }

    /// The trusted gate.
    fn trusted(&self, event: &str, run: u64) -> Job<'_> {
        let mut job = Job::new(&self.workspace, &self.github, event, "pull_request_target");
        job.event["pull_request"]["head"]["repo"]["id"] = json!(77);
        job.run = run;
        job.variable("GITHUB_SHA", &self.tip)
    }
}

fn fork() {
    let fork = Fork::new();
    is_measured(&fork);

    // The trusted gate judges the same commit as data.
    let ran = fork.trusted("pull_request.opened", 11).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    is_opened_by(&one(&fork.github), "CAUTION", "Merge blocked: legal ");
    keep("9-trusted", &one(&fork.github));

    // A maintainer approves it. Nothing is committed to the fork.
    fork.github.label_by("alice", LABEL);
    let ran = fork.trusted("pull_request.labeled", 12).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fork.github.reruns(), [11]);
    is_opened_by(
        &one(&fork.github),
        "NOTE",
        "Passes by approval of alice: legal ",
    );
    assert!(fork.github.commits().is_empty() && !fork.workspace.path("golden").exists());
}

/// The fork's own job has a token that may only read: the whole verdict, one warning, no comment.
fn is_measured(fork: &Fork) {
    fork.github.fault("POST", Fault::Always(403));
    let event = "pull_request.opened";
    let mut job = Job::new(&fork.head, &fork.github, event, "pull_request");
    job.event["pull_request"]["head"]["repo"]["id"] = json!(77);
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let warnings: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("::warning"))
        .collect();
    assert!(
        warnings.len() == 1 && warnings[0].contains("is read-only"),
        "{}",
        ran.stdout
    );
    assert!(fork.github.bodies(BOT).is_empty());
    fork.github.change(State::heal);
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
