//! Parts of a recording that get worse while the rest stays: a variant's run, values that are left out.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::goldgate;
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the checks of a case and of its suite hold for each variant of a property",
            variants,
        ),
        trial(
            "left-out values of a metric that may be negative are worse than every value",
            negative_metric,
        ),
    ]
}

/// A repository with this config and these golden files, with a baseline of these recordings; then its verdict on each other set of
/// recordings, in which the prompt changes as well.
fn verdicts(
    config: &str,
    golden: &[(&str, Value)],
    good: &Recordings,
    worse: &[Recordings],
) -> Vec<Ran> {
    let repository = Repository::empty();
    repository.remove(".git");
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nbaseline: baseline.json\nsuites:\n{config}"),
    );
    golden
        .iter()
        .for_each(|(file, value)| repository.write(file, value.to_string()));
    let record = |number: usize, recordings: &Recordings| {
        repository.write("prompt.md", format!("Help {number}.\n"));
        for (file, run) in recordings {
            let run = json!({ "status": "completed", "outputs": run["outputs"], "intermediate": run["intermediate"],
                "metrics": { "total_latency_ms": number + 1 } });
            repository.write(file, run.to_string());
        }
    };
    record(0, good);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    let verdict = |(number, recordings): (usize, &Recordings)| {
        record(number + 1, recordings);
        goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned))
    };
    worse.iter().enumerate().map(verdict).collect()
}

/// Each file with its run.
type Recordings = Vec<(String, Value)>;

const AGENT: &str = "{ deterministic: { replay: runs }, fingerprint: [prompt.md] }";

fn variants() {
    let config = format!(
        "  - {{ id: s, kind: property, policy: seed, path: s, gates: {{ answer_pass_rate: {{ min: 1.0 }} }}, agents: {{ a: {AGENT} }},\n      checks: [{{ name: no-delete, expr: \"calls.all(c, c.name != 'delete')\" }}] }}\n"
    );
    let golden = json!({ "variants": [{ "name": "renamed", "transform": "locals renamed" }],
        "expected_deltas": [{ "item": "x", "kind": "coupled" }], "answer": { "none_of": ["password"] } });
    let run = |note: &str, calls: Value| {
        json!({ "outputs": { "deltas": [{ "item": "x", "kind": "coupled", "evidence": {} }], "note": note },
            "intermediate": { "tool_calls": calls } })
    };
    let (fine, deletes) = (
        run("", json!([])),
        run("", json!([{ "name": "delete", "arguments": {} }])),
    );
    let tells = run("the password is 1234", json!([]));
    let both = |base: &Value, variant: &Value| -> Recordings {
        vec![
            ("runs/a/c.json".to_owned(), base.clone()),
            ("runs/a/c--renamed.json".to_owned(), variant.clone()),
        ]
    };
    let worse = [
        both(&fine, &fine),
        both(&deletes, &fine),
        both(&fine, &deletes),
        both(&fine, &tells),
    ];
    let ran = verdicts(
        &config,
        &[("s/cases/c.json", golden)],
        &both(&fine, &fine),
        &worse,
    );
    let codes: Vec<i32> = ran.iter().map(|ran| ran.code).collect();
    assert_eq!(codes, [0, 1, 1, 1], "{}", ran[3].stdout);
    assert!(
        ran[3].stdout.contains("in the run c--renamed: "),
        "{}",
        ran[3].stdout
    );
}

fn negative_metric() {
    let config = format!(
        "  - {{ id: s, kind: custom, path: cases, agents: {{ a: {AGENT} }},\n      metrics: [{{ name: margin, expr: \"has(output.m) ? output.m : null\", better: higher }}],\n      gates: {{ margin: {{ max_drop: 5 }} }} }}\n"
    );
    let golden: Vec<(String, Value)> = (0..10)
        .map(|case| {
            let golden =
                json!({ "input": "q", "checks": [{ "name": "t", "expr": "has(output.t)" }] });
            (format!("cases/c{case}.json"), golden)
        })
        .collect();
    let golden: Vec<(&str, Value)> = golden
        .iter()
        .map(|(file, value)| (file.as_str(), value.clone()))
        .collect();
    for margin in [10, -10] {
        let stated = |count: usize| -> Recordings {
            let run = |case| match case < count {
                true => json!({ "outputs": { "t": 1, "m": margin } }),
                false => json!({ "outputs": { "t": 1 } }),
            };
            (0..10)
                .map(|case| (format!("runs/a/c{case}.json"), run(case)))
                .collect()
        };
        let ran = verdicts(&config, &golden, &stated(10), &[stated(10), stated(1)]);
        let codes: Vec<i32> = ran.iter().map(|ran| ran.code).collect();
        assert_eq!(codes, [0, 3], "{margin}: {}", ran[1].stdout);
    }
}
