//! A pull request that needs an approval: its gate and its label.

use serde_json::{Value, json};

use crate::github::standin::Standin;
use crate::github::standin::pulls::MERGE;
use crate::github::{BOT, Job, RUN, head_sha, payload};
use crate::repository::{FILES, Ran, Repository};

pub const LABEL: &str = "goldgate:accept-baseline";
pub const BASELINE: &str = "baselines/latest.json";
pub const REASON: &str = "Goldgate-Reason: the agent reports more on purpose";

/// A pull request whose recordings lower a number that only the baseline limits.
pub struct Story {
    pub checkout: Repository,
    pub github: Standin,
}

pub fn base_sha() -> String {
    payload("pull_request.opened")["pull_request"]["base"]["sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

impl Story {
    pub fn new() -> Self {
        let (checkout, github) = (Repository::small(), Standin::new(&head_sha()));
        checkout.stamp_unless_kept();
        checkout.goldgate(&["run", "--update-baseline"]);
        // What every commit has; what the pull request changes stands at its head alone.
        for file in FILES.iter().chain(&[BASELINE]) {
            github.file(file, &checkout.read(file));
        }
        checkout.write("prompts/legal.md", "Report what is dear.\n");
        checkout.replace(
            RUN,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
        github.role("alice", "write");
        github.describe(2, REASON);
        Self { checkout, github }
    }

    /// A pull request that edits an expectation. The agent did not change, so its recording is not stale.
    pub fn of_golden_change() -> Self {
        const EXPECTED: &str = "golden/expected/legal/lease.json";
        let story = Self::new();
        story.checkout.write(RUN, crate::repository::RUN);
        let prompt = story.github.text("prompts/legal.md");
        story.checkout.write("prompts/legal.md", prompt);
        story
            .checkout
            .replace(EXPECTED, "\"expected_gaps\": [\"Missing_Doc\"],", "");
        story
    }

    /// The gate on the present head.
    pub fn gate(&self, run: u64) -> Ran {
        self.job("pull_request.opened", run).runs()
    }

    pub fn job(&self, event: &str, run: u64) -> Job<'_> {
        let mut job = Job::new(&self.checkout, &self.github, event, "pull_request");
        job.run = run;
        job.event["pull_request"]["head"]["sha"] = json!(self.github.head("changes"));
        if job.event["label"].is_object() {
            job.event["label"]["name"] = json!(LABEL);
        }
        job
    }

    /// Somebody adds the label, and GitHub starts the gate for it.
    pub fn labeled(&self, actor: &str, run: u64) -> Ran {
        self.github.label_by(actor, LABEL);
        let mut job = self.job("pull_request.labeled", run);
        job.event["sender"]["login"] = json!(actor);
        job.runs()
    }

    /// Somebody takes the label away, and GitHub starts the gate for it.
    pub fn unlabeled(&self, run: u64) -> Ran {
        self.github.unlabel(LABEL);
        self.job("pull_request.unlabeled", run).runs()
    }

    /// GitHub knows the files of the base commit, and those of the present test merge.
    pub fn has_merge(&self) {
        let base = Repository::empty();
        for file in FILES.iter().chain(&[BASELINE]) {
            base.write(file, self.github.text(file));
        }
        self.github.commit(&base_sha(), &base);
        self.github.commit(&self.github.merge_of(2), &self.checkout);
        self.github.parents(MERGE, &[&base_sha(), &head_sha()]);
    }

    /// Somebody pushes the present files, which make another test merge.
    pub fn push(&self, actor: &str, letter: char) {
        self.github.push_by(actor, &letter.to_string().repeat(40));
        self.github.commit(&self.github.merge_of(2), &self.checkout);
    }

    pub fn report(&self) -> Value {
        let text = self.checkout.read(".goldgate/report/report.json");
        serde_json::from_str(&text).unwrap()
    }

    pub fn comment(&self) -> String {
        let bodies = self.github.bodies(BOT);
        assert_eq!(bodies.len(), 1, "one comment");
        plain(&bodies[0])
    }

    pub fn has_label(&self) -> bool {
        self.github.labels().contains(&LABEL.to_owned())
    }

    pub fn is_approved(&self, ran: &Ran, by: &str) {
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(self.report()["approval"]["by"], json!(by));
        assert!(self.has_label(), "the label is gone");
    }

    /// The check is red, says why in the log and in the comment, and the label is gone.
    pub fn is_refused(&self, ran: &Ran, why: &str) {
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(!self.has_label(), "the label stays: {}", ran.stdout);
        let line = format!("::warning title=goldgate::the label {LABEL} does not count: ");
        let said = ran.stdout.lines().find(|one| one.starts_with(&line));
        assert!(
            said.is_some_and(|said| said.contains(why)),
            "{why}: {}",
            ran.stdout
        );
        let comment = self.comment();
        assert!(comment.contains(why), "{why}: {comment}");
        assert_eq!(self.report()["approval"], Value::Null);
    }
}

/// A comment as a reader sees it: what GitHub would read as markup is written by its number, and a word joiner breaks links.
pub fn plain(text: &str) -> String {
    let mut out = text
        .replace("&#8288;", "")
        .replace("<code>", "`")
        .replace("</code>", "`");
    for char in ":&_[]()*#<>".chars() {
        out = out.replace(&format!("&#{};", char as u32), &char.to_string());
    }
    out
}
