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
            "one step judges the configs of a pattern, with one comment and one check",
            one_step,
        ),
        trial(
            "who removes a config that a pattern matches does not get rid of its gate",
            removed,
        ),
        trial(
            "a pattern without a file, a shard or two policies give no verdict",
            bad_patterns,
        ),
        trial(
            "a pattern is read from commits where nothing is checked out",
            as_data,
        ),
        trial("five configs in one step take few requests", few_requests),
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

const PATTERN: &str = "*/goldgate.yaml";

impl Services {
    pub fn step(&self, event: &str, run: u64) -> Job<'_> {
        let head = self.github.head("changes").unwrap();
        let mut job = Job::new(&self.checkout, &self.github, event, "pull_request").head(&head);
        job.run = run;
        job.input("config", PATTERN)
    }

    fn comment(&self) -> String {
        let bodies = self.github.bodies(BOT);
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        bodies[0].clone()
    }
}

fn one_step() {
    let services = Services::regressed(&["b"]);
    let red = services.step("pull_request.opened", 7).runs();
    assert_eq!(red.code, 1, "{}{}", red.stdout, red.stderr);
    // The worst result is on top.
    let begin = "> [!CAUTION]\n> **b/goldgate.yaml: ";
    assert!(
        services.comment().starts_with(begin),
        "{}",
        services.comment()
    );
    for config in ["a/goldgate.yaml", "b/goldgate.yaml"] {
        assert!(
            red.stdout
                .contains(&format!("::group::goldgate {config}\n"))
                && red.stdout.contains(&format!("\ngoldgate {config}: ")),
            "{}",
            red.stdout
        );
        assert!(
            services.comment().contains(config),
            "{}",
            services.comment()
        );
    }
    for service in SERVICES {
        let report = services
            .checkout
            .read(&format!(".goldgate/report/{service}/report.json"));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["config"], json!(format!("{service}/goldgate.yaml")));
    }
    let outputs = services.checkout.read(".runner/output");
    for line in [
        "verdict=fail",
        "report=.goldgate/report",
        "artifact=goldgate-report",
    ] {
        assert!(outputs.lines().any(|one| one == line), "{outputs}");
    }
    services.github.label_by("alice", LABEL);
    let green = services.step("pull_request.labeled", 8).runs();
    assert_eq!(green.code, 0, "{}{}", green.stdout, green.stderr);
    assert!(
        !services.comment().contains("[!CAUTION]"),
        "{}",
        services.comment()
    );
    // The result of one of them changed: the label is for all, and does not count any more.
    services.regress("a");
    services.github.push(&"d".repeat(40));
    let merge = services.github.merge_of(2);
    services.github.commit(&merge, &services.checkout);
    assert_eq!(services.step("pull_request.synchronize", 9).runs().code, 1);
    assert!(services.github.labels().is_empty());
}

fn removed() {
    let services = Services::regressed(&[]);
    services.checkout.remove("b/goldgate.yaml");
    services.github.commit(MERGE, &services.checkout);
    let ran = services.step("pull_request.opened", 7).runs();
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("b/goldgate.yaml"), "{}", ran.stderr);
}

fn bad_patterns() {
    let services = Services::regressed(&[]);
    let with = |pattern: &'static str| {
        let job = services.step("pull_request.opened", 7);
        job.input("config", pattern).runs()
    };
    let ran = with("services/*/goldgate.yaml");
    assert!(
        ran.code == 2 && ran.stderr.contains("no file matches"),
        "{}",
        ran.stderr
    );
    let ran = with("../*/goldgate.yaml");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let shard = services.step("pull_request.opened", 7);
    let ran = shard.input("shard", "1/2").runs();
    assert!(
        ran.code == 2 && ran.stderr.contains("name one config"),
        "{}",
        ran.stderr
    );
    let green = services.step("pull_request.opened", 8).runs();
    assert_eq!(green.code, 0, "{}{}", green.stdout, green.stderr);
    assert!(services.comment().starts_with("> [!TIP]"));
    // Who may approve is what the base branch's configs say, and one label is for all of them.
    let text = services.checkout.read("b/goldgate.yaml");
    let other = format!("{text}approval: {{ approvers: maintain }}\n");
    services.checkout.write("b/goldgate.yaml", other);
    services.github.commit(&base_sha(), &services.checkout);
    services.github.commit(MERGE, &services.checkout);
    let ran = services.step("pull_request.opened", 9).runs();
    let says = "a/goldgate.yaml and b/goldgate.yaml say different things below approval";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    let body = services.comment();
    assert!(
        body.contains("No verdict on this commit") && !body.contains("[!TIP]"),
        "{body}"
    );
}

fn as_data() {
    let services = Services::regressed(&["b"]);
    let empty = Repository::empty();
    let event = "pull_request_target";
    let job = Job::new(&empty, &services.github, "pull_request.opened", event);
    let ran = job.input("config", PATTERN).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = services.comment();
    assert!(
        body.contains("a/goldgate.yaml") && body.contains("b/goldgate.yaml"),
        "{body}"
    );
}

fn few_requests() {
    let services = Services::regressed(&[]);
    for service in ["c", "d", "e"] {
        for file in FILES.iter().chain(&["baselines/latest.json"]) {
            let text = services.checkout.read(&format!("a/{file}"));
            services.checkout.write(&format!("{service}/{file}"), text);
        }
    }
    services.checkout.stamp_unless_kept();
    services.github.commit(&base_sha(), &services.checkout);
    SERVICES.iter().for_each(|one| services.regress(one));
    services.github.commit(MERGE, &services.checkout);
    let ran = services.step("pull_request.synchronize", 7).runs();
    let requests = services.github.requests();
    assert!(
        requests.len() <= 25,
        "{}: {requests:#?}\n{}",
        requests.len(),
        ran.stdout
    );
    assert_eq!(
        ran.stdout.matches("::group::goldgate ").count(),
        5,
        "{}",
        ran.stdout
    );
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
