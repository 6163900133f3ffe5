//! `pull_request_target`: a stranger's pull request is graded as data, by the base branch's judge.

mod archives;

use libtest_mimic::Trial;
use serde_json::json;

use self::archives::{binary, hostile, large, not_the_commit, submodules};
use super::approval::LABEL;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, RUN, payload};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a fork's pull request has the full verdict and the comment in one job",
            verdicts,
        ),
        trial(
            "the bundled suites are graded as data to the numbers that the run gives",
            bundled,
        ),
        trial(
            "a fork that edits workflow, config, gates and recordings at once is judged by the base's gates",
            everything,
        ),
        trial(
            "the baseline, the terms and the config are the base's",
            judge,
        ),
        trial(
            "an approved moved baseline and golden change let the trusted gate pass",
            approved,
        ),
        trial(
            "a base config that this version cannot read gives no verdict",
            unreadable_base,
        ),
        trial("a live target is refused in words", live),
        trial("no link is followed", links),
        trial(
            "a submodule where a suite reads is refused, and elsewhere it is nobody's business",
            submodules,
        ),
        trial(
            "an archive that is not the commit is refused by the names of its files",
            not_the_commit,
        ),
        trial(
            "a file that both commits have, and their archives do not, is read once",
            binary,
        ),
        trial(
            "a hostile, huge or deep archive ends without a verdict",
            hostile,
        ),
        trial("an archive of a commit has at most 256 MiB", large),
        trial(
            "nothing is checked out, and the storage gets no token",
            data_alone,
        ),
        trial(
            "inputs for which a checkout would have to be trusted are refused",
            bad_inputs,
        ),
    ]
}

/// A pull request of a fork, and an empty workspace for the job.
struct Fork {
    base: Repository,
    head: Repository,
    workspace: Repository,
    github: Standin,
}

impl Fork {
    fn new() -> Self {
        let (base, head) = (Repository::small(), Repository::small());
        Self {
            base,
            head,
            workspace: Repository::empty(),
            github: Standin::new(&sha("head")),
        }
    }

    fn commit(&self) {
        self.github.commit(&sha("base"), &self.base);
        self.github.commit(&sha("head"), &self.head);
        // The base has not moved, so the test merge is the head.
        self.github.commit(MERGE, &self.head);
    }

    fn job(&self) -> Job<'_> {
        let mut job = Job::new(
            &self.workspace,
            &self.github,
            "pull_request.opened",
            "pull_request_target",
        );
        job.event["pull_request"]["head"]["repo"]["id"] = json!(1);
        job.variable("GITHUB_SHA", BASE)
    }

    /// What the report names as changed in the golden set.
    fn changes(&self) -> Vec<String> {
        let report: serde_json::Value =
            serde_json::from_str(&self.workspace.read(".goldgate/report/report.json")).unwrap();
        let changes = report["golden_changes"].as_array().unwrap();
        changes.iter().map(|change| change.to_string()).collect()
    }

    fn runs(&self) -> Ran {
        self.commit();
        self.job().runs()
    }
}

const BASE: &str = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e";

fn sha(side: &str) -> String {
    payload("pull_request.opened")["pull_request"][side]["sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn verdicts() {
    let fork = Fork::new();
    let ran = fork.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let body = fork.github.bodies(BOT).remove(0);
    assert!(body.starts_with("> [!TIP]\n> **First run: all "), "{body}");
    assert!(body.contains("blocks the merge"), "{body}");
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = fork.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let bodies = fork.github.bodies(BOT);
    let [body] = bodies.as_slice() else {
        panic!("{bodies:?}")
    };
    let link = format!(
        "(https://github.example/acme/agents/blob/{}/golden/expected/legal/lease.json#L3)",
        sha("head")
    );
    assert!(
        body.starts_with("> [!CAUTION]") && body.contains(&link),
        "{body}"
    );
}

fn bundled() {
    let mut fork = Fork::new();
    (fork.base, fork.head) = (Repository::bundled(), Repository::bundled());
    let ran = fork.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = |text: String| -> serde_json::Value { serde_json::from_str(&text).unwrap() };
    let trusted = report(fork.workspace.read(".goldgate/report/report.json"));
    let own = report(fork.head.goldgate(&["run", "--format", "json"]).stdout);
    assert_eq!(trusted["suites"], own["suites"]);
}

fn everything() {
    let fork = Fork::new();
    fork.base.write(
        ".github/workflows/goldgate.yml",
        "on: pull_request_target\n",
    );
    fork.head.write(
        ".github/workflows/goldgate.yml",
        "on: pull_request_target\njobs: { x: { steps: [ { run: 'curl evil' } ] } }\n",
    );
    fork.head.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { f1_score: { off: true, reason: none }, finding_recall: { off: true, reason: none } }\n",
    );
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = fork.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = fork.github.bodies(BOT).remove(0);
    assert!(
        body.starts_with(
            "> [!CAUTION]\n> **Merge blocked: the gates pass with the rules of this change, but 2 gates fail with those of the base commit"
        ),
        "{body}"
    );
    let words = fork.changes();
    assert!(
        words
            .iter()
            .any(|words| words.contains("fails by the rules of the base commit: finding_recall")),
        "{words:?}"
    );
    // A head without any config has no rules of its own to be judged by.
    fork.head.remove("goldgate.yaml");
    let ran = fork.runs();
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("goldgate.yaml: the config does not exist on the head commit"),
        "{}",
        ran.stderr
    );
    // All gates pass where the expectation was made to fit the recording; the edit itself holds the merge up.
    let fork = Fork::new();
    fork.head.replace(
        "golden/expected/legal/lease.json",
        "[\"change of control\", \"consent\"], \"keyword_synonyms\": { \"consent\": [\"approval\"] }",
        "[\"nothing\"]",
    );
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = fork.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let words = fork.changes();
    assert!(
        words.iter().any(|words| words.contains("lease")),
        "{words:?}"
    );
}

fn judge() {
    let fork = Fork::new();
    fork.base.goldgate(&["run", "--update-baseline"]);
    let baseline = fork.base.read("baselines/latest.json");
    // The head's own baseline would let it pass.
    fork.head.write(
        "baselines/latest.json",
        baseline.replace("\"f1_score\": 1.0", "\"f1_score\": 0.0"),
    );
    fork.head.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    let ran = fork.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // A base without a config has no judge.
    fork.base.remove("goldgate.yaml");
    let fresh = Fork::new();
    fresh.base.remove("goldgate.yaml");
    let ran = fresh.runs();
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("the config does not exist on the base branch"),
        "{}",
        ran.stderr
    );
}

fn unreadable_base() {
    let fork = Fork::new();
    fork.base
        .replace("goldgate.yaml", "version: 1", "version: 99");
    let ran = fork.runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let words = "this version cannot read the config of the base commit: goldgate.yaml:1";
    assert!(
        ran.stderr.contains(words) && ran.stderr.contains("correct it on the base branch"),
        "{}",
        ran.stderr
    );
    // The head's own is the author's to correct.
    let fork = Fork::new();
    fork.head
        .replace("goldgate.yaml", "version: 1", "version: 99");
    assert_eq!(fork.runs().code, 2);
}

/// A label approves a number that fell, a gate with a limit of its own, and an edited expectation alike.
fn approved() {
    let fork = Fork::new();
    fork.base.goldgate(&["run", "--update-baseline"]);
    let baseline = fork.base.read("baselines/latest.json");
    fork.head.write("baselines/latest.json", baseline);
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    fork.head.replace(
        "golden/expected/legal/lease.json",
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    fork.github.role("alice", "maintain");
    fork.github.fork();
    assert_eq!(fork.runs().code, 1, "nobody has approved it");
    fork.github.label_by("alice", LABEL);
    let mut job = fork.job();
    job.run = 8;
    let ran = job.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // What is shown is still the comparison with the base.
    let body = fork.github.bodies(BOT).remove(0);
    assert!(
        body.starts_with("> [!NOTE]\n> **Passes by approval of alice: ")
            && body.contains("−100&nbsp;pp"),
        "{body}"
    );
}

fn live() {
    let fork = Fork::new();
    fork.base.replace(
        "goldgate.yaml",
        "suites:\n",
        "targets:\n  mine: { command: [sh, -c, 'touch pwned'], protocol: oneshot }\nsuites:\n",
    );
    fork.base.replace(
        "goldgate.yaml",
        "{ replay: golden/runs }",
        "{ target: mine }",
    );
    let ran = fork.runs();
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains(
            "contracts/legal uses the live target \"mine\", but only recordings are graded where files are read as data"
        ),
        "{}",
        ran.stderr
    );
    assert!(!fork.workspace.path("pwned").exists());
}

fn links() {
    let secret = "/etc/hostname";
    for (path, through) in [
        (RUN, RUN),
        ("golden/runs/legal", "golden/runs/legal"),
        (
            "golden/expected/legal/other.json",
            "golden/expected/legal/other.json",
        ),
    ] {
        let fork = Fork::new();
        if fork.head.path(path).exists() {
            fork.head.remove(path);
        }
        std::os::unix::fs::symlink(secret, fork.head.path(path)).unwrap();
        let ran = fork.runs();
        assert_eq!(ran.code, 2, "{path}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(&format!(
                "{through}: this is a symbolic link or a submodule, which the trusted gate does not follow"
            )),
            "{}",
            ran.stderr
        );
    }
    // A link that no grading looks at is nobody's business.
    let fork = Fork::new();
    std::os::unix::fs::symlink(secret, fork.head.path("docs")).unwrap();
    assert_eq!(fork.runs().code, 0);
}

fn data_alone() {
    let fork = Fork::new();
    let ran = fork.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let mut found: Vec<String> = std::fs::read_dir(fork.workspace.path(""))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, [".git", ".goldgate", ".runner"]);
    assert_eq!(fork.github.leaks(), Vec::<String>::new());
    let written = [
        ran.stdout,
        ran.stderr,
        fork.workspace.read(".runner/summary"),
        fork.workspace.read(".goldgate/report/report.json"),
    ];
    assert!(
        written
            .iter()
            .all(|text| !text.contains("secret-token-of-the-test")
                && !text.contains("of-the-storage"))
    );
    fork.github.fault("GET", super::Fault::Always(403));
    let ran = fork.job().runs();
    assert!(
        ran.code == 3 && ran.stderr.contains("`contents: read`"),
        "{}",
        ran.stderr
    );
}

fn bad_inputs() {
    let fork = Fork::new();
    fork.commit();
    let of_checkout =
        "no verdict: the checkout is f95f852, which does not contain the head of pull request 2";
    for (input, value, code, why) in [
        ("tier", "model", 3, of_checkout),
        ("tier", "all", 3, of_checkout),
        ("shard", "1/2", 3, of_checkout),
        ("token", "", 3, "no verdict: the token is missing or empty"),
        ("config", "../goldgate.yaml", 2, "leaves the repository"),
    ] {
        let ran = fork.job().input(input, value).runs();
        assert!(
            ran.code == code && ran.stderr.contains(why),
            "{input}: {} {}",
            ran.code,
            ran.stderr
        );
    }
}
