//! A first baseline needs no label if it says what the change measures.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::base_values::{against_main, behind};
use super::goldgate;
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a first baseline with numbers that the change does not measure needs a label",
            first_baseline,
        ),
        trial(
            "a first baseline of an agent that is called may not hide a failure",
            first_baseline_of_called_agent,
        ),
    ]
}

/// A first baseline replaces the limits that count without one.
fn first_baseline() {
    let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
    let honest = repository.read("baselines/latest.json");
    repository.remove("baselines/latest.json");
    commit_all(&repository);
    let of_agents = |change: &dyn Fn(&mut Value)| {
        let mut baseline: Value = serde_json::from_str(&honest).unwrap();
        change(&mut baseline["suites"]["contracts"]["agents"]);
        repository.write("baselines/latest.json", baseline.to_string());
        against_main(&repository, &[])
    };
    let with = |change: &dyn Fn(&mut Value)| of_agents(&|agents| change(&mut agents["legal"]));
    // Of an agent that comes later.
    let ran = of_agents(&|agents| agents["later"] = agents["legal"].clone());
    let wanted = "`contracts/later` is not in the config";
    assert!(
        ran.code == 1 && ran.stdout.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // Of a tier in which the agent does not run.
    let ran = with(&|entry| entry["identity"]["tier"] = json!("model"));
    assert!(
        ran.code == 0,
        "it was measured: {}{}",
        ran.stdout,
        ran.stderr
    );
    let config = repository.read("goldgate.yaml");
    let other = "agents:\n      other:\n        fingerprint: { none: \"a test\" }\n        model: { target: m }\n";
    let targets = "targets:\n  m: { provider: openai, model: m-1, api_key_env: KEY }\n";
    let both = config.replacen("agents:\n", other, 1).replacen(
        "    agents:",
        "    tier: [deterministic, model]\n    agents:",
        1,
    );
    repository.write("goldgate.yaml", both + targets);
    let expected = repository
        .read("golden/expected/legal/lease-0.json")
        .replace("\"legal\"", "\"other\"");
    repository.write("golden/expected/other/lease-0.json", expected);
    let ran = of_agents(&|agents| {
        agents["other"] = agents["legal"].clone();
    });
    let wanted = "`contracts/other` is not in the config in the deterministic tier";
    assert!(ran.stdout.contains(wanted), "{}{}", ran.stdout, ran.stderr);
    repository.write("goldgate.yaml", &config);
    std::fs::remove_dir_all(repository.path("golden/expected/other")).unwrap();
    let ran = with(&|_| {});
    assert!(
        ran.code == 0 && ran.stdout.contains("[listed] the first baseline"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = with(&|entry| entry["metrics"]["gap_recall"] = json!(0.25));
    let wanted = "gap_recall of `contracts/legal` is 1, not 0.25: write it again with `goldgate run --update-baseline`";
    assert!(
        ran.code == 1 && ran.stdout.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = with(&|entry| entry["cases"]["lease-3"]["gap_recall"] = json!([0.0]));
    let wanted = "single cases have other values (`contracts/legal`)";
    assert!(
        ran.code == 1 && ran.stdout.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let missing = "the values of some cases are missing (`contracts/legal`)";
    for (key, wanted) in [("cases", missing), ("metrics", "and is not in it")] {
        let ran = with(&|entry| entry[key] = json!({}));
        assert!(
            ran.code == 1 && ran.stdout.contains(wanted),
            "{key}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let ran = with(&|entry| {
        let moved = entry["cases"]
            .as_object_mut()
            .unwrap()
            .remove("lease-3")
            .unwrap();
        entry["earlier"] = json!({ "lease-3": moved });
    });
    assert!(
        ran.code == 1 && ran.stdout.contains(missing),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// Two runs of an agent that the deterministic tier calls may have other numbers, within what its gates tolerate.
fn first_baseline_of_called_agent() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: chat\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    gates: { \
         case_pass_rate: { min: baseline, otherwise: 1.0, hard: true, max_drop: 0.1 } }\n    agents:\n      helper: { deterministic: { \
         target: mine }, fingerprint: [agent.sh] }\ntargets: { mine: { command: [sh, agent.sh], protocol: oneshot } }\n",
    );
    repository.write(
        "agent.sh",
        "cat > /dev/null\necho '{\"status\":\"completed\",\"outputs\":{\"text\":\"ok\"}}'\n",
    );
    repository.write(
        "cases.json",
        r#"[{ "category": "happy_path", "query": "Yes?", "expected_tools": [], "expected_output_contains": ["ok"] }]"#,
    );
    commit_all(&repository);
    assert_eq!(
        repository
            .goldgate(&["run", "-q", "--update-baseline"])
            .code,
        0
    );
    let honest = repository.read("baselines/latest.json");
    for (stated, code) in [(1.0, 0), (0.1, 1)] {
        let mut baseline: Value = serde_json::from_str(&honest).unwrap();
        baseline["suites"]["chat"]["agents"]["helper"]["metrics"]["case_pass_rate"] = json!(stated);
        repository.write("baselines/latest.json", baseline.to_string());
        let ran = goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
        assert_eq!(ran.code, code, "{stated}: {}{}", ran.stdout, ran.stderr);
    }
}
