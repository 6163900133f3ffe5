//! What jobs write: the baseline pull request.

use serde_json::json;

use super::{Play, at_each_request};
use crate::github::Job;
use crate::github::approval::{BASELINE, Story, base_sha};
use crate::github::standin::Standin;
use crate::repository::{FILES, Ran, Repository};

/// The pull request with the moved baseline of the default branch.
struct BaselinePull {
    repository: Repository,
    github: Standin,
}

impl Play for BaselinePull {
    fn github(&self) -> &Standin {
        &self.github
    }

    fn job(&self) -> Ran {
        let mut job =
            Job::new(&self.repository, &self.github, "push", "push").input("mode", "baseline-pr");
        job.event["repository"]["default_branch"] = json!("master");
        let commit = base_sha();
        job.variable("GITHUB_REF", "refs/heads/master")
            .variable("GITHUB_SHA", &commit)
            .runs()
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        assert!(
            [0, 3].contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(self.github.open_pulls().len() <= 2, "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(self.github.open_pulls(), [2, 3], "{cut}: {}", ran.stdout);
        let head = self.github.head("goldgate/baseline").unwrap();
        let written = String::from_utf8(self.github.read_at(&head, BASELINE)).unwrap();
        assert!(written.contains("\"f1_score\": 0.5"), "{cut}: {written}");
    }
}

pub(super) fn baseline_pull() {
    at_each_request(|| {
        let Story {
            checkout, github, ..
        } = Story::new();
        for file in FILES.iter().chain(&[BASELINE]) {
            github.file(file, &github.text(file));
        }
        let mut job = Job::new(&checkout, &github, "push", "push").input("blocking", "false");
        job.event["repository"]["default_branch"] = json!("master");
        let commit = base_sha();
        let ran = job
            .variable("GITHUB_REF", "refs/heads/master")
            .variable("GITHUB_SHA", &commit)
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        BaselinePull {
            repository: checkout,
            github,
        }
    });
}
