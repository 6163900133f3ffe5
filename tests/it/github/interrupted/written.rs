//! What jobs write: the baseline pull request.

use serde_json::json;

use super::{Play, at_each_request};
use crate::github::approval::{BASELINE, REASON, base_sha};
use crate::github::standin::Standin;
use crate::github::story::merges::{Default, LATER};
use crate::github::{Job, RUN};
use crate::repository::Ran;

/// The job of the default branch after the merge of an approved pull request.
struct BaselinePull(Default);

impl BaselinePull {
    fn step(&self, mode: &str) -> Ran {
        let Default { main, github } = &self.0;
        let tip = github.head("master").unwrap();
        let mut job = Job::new(main, github, "push", "push");
        job.event["ref"] = json!("refs/heads/master");
        (job.event["before"], job.event["after"]) = (json!(base_sha()), json!(tip));
        job.input("mode", mode)
            .input("blocking", "false")
            .variable("GITHUB_REF", "refs/heads/master")
            .variable("SOURCE_DATE_EPOCH", LATER)
            .runs()
    }
}

impl Play for BaselinePull {
    fn github(&self) -> &Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        self.step("baseline-pr")
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        assert!(
            [0, 3].contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(self.github().open_pulls().len() <= 1, "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        let github = self.github();
        assert_eq!(github.open_pulls(), [3], "{cut}: {}", ran.stdout);
        let head = github.head("goldgate/baseline").unwrap();
        let written = String::from_utf8(github.read_at(&head, BASELINE)).unwrap();
        for says in ["\"f1_score\": 0.5", "\"by\": \"alice on pull request 2\""] {
            assert!(written.contains(says), "{cut}: {written}");
        }
    }
}

pub(super) fn baseline_pull() {
    at_each_request(|| {
        let trunk = Default::new();
        let pull = trunk.pull(2, "legal", "");
        trunk.github.describe(2, REASON);
        trunk.is_approved(&pull);
        trunk.merge(&pull, &[RUN, "prompts/legal.md"]);
        let play = BaselinePull(trunk);
        assert_eq!(play.step("").code, 0);
        play
    });
}
