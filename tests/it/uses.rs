//! What runs use: tokens, time, money and calls as metrics of every kind, where a gate names them.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a gate on what runs use fails above its limit and names the case",
            limits,
        ),
        trial("a gate on what runs use compares with the baseline", rises),
        trial(
            "a gate on a value that a recording does not state gives no verdict",
            unstated,
        ),
        trial(
            "the latency of the middle case and of the slowest ones are two metrics",
            latency,
        ),
        trial(
            "what runs use is not reported without a gate on it",
            without_gate,
        ),
        trial("a raised limit of what runs use needs an approval", raised),
        trial("every kind with runs counts the calls of tools", every_kind),
        trial(
            "the verdict of promptfoo's assertions latency and cost is the same",
            promptfoo,
        ),
    ]
}

const CONFIG: &str = "\
version: 1
baseline: latest.json
suites:
  - id: s
    kind: tool_use
    policy: seed
    path: cases.json
    agents: { a: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }
    gates: { GATES }
";

/// A repository with a case for each of these `metrics` of a recording.
fn cases(gates: &str, metrics: &[Value]) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("GATES", gates));
    repository.write("prompt.md", "Answer.");
    let case = |(at, _): (usize, &Value)| json!({"id": format!("c{at}"), "category": "happy_path", "query": "q", "expected_tools": [], "expected_output_contains": []});
    repository.write(
        "cases.json",
        json!(metrics.iter().enumerate().map(case).collect::<Vec<_>>()).to_string(),
    );
    record(&repository, metrics);
    repository
}

fn record(repository: &Repository, metrics: &[Value]) {
    for (at, metrics) in metrics.iter().enumerate() {
        let record =
            json!({"status": "completed", "outputs": {"text": "Fine."}, "metrics": metrics});
        repository.write(&format!("runs/a/c{at}.json"), record.to_string());
    }
}

/// The exit code, and the first agent of the report.
fn report(repository: &Repository) -> (i32, Value) {
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran.code, report["suites"][0]["agents"][0].clone())
}

fn limits() {
    let used = [
        json!({"total_tokens": 90, "cost_usd": 0.0102}),
        json!({"total_tokens": 130, "cost_usd": 0.0204}),
    ];
    for (gates, code) in [
        ("tokens: { max: 110 }", 0),
        ("tokens: { max: 109 }", 1),
        ("cost_usd: { max: 0.0153 }", 0),
        ("cost_usd: { max: 0.015 }", 1),
    ] {
        let repository = cases(gates, &used);
        let (got, agent) = report(&repository);
        assert_eq!(got, code, "{gates}: {agent}");
    }
    let ran = cases("tokens: { max: 109 }", &used).goldgate(&["run"]);
    for said in ["tokens 110, needs at most 109", "\n  c1: tokens 130  ("] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
}

fn rises() {
    let repository = cases(
        "tokens: { max_rise: 10 }",
        &[json!({"total_tokens": 100}), json!({"total_tokens": 100})],
    );
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    for (tokens, code) in [(120, 0), (121, 1)] {
        record(
            &repository,
            &[
                json!({"total_tokens": 100}),
                json!({"total_tokens": tokens}),
            ],
        );
        let (got, agent) = report(&repository);
        assert_eq!(
            (got, &agent["metrics"]["tokens"]["baseline"]),
            (code, &json!(100.0)),
            "{agent}"
        );
    }
}

fn unstated() {
    for metrics in [
        [json!({}), json!({})],
        [json!({"total_tokens": 1}), json!({})],
    ] {
        let repository = cases("tokens: { max: 100 }", &metrics);
        let (code, agent) = report(&repository);
        assert_eq!(
            (code, &agent["metrics"]["tokens"]["verdict"]),
            (3, &json!("inconclusive")),
            "{agent}"
        );
        let ran = repository.goldgate(&["run"]);
        let said = "its gate could fail; record them with `metrics`, or remove the gate";
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(said),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        record(
            &repository,
            &[json!({"total_tokens": 1}), json!({"total_tokens": 2})],
        );
        assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
        record(&repository, &metrics);
        assert_eq!(report(&repository).0, 3);
    }
}

fn latency() {
    let times: Vec<Value> = (1..=20)
        .map(|at| json!({"total_latency_ms": at * 10}))
        .collect();
    let gates = "latency_ms: { max: 110 }, latency_ms_p95: { max: 190 }";
    let (code, agent) = report(&cases(gates, &times));
    let value = |name: &str| agent["metrics"][name]["value"].clone();
    assert_eq!(
        (code, value("latency_ms"), value("latency_ms_p95")),
        (0, json!(110.0), json!(190.0))
    );
    assert_eq!(report(&cases("latency_ms_p95: { max: 189 }", &times)).0, 1);
}

fn without_gate() {
    let (_, agent) = report(&cases("", &[json!({"total_tokens": 7, "cost_usd": 1})]));
    let metrics = agent["metrics"].as_object().unwrap();
    assert!(
        metrics.contains_key("case_pass_rate") && !metrics.contains_key("tokens"),
        "{metrics:?}"
    );
    assert!(
        !metrics.contains_key("cost_usd") && !metrics.contains_key("tool_calls"),
        "{metrics:?}"
    );
}

fn raised() {
    let repository = cases("tokens: { max: 100 }", &[json!({"total_tokens": 90})]);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&repository);
    let path = std::env::var("PATH").unwrap();
    repository.write("prompt.md", "Answer at length.");
    record(&repository, &[json!({"total_tokens": 150})]);
    let against_base = || repository.goldgate_with(&["run", "--base", "HEAD"], &[("PATH", &path)]);
    let control = against_base();
    assert_eq!(control.code, 1, "{}{}", control.stdout, control.stderr);
    for gates in [
        "tokens: { max: 200 }",
        "",
        "tokens: { off: true, reason: x }",
    ] {
        repository.write("goldgate.yaml", CONFIG.replace("GATES", gates));
        let ran = against_base();
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.code == 1 && said.contains("tokens"),
            "{gates}: {} {said}",
            ran.code
        );
    }
}

fn every_kind() {
    let repository = Repository::bundled();
    let config = repository.read("goldgate.yaml");
    let suites = [
        "contracts",
        "cross",
        "assistant",
        "interview",
        "variability",
        "reconciliation",
        "stability",
        "evidence",
        "revision",
    ];
    for suite in suites {
        let start = config.find(&format!("  - id: {suite}\n")).unwrap();
        let end = config[start + 3..].find("\n  - id: ").map_or_else(
            || config.find("\ntargets:").unwrap() + 1,
            |at| start + 3 + at + 1,
        );
        let part = &config[start..end];
        let gated = match part.find("    gates:\n") {
            Some(at) => format!(
                "{}    gates:\n      tool_calls: {{ max: 1000 }}\n{}",
                &part[..at],
                &part[at + 11..]
            ),
            None => format!(
                "{}\n    gates: {{ tool_calls: {{ max: 1000 }} }}\n",
                part.trim_end()
            ),
        };
        repository.write(
            "goldgate.yaml",
            format!("{}{gated}{}", &config[..start], &config[end..]),
        );
        let ran = repository.goldgate(&[
            "run",
            "--suite",
            suite,
            "--tier",
            "deterministic",
            "--format",
            "json",
        ]);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{suite}: {}", ran.stderr));
        for agent in report["suites"][0]["agents"].as_array().unwrap() {
            let calls = &agent["metrics"]["tool_calls"];
            assert!(
                calls["value"].is_number() && calls["verdict"] == "pass",
                "{suite}: {calls}"
            );
        }
    }
}

fn promptfoo() {
    let used = [json!({"total_latency_ms": 800, "cost_usd": 0.002})];
    for (gates, code) in [
        ("latency_ms: { max: 1000 }, cost_usd: { max: 0.003 }", 0),
        ("latency_ms: { max: 500 }", 1),
        ("cost_usd: { max: 0.001 }", 1),
    ] {
        assert_eq!(report(&cases(gates, &used)).0, code, "{gates}");
    }
}
