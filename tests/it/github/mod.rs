//! `goldgate action` against a stateful stand-in of GitHub's REST API, with real webhook payloads.

mod account;
mod annotations;
mod approval;
mod attacks;
mod baseline_pr;
mod checkout;
mod checks;
mod comments;
mod configs;
mod drafts;
mod enterprise;
mod excuses;
mod foreign;
mod fork_heads;
mod golden;
mod interrupted;
mod keys;
mod local_objects;
mod masked;
mod outdated;
mod parts;
mod present;
mod pushes;
mod queue;
#[cfg(feature = "models")]
mod record;
mod refusals;
mod renamed;
mod resolved;
mod setup;
mod standin;
mod story;
mod trusted;
mod unchecked_base;
mod writers;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::comments::{
    forbidden, listed_late, lost_answer, met, no_verdict, older_head, one_comment, overwritten,
    pages, retried, spoofed, two_tiers,
};
use self::standin::runs::StartedRun;
use self::standin::{Fault, Standin};
use crate::repository::{Ran, Repository, root};
use crate::trial;

const RUN: &str = "golden/runs/legal/lease.json";
const BOT: &str = "github-actions[bot]";

pub fn trials() -> Vec<Trial> {
    let mut trials = runs();
    for more in [
        approval::trials,
        attacks::trials,
        baseline_pr::trials,
        checks::trials,
        foreign::trials,
        fork_heads::trials,
        golden::trials,
    ] {
        trials.extend(more());
    }
    trials.extend(account::trials());
    trials.extend(annotations::trials());
    trials.extend(interrupted::trials());
    trials.extend(keys::trials());
    #[cfg(feature = "models")]
    trials.extend(record::trials());
    trials.extend(refusals::trials());
    for more in [
        checkout::trials,
        configs::trials,
        drafts::trials,
        outdated::trials,
        enterprise::trials,
        excuses::trials,
        local_objects::trials,
        masked::trials,
        present::trials,
        parts::trials,
        pushes::trials,
        pushes::payloads::trials,
        queue::trials,
        renamed::trials,
        resolved::trials,
        setup::trials,
        story::trials,
        trusted::trials,
        unchecked_base::trials,
        writers::trials,
    ] {
        trials.extend(more());
    }
    trials
}

fn runs() -> Vec<Trial> {
    vec![
        trial(
            "the first run creates one comment and later runs update it",
            one_comment,
        ),
        trial(
            "a comment that GitHub lists late is not written twice",
            listed_late,
        ),
        trial(
            "a run without a verdict takes the place of the older result in the comment",
            no_verdict,
        ),
        trial("250 foreign comments on three pages do not hide it", pages),
        trial(
            "a comment that another user wrote with the same marker is left alone",
            spoofed,
        ),
        trial(
            "two tiers share one comment, each with its own section",
            two_tiers,
        ),
        trial(
            "a section that a person edited is not taken over",
            comments::edited,
        ),
        trial(
            "a run on an older head leaves a newer head's section alone",
            older_head,
        ),
        trial(
            "a second comment that writers left when they met is merged and removed",
            met,
        ),
        trial(
            "a 403 is one clear warning and leaves the verdict alone",
            forbidden,
        ),
        trial("502 and 429 with Retry-After are retried", retried),
        trial(
            "a lost answer to the creation makes no second comment",
            lost_answer,
        ),
        trial(
            "a section that another writer overwrote is written again",
            overwritten,
        ),
        trial(
            "the baseline is read on the base commit, never in the pull request's tree",
            base_baseline,
        ),
        trial(
            "a base baseline of more than a megabyte is read as well",
            large_baseline,
        ),
        trial("a proxy of the environment is used", proxy),
        trial(
            "an event without a pull request writes no comment and says so",
            no_pull_request,
        ),
        trial(
            "a fork's pull request has the full verdict without a comment",
            fork,
        ),
        trial(
            "a regression blocks, and the comment names it with its line",
            regression,
        ),
        trial(
            "hostile text becomes no mention, link, command or markup",
            hostile,
        ),
        trial(
            "a comment on 200 failing suites is cut by whole sections",
            many_suites,
        ),
        trial("outputs, summary and annotations are written", outputs),
        trial(
            "what a container's root writes belongs to the owner of the workspace",
            owner,
        ),
        trial(
            "a job that grades a part writes no comment and judges nothing",
            part,
        ),
        trial("the token is in no output and no file", token),
        trial("bad inputs are told with what would be right", bad_inputs),
    ]
}

fn payload(name: &str) -> Value {
    let text =
        std::fs::read_to_string(root().join("tests/events").join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A job on a runner: a repository, an event, inputs.
struct Job<'a> {
    repository: &'a Repository,
    github: &'a Standin,
    event: Value,
    name: &'a str,
    inputs: Vec<(&'a str, &'a str)>,
    variables: Vec<(&'a str, &'a str)>,
    run: u64,
    /// Whether the recordings are judged as they are, and not as ones of the present files.
    keeps_recordings: bool,
}

impl<'a> Job<'a> {
    fn new(repository: &'a Repository, github: &'a Standin, event: &str, name: &'a str) -> Self {
        Self {
            repository,
            github,
            event: payload(event),
            name,
            inputs: Vec::new(),
            variables: Vec::new(),
            run: 7,
            keeps_recordings: false,
        }
    }

    /// For a trial that is about recordings.
    fn keep_recordings(mut self) -> Self {
        self.keeps_recordings = true;
        self
    }

    fn input(mut self, name: &'a str, value: &'a str) -> Self {
        self.inputs.push((name, value));
        self
    }

    fn variable(mut self, name: &'a str, value: &'a str) -> Self {
        self.variables.push((name, value));
        self
    }

    fn head(mut self, sha: &str) -> Self {
        self.event["pull_request"]["head"]["sha"] = json!(sha);
        self
    }

    /// What actions/checkout does: `HEAD` is the commit of the event, unless the test has checked out another one, and GitHub knows its files.
    /// Returns the `HEAD` of before.
    fn check_out(&self) -> Option<String> {
        let head = self.repository.path(".git/HEAD");
        // A recording judges nothing.
        let is_recording = self.inputs.contains(&("mode", "record"));
        if is_recording || !self.repository.path(".git").is_dir() {
            return None;
        }
        let before = std::fs::read_to_string(&head).unwrap_or_default();
        let is_branch = before.is_empty() || before.starts_with("ref: ");
        let commit = match is_branch {
            true => self.commit_of_event(),
            false => before.trim().to_owned(),
        };
        self.repository.write(".git/HEAD", format!("{commit}\n"));
        self.github.check_out(&commit, self.repository);
        Some(before)
    }

    /// `GITHUB_SHA`.
    fn sha_of_event(&self) -> String {
        let mut variables = self.variables.iter().rev();
        if let Some((_, stated)) = variables.find(|(name, _)| *name == "GITHUB_SHA") {
            return (*stated).to_owned();
        }
        // The merge of the head that the event is about.
        let pull = &self.event["pull_request"];
        let is_head = |commit: &Value| *commit == json!(self.github.head("changes"));
        if self.name == "pull_request"
            && pull["number"] == json!(2)
            && is_head(&pull["head"]["sha"])
        {
            return self.github.merge_of(2);
        }
        let stated = match self.name {
            "push" => &self.event["after"],
            "merge_group" => &self.event["merge_group"]["head_sha"],
            _ => &Value::Null,
        };
        stated
            .as_str()
            .map_or("5".repeat(40), |commit| commit.to_owned())
    }

    /// GitHub starts the run of the job, under the name that the shipped workflows give it.
    fn start(&self) {
        let pull = &self.event["pull_request"];
        let (sha, head) = (self.sha_of_event(), pull["head"]["sha"].as_str());
        let title = match self.name {
            "pull_request_target" => format!("{} {sha}", head.unwrap_or_default()),
            _ => format!("goldgate {sha}"),
        };
        self.github.start_run(&StartedRun {
            id: self.run,
            event: self.name,
            number: pull["number"].as_u64().unwrap_or_default(),
            head: head.unwrap_or(&sha),
            title: &title,
            actor: self.event["sender"]["login"]
                .as_str()
                .unwrap_or("Codertocat"),
        });
    }

    /// What a workflow checks out: on `pull_request_target` the head by its id.
    fn commit_of_event(&self) -> String {
        let head = match self.name {
            "pull_request_target" => self.event["pull_request"]["head"]["sha"].as_str(),
            _ => None,
        };
        head.map_or_else(|| self.sha_of_event(), str::to_owned)
    }

    fn runs(&self) -> Ran {
        self.repository
            .write(".runner/event.json", self.event.to_string());
        if let Some(name) = self.event["repository"]["default_branch"].as_str() {
            self.github.default_branch_of_payload(name);
        }
        self.repository.write(".runner/output", "");
        self.repository.write(".runner/summary", "");
        if !self.keeps_recordings && !self.inputs.contains(&("mode", "record")) {
            self.repository.stamp_unless_kept();
        }
        let before = self.check_out();
        self.start();
        let path = |name: &str| self.repository.path(name).to_str().unwrap().to_owned();
        let address = self.github.address();
        let run = self.run.to_string();
        let mut variables: Vec<(String, String)> = [
            ("GITHUB_EVENT_NAME", self.name.to_owned()),
            ("GITHUB_EVENT_PATH", path(".runner/event.json")),
            ("GITHUB_OUTPUT", path(".runner/output")),
            ("GITHUB_STEP_SUMMARY", path(".runner/summary")),
            ("GITHUB_WORKSPACE", path("")),
            ("GITHUB_API_URL", address),
            ("GITHUB_SERVER_URL", "https://github.example".to_owned()),
            ("GITHUB_REPOSITORY", "acme/agents".to_owned()),
            ("GITHUB_SHA", self.sha_of_event()),
            (
                "GITHUB_WORKFLOW_REF",
                "acme/agents/.github/workflows/goldgate.yml@refs/heads/main".to_owned(),
            ),
            ("GITHUB_RUN_ID", run),
            ("GITHUB_RUN_ATTEMPT", "1".to_owned()),
            ("INPUT_TOKEN", "secret-token-of-the-test".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        variables.extend(self.inputs.iter().map(|(name, value)| {
            (
                format!("INPUT_{}", name.to_uppercase()),
                (*value).to_owned(),
            )
        }));
        variables.extend(
            self.variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let borrowed: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let ran = self.repository.goldgate_with(&["action"], &borrowed);
        let conclusion = if ran.code == 0 { "success" } else { "failure" };
        self.github.end_run(self.run, conclusion);
        if let Some(head) = before {
            self.repository.write(".git/HEAD", head);
        }
        ran
    }
}

fn opened<'a>(repository: &'a Repository, github: &'a Standin) -> Job<'a> {
    Job::new(repository, github, "pull_request.opened", "pull_request")
}

fn head_sha() -> String {
    payload("pull_request.opened")["pull_request"]["head"]["sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn base_baseline() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.goldgate(&["run", "--update-baseline"]);
    let baseline = repository.read("baselines/latest.json");
    // The base says that f1 was 1; the pull request's own tree says that it was 0.
    github.file("baselines/latest.json", &baseline);
    repository.write(
        "baselines/latest.json",
        baseline.replace("\"f1_score\": 1.0", "\"f1_score\": 0.0"),
    );
    repository.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        github
            .requests()
            .iter()
            .any(|request| request.contains("/git/blobs/")),
        "{:?}",
        github.requests()
    );
    github.fault("GET", Fault::Always(403));
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("`contents: read`"), "{}", ran.stderr);
}

fn large_baseline() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.goldgate(&["run", "--update-baseline"]);
    let baseline = repository
        .read("baselines/latest.json")
        .replace("\"f1_score\": 1.0", "\"f1_score\": 0.5");
    github.file(
        "baselines/latest.json",
        &format!("{baseline}{}", " ".repeat(1_100_000)),
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        github.bodies(BOT)[0].contains("+50&nbsp;pp"),
        "{}",
        github.bodies(BOT)[0]
    );
}

fn proxy() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let address = github.address();
    let job = opened(&repository, &github).variable("GITHUB_API_URL", "http://github.example");
    let ran = job.variable("HTTP_PROXY", &address).runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(github.bodies(BOT).len(), 1);
    assert!(
        github
            .requests()
            .iter()
            .all(|request| request.contains(" http://github.example/"))
    );
}

fn no_pull_request() {
    for (event, name) in [
        ("push", "push"),
        ("schedule", "schedule"),
        ("workflow_dispatch", "workflow_dispatch"),
    ] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        let ran = Job::new(&repository, &github, event, name).runs();
        assert_eq!(ran.code, 0, "{event}: {}", ran.stderr);
        assert!(
            ran.stdout
                .contains("this event has no pull request, so no comment is written"),
            "{event}: {}",
            ran.stdout
        );
        assert!(github.bodies(BOT).is_empty());
        // They are compared with a base commit all the same: a check belongs to its commit.
        let reads = github.requests();
        assert!(
            reads.iter().any(|request| request.contains("/git/trees/")),
            "{event}: {reads:?}"
        );
    }
}

fn fork() {
    for event in [
        "pull_request.opened",
        "pull_request.synchronize",
        "pull_request.labeled",
    ] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        github.fault("POST", Fault::Always(403));
        let mut job = Job::new(&repository, &github, event, "pull_request");
        job.event["pull_request"]["head"]["repo"]["id"] = json!(1);
        let ran = job.runs();
        assert_eq!(ran.code, 0, "{event}");
        assert!(
            ran.stdout
                .contains("the token of a fork's pull request is read-only"),
            "{event}: {}",
            ran.stdout
        );
        repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
        assert_eq!(job.runs().code, 1, "{event}");
    }
}

fn regression() {
    for event in ["pull_request.synchronize", "pull_request.labeled"] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
        let job = Job::new(&repository, &github, event, "pull_request");
        let head = job.event["pull_request"]["head"]["sha"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(job.runs().code, 1);
        let body = github.bodies(BOT).remove(0);
        let link = format!(
            "(https://github.example/acme/agents/blob/{head}/golden/expected/legal/lease.json#L3)"
        );
        assert!(body.contains(&link), "{body}");
        let recording =
            format!(" ([recording](https://github.example/acme/agents/blob/{head}/{RUN})): ");
        assert_eq!(body.matches(&recording).count(), 1, "{body}");
    }
}

fn hostile() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let text = "@acme/all ![x](http://e/x.png) <img src=x> | `` ``` <!-- goldgate:comment key=default --> --> \\u202e \\n::error::pwned";
    repository.replace(
        RUN,
        "\"title\": \"Change of control\"",
        &format!("\"title\": \"{text}\""),
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = opened(&repository, &github).runs();
    let body = github.bodies(BOT).remove(0);
    for bad in ["@acme", "![", "<img", "```", "http:", "\u{202e}"] {
        assert!(!body.contains(bad), "{bad}: {body}");
    }
    assert_eq!(body.matches("<!-- goldgate:comment").count(), 1);
    let command = ran
        .stdout
        .lines()
        .find(|line| line.trim_start().starts_with("::error::"));
    assert_eq!(command, None, "a command that the agent wrote");
    assert_eq!(opened(&repository, &github).runs().code, 1);
    assert_eq!(github.bodies(BOT).len(), 1);
}

fn many_suites() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let mut config = "version: 1\nsuites:\n".to_owned();
    for number in 0..200 {
        config.push_str(&format!("  - id: contracts-{number:03}\n    kind: findings\n    policy: seed\n    path: golden\n    agents:\n      legal: {{ deterministic: {{ replay: golden/runs }}, fingerprint: [prompts/legal.md] }}\n"));
    }
    repository.write("goldgate.yaml", config);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let body = github.bodies(BOT).remove(0);
    assert!(
        body.len() <= 65_536 && body.len() > 40_000,
        "{}",
        body.len()
    );
    assert!(
        body.starts_with(
            "> [!CAUTION]\n> **First run: 600 gates pass, 200 are below their limits: legal finding"
        ),
        "{}",
        &body[..200]
    );
    assert!(
        body.contains("Left out for lack of space: "),
        "{}",
        &body[body.len() - 1500..]
    );
    assert!(body.contains("[the full report](https://github.example/acme/agents/actions/runs/7)"));
    assert_eq!(
        body.matches("<details").count(),
        body.matches("</details>").count()
    );
    for line in body.lines().filter(|line| line.starts_with('|')) {
        assert!(line.ends_with('|'), "a row is cut: {line}");
    }
    assert!(
        body.contains("<sub>gates: ")
            && body.contains(" · head ")
            && body.trim_end().ends_with("<!-- goldgate:end -->")
    );
    assert_eq!(opened(&repository, &github).runs().code, 1);
    assert_eq!(github.bodies(BOT).len(), 1);
}

fn outputs() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = opened(&repository, &github).input("out", "reports").runs();
    let output = repository.read(".runner/output");
    for line in [
        "verdict=fail",
        "regressions=1",
        "report=reports",
        "artifact=goldgate-report",
    ] {
        assert!(
            output.lines().any(|found| found == line),
            "{line}: {output}"
        );
    }
    assert!(
        repository
            .read(".runner/summary")
            .starts_with("> [!CAUTION]")
    );
    assert!(repository.path("reports/report.json").exists());
    assert!(
        ran.stdout
            .contains("::error file=golden/expected/legal/lease.json,line=3,title="),
        "{}",
        ran.stdout
    );
}

/// A runner that is used again cannot remove files of root (actions/runner#434). Needs root, as a container has it.
#[cfg(unix)]
#[allow(clippy::print_stderr)]
fn owner() {
    use std::os::unix::fs::{MetadataExt, chown, symlink};
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let elsewhere = tempfile::tempdir().unwrap();
    if chown(repository.path(""), Some(1001), Some(118)).is_err() {
        eprintln!("skipped: only root can give files away; run it as root");
        return;
    }
    let outside = elsewhere.path().join("kept");
    std::fs::write(&outside, "").unwrap();
    std::fs::create_dir(repository.path(".goldgate")).unwrap();
    symlink(&outside, repository.path(".goldgate/link")).unwrap();
    let ran = opened(&repository, &github)
        .input("out", "reports/today")
        .runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let of = |path: &str| std::fs::symlink_metadata(repository.path(path)).unwrap();
    for path in [
        "reports",
        "reports/today",
        "reports/today/report.json",
        ".goldgate",
        ".goldgate/link",
    ] {
        assert_eq!((of(path).uid(), of(path).gid()), (1001, 118), "{path}");
    }
    // Neither files of the checkout nor what a link leads to.
    assert_eq!(
        (
            of("goldgate.yaml").uid(),
            std::fs::metadata(&outside).unwrap().uid()
        ),
        (0, 0)
    );
}

/// Only containers run as root.
#[cfg(not(unix))]
fn owner() {}

fn part() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = opened(&repository, &github).input("shard", "1/1").runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("this job grades one shard of the cases, so it writes no comment"),
        "{}",
        ran.stdout
    );
    assert!(
        github.bodies(BOT).is_empty() && repository.path(".goldgate/report/shard.json").exists()
    );
}

fn token() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("PATCH", Fault::Always(500));
    opened(&repository, &github).runs();
    let ran = opened(&repository, &github).runs();
    let written = [
        ran.stdout,
        ran.stderr,
        repository.read(".runner/output"),
        repository.read(".runner/summary"),
        repository.read(".goldgate/report/report.json"),
    ];
    assert!(
        written
            .iter()
            .all(|text| !text.contains("secret-token-of-the-test"))
    );
    assert!(
        github
            .tokens()
            .iter()
            .all(|token| token == "Bearer secret-token-of-the-test")
    );
}

fn bad_inputs() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    for (name, value, wanted) in [
        (
            "tier",
            "gold",
            "action input: tier is \"gold\"; write deterministic, model or all",
        ),
        (
            "samples",
            "many",
            "action input: samples is \"many\"; write a number from 1 to 1000",
        ),
        (
            "blocking",
            "yes",
            "action input: blocking is \"yes\"; write true or false",
        ),
        (
            "affected",
            "true",
            "action input: affected is \"true\"; write tier: model and blocking: false",
        ),
        (
            "shard",
            "5/4",
            "action input: shard is \"5/4\"; write i/n, such as 1/4",
        ),
        (
            "mode",
            "recrod",
            "action input: mode is \"recrod\"; write one of run, baseline-pr, record",
        ),
    ] {
        let ran = opened(&repository, &github).input(name, value).runs();
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.stderr.starts_with(wanted), "{}", ran.stderr);
    }
}
