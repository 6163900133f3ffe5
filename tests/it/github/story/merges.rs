//! Two approved pull requests that move numbers of one baseline file are merged one after the other.

use serde_json::{Value, json};

use super::{is_opened_by, keep};
use crate::github::approval::{BASELINE, LABEL, uploaded};
use crate::github::standin::Standin;
use crate::github::standin::pulls::test_merge;
use crate::github::{Job, RUN, head_sha};
use crate::repository::{FILES, Ran, Repository};

/// A second agent, in a suite of its own.
const RENTAL: &str = "
  - id: rentals
    kind: findings
    path: rentals
    agents:
      rental: { deterministic: { replay: rentals/runs }, fingerprint: [prompts/rental.md] }
";
pub const RENTAL_RUN: &str = "rentals/runs/rental/lease.json";
/// An hour after all of it.
pub const LATER: &str = "1795222800";

/// The default branch, whose files the stand-in has on every commit.
pub struct Default {
    pub main: Repository,
    elsewhere: Repository,
    pub github: Standin,
}

/// A pull request with what GitHub's test merge checks out.
pub struct Pull {
    pub number: u64,
    pub head: String,
    pub run: u64,
    pub checkout: Repository,
}

pub fn copied(from: &Repository) -> Repository {
    let copy = Repository::empty();
    let rental = FILES.map(|file| {
        file.replace("golden/", "rentals/")
            .replace("legal", "rental")
    });
    for file in FILES
        .iter()
        .map(|file| (*file).to_owned())
        .chain(rental)
        .chain([BASELINE.to_owned()])
    {
        copy.write(&file, from.read(&file));
    }
    copy
}

impl Default {
    pub fn new() -> Self {
        let main = Repository::small();
        for file in FILES.iter().filter(|file| **file != "goldgate.yaml") {
            let text = main
                .read(file)
                .replace("\"agent\": \"legal\"", "\"agent\": \"rental\"");
            main.write(
                &file
                    .replace("golden/", "rentals/")
                    .replace("legal", "rental"),
                text,
            );
        }
        main.write(
            "goldgate.yaml",
            main.read("goldgate.yaml").trim_end().to_owned() + RENTAL,
        );
        main.stamp_unless_kept();
        let ran = main.goldgate(&["run", "--update-baseline"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let github = Standin::new(&head_sha());
        github.files(&main);
        github.role("alice", "maintain");
        Self {
            main,
            elsewhere: Repository::empty(),
            github,
        }
    }

    /// A pull request that makes an agent worse on purpose.
    pub fn pull(&self, number: u64, agent: &str, reason: &str) -> Pull {
        let checkout = copied(&self.main);
        checkout.write(&format!("prompts/{agent}.md"), "Report what is dear.\n");
        let run = if agent == "legal" { RUN } else { RENTAL_RUN };
        checkout.replace(
            run,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
        let pull = self.opened(number, checkout);
        self.github
            .describe(number, &format!("Goldgate-Reason: {reason}"));
        pull
    }

    pub fn opened(&self, number: u64, checkout: Repository) -> Pull {
        let head = if number == 2 {
            head_sha()
        } else {
            number.to_string().repeat(40)
        };
        if number != 2 {
            self.github
                .open_pull(number, &format!("changes-{number}"), &head);
        }
        Pull {
            number,
            head,
            run: 10 * number,
            checkout,
        }
    }

    /// The gate's job on the test merge, whose report is uploaded.
    pub fn gate(&self, pull: &Pull) -> Ran {
        let merge = test_merge(pull.number);
        let mut job = Job::new(
            &pull.checkout,
            &self.github,
            "pull_request.opened",
            "pull_request",
        )
        .head(&pull.head);
        job.event["number"] = json!(pull.number);
        job.event["pull_request"]["number"] = json!(pull.number);
        job.run = pull.run;
        let ran = job
            .variable("GITHUB_SHA", &merge)
            .variable("SOURCE_DATE_EPOCH", LATER)
            .runs();
        self.github.run(json!({
            "id": pull.run, "run_attempt": 1, "head_sha": pull.head, "head_branch": "changes", "event": "pull_request",
            "status": "completed", "conclusion": if ran.code == 0 { "success" } else { "failure" },
            "path": ".github/workflows/goldgate.yml", "actor": { "login": "Codertocat" },
            "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } },
        }));
        let zip = uploaded(&pull.checkout.read(".goldgate/report/report.json"));
        self.github.artifact(pull.run, "goldgate-report", zip);
        ran
    }

    /// Red, then approved by a label, then green on the same commit.
    pub fn is_approved(&self, pull: &Pull) {
        assert_eq!(self.gate(pull).code, 1);
        self.github.label_on(pull.number, "alice", LABEL);
        let mut job = Job::new(
            &self.elsewhere,
            &self.github,
            "pull_request.labeled",
            "pull_request_target",
        );
        job.event["pull_request"]["number"] = json!(pull.number);
        job.event["label"]["name"] = json!(LABEL);
        let ran = job.head(&pull.head).input("mode", "approve").runs();
        assert_eq!(
            self.github.statuses(&pull.head).len(),
            1,
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        let ran = self.gate(pull);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        self.github.unlabel_on(pull.number, LABEL);
    }

    /// Somebody merges it: the default branch has a new tip, and nothing else changes.
    pub fn merge(&self, pull: &Pull, files: &[&str]) {
        for file in files {
            self.main.write(file, pull.checkout.read(file));
        }
        self.github.files(&self.main);
        self.github.merge(pull.number);
        let tip = format!("{:a<40}", pull.number);
        self.github.branch("master", &tip);
        self.github.merge_base(&tip, &tip);
    }

    /// The two steps of goldgate-baseline.yml after a push.
    pub fn pushed(&self) {
        let tip = self.github.head("master").unwrap();
        for mode in ["run", "baseline-pr"] {
            let mut job = Job::new(&self.main, &self.github, "push", "push").input("mode", mode);
            job.event["repository"]["default_branch"] = json!("master");
            let job = job
                .input("blocking", "false")
                .variable("SOURCE_DATE_EPOCH", LATER);
            let ran = job
                .variable("GITHUB_REF", "refs/heads/master")
                .variable("GITHUB_SHA", &tip)
                .runs();
            assert_eq!(ran.code, 0, "{mode}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

pub fn story() {
    let branch = Default::new();
    let first = branch.pull(2, "legal", "the agent reports more on purpose");
    let second = branch.pull(3, "rental", "rents are listed one by one");
    branch.is_approved(&first);
    branch.is_approved(&second);
    // No branch was touched, so there is nothing to conflict.
    assert!(branch.github.commits().is_empty());
    branch.merge(&first, &[RUN, "prompts/legal.md"]);
    branch.merge(&second, &[RENTAL_RUN, "prompts/rental.md"]);

    // The baseline is behind now. A pull request that changes something else is not blamed for it.
    let other = branch.opened(4, copied(&branch.main));
    other.checkout.write("README.md", "# Agents\n");
    let ran = branch.gate(&other);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = branch.github.bodies_on(4).remove(0);
    is_opened_by(&body, "TIP", "All ");
    assert!(
        body.contains("master is already at") && body.contains("update pending"),
        "{body}"
    );
    assert!(
        !body.contains("the label") && !body.contains("Goldgate-Reason"),
        "it is asked to approve: {body}"
    );
    keep("6-behind", &body);

    // One pull request moves the numbers of both, with both reasons, and is green by itself.
    branch.pushed();
    assert_eq!(branch.github.open_pulls(), [4, 5]);
    let description = branch.github.description(5);
    let reason = "the agent reports more on purpose (pull request 2); rents are listed one by one (pull request 3)";
    assert!(
        description.contains(&format!("Goldgate-Reason: {reason}")),
        "{description}"
    );
    assert_eq!(description.matches("▼ worse").count(), 4, "{description}");
    assert!(
        !description.contains("newly"),
        "a number that no baseline has: {description}"
    );
    keep("7-baseline-pull-request", &description);
    let head = branch.github.head("goldgate/baseline").unwrap();
    let checkout = copied(&branch.main);
    checkout.write(BASELINE, branch.github.read_at(&head, BASELINE));
    let baseline = Pull {
        number: 5,
        head,
        run: 50,
        checkout,
    };
    let ran = branch.gate(&baseline);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value =
        serde_json::from_str(&baseline.checkout.read(".goldgate/report/report.json")).unwrap();
    assert_eq!(
        report["approval"]["by"],
        json!("alice on pull request 3, alice on pull request 2")
    );
    let written: Value = serde_json::from_str(&baseline.checkout.read(BASELINE)).unwrap();
    assert_eq!(written["accepted"][0]["reason"], json!(reason));

    branch.merge(&baseline, &[BASELINE]);
    branch.pushed();
    assert_eq!(branch.github.open_pulls(), [4]);
    other.checkout.write(BASELINE, branch.main.read(BASELINE));
    let ran = branch.gate(&other);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = branch.github.bodies_on(4).remove(0);
    assert!(
        !body.contains("master is already at"),
        "the baseline is not behind any more: {body}"
    );
}
