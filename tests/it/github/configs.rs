//! Several configs in one repository, each gated by its own step: one label for all of them, and what is known of one is never taken for
//! another.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{LABEL, REASON, base_sha};
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, head_sha};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("one label approves the results of all configs", one_label),
        trial(
            "a config that needs no approval is green beside an approved one",
            green_sibling,
        ),
        trial(
            "a label counts for no other result of one of the configs",
            other_result,
        ),
        trial(
            "each config is excused by what the base branch shows of it alone",
            each_excused,
        ),
        trial(
            "a report of another config is not joined or made the baseline",
            elsewhere,
        ),
    ]
}

/// A repository with two services, each with its config, golden set, recordings and baseline.
pub struct Services {
    checkout: Repository,
    pub github: Standin,
}

pub const SERVICES: [&str; 2] = ["a", "b"];

impl Services {
    /// The recordings of these services became worse.
    pub fn regressed(regressed: &[&str]) -> Self {
        let (small, checkout, github) = (
            Repository::small(),
            Repository::empty(),
            Standin::new(&head_sha()),
        );
        for service in SERVICES {
            for file in FILES {
                checkout.write(&format!("{service}/{file}"), small.read(file));
            }
            checkout.stamp_unless_kept();
            let config = format!("{service}/goldgate.yaml");
            let ran = checkout.goldgate(&["run", "--config", &config, "--update-baseline"]);
            assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        }
        github.commit(&base_sha(), &checkout);
        github.role("alice", "write");
        github.describe(2, REASON);
        let services = Self { checkout, github };
        regressed.iter().for_each(|one| services.regress(one));
        services.github.commit(MERGE, &services.checkout);
        services
    }

    fn regress(&self, service: &str) {
        self.checkout.replace(
            &format!("{service}/golden/runs/legal/lease.json"),
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
    }

    fn gate(&self, service: &str, run: u64) -> Ran {
        let config = format!("{service}/goldgate.yaml");
        let event = "pull_request.opened";
        let head = self.github.head("changes").unwrap();
        let mut job = Job::new(&self.checkout, &self.github, event, "pull_request").head(&head);
        job.run = run;
        job.input("config", &config).runs()
    }

    /// The exit codes of both steps.
    pub fn gates(&self, run: u64) -> [i32; 2] {
        SERVICES.map(|service| self.gate(service, run).code)
    }

    /// The same after alice has set the label.
    pub fn labeled(&self, run: u64) -> [i32; 2] {
        self.github.label_by("alice", LABEL);
        self.gates(run)
    }
}

fn one_label() {
    let services = Services::regressed(&SERVICES);
    assert_eq!(services.gates(7), [1, 1]);
    assert_eq!(services.labeled(8), [0, 0]);
    services.github.unlabel(LABEL);
    assert_eq!(services.gates(9), [1, 1]);
    assert_eq!(services.github.bodies(BOT).len(), 2);
}

fn green_sibling() {
    let services = Services::regressed(&["b"]);
    assert_eq!(services.gates(7), [0, 1]);
    assert_eq!(services.labeled(8), [0, 0]);
    assert_eq!(services.github.labels(), [LABEL]);
}

/// Whatever the order of the steps, one of them fails: the label is taken away by the one whose result changed.
fn other_result() {
    for (changed, codes) in [("a", [1, 1]), ("b", [0, 1])] {
        let services = Services::regressed(&SERVICES);
        services.gates(7);
        assert_eq!(services.labeled(8), [0, 0]);
        services.regress(changed);
        services.github.push(&"d".repeat(40));
        let merge = services.github.merge_of(2);
        services.github.commit(&merge, &services.checkout);
        assert_eq!(services.gates(9), codes, "{changed}");
        assert!(services.github.labels().is_empty(), "{changed}");
        assert_eq!(services.labeled(10), [0, 0], "{changed}");
    }
}

fn each_excused() {
    let services = Services::regressed(&["a"]);
    services.github.commit(&base_sha(), &services.checkout);
    assert_eq!(services.gates(7), [0, 0]);
    // What the base shows of the one does not excuse the same regression of the other.
    services.regress("b");
    assert_eq!(services.gates(8), [0, 1]);
    let bodies = services.github.bodies(BOT);
    let excused = bodies
        .iter()
        .map(|body| body.contains("master is already at"));
    assert_eq!(excused.collect::<Vec<_>>(), [true, false], "{bodies:?}");
}

fn elsewhere() {
    let services = Services::regressed(&["b"]);
    let job = |name: &'static str| Job::new(&services.checkout, &services.github, name, name);
    services.gate("b", 7);
    // baseline-pr, after a step that measured another config.
    let (path, commit) = (".goldgate/report/report.json", base_sha());
    let mut report: Value = serde_json::from_str(&services.checkout.read(path)).unwrap();
    report["commit"] = json!(commit);
    services.checkout.write(path, report.to_string());
    let ran = job("push")
        .variable("GITHUB_REF", "refs/heads/master")
        .variable("GITHUB_SHA", &commit)
        .input("mode", "baseline-pr")
        .input("config", "a/goldgate.yaml")
        .runs();
    let says = "the report is for b/goldgate.yaml, but this step is for a/goldgate.yaml";
    assert!(
        ran.code == 2 && ran.stderr.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A join, with parts of another config that has the same text.
    let text = services.checkout.read("b/goldgate.yaml");
    services.checkout.write("c/goldgate.yaml", text);
    let step = |config: &'static str, name: &'static str, value: &'static str| {
        let job = super::opened(&services.checkout, &services.github);
        job.input("config", config)
            .input(name, value)
            .input("out", "parts/one")
            .runs()
    };
    let part = step("b/goldgate.yaml", "shard", "1/1");
    assert_eq!(part.code, 0, "{}{}", part.stdout, part.stderr);
    let ran = step("c/goldgate.yaml", "parts", "parts");
    let says = "the shards were graded with another config";
    assert!(
        ran.code == 2 && ran.stderr.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
