//! Revised contracts with one planted fault each, and critics that are wrong in one way each: all of them are found.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the verifier finds every planted fault and nothing else",
            planted,
        ),
        trial(
            "a critic that is wrong in one way is told so in that way",
            critics,
        ),
    ]
}

/// By case, then by fault, what has to be found.
type Expected = BTreeMap<String, BTreeMap<String, Value>>;

/// Grades every file of `tests/revision/{folder}`: a case is a suite, a fault an agent. Gives what was found, by case and fault.
fn graded(
    folder: &str,
    role: &str,
    record: impl Fn(&str) -> Value,
) -> (Expected, BTreeMap<(String, String), Value>) {
    let from = root().join("tests/revision").join(folder);
    let expected: Expected =
        serde_json::from_str(&fs::read_to_string(from.join("expected.json")).unwrap()).unwrap();
    let repository = Repository::empty();
    let mut config = "version: 1\nsuites:\n".to_owned();
    for (case, faults) in &expected {
        config += &format!(
            "  - id: {case}\n    kind: revision\n    policy: seed\n    path: {case}\n    agents:\n"
        );
        for name in ["original.rtf", "revised.rtf", "instructions.json"] {
            let bytes =
                fs::read(root().join("fixtures/revision/cases").join(case).join(name)).unwrap();
            repository.write(&format!("{case}/cases/{case}/{name}"), bytes);
        }
        for fault in faults.keys() {
            config += &format!(
                "      {fault}: {{ role: {role}, deterministic: {{ replay: {case}/runs }}, fingerprint: {{ none: written by hand }} }}\n"
            );
            let file = fs::read_dir(from.join(case))
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let file = file
                .into_iter()
                .find(|path| path.file_stem().is_some_and(|stem| stem == fault.as_str()))
                .unwrap();
            let run = record(&fs::read_to_string(file).unwrap());
            repository.write(&format!("{case}/runs/{fault}/{case}.json"), run.to_string());
        }
    }
    repository.write("goldgate.yaml", config);
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let mut found = BTreeMap::new();
    for suite in report["suites"].as_array().unwrap() {
        for agent in suite["agents"].as_array().unwrap() {
            let key = (
                suite["id"].as_str().unwrap().to_owned(),
                agent["agent"].as_str().unwrap().to_owned(),
            );
            found.insert(key, agent["cases"][0].clone());
        }
    }
    (expected, found)
}

fn number(case: &Value, metric: &str) -> f64 {
    case["metrics"][metric]["value"].as_f64().unwrap_or(0.0)
}

fn holds(case: &Value, check: &str) -> bool {
    let checks = case["checks"].as_array().unwrap();
    checks.iter().find(|one| one["name"] == check).unwrap()["passed"]
        .as_bool()
        .unwrap()
}

fn planted() {
    let (expected, found) = graded(
        "planted",
        "actor",
        |document| json!({"status": "completed", "outputs": {"document": document}}),
    );
    for (case, faults) in expected {
        for (fault, wanted) in faults {
            let got = &found[&(case.clone(), fault.clone())];
            let count = |key: &str| wanted[key].as_f64().unwrap();
            let name = format!("{case}: {fault}: {}", got["checks"]);
            for (key, metric) in [
                ("remaining_entities", "remaining_entities"),
                ("broken_references", "broken_references"),
                ("orphans", "orphans"),
                ("unintended", "unintended_changes"),
            ] {
                assert_eq!(number(got, metric), count(key), "{key} of {name}");
            }
            for (key, metric) in [("corrupt", "rtf_corruption"), ("satisfied", "satisfied")] {
                assert_eq!(
                    number(got, metric) > 0.5,
                    wanted[key].as_bool().unwrap(),
                    "{key} of {name}"
                );
            }
            for (key, check) in [
                ("jurisdiction_remaining", "jurisdiction_transformation"),
                ("wrong_direction", "liability_reallocation"),
                ("operations_failed", "clause_operations"),
            ] {
                assert_eq!(holds(got, check), count(key) < 0.5, "{key} of {name}");
            }
            let clean = wanted
                .as_object()
                .unwrap()
                .values()
                .all(|value| value.as_f64().is_none_or(|count| count < 0.5));
            let clean = clean && wanted["corrupt"] == false;
            let told = |check: &&Value| {
                check["passed"] == false
                    && check["detail"]
                        .as_str()
                        .is_some_and(|text| !text.is_empty())
            };
            // A term without a definition has no count of its own.
            if fault != "used-term-without-definition" {
                let failing = got["checks"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(told)
                    .count();
                assert_eq!(failing == 0, clean, "{name}");
            }
        }
    }
}

fn critics() {
    let (expected, found) = graded("critics", "critic", |record| {
        serde_json::from_str(record).unwrap()
    });
    for (case, faults) in expected {
        for (fault, wanted) in faults {
            let got = &found[&(case.clone(), fault.clone())];
            let name = format!("{case}: {fault}: {}", got["checks"]);
            for (key, check) in [
                ("schema_ok", "schema"),
                ("arithmetic_ok", "arithmetic"),
                ("satisfied_consistent", "consistent"),
            ] {
                // `null` is what the page does not say.
                if let Some(wanted) = wanted[key].as_bool() {
                    assert_eq!(holds(got, check), wanted, "{key} of {name}");
                }
            }
            for (key, check) in [
                ("false_satisfied", "not_falsely_satisfied"),
                ("missed_failures", "failures_found"),
                ("invented_failures", "none_invented"),
                ("unmet_without_feedback", "feedback_given"),
                ("unknown_sections", "suggestions_placed"),
            ] {
                if holds(got, "schema") {
                    assert_eq!(holds(got, check), wanted[key] == 0, "{key} of {name}");
                }
            }
        }
    }
}
