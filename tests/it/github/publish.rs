//! `mode: publish`: a fork's report becomes a comment, and nothing that the fork wrote becomes anything else.

mod artifacts;
mod forged;

use std::io::{Cursor, Write};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::artifacts::{hostile, oversized};
use super::standin::Standin;
use super::{BOT, Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

const RUN_ID: u64 = 4711;

pub fn trials() -> Vec<Trial> {
    let mut trials = forged::trials();
    trials.extend(own());
    trials
}

fn own() -> Vec<Trial> {
    vec![
        trial(
            "a fork's report is published from its values, and says whose it is",
            published,
        ),
        trial(
            "a report of a suite with many prompt packages is published",
            many_packages,
        ),
        trial(
            "a report of at most 32 MiB is published, in an artifact of at most 64 MiB",
            large,
        ),
        trial(
            "an artifact that is hostile, broken or about another commit is refused in one sentence",
            refused,
        ),
        trial(
            "a run without an open pull request at its commit publishes nothing",
            idle,
        ),
        trial(
            "a stranger's report never takes the place of a verdict of our own",
            precedence,
        ),
        trial("a section that a person edited is not taken over", edited),
        trial("a download is sent on without the token", redirected),
        trial(
            "a publisher without its permissions or on another event says so",
            unable,
        ),
        trial(
            "the token and the storage's signature are in no output and no file",
            secrets,
        ),
    ]
}

/// A fork's job has measured something, and its run has ended.
pub struct Fork {
    pub repository: Repository,
    pub github: Standin,
    pub report: Value,
    pub run: Value,
    pub pull: Value,
}

impl Fork {
    /// Of the small repository, with or without a regression.
    pub fn new(regressed: bool) -> Self {
        let repository = Repository::small();
        if regressed {
            repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
        }
        let github = Standin::new(&head_sha());
        let ran = opened(&repository, &github)
            .input("comment", "false")
            .runs();
        assert_eq!(ran.code, i32::from(regressed), "{}", ran.stderr);
        let report =
            serde_json::from_str(&repository.read(".goldgate/report/report.json")).unwrap();
        let from =
            json!({ "id": 77, "full_name": "mallory/agents", "owner": { "login": "mallory" } });
        let run = json!({
            "id": RUN_ID, "run_attempt": 1, "head_sha": head_sha(), "head_branch": "changes", "event": "pull_request",
            "status": "completed", "conclusion": "success", "path": ".github/workflows/goldgate.yml",
            "head_repository": from, "pull_requests": [],
        });
        let pull = json!({
            "number": 2, "state": "open", "head": { "sha": head_sha(), "repo": from },
            "base": { "sha": "f".repeat(40), "repo": { "id": 1, "full_name": "acme/agents" } },
        });
        Self {
            repository,
            github,
            report,
            run,
            pull,
        }
    }

    /// Uploads the artifact and lets the publisher run.
    pub fn publishes(&self, artifact: Option<Vec<u8>>) -> Ran {
        self.uploads(artifact);
        self.job().runs()
    }

    /// The fork's run has ended, and left this artifact.
    pub fn uploads(&self, artifact: Option<Vec<u8>>) {
        self.github.run(self.run.clone());
        self.github.pull_from("mallory:changes", self.pull.clone());
        if let Some(bytes) = artifact {
            self.github.artifact(RUN_ID, "goldgate-report", bytes);
        }
    }

    pub fn job(&self) -> Job<'_> {
        let mut job = Job::new(
            &self.repository,
            &self.github,
            "workflow_run.completed",
            "workflow_run",
        );
        job.event["workflow_run"]["id"] = json!(RUN_ID);
        job.event["workflow_run"]["head_sha"] = json!(head_sha());
        job.input("mode", "publish")
    }

    pub fn artifact(&self) -> Vec<u8> {
        zipped(&[
            ("report.json", self.report.to_string().as_bytes()),
            ("report.md", b"@everyone look"),
        ])
    }
}

pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn published() {
    for regressed in [false, true] {
        let fork = Fork::new(regressed);
        let before = fork.github.requests().len();
        let ran = fork.publishes(Some(fork.artifact()));
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let bodies = fork.github.bodies(BOT);
        let [body] = bodies.as_slice() else {
            panic!("{bodies:?}")
        };
        let opening = match regressed {
            true => {
                "> [!WARNING]\n> **As measured by the pull request itself: First run: 4 gates pass, 2 are below their limits: legal finding&#95;recall 0%, needs 80% (not in the baseline) + 1 more gate. There is no baseline yet; <code>goldgate run --update-baseline</code> makes one. This does not block the merge.**"
            }
            false => {
                "> [!NOTE]\n> **As measured by the pull request itself: First run: all 6 gates pass on 1 case. There is no baseline yet; <code>goldgate run --update-baseline</code> makes one.**"
            }
        };
        assert_eq!(
            body.lines().take(2).collect::<Vec<_>>().join("\n"),
            opening,
            "{body}"
        );
        for text in [
            "Measured in the pull request's own job",
            "not a verdict of this repository's config",
            "for information, does not block",
            "(https://github.example/acme/agents/actions/runs/4711)",
        ] {
            assert!(body.replace("&#39;", "'").contains(text), "{text}: {body}");
        }
        assert!(
            !body.contains("everyone") && !body.contains("blocks the merge"),
            "{body}"
        );
        assert!(
            ran.stdout.contains("published the report of run 4711"),
            "{}",
            ran.stdout
        );
        assert!(
            fork.repository
                .read(".runner/output")
                .starts_with("comment-url=https://github.example/c/")
        );
        // Nothing of the pull request is read but the report.
        let asked = fork.github.requests().split_off(before);
        assert!(
            asked
                .iter()
                .all(|request| !request.contains("/contents/") && !request.contains("/tarball/")),
            "{asked:?}"
        );
    }
}

fn many_packages() {
    let mut fork = Fork::new(true);
    // One digest for each agent: longer than a name may be.
    let digests: Vec<String> = (0..5)
        .map(|agent| format!("agent-{agent}={}", "a".repeat(64)))
        .collect();
    fork.report["suites"][0]["identity"]["agent_sha256"] = json!(digests.join(", "));
    let ran = fork.publishes(Some(fork.artifact()));
    assert_eq!(
        (ran.code, fork.github.bodies(BOT).len()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn refused() {
    for (what, artifact, sentence) in hostile().into_iter().chain(oversized()) {
        let fork = Fork::new(true);
        let ran = fork.publishes(Some(artifact));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 3, "{what}: {said}");
        assert!(said.contains(sentence), "{what}: {said}");
        // The sentence as an annotation, and at most once more in the log.
        let (annotations, others): (Vec<&str>, Vec<&str>) = said
            .trim()
            .lines()
            .partition(|line| line.starts_with("::error title=goldgate::"));
        assert!(
            annotations.len() == 1 && others.len() <= 1,
            "{what}: {said}"
        );
        assert_eq!(fork.github.bodies(BOT), Vec::<String>::new(), "{what}");
        let is_read =
            |request: &String| request.starts_with("GET ") || request.ends_with("/graphql");
        assert!(fork.github.requests().iter().all(is_read), "{what}");
    }
}

fn large() {
    let fork = Fork::new(true);
    let whole = fork.report.to_string();
    let report = |bytes: usize| {
        let text = format!("{whole}{}", " ".repeat(bytes - whole.len()));
        zipped(&[("report.json", text.as_bytes())])
    };
    let entries = |count: usize| {
        let names: Vec<String> = (1..count).map(|number| format!("{number}.json")).collect();
        let mut files: Vec<(&str, &[u8])> =
            names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        files.push(("report.json", whole.as_bytes()));
        zipped(&files)
    };
    for (what, artifact, refusal) in [
        ("32 MiB", report(32 << 20), None),
        (
            "a byte more",
            report((32 << 20) + 1),
            Some("report.json in the archive is larger than 32 MiB"),
        ),
        ("100,000 entries", entries(100_000), None),
        // No archive, but one that may be downloaded.
        (
            "64 MiB",
            vec![0; 64 << 20],
            Some("the archive cannot be read"),
        ),
        (
            "64 MiB and a byte",
            vec![0; (64 << 20) + 1],
            Some("it is larger than 64 MiB"),
        ),
    ] {
        let fork = Fork::new(true);
        let ran = fork.publishes(Some(artifact));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        match refusal {
            None => assert!(
                ran.code == 0 && fork.github.bodies(BOT).len() == 1,
                "{what}: {said}"
            ),
            Some(sentence) => assert!(ran.code == 3 && said.contains(sentence), "{what}: {said}"),
        }
    }
}

type Change = fn(&mut Fork);

#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
fn idle() {
    let table: [(&str, Change, &str, i32); 7] = [
        (
            "closed",
            |fork| fork.pull["state"] = json!("closed"),
            "no open pull request has the run's commit as head",
            0,
        ),
        (
            "moved on",
            |fork| fork.pull["head"]["sha"] = json!("1".repeat(40)),
            "the head of pull request 2 is newer than the run's commit",
            0,
        ),
        (
            "from another repository",
            |fork| fork.pull["head"]["repo"]["id"] = json!(78),
            "no open pull request has the run's commit as head",
            0,
        ),
        (
            "two of them",
            |fork| {
                let pull = fork.pull.clone();
                fork.github.pull_from("mallory:changes", pull)
            },
            "2 open pull requests have the run's commit as head",
            0,
        ),
        (
            "started otherwise",
            |fork| fork.run["event"] = json!("issue_comment"),
            "only runs of pull_request are published",
            0,
        ),
        (
            "gone",
            |fork| fork.run["head_repository"] = Value::Null,
            "the repository of the run's commit does not exist any more",
            0,
        ),
        (
            "another commit than the event's",
            |fork| fork.run["head_sha"] = json!("2".repeat(40)),
            "the commit in the event is not the commit of the run",
            3,
        ),
    ];
    for (what, change, sentence, code) in table {
        let mut fork = Fork::new(true);
        change(&mut fork);
        let ran = fork.publishes(Some(fork.artifact()));
        assert!(
            ran.stdout.contains(sentence),
            "{what}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(
            (
                ran.code,
                ran.stdout.lines().count(),
                fork.github.bodies(BOT).len()
            ),
            (code, 1, 0),
            "{what}"
        );
        assert!(
            !fork.repository.read(".runner/summary").is_empty(),
            "{what}"
        );
    }
    let fork = Fork::new(true);
    let ran = fork.publishes(None);
    assert!(
        ran.code == 0
            && ran
                .stdout
                .contains("run 4711 has no artifact goldgate-report"),
        "{}",
        ran.stdout
    );
    fork.github
        .artifact(RUN_ID, "goldgate-report", fork.artifact());
    fork.github.expire();
    let ran = fork.job().runs();
    assert!(
        ran.code == 0
            && ran
                .stdout
                .contains("the artifact goldgate-report of run 4711 has expired"),
        "{}",
        ran.stdout
    );
}

fn precedence() {
    let fork = Fork::new(false);
    assert_eq!(fork.publishes(Some(fork.artifact())).code, 0);
    assert!(fork.github.bodies(BOT)[0].starts_with("> [!NOTE]"));
    // Our own job is of an earlier run, and still decides.
    fork.repository
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&fork.repository, &fork.github).runs().code, 1);
    let body = fork.github.bodies(BOT).remove(0);
    assert!(
        body.starts_with("> [!CAUTION]") && !body.contains("own job"),
        "{body}"
    );
    let ran = fork.job().runs();
    assert!(
        ran.stdout
            .contains("shows the verdict of a job that the pull request does not control"),
        "{}",
        ran.stdout
    );
    assert_eq!((ran.code, fork.github.bodies(BOT)), (0, vec![body]));
    // On a later commit the fork may speak first again.
    let later = Fork::new(false);
    later.github.comment(
        BOT,
        &fork.github.bodies(BOT)[0].replace(&head_sha(), &"9".repeat(40)),
    );
    assert_eq!(later.publishes(Some(later.artifact())).code, 0);
    assert!(later.github.bodies(BOT)[0].starts_with("> [!NOTE]"));
}

fn edited() {
    let fork = Fork::new(true);
    fork.repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    fork.repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }",
        "deterministic: { replay: golden/runs }, model: { replay: golden/runs }",
    );
    opened(&fork.repository, &fork.github)
        .input("tier", "model")
        .runs();
    let body = fork.github.bodies(BOT).remove(0);
    let (from, to) = (
        "❌ **fail**",
        "✅ pass [see](https://evil.example) @acme/all",
    );
    assert!(body.contains(from), "{body}");
    fork.github.change_comment(1, &body.replace(from, to));
    opened(&fork.repository, &fork.github).runs();
    let bodies = fork.github.bodies(BOT);
    let [body] = bodies.as_slice() else {
        panic!("{bodies:?}")
    };
    assert!(
        !body.contains("evil.example") && !body.contains("Model tier"),
        "{body}"
    );
    opened(&fork.repository, &fork.github)
        .input("tier", "model")
        .runs();
    assert!(
        fork.github.bodies(BOT)[0].contains("### Model tier"),
        "{:?}",
        fork.github.bodies(BOT)
    );
}

fn redirected() {
    for (address, wanted) in [
        (None, None),
        (
            Some("PORT/_stored/artifact-500?signature=of-the-storage"),
            None,
        ),
        (
            Some("PORT/_stored/round"),
            Some("there were more than 3 redirects"),
        ),
        (
            Some("ftp://127.0.0.1/x"),
            Some("an address without TLS, which is not followed"),
        ),
        (
            Some("/relative"),
            Some("an address without TLS, which is not followed"),
        ),
        (
            Some("http://[broken"),
            Some("a redirect has an invalid address"),
        ),
    ] {
        let fork = Fork::new(true);
        if let Some(address) = address {
            fork.github
                .send_elsewhere(&address.replace("PORT", &fork.github.address()));
        }
        let ran = fork.publishes(Some(fork.artifact()));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        match wanted {
            None => assert_eq!(ran.code, 0, "{address:?}: {said}"),
            Some(sentence) => assert!(
                ran.code == 3 && said.contains(sentence),
                "{address:?}: {said}"
            ),
        }
        assert_eq!(fork.github.leaks(), Vec::<String>::new(), "{address:?}");
        assert!(
            fork.github
                .tokens()
                .iter()
                .all(|token| token == "Bearer secret-token-of-the-test")
        );
    }
}

fn unable() {
    let fork = Fork::new(true);
    fork.github.deny("actions: read");
    let ran = fork.publishes(Some(fork.artifact()));
    assert!(
        ran.code == 3 && ran.stderr.contains("`actions: read`"),
        "{}",
        ran.stderr
    );
    let fork = Fork::new(true);
    fork.github.fault("POST", super::Fault::Always(403));
    let ran = fork.publishes(Some(fork.artifact()));
    assert!(
        ran.code == 3 && ran.stdout.contains("`pull-requests: write`"),
        "{}",
        ran.stdout
    );
    let ran = opened(&fork.repository, &fork.github)
        .input("mode", "publish")
        .runs();
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("start the workflow with on: workflow_run"),
        "{}",
        ran.stderr
    );
}

fn secrets() {
    for fault in [None, Some(super::Fault::Always(500))] {
        let fork = Fork::new(true);
        if let Some(fault) = fault {
            fork.github.fault("POST", fault);
        }
        let ran = fork.publishes(Some(fork.artifact()));
        let written = [
            ran.stdout,
            ran.stderr,
            fork.repository.read(".runner/output"),
            fork.repository.read(".runner/summary"),
        ];
        for text in written.iter().chain(&fork.github.bodies(BOT)) {
            assert!(
                !text.contains("secret-token-of-the-test") && !text.contains("of-the-storage"),
                "{text}"
            );
        }
    }
}
