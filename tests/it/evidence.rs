//! No red without a case, and no case without both sides: what was expected, and what was produced.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::checks_and_gates::{collected, graded, perfect};
use crate::repository::{RUN, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "every failed gate names the cases that moved it, with both sides",
            every_failed_gate,
        ),
        trial(
            "a severity that is too low is reported with the expected one",
            severity,
        ),
        trial("an unexpected finding is reported under precision", surplus),
        trial("a quote that is not in the document is reported", quote),
        trial("a wrong citation is reported", citation),
        trial("explain takes every id that an output prints", ids),
        trial("explain shows request, expectation and output", whole),
    ]
}

/// Metrics of which a case has nothing but numbers to show: how far its samples lie apart, and sums of them.
const NUMBERS_ALONE: &[&str] = &["f1", "precision", "recall", "scenario_pass_rate"];

fn every_failed_gate() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for ((kind, role, check), failing) in collected() {
        let only = [
            "--suite",
            &failing.suite,
            "--agent",
            &failing.agent,
            "--case",
            &failing.case,
        ];
        let Some(alone) = graded(&failing.files, &only, None) else {
            continue;
        };
        let Some(report) = graded(&failing.files, &only, Some(&perfect(&failing, &alone))) else {
            continue;
        };
        let metrics = report["suites"][0]["agents"][0]["metrics"]
            .as_object()
            .unwrap();
        for (name, metric) in metrics
            .iter()
            .filter(|(_, metric)| metric["verdict"] == "fail")
        {
            let place = format!("{kind} {role} {check}: {name}");
            let evidence = metric["evidence"]
                .as_array()
                .filter(|cases| !cases.is_empty());
            let Some(evidence) = evidence else {
                wrong.push(format!("{place}: no case"));
                continue;
            };
            assert_eq!(evidence[0]["case"], failing.case.as_str(), "{place}");
            let differences = evidence[0]["differences"].as_array().unwrap();
            let filled = |one: &Value| {
                let says = |key: &str| one[key].as_str().is_some_and(|text| !text.is_empty());
                says("expected")
                    && says("produced")
                    && one["line"].as_u64().is_some_and(|line| line > 0)
            };
            if differences.is_empty() || !differences.iter().all(filled) {
                wrong.push(format!("{place}: a side is missing: {differences:?}"));
            }
            let numbers = |one: &Value| {
                let expected = one["expected"].as_str().unwrap();
                expected.ends_with("as in the baseline") || expected.ends_with("at best")
            };
            if differences.iter().all(numbers) && !NUMBERS_ALONE.contains(&name.as_str()) {
                wrong.push(format!("{place}: numbers alone: {differences:?}"));
            }
            seen.insert((kind.clone(), name.clone()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        seen.len() > 15,
        "only {} metrics of kinds fail here",
        seen.len()
    );
}

/// The comment and the evidence of a metric after an edit of the recording of an agent that was perfect.
fn after(from: &str, to: &str, metric: &str) -> (String, Value) {
    let repository = Repository::small();
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    assert!(RUN.contains(from));
    repository.write("golden/runs/legal/lease.json", RUN.replace(from, to));
    let comment = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    let report: Value =
        serde_json::from_str(&repository.goldgate(&["run", "--format", "json"]).stdout).unwrap();
    (
        comment,
        report["suites"][0]["agents"][0]["metrics"][metric].clone(),
    )
}

fn first(metric: &Value) -> (&str, &str) {
    let difference = &metric["evidence"][0]["differences"][0];
    (
        difference["expected"].as_str().unwrap(),
        difference["produced"].as_str().unwrap(),
    )
}

fn severity() {
    let (comment, metric) = after("\"P1\"", "\"low\"", "severity_accuracy");
    let wanted = (
        "change_of_control with severity medium or higher",
        "reported as low",
    );
    let (expected, produced) = first(&metric);
    assert!(
        expected == wanted.0 && produced.ends_with(wanted.1),
        "{expected} / {produced}"
    );
    assert!(
        comment.contains("**Merge blocked: legal severity&#95;accuracy 0%"),
        "{comment}"
    );
    assert!(
        comment.contains("expected change&#95;of&#95;control with severity medium or higher"),
        "{comment}"
    );
}

fn surplus() {
    let last = r#""quote": "a change of control" } ] }"#;
    let more =
        r#", { "category": "liability", "severity": "P1", "title": "A cap", "description": "d" }"#;
    let (_, metric) = after(last, &format!("{last}{more}"), "finding_precision");
    let (expected, produced) = first(&metric);
    assert_eq!(expected, "only findings that the golden file expects");
    assert_eq!(
        produced,
        "liability (\"A cap\"), which matches no expected finding"
    );
}

fn quote() {
    let (_, metric) = after(
        "\"quote\": \"a change of control\"",
        "\"quote\": \"never written\"",
        "quote_grounding",
    );
    let (expected, produced) = first(&metric);
    assert!(
        expected.contains("lease.md") && produced.ends_with("quotes \"never written\""),
        "{expected} / {produced}"
    );
}

fn citation() {
    let (_, metric) = after("docs/lease.md", "docs/other.md", "citation_accuracy");
    let (expected, produced) = first(&metric);
    assert_eq!(expected, "change_of_control citing lease.md");
    assert!(produced.ends_with("reported citing other.md"), "{produced}");
}

fn ids() {
    let repository = Repository::small();
    for id in [
        "lease",
        "legal/lease",
        "contracts/lease",
        "contracts/legal/lease",
        "leas*",
    ] {
        let ran = repository.goldgate(&["explain", id]);
        assert_eq!(ran.code, 0, "{id}: {}", ran.stderr);
        assert!(
            ran.stdout.starts_with("contracts/legal/lease: "),
            "{id}: {}",
            ran.stdout
        );
    }
    let ran = repository.goldgate(&["explain", "contracts/legal/leese"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("no case matches \"leese\"; did you mean \"lease\"?"),
        "{}",
        ran.stderr
    );
}

fn whole() {
    let ran = Repository::small().goldgate(&["explain", "lease"]);
    let places = [
        "\nasked:\n",
        "\nexpected, golden/expected/legal/lease.json:\n",
        "\nproduced, sample 0:\n",
    ];
    let places: Vec<usize> = places
        .iter()
        .map(|text| ran.stdout.find(text).expect(text))
        .collect();
    assert!(places.is_sorted(), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("Review the document \"lease.md\"")
            && ran.stdout.contains("Change of control")
    );
}
