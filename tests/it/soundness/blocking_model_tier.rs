//! A model tier that blocks and grades recordings is compared as strictly as the deterministic tier.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::goldgate;
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a gate of the model tier is compared with the defaults of that tier",
            gate_of_the_tier,
        ),
        trial(
            "a suite of the model tier alone may write out its default gates",
            written_out,
        ),
        trial(
            "a case that the base branch added is compared in the model tier as well",
            added_case,
        ),
    ]
}

/// A repository with this many cases in these tiers, and a baseline.
fn repository(cases: usize, tiers: &str, gates: &str) -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    config(&repository, tiers, gates);
    write_cases(&repository, cases);
    record(&repository, cases, |_, _| {});
    repository.write("prompt.md", "1");
    let tier = if tiers.contains("deterministic") {
        "deterministic"
    } else {
        "model"
    };
    let ran = repository.goldgate(&[
        "run",
        "--update-baseline",
        "--quiet",
        "--tier",
        tier,
        "--blocking",
    ]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

fn config(repository: &Repository, tiers: &str, gates: &str) {
    let source = "{ replay: runs }";
    repository.write(
        "goldgate.yaml",
        format!(
            "version: 1\nbaseline: bl/latest.json\nsuites:\n  - id: s\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    tier: [{tiers}]\n    \
             agents:\n      a: {{ deterministic: {source}, model: {source}, fingerprint: [prompt.md] }}\n{gates}"
        ),
    );
}

fn write_cases(repository: &Repository, cases: usize) {
    let case = |number: usize| {
        json!({ "id": format!("c{number}"), "category": "x", "query": "q", "expected_tools": ["s"],
            "expected_output_contains": ["ok"] })
    };
    repository.write(
        "cases.json",
        (0..cases).map(case).collect::<Value>().to_string(),
    );
}

/// Records every case again, with a change of its run.
fn record(repository: &Repository, cases: usize, change: impl Fn(usize, &mut Value)) {
    for case in 0..cases {
        let mut run = json!({ "status": "completed", "outputs": { "text": "ok" },
            "intermediate": { "tool_calls": [{ "name": "s" }] }, "metrics": { "total_latency_ms": 5 } });
        change(case, &mut run);
        repository.write(&format!("runs/a/c{case}.json"), run.to_string());
    }
}

fn judged(repository: &Repository, tier: &str) -> Ran {
    goldgate(
        repository,
        &["run", "--base", "HEAD", "--tier", tier, "--blocking"].map(str::to_owned),
    )
}

fn gate_of_the_tier() {
    let repository = repository(
        20,
        "deterministic, model",
        "    gates: { coverage: { min: 1.0 } }\n",
    );
    let lost = |case: usize, run: &mut Value| {
        if case < 2 {
            run["status"] = json!("error");
        }
    };
    record(&repository, 20, lost);
    assert_ne!(
        judged(&repository, "model").code,
        0,
        "the control: 2 of 20 cases without a result"
    );
    record(&repository, 20, |_, _| {});
    // Its default in the deterministic tier is the same; in the model tier it is lower.
    config(&repository, "deterministic, model", "");
    let ran = judged(&repository, "model");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("coverage floor of `s` in the model tier"),
        "{}",
        ran.stdout
    );
}

fn written_out() {
    let repository = repository(4, "model", "");
    for gates in [
        "    gates: { coverage: { min: 0.9 } }\n",
        "    gates: { coverage: { min: 0.95 } }\n",
    ] {
        config(&repository, "model", gates);
        let ran = judged(&repository, "model");
        assert_eq!(ran.code, 0, "{gates}: {}{}", ran.stdout, ran.stderr);
    }
}

fn added_case() {
    let repository = repository(
        3,
        "deterministic, model",
        "    gates: { unexpected_tool_rate: { max: baseline } }\n",
    );
    write_cases(&repository, 5);
    record(&repository, 5, |_, _| {});
    for tier in ["deterministic", "model"] {
        let ran = judged(&repository, tier);
        assert_eq!(ran.code, 0, "{tier}: {}{}", ran.stdout, ran.stderr);
    }
    // Merged with the baseline of before.
    commit_all(&repository);
    repository.write("prompt.md", "2");
    let worse = |case: usize, run: &mut Value| {
        run["metrics"]["total_latency_ms"] = json!(6);
        if case == 3 {
            run["intermediate"]["tool_calls"] = json!([{ "name": "s" }, { "name": "delete" }]);
        }
    };
    record(&repository, 5, worse);
    for tier in ["deterministic", "model"] {
        let ran = judged(&repository, tier);
        assert_eq!(ran.code, 1, "{tier}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("delete"), "{tier}: {}", ran.stdout);
    }
}
