//! Several configs in one repository: what is known of one is never taken for another.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{LABEL, uploaded};
use super::standin::Standin;
use super::{BOT, Job, head_sha, payload};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an approval of one config takes no report of another",
            other_config,
        ),
        trial(
            "two configs are approved one by one, each by its own status and comment",
            one_by_one,
        ),
        trial(
            "with several configs in one run all statuses are set before the run starts again, once",
            one_run,
        ),
        trial(
            "a config that needs no approval delays no run",
            green_sibling,
        ),
        trial(
            "a config that is refused takes no approval from another one, whichever comes first",
            refused_sibling,
        ),
        trial(
            "each config is excused by what the base branch shows of it alone",
            each_excused,
        ),
        trial(
            "keys that differ in letter case are two configs",
            letter_case,
        ),
        trial(
            "a config that the pull request removes takes no label from another one",
            removed,
        ),
        trial(
            "a report that does not say its config approves nothing",
            no_config,
        ),
        trial(
            "a report of another config is not merged or made the baseline",
            elsewhere,
        ),
    ]
}

/// A repository with two services, each with its config, golden set, recordings and baseline.
pub struct Services {
    checkout: Repository,
    elsewhere: Repository,
    pub github: Standin,
}

pub const SERVICES: [&str; 2] = ["a", "b"];
impl Services {
    fn new() -> Self {
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
            for file in FILES.iter().chain(&["baselines/latest.json"]) {
                let path = format!("{service}/{file}");
                github.file(&path, &checkout.read(&path));
            }
        }
        github.role("alice", "write");
        github.describe(2, super::approval::REASON);
        Self {
            checkout,
            elsewhere: Repository::empty(),
            github,
        }
    }

    /// The recordings of a service become worse.
    fn regress(&self, service: &str) {
        let run = format!("{service}/golden/runs/legal/lease.json");
        self.checkout.replace(
            &run,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
    }

    pub fn gate(&self, service: &str, run: u64) -> Ran {
        let config = format!("{service}/goldgate.yaml");
        let mut job = Job::new(
            &self.checkout,
            &self.github,
            "pull_request.opened",
            "pull_request",
        );
        job.run = run;
        job.input("config", &config).runs()
    }

    /// What the gate wrote is uploaded, under a name.
    fn upload(&self, run: u64, name: &str, report: &str) {
        self.github.run(json!({
            "id": run, "run_attempt": 1, "head_sha": head_sha(), "head_branch": "changes", "event": "pull_request",
            "status": "completed", "conclusion": "failure", "path": format!(".github/workflows/{run}.yml"),
            "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } }, "actor": { "login": "Codertocat" },
        }));
        self.github.artifact(run, name, uploaded(report));
    }

    fn report(&self) -> String {
        self.checkout.read(".goldgate/report/report.json")
    }

    pub fn labeled(&self, service: &str) -> Ran {
        let config = format!("{service}/goldgate.yaml");
        let mut job = Job::new(
            &self.elsewhere,
            &self.github,
            "pull_request.labeled",
            "pull_request_target",
        );
        job.event["sender"]["login"] = json!("alice");
        job.event["label"]["name"] = json!(LABEL);
        job.input("mode", "approve").input("config", &config).runs()
    }
}

fn other_config() {
    let services = Services::new();
    services.regress("b");
    assert_eq!(services.gate("b", 7).code, 1);
    // The name that every shipped workflow uploads says nothing about the config.
    services.upload(7, "goldgate-report", &services.report());
    services.github.label(LABEL);
    let ran = services.labeled("a");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        services.github.statuses(&head_sha()).is_empty(),
        "{:?}",
        services.github.statuses(&head_sha())
    );
    assert!(
        !services.github.labels().contains(&LABEL.to_owned()),
        "the label stays"
    );
    let comments = services.github.bodies(BOT).concat().replace("&#8288;", "");
    assert!(
        comments.contains("is for another config, b/goldgate.yaml"),
        "{comments}"
    );
    assert_eq!(services.gate("a", 8).code, 0);
}

fn one_by_one() {
    let services = Services::new();
    for (service, run) in [("a", 7), ("b", 8)] {
        services.regress(service);
        assert_eq!(services.gate(service, run).code, 1);
        let output = services.checkout.read(".runner/output");
        assert!(
            output.contains(&format!("\nartifact=goldgate-report-{service}\n")),
            "{output}"
        );
        services.upload(
            run,
            &format!("goldgate-report-{service}"),
            &services.report(),
        );
    }
    assert_eq!(
        services.github.bodies(BOT).len(),
        2,
        "each config has its comment"
    );
    services.github.label(LABEL);
    services.labeled("b");
    assert_eq!(
        services.github.contexts(&head_sha()),
        ["goldgate/baseline/b"]
    );
    assert_eq!(
        (services.gate("a", 9).code, services.gate("b", 10).code),
        (1, 0)
    );
    services.labeled("a");
    assert_eq!(
        services.github.contexts(&head_sha()),
        ["goldgate/baseline/b", "goldgate/baseline/a"]
    );
    assert_eq!(
        (services.gate("a", 11).code, services.gate("b", 12).code),
        (0, 0)
    );
}

/// Two configs whose gates are jobs of one run.
pub fn in_one_run(regressed: &[&str]) -> Services {
    let services = Services::new();
    for service in SERVICES {
        if regressed.contains(&service) {
            services.regress(service);
        }
        services.gate(service, 7);
        services.upload(7, &format!("goldgate-report-{service}"), &services.report());
    }
    services.github.label(LABEL);
    services
}

impl Services {
    fn comments(&self) -> String {
        self.github.bodies(BOT).concat().replace("&#8288;", "")
    }

    fn unlabeled(&self, service: &str) -> Ran {
        let config = format!("{service}/goldgate.yaml");
        let mut job = Job::new(
            &self.elsewhere,
            &self.github,
            "pull_request.unlabeled",
            "pull_request_target",
        );
        job.event["label"]["name"] = json!(LABEL);
        job.input("mode", "approve").input("config", &config).runs()
    }
}

fn one_run() {
    let services = in_one_run(&SERVICES);
    let ran = services.labeled("a");
    assert!(services.github.reruns().is_empty(), "{}", ran.stdout);
    assert!(
        services
            .comments()
            .contains("once the result of `b` is decided too"),
        "{}",
        services.comments()
    );
    services.labeled("b");
    let reruns = services.github.reruns();
    assert_eq!(
        (reruns.len(), reruns[0].run, reruns[0].what.as_str()),
        (1, 7, "rerun-failed-jobs")
    );
    assert_eq!(
        reruns[0].statuses,
        ["goldgate/baseline/a", "goldgate/baseline/b"]
    );
    // Nobody may see the run start while one of the approvals still stands.
    services.github.concluded(7, "success");
    services.github.unlabel(LABEL);
    for service in SERVICES {
        let ran = services.unlabeled(service);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    let reruns = services.github.reruns();
    assert_eq!(
        (
            reruns.len(),
            reruns[1].what.as_str(),
            reruns[1].statuses.len()
        ),
        (2, "rerun", 4)
    );
    let statuses = services.github.statuses(&head_sha());
    assert_eq!(
        statuses
            .iter()
            .filter(|status| status.starts_with("failure withdrawn: trudy"))
            .count(),
        2
    );
    assert_eq!(
        (services.gate("a", 8).code, services.gate("b", 9).code),
        (1, 1)
    );
}

fn green_sibling() {
    let services = in_one_run(&["a"]);
    let ran = services.labeled("a");
    assert_eq!(services.github.reruns().len(), 1, "{}", ran.stdout);
    // Its own step finds a result that passes, and a run that is started again.
    let ran = services.labeled("b");
    assert_eq!(services.github.reruns().len(), 1, "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("its result passes already, so not started again"),
        "{}",
        ran.stdout
    );
}

fn refused_sibling() {
    for order in [["a", "b"], ["b", "a"]] {
        let services = in_one_run(&SERVICES);
        // Nobody can have seen the result of b.
        let bodies = services.github.bodies(BOT);
        let of_b = bodies
            .iter()
            .position(|body| body.contains("key=b "))
            .unwrap() as u64
            + 1;
        services.github.change_comment(of_b, "gone");
        let log = order
            .map(|service| services.labeled(service).stdout)
            .concat();
        assert!(
            !services.github.labels().contains(&LABEL.to_owned()),
            "{log}"
        );
        assert_eq!(
            services.github.contexts(&head_sha()),
            ["goldgate/baseline/a"],
            "{log}"
        );
        assert_eq!(services.github.reruns().len(), 1, "{log}");
        // goldgate removed the label itself: that withdraws nothing.
        for service in order {
            services.unlabeled(service);
        }
        assert_eq!(
            services.github.contexts(&head_sha()),
            ["goldgate/baseline/a"]
        );
        assert_eq!(services.gate("a", 9).code, 0);
    }
}

/// GitHub takes the context of a status without regard to letter case (REST, "Create a commit status": "This field is
/// case-insensitive").
fn letter_case() {
    let services = Services::new();
    services.regress("a");
    let gate = |key: &str| {
        let job = Job::new(
            &services.checkout,
            &services.github,
            "pull_request.opened",
            "pull_request",
        );
        job.input("config", "a/goldgate.yaml")
            .input("comment-key", key)
            .runs()
    };
    for key in ["API", "api"] {
        assert_eq!(gate(key).code, 1);
        services.upload(7, &format!("goldgate-report-{key}"), &services.report());
    }
    assert_eq!(services.github.bodies(BOT).len(), 2);
    services.github.label(LABEL);
    let mut job = Job::new(
        &services.elsewhere,
        &services.github,
        "pull_request.labeled",
        "pull_request_target",
    );
    job.event["label"]["name"] = json!(LABEL);
    let ran = job
        .input("mode", "approve")
        .input("config", "a/goldgate.yaml")
        .input("comment-key", "API")
        .runs();
    assert_eq!(
        services.github.contexts(&head_sha()),
        ["goldgate/baseline/API"],
        "{}",
        ran.stdout
    );
    assert_eq!((gate("API").code, gate("api").code), (0, 1));
}

fn removed() {
    let services = Services::new();
    services.regress("b");
    services.gate("b", 7);
    services.upload(7, "goldgate-report", &services.report());
    services.github.remove_at(&head_sha(), "a/goldgate.yaml");
    services.github.label(LABEL);
    for service in SERVICES {
        let ran = services.labeled(service);
        assert_eq!(ran.code, 0, "{service}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(
        services.github.contexts(&head_sha()),
        ["goldgate/baseline/b"]
    );
    assert_eq!(services.github.labels(), [LABEL]);
    // A config that no side has is a wrong input.
    let job = Job::new(
        &services.elsewhere,
        &services.github,
        "pull_request.labeled",
        "pull_request_target",
    );
    let ran = job
        .input("mode", "approve")
        .input("config", "c/goldgate.yaml")
        .runs();
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("neither on the base branch nor at the head"),
        "{}",
        ran.stderr
    );
}

fn no_config() {
    let services = Services::new();
    services.regress("a");
    services.gate("a", 7);
    let mut report: Value = serde_json::from_str(&services.report()).unwrap();
    report.as_object_mut().unwrap().remove("config").unwrap();
    services.upload(7, "goldgate-report", &report.to_string());
    services.github.label(LABEL);
    let ran = services.labeled("a");
    assert!(
        services.github.statuses(&head_sha()).is_empty(),
        "{}",
        ran.stdout
    );
    let comments = services.github.bodies(BOT).concat();
    assert!(comments.contains("does not name its config"), "{comments}");
}

fn elsewhere() {
    let services = Services::new();
    services.regress("b");
    services.gate("b", 7);
    // baseline-pr, after a step that measured another config.
    services.github.push(&head_sha());
    let commit = payload("push")["after"].as_str().unwrap().to_owned();
    let mut report: Value = serde_json::from_str(&services.report()).unwrap();
    report["commit"] = json!(commit);
    services
        .checkout
        .write(".goldgate/report/report.json", report.to_string());
    let mut job = Job::new(&services.checkout, &services.github, "push", "push");
    job.event["repository"]["default_branch"] = json!("master");
    let job = job
        .variable("GITHUB_REF", "refs/heads/master")
        .variable("GITHUB_SHA", &commit);
    let ran = job
        .input("mode", "baseline-pr")
        .input("config", "a/goldgate.yaml")
        .runs();
    assert!(
        ran.code == 2
            && ran.stderr.contains(
                "the report is for b/goldgate.yaml, but this step is for a/goldgate.yaml"
            ),
        "{} {}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    // merge, with parts of another config that has the same text.
    let text = services.checkout.read("b/goldgate.yaml");
    services.checkout.write("c/goldgate.yaml", text);
    let job = Job::new(
        &services.checkout,
        &services.github,
        "pull_request.opened",
        "pull_request",
    );
    let part = job
        .input("config", "b/goldgate.yaml")
        .input("shard", "1/1")
        .input("out", ".goldgate/parts/one")
        .runs();
    assert_eq!(part.code, 0, "{}{}", part.stdout, part.stderr);
    let job = Job::new(
        &services.checkout,
        &services.github,
        "pull_request.opened",
        "pull_request",
    );
    let ran = job
        .input("config", "c/goldgate.yaml")
        .input("mode", "merge")
        .runs();
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("the shards were graded with another config"),
        "{} {}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
}

fn each_excused() {
    let services = Services::new();
    services.regress("a");
    let run = "a/golden/runs/legal/lease.json";
    services.github.file(run, &services.checkout.read(run));
    let codes = || SERVICES.map(|service| services.gate(service, 7).code);
    assert_eq!(codes(), [0, 0]);
    // What the tip shows of the one does not excuse the same regression of the other.
    services.regress("b");
    assert_eq!(codes(), [0, 1]);
    let bodies = services.github.bodies(BOT);
    let excused: Vec<bool> = bodies
        .iter()
        .map(|body| body.contains("master is already at"))
        .collect();
    assert_eq!(excused, [true, false], "{bodies:?}");
}
