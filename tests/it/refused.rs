//! What is refused before it can become a green check, or a file where none belongs.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::repository::{RUN, Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an update of a run that measured a part of its cases writes nothing",
            part,
        ),
        trial(
            "an update of a run with stale recordings writes nothing",
            stale,
        ),
        trial(
            "an update of a run whose agent has no files writes nothing",
            no_files,
        ),
        trial("a case that no tier can run is told", never_run),
        trial("nothing is written into .git", into_git),
        trial("no amount of dollars is one without an end", dollars),
        trial("no link of the repository leads to a config", linked),
        trial("a thousand problems of a config are found at once", many),
    ]
}

const BASELINE: &str = "baselines/latest.json";

fn part() {
    let repository = Repository::small();
    for case in ["rent", "sale"] {
        repository.write(
            &format!("golden/contracts/{case}.md"),
            repository.read("golden/contracts/lease.md"),
        );
        repository.write(&format!("golden/expected/legal/{case}.json"), "{}");
        repository.write(
            &format!("golden/runs/legal/{case}.json"),
            r#"{"status": "error", "outputs": {}}"#,
        );
    }
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    let told = "no baseline was written: contracts/legal: some cases were not measured";
    assert!(
        ran.code == 3 && ran.stderr.contains(told),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!repository.path(BASELINE).exists());
}

fn stale() {
    let repository = Repository::small();
    let digests = r#"{ "provenance": { "agent_sha256": "0" },"#;
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replacen('{', digests, 1),
    );
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    let told = "no baseline was written: contracts/legal: 1 recording is not of the present agent and input";
    assert!(
        ran.code == 3 && ran.stderr.contains(told),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!repository.path(BASELINE).exists());
}

fn no_files() {
    let repository = Repository::small();
    repository.replace("goldgate.yaml", "[prompts/legal.md]", "[promts/legal.md]");
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("contracts/legal: no file matches promts/legal.md: correct the patterns"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("changed since"), "{}", ran.stdout);
    assert!(!repository.path(BASELINE).exists());
}

const CROSS: &str = "\
version: 1
suites:
  - id: contracts
    kind: findings
    policy: seed
    path: fixtures/contracts
    tier: [deterministic, model]
    agents:
      legal: { deterministic: { replay: fixtures/contracts/runs }, fingerprint: ['fixtures/contracts/prompts/**'] }
      privacy: { deterministic: { replay: fixtures/contracts/runs }, fingerprint: ['fixtures/contracts/prompts/**'] }
      zeta: { model: { target: own } }
  - id: cross
    kind: cross_agent
    policy: seed
    path: fixtures/cross
    runs_of: contracts
targets:
  own: { command: [\"true\"] }
";

fn never_run() {
    let repository = Repository::empty();
    ["fixtures/contracts", "fixtures/cross"]
        .iter()
        .for_each(|folder| copy(&root().join(folder), &repository.path(folder)));
    repository.write("goldgate.yaml", CROSS);
    repository.remove("fixtures/cross/cases");
    let expected = repository.read("fixtures/contracts/expected/legal/commercial-lease.json");
    repository.write(
        "fixtures/contracts/expected/zeta/commercial-lease.json",
        expected,
    );
    let case =
        r#"{ "contract": "commercial-lease", "agents": ["legal", "zeta"], "no_duplicates": true }"#;
    repository.write("fixtures/cross/cases/new.json", case);
    for command in ["run", "check"] {
        let ran = repository.goldgate(&[command]);
        assert!(
            ran.code == 2 && ran.stderr.contains("[never-run]"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        let runs = "contracts/legal (deterministic), contracts/zeta (model)";
        assert!(ran.stderr.contains(runs), "{}", ran.stderr);
    }
}

fn into_git() {
    for path in [".git/hooks/post-checkout", "baselines/../.GIT/config"] {
        let repository = Repository::small();
        repository.replace("goldgate.yaml", "baselines/latest.json", path);
        let ran = repository.goldgate(&["run", "--update-baseline"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("leads into .git"),
            "{path}: {}",
            ran.stderr
        );
        let named = Repository::small();
        let ran = named.goldgate(&["run", "--update-baseline", "--baseline", path]);
        assert!(
            matches!(ran.code, 2 | 3),
            "{path}: {} {}",
            ran.code,
            ran.stderr
        );
        let ran = named.goldgate(&["run", "--out", path]);
        assert!(
            ran.code == 3 && ran.stderr.contains("belongs to git"),
            "{path}: {}",
            ran.stderr
        );
        for repository in [repository, named] {
            assert_eq!(
                std::fs::read_dir(repository.path(".git")).unwrap().count(),
                0,
                "{path}"
            );
        }
    }
}

fn dollars() {
    for amount in ["nan", "inf", "-1", "much"] {
        let ran = Repository::small().goldgate(&["run", &format!("--max-cost-usd={amount}")]);
        assert!(
            ran.code == 2 && ran.stderr.contains("write US dollars"),
            "{amount}: {}",
            ran.stderr
        );
    }
    assert_eq!(
        Repository::small()
            .goldgate(&["run", "--max-cost-usd", "0.5"])
            .code,
        0
    );
}

fn linked() {
    let repository = Repository::empty();
    copy(&Repository::small().path(""), &repository.path("evals"));
    repository.remove("evals/.git");
    std::os::unix::fs::symlink("evals", repository.path("other")).unwrap();
    assert_eq!(
        repository
            .goldgate(&["run", "--config", "evals/goldgate.yaml"])
            .code,
        0
    );
    for command in ["run", "check"] {
        let ran = repository.goldgate(&[command, "--config", "other/goldgate.yaml"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("other is a link"),
            "{}",
            ran.stderr
        );
    }
    // Outside of a repository links are the machine's own.
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository.path(""), elsewhere.path().join("checkout")).unwrap();
    let config = elsewhere.path().join("checkout/evals/goldgate.yaml");
    assert_eq!(
        repository
            .goldgate(&["run", "--config", config.to_str().unwrap()])
            .code,
        0
    );
}

fn many() {
    let repository = Repository::small();
    let gates: String = (0..1000)
        .map(|number| format!("      m{number}: {{ min: 0.1 }}\n"))
        .collect();
    repository.replace(
        "goldgate.yaml",
        "    agents:\n",
        &format!("    gates:\n{gates}    agents:\n"),
    );
    let begun = Instant::now();
    let ran = repository.goldgate(&["check"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    // A text that is walked once a problem takes minutes.
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}
