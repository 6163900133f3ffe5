//! More or fewer samples of an agent that another one is compared with: every one that is there counts.

use libtest_mimic::Trial;
use serde_json::json;

use super::goldgate;
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "every sample of an agent is compared with an agent that has fewer",
            compared_with_fewer,
        ),
        trial(
            "a sample that contradicts another agent is not replaced by an earlier one",
            not_replaced,
        ),
    ]
}

/// Records samples of an agent, one for each severity. A single one is a file of its own.
fn record(repository: &Repository, agent: &str, severities: &[&str]) {
    std::fs::remove_dir_all(repository.path(&format!("runs/{agent}"))).ok();
    repository.write(&format!("{agent}.md"), severities.join(" "));
    for (sample, severity) in severities.iter().enumerate() {
        let findings = json!([{ "category": "rent", "severity": severity, "title": format!("Rent {sample}") }]);
        // Another number of severities takes another time: the recordings are made again.
        let metrics = json!({ "total_latency_ms": 10 * severities.concat().len() + sample });
        let run = json!({ "status": "completed", "sample": sample, "outputs": { "findings": findings }, "metrics": metrics });
        let file = if severities.len() == 1 {
            "lease".to_owned()
        } else {
            format!("lease/{sample}")
        };
        repository.write(&format!("runs/{agent}/{file}.json"), run.to_string());
    }
}

/// Two agents of a lease that must agree on its rent, with these samples and a baseline of them.
fn two_agents(one: &[&str], other: &[&str]) -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    let agent = |name: &str| {
        format!("      {name}: {{ deterministic: {{ replay: runs }}, fingerprint: [{name}.md] }}\n")
    };
    let suites = "  - id: s\n    kind: findings\n    policy: seed\n    path: golden\n    agents:\n";
    let across = "  - { id: x, kind: cross_agent, policy: seed, path: x, runs_of: s }\n";
    let config = format!(
        "version: 1\nbaseline: bl/latest.json\nsuites:\n{suites}{}{}{across}",
        agent("a"),
        agent("b")
    );
    repository.write("goldgate.yaml", config);
    repository.write("golden/contracts/lease.md", "The rent rises.\n");
    for name in ["a", "b"] {
        repository.write(
            &format!("golden/expected/{name}/lease.json"),
            r#"{ "expected_findings": [{ "category": "rent" }] }"#,
        );
    }
    repository.write(
        "x/cases/rent.json",
        r#"{ "contract": "lease", "agents": ["a", "b"], "shared_findings": [{ "category": "rent" }] }"#,
    );
    record(&repository, "a", one);
    record(&repository, "b", other);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

fn against_base(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn compared_with_fewer() {
    for (severities, code) in [
        (&["low"][..], 1),
        (&["high", "low", "low"], 1),
        (&["high", "high", "high"], 0),
        (&["high", "high"], 0),
    ] {
        let repository = two_agents(&["high"], &["high"]);
        record(&repository, "a", severities);
        let ran = against_base(&repository);
        assert_eq!(
            ran.code, code,
            "{severities:?}: {}{}",
            ran.stdout, ran.stderr
        );
        assert!(
            code == 0 || ran.stdout.contains("contradiction_rate"),
            "{severities:?}: {}",
            ran.stdout
        );
    }
}

/// One of three samples contradicts the other agent, then two; and the last one is left out.
fn not_replaced() {
    let good = ["high", "high", "high"];
    for (severities, code) in [(&["high", "low", "low"][..], 1), (&["high", "low"], 3)] {
        let repository = two_agents(&good, &good);
        record(&repository, "b", severities);
        let ran = against_base(&repository);
        assert_eq!(
            ran.code, code,
            "{severities:?}: {}{}",
            ran.stdout, ran.stderr
        );
        assert!(
            ran.stdout.contains("contradiction_rate"),
            "{severities:?}: {}",
            ran.stdout
        );
    }
}
