//! What readers of realistic regressions did not find in a report, on the bundled suites: one test for each finding that no broken agent
//! of `broken_agents` shows.

use std::path::PathBuf;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a gate on a number without a check of its own names the cases, each with both sides",
            both_sides,
        ),
        trial("the bundled suites fit on a screen of 40 lines", demo),
        trial("an answer is quoted as it was written", quoted),
        trial(
            "a case that fails anew is in the headline although every gate passes",
            newly_failing,
        ),
        trial(
            "a number within its band is named in the headline with its limit",
            within_band,
        ),
        trial(
            "a golden change says what happened before it names files, and no sentence is cut",
            golden_change,
        ),
    ]
}

/// The bundled suites on a terminal of 40 lines.
fn demo() {
    let repository = Repository::bundled();
    let ran = repository.goldgate_with(&["run"], &[("COLUMNS", "240")]);
    let lines = ran.stdout.lines().count();
    assert!(ran.code == 0 && lines <= 40, "{lines}: {}", ran.stdout);
    assert!(
        ran.stdout
            .contains(" expected_tool[shop_hours], expected_output_contains, "),
        "{}",
        ran.stdout
    );
}

/// A change of one recording.
type Change = fn(&mut Value, &str);

/// Changes the recordings below a folder; the path tells the case.
fn record(repository: &Repository, folder: &str, change: impl Fn(&mut Value, &str)) {
    let mut folders = vec![repository.path("fixtures").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            change(&mut run, &path.to_string_lossy());
            std::fs::write(&path, run.to_string()).unwrap();
        }
    }
    // They are those of another answer of the same agent.
    assert_eq!(repository.stamp("goldgate.yaml").code, 0);
}

fn run(repository: &Repository, suite: &str) -> Ran {
    repository.goldgate(&["run", "--suite", suite])
}

/// R3: "A red without a case: severity_accuracy, quote_grounding (and precision, f1) have no check."
fn both_sides() {
    let quote = |run: &mut Value, _: &str| {
        for finding in run["outputs"]["findings"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            for citation in finding["citations"].as_array_mut().into_iter().flatten() {
                citation["quote"] = json!("words that are nowhere in the document");
            }
        }
    };
    let extra = |run: &mut Value, _: &str| {
        let found = |number| json!({ "category": "penalties", "severity": "low", "title": format!("Extra {number}"), "citations": [] });
        if let Some(findings) = run["outputs"]["findings"].as_array_mut() {
            findings.extend((0..3).map(found));
        }
    };
    let changes: [(Change, &[&str]); 2] = [
        (quote, &["quote_grounding"]),
        (extra, &["finding_precision", "f1_score"]),
    ];
    for (change, metrics) in changes {
        let repository = Repository::bundled();
        let suite = "  - id: contracts\n";
        let gates = "    gates: { quote_grounding: { max_drop: 0.1 }, finding_precision: { max_drop: 0.1 }, f1_score: { max_drop: 0.05 } }\n";
        repository.replace("goldgate.yaml", suite, &format!("{suite}{gates}"));
        record(&repository, "contracts/runs/commercial", change);
        let ran = run(&repository, "contracts");
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        let (_, told) = ran
            .stdout
            .split_once("\ncontracts/commercial: ")
            .unwrap_or_else(|| panic!("{}", ran.stdout));
        let (cases, gates) = told.split_once("\n  gates: ").unwrap();
        let gates = gates.lines().next().unwrap();
        for metric in metrics {
            assert!(gates.contains(&format!("{metric} ")), "{metric}: {gates}");
        }
        let lines: Vec<&str> = cases.lines().collect();
        let expected = lines
            .iter()
            .position(|line| line.starts_with("    expected "));
        let got = expected.map(|index| lines[index + 1]);
        assert!(
            got.is_some_and(|got| got.starts_with("    got      ")),
            "{told}"
        );
    }
}

/// R11: "The answer is quoted in lower case."
fn quoted() {
    let repository = Repository::bundled();
    let answer = "Glucose is 99 MG/DL, that is 5.5 mmol/L.";
    record(
        &repository,
        "tool_use/runs/assistant/lab-units-glucose",
        |run, _| run["outputs"]["text"] = json!(answer),
    );
    let ran = run(&repository, "assistant");
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains(answer), "{}", ran.stdout);
}

/// "All gates hold", "2 failed checks, 2 in newly failing cases".
fn newly_failing() {
    let repository = Repository::bundled();
    record(&repository, "reconciliation/runs", |run, path| {
        for delta in run["outputs"]["deltas"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            if path.contains("rec-001") && delta["kind"] == "coupled" {
                delta["kind"] = json!("ghost_code");
            }
        }
    });
    let ran = run(&repository, "reconciliation");
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.ends_with("; 1 case passed before and fails now: rec-001."),
        "{last}"
    );
}

/// "'Could not be told' for a worse number inside the band; no case either."
fn within_band() {
    let repository = Repository::bundled();
    record(&repository, "contracts/runs/commercial/sla", |run, _| {
        if let Some(finding) = run["outputs"]["findings"].get_mut(0) {
            finding["severity"] = json!("info");
        }
    });
    let ran = run(&repository, "contracts");
    let last = ran.stdout.lines().last().unwrap();
    let named = "1 gate is inconclusive: commercial severity_accuracy 87.6%, needs ≥ 89.5% baseline (band 5 pp)";
    assert!(last.contains(named), "{last}");
    assert!(
        ran.stdout
            .contains("contracts/commercial: 1 case in question\n  sla: severity_accuracy "),
        "{}",
        ran.stdout
    );
    let comment = repository
        .goldgate(&["run", "--suite", "contracts", "--format", "markdown"])
        .stdout;
    let cases = comment
        .split("**contracts / commercial: 1 case in question**")
        .nth(1);
    assert!(
        cases.is_some_and(|cases| cases.trim_start().starts_with("- **sla**")),
        "{comment}"
    );
}

/// R8: "1 more change of the golden set ... cut in the middle of the word that matters."
fn golden_change() {
    let repository = Repository::bundled();
    repository.remove(".git");
    crate::golden_changes::commit_all(&repository);
    record(&repository, "contracts/runs/commercial", |run, _| {
        run["metrics"]["total_latency_ms"] = json!(
            run["metrics"]["total_latency_ms"]
                .as_f64()
                .unwrap_or_default()
                + 1.0
        );
    });
    let file = "fixtures/contracts/prompts/policies/commercial/policies-v1.md";
    repository.write(file, format!("{}\nA sentence.\n", repository.read(file)));
    let path = std::env::var("PATH").unwrap();
    let arguments = [
        "run",
        "--suite",
        "contracts",
        "--base",
        "HEAD",
        "--format",
        "markdown",
    ];
    let comment = repository
        .goldgate_with(&arguments, &[("PATH", &path)])
        .stdout;
    let line = comment
        .lines()
        .find(|line| line.contains(" recordings of "))
        .unwrap_or_else(|| panic!("{comment}"));
    let why = line
        .find(" are of this change")
        .unwrap_or_else(|| panic!("{line}"));
    assert!(line.find(".json").is_some_and(|name| why < name), "{line}");
    assert!(line.ends_with("&#41;") || line.ends_with(" more"), "{line}");
    assert!(!comment.contains("golden set"), "{comment}");
}
