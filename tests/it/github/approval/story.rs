//! A pull request that needs an approval: its gate, its label and the jobs that read them.

use std::io::Write;

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

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
    /// The privileged jobs have nothing checked out.
    pub elsewhere: Repository,
    pub github: Standin,
}

pub fn base_sha() -> String {
    payload("pull_request.opened")["pull_request"]["base"]["sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The artifact of a gate. Its other files are not read.
pub fn uploaded(report: &str) -> Vec<u8> {
    zipped(&[
        ("report.json", report),
        ("proposed-baseline.json", "not read"),
    ])
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
        Self {
            checkout,
            elsewhere: Repository::empty(),
            github,
        }
    }

    /// The gate on the head, whose report is uploaded.
    pub fn gate(&self, run: u64) -> Ran {
        let ran = self.graded(run);
        self.upload(run, &head_sha(), &self.report());
        ran
    }

    pub fn graded(&self, run: u64) -> Ran {
        let mut job = Job::new(
            &self.checkout,
            &self.github,
            "pull_request.opened",
            "pull_request",
        );
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

    pub fn upload(&self, run: u64, head: &str, report: &str) {
        let repository = json!({ "id": 186_853_002, "owner": { "login": "acme" } });
        self.github.run(json!({
            "id": run, "run_attempt": 1, "head_sha": head, "head_branch": "changes", "event": "pull_request",
            "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate.yml",
            "head_repository": repository, "actor": { "login": "Codertocat" },
        }));
        let zip = uploaded(report);
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
        self.job("pull_request.labeled", actor, 20)
            .input("mode", "approve")
            .runs()
    }

    pub fn comment(&self) -> String {
        let bodies = self.github.bodies(BOT);
        assert_eq!(bodies.len(), 1, "one comment");
        // What GitHub would make a link or a mention of is broken by a word joiner, which nobody sees.
        bodies[0].replace("&#8288;", "")
    }

    pub fn is_refused(&self, ran: &Ran, why: &str) {
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(
            !self.github.labels().contains(&LABEL.to_owned()),
            "the label stays"
        );
        let given = self.github.statuses(&head_sha());
        assert!(
            given
                .iter()
                .all(|status| !status.starts_with("success approved by")),
            "{given:?}"
        );
        let comment = self.comment();
        assert!(
            comment.contains("**Not approved**") && comment.contains(why),
            "{why}: {comment}"
        );
        assert_ne!(self.graded(30).code, 0, "the gate is green");
    }

    /// The label stays and approves nothing, and the comment says that it has to be set again.
    pub fn has_no_result(&self) {
        assert!(
            self.github.labels().contains(&LABEL.to_owned()),
            "the label is removed"
        );
        assert!(self.github.statuses(&head_sha()).is_empty());
        let comment = self.comment();
        assert!(
            comment.contains("**Not approved yet**") && comment.contains("set the label again"),
            "{comment}"
        );
        assert_ne!(self.graded(30).code, 0, "the gate is green");
    }

    /// Somebody takes the label away, after the gate's run has finished, and the job on that event runs.
    pub fn unlabeled(&self, run: u64) -> Ran {
        self.github.concluded(run, "success");
        self.github.unlabel(LABEL);
        self.job("pull_request.unlabeled", "trudy", 21)
            .input("mode", "approve")
            .runs()
    }
}
