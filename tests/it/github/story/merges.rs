//! Two approved pull requests that move numbers of one baseline file are merged one after the other.

use serde_json::{Value, json};

use super::{is_opened_by, keep};
use crate::github::approval::{BASELINE, LABEL, base_sha};
use crate::github::pushes::report;
use crate::github::standin::Standin;
use crate::github::{Job, RUN, head_sha};
use crate::repository::{FILES, Ran, Repository};

/// A second agent, in a suite of its own.
const RENTAL: &str = "
  - id: rentals
    kind: findings
    policy: seed
    path: rentals
    agents:
      rental: { deterministic: { replay: rentals/runs }, fingerprint: [prompts/rental.md] }
";
pub const RENTAL_RUN: &str = "rentals/runs/rental/lease.json";
/// An hour after all of it.
pub const LATER: &str = "1795222800";

/// The default branch, whose commits the stand-in knows.
pub struct Default {
    pub main: Repository,
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
        Self::with_policy("seed")
    }

    /// Suites with this policy.
    fn with_policy(policy: &str) -> Self {
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
            (main.read("goldgate.yaml").trim_end().to_owned() + RENTAL)
                .replace("policy: seed", &format!("policy: {policy}")),
        );
        main.stamp_unless_kept();
        let ran = main.goldgate(&["run", "--update-baseline"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let github = Standin::new(&head_sha());
        github.commit(&base_sha(), &main);
        github.role("alice", "maintain");
        Self { main, github }
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

    /// The gate's job on the test merge.
    pub fn gate(&self, pull: &Pull) -> Ran {
        self.run(pull, pull.run)
    }

    fn run(&self, pull: &Pull, run: u64) -> Ran {
        let merge = self.github.merge_of(pull.number);
        let base = self.github.head("master").unwrap();
        self.github.parents(&merge, &[&base, &pull.head]);
        self.github.commit(&merge, &pull.checkout);
        let mut job = Job::new(
            &pull.checkout,
            &self.github,
            "pull_request.opened",
            "pull_request",
        )
        .head(&pull.head);
        job.event["pull_request"]["number"] = json!(pull.number);
        job.run = run;
        job.variable("GITHUB_SHA", &merge)
            .variable("SOURCE_DATE_EPOCH", LATER)
            .runs()
    }

    /// Red, then a label, then green on the same commit.
    pub fn is_approved(&self, pull: &Pull) {
        assert_eq!(self.gate(pull).code, 1);
        self.github.label_on(pull.number, "alice", LABEL);
        let ran = self.run(pull, pull.run + 1);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }

    /// Somebody merges it: the default branch has a new tip.
    pub fn merge(&self, pull: &Pull, files: &[&str]) {
        for file in files {
            self.main.write(file, pull.checkout.read(file));
        }
        let tip = format!("{:a<40}", pull.number);
        self.github.commit(&tip, &self.main);
        self.github
            .parents(&tip, &[&self.github.head("master").unwrap()]);
        self.github.merge_as(pull.number, &tip);
        self.github.branch("master", &tip);
    }

    /// The two steps of the job `baseline` after a push.
    pub fn pushed(&self) {
        let tip = self.github.head("master").unwrap();
        for (mode, blocking) in [("run", "false"), ("baseline-pr", "")] {
            let mut job = Job::new(&self.main, &self.github, "push", "push").input("mode", mode);
            job.event["ref"] = json!("refs/heads/master");
            (job.event["before"], job.event["after"]) = (json!(base_sha()), json!(tip));
            let ran = job
                .input("blocking", blocking)
                .variable("SOURCE_DATE_EPOCH", LATER)
                .variable("GITHUB_REF", "refs/heads/master")
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
    let by = json!("alice on pull request 3, alice on pull request 2");
    assert_eq!(report(&baseline.checkout)["approval"]["by"], by);
    let written: Value = serde_json::from_str(&baseline.checkout.read(BASELINE)).unwrap();
    let accepted = &written["accepted"][0];
    assert_eq!(
        [&accepted["by"], &accepted["reason"]],
        [&by, &json!(reason)]
    );

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

/// The same with the policy `regression`: a case that is wrong now.
pub fn regression() {
    let branch = Default::with_policy("regression");
    let lost = branch.opened(2, copied(&branch.main));
    lost.checkout
        .write("prompts/legal.md", "Report what is dear.\n");
    lost.checkout.replace(RUN, "prior approval", "a word");
    branch
        .github
        .describe(2, "Goldgate-Reason: approvals are no risk any more");
    branch.is_approved(&lost);
    branch.merge(&lost, &[RUN, "prompts/legal.md"]);

    // The baseline is behind now. A pull request that changes something else is not blamed for it.
    let other = branch.opened(4, copied(&branch.main));
    other.checkout.write("README.md", "# Agents\n");
    let ran = branch.gate(&other);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);

    // The approved samples get into the baseline by a pull request that is green by itself.
    branch.pushed();
    let head = branch.github.head("goldgate/baseline").unwrap();
    let checkout = copied(&branch.main);
    checkout.write(BASELINE, branch.github.read_at(&head, BASELINE));
    let written: Value = serde_json::from_str(&checkout.read(BASELINE)).unwrap();
    let samples = &written["suites"]["contracts"]["agents"]["legal"]["samples"]["lease"];
    assert_eq!(samples["passed"], json!([false]), "{samples}");
    let number = branch.github.open_pulls().into_iter().max().unwrap();
    let baseline = Pull {
        number,
        head,
        run: 50,
        checkout,
    };
    let ran = branch.gate(&baseline);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    branch.merge(&baseline, &[BASELINE]);
    branch.pushed();
    assert_eq!(branch.github.open_pulls(), [4]);

    // Nothing moved since: a push of the same answers opens nothing.
    branch.pushed();
    assert_eq!(branch.github.open_pulls(), [4]);
}
