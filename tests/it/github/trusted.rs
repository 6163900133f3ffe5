//! `mode: trusted`: a stranger's pull request is graded as data, by the base branch's judge.

mod archives;

use libtest_mimic::Trial;
use serde_json::json;

use self::archives::{binary, hostile, large, not_the_commit, submodules};
use super::approval::{LABEL, uploaded};
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
            "a head is not approved if GitHub does not show who pushed it",
            unknown_pusher,
        ),
        trial(
            "what a fork's own job uploads approves nothing in the trusted gate",
            forged,
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
            "inputs and events that cannot be trusted are told",
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
        job.input("mode", "trusted")
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
        "    path: golden\n    gates: { f1_score: { off: true, reason: none }, finding_recall: { off: true, reason: none }, case_pass_rate: { off: true, reason: none } }\n",
    );
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = fork.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = fork.github.bodies(BOT).remove(0);
    assert!(
        body.starts_with(
            "> [!CAUTION]\n> **Merge blocked: legal finding&#95;precision 0%, may drop by 15 pp (baseline 100%)"
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

/// A fork's pull request that lowers what the baseline limits and edits an expectation; the trusted gate's report is uploaded.
fn moved() -> Fork {
    let fork = Fork::new();
    fork.base.goldgate(&["run", "--update-baseline"]);
    fork.head.write(
        "baselines/latest.json",
        fork.base.read("baselines/latest.json"),
    );
    fork.head.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    fork.github.role("alice", "maintain");
    fork.github.fork();
    fork
}

impl Fork {
    fn report(&self) -> String {
        self.workspace.read(".goldgate/report/report.json")
    }

    /// A run about the head leaves its report behind, under the name that the trusted gate's has. GitHub keeps runs of the base
    /// branch's workflow under the base branch's commit.
    fn upload(&self, run: u64, event: &str, report: &str) {
        let side = if event == "pull_request_target" {
            "base"
        } else {
            "head"
        };
        self.github.run(json!({
            "id": run, "run_attempt": 1, "head_sha": sha(side), "head_branch": "changes", "event": event,
            "status": "completed", "conclusion": "failure", "path": ".github/workflows/goldgate-trusted.yml",
            "head_repository": { "id": 1, "owner": { "login": "mallory" } },
        }));
        let zip = uploaded(report);
        self.github.artifact(run, "goldgate-report", zip.clone());
        self.github
            .artifact(run, &format!("goldgate-report-{}", sha("head")), zip);
    }

    /// Somebody adds the label, and the job on that event runs.
    fn labeled(&self, actor: &str) -> Ran {
        self.github.label_by(actor, LABEL);
        let mut job = Job::new(
            &self.workspace,
            &self.github,
            "pull_request.labeled",
            "pull_request_target",
        );
        job.event["sender"]["login"] = json!(actor);
        job.event["label"]["name"] = json!(LABEL);
        job.input("mode", "approve").runs()
    }
}

fn approved() {
    let fork = moved();
    fork.head.replace(
        "golden/expected/legal/lease.json",
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    assert_eq!(fork.runs().code, 1, "nobody has approved it");
    fork.upload(7, "pull_request_target", &fork.report());
    let ran = fork.labeled("alice");
    assert!(
        fork.github.statuses(&sha("head"))[0].starts_with("success approved by alice"),
        "{}",
        ran.stdout
    );
    let ran = fork.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&fork.report()).unwrap();
    assert_eq!(report["approval"]["by"], json!("alice"));
    // What is shown is still the comparison with the base.
    let body = fork.github.bodies(BOT).remove(0);
    assert!(
        body.starts_with("> [!NOTE]\n> **Passes by approval of alice: ")
            && body.contains("−50&nbsp;pp"),
        "{body}"
    );
    // A gate with a threshold of its own is not approved away.
    let fork = moved();
    fork.head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    fork.runs();
    fork.upload(7, "pull_request_target", &fork.report());
    fork.labeled("alice");
    assert_eq!(fork.job().runs().code, 1);
    // Without the permission to read statuses the run says so.
    fork.github.deny("statuses: read");
    let ran = fork.job().runs();
    assert!(
        ran.code == 1 && ran.stdout.contains("`statuses: read`"),
        "{}",
        ran.stdout
    );
}

/// Maintainers may push to a fork's branch ("allow edits"). Nobody else sees the activity of a private fork, and the runs of the
/// trusted gate are not listed under the head: whoever sets the label could have pushed it.
fn unknown_pusher() {
    let fork = moved();
    fork.runs();
    fork.upload(7, "pull_request_target", &fork.report());
    fork.github.lack(&["/activity"]);
    let ran = fork.labeled("alice");
    assert!(
        fork.github.statuses(&sha("head")).is_empty() && fork.github.labels().is_empty(),
        "{}",
        ran.stdout
    );
    let body = fork.github.bodies(BOT).concat().replace("&#8288;", "");
    assert!(
        body.contains("GitHub does not show who pushed the newest commit"),
        "{body}"
    );
    fork.github.label_by("alice", LABEL);
    let mut job = Job::new(
        &fork.workspace,
        &fork.github,
        "pull_request.labeled",
        "pull_request_target",
    );
    job.event["label"]["name"] = json!(LABEL);
    job.input("mode", "approve")
        .input("allow-self-approval", "true")
        .runs();
    assert_eq!(fork.github.statuses(&sha("head")).len(), 1);
}

fn forged() {
    let fork = moved();
    assert_eq!(fork.runs().code, 1);
    let forged = fork.report().replace("\"value\": 0.5", "\"value\": 1.0");
    assert_ne!(forged, fork.report());
    // The fork's own job alone: its result is not the one that the trusted gate finds.
    fork.upload(9, "pull_request", &forged);
    fork.labeled("alice");
    assert!(
        fork.github.statuses(&sha("head")).is_empty(),
        "what nobody was shown is approved"
    );
    assert!(
        fork.github
            .bodies(BOT)
            .concat()
            .contains("does not show the result on this commit")
    );
    let ran = fork.job().runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    // Once the trusted gate has left its own, the fork's newer one is not looked at.
    fork.upload(8, "pull_request_target", &fork.report());
    fork.labeled("alice");
    assert_eq!(fork.job().runs().code, 0);
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
    for tier in ["model", "all"] {
        let ran = fork.job().input("tier", tier).runs();
        assert!(
            ran.code == 2
                && ran
                    .stderr
                    .contains("mode \"trusted\" only grades recordings"),
            "{}",
            ran.stderr
        );
    }
    let ran = fork.job().input("shard", "1/2").runs();
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("mode \"trusted\" grades all cases in one job"),
        "{}",
        ran.stderr
    );
    let ran = fork.job().input("config", "../goldgate.yaml").runs();
    assert!(
        ran.code == 2 && ran.stderr.contains("leaves the repository"),
        "{}",
        ran.stderr
    );
    let push = Job::new(&fork.workspace, &fork.github, "push", "push")
        .input("mode", "trusted")
        .runs();
    assert!(
        push.code == 2
            && push
                .stderr
                .contains("start the workflow with on: pull_request_target"),
        "{}",
        push.stderr
    );
    let mut job = fork.job();
    job.variables.push(("INPUT_TOKEN", ""));
    let ran = job.runs();
    assert!(
        ran.code == 2 && ran.stderr.contains("needs a token"),
        "{}",
        ran.stderr
    );
}
