//! Rules for the workflows that ship: what they run on, what they cancel, and what they never skip.

use std::collections::BTreeSet;
use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use super::{Workflow, gates, jobs, required_checks, steps, workflows};
use crate::repository::root;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the model tier has a workflow of its own, advisory and with 3 samples",
            model_tier,
        ),
        trial(
            "a fork of the repository keeps no baseline and calls no model by itself",
            forks,
        ),
        trial("the name of a required check belongs to one job", names),
        trial(
            "every action that a workflow uses is pinned to a commit",
            pins,
        ),
        trial(
            "what decides a verdict has owners, every kind of pin is updated, and a vulnerability has an address",
            owners,
        ),
        trial(
            "the page on branch protection has the exact names of the checks",
            branch_protection,
        ),
    ]
}

fn events(workflow: &Workflow) -> Vec<&str> {
    workflow.form["on"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// An expression without its line breaks.
fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn model_tier() {
    let mut count = 0;
    for workflow in workflows() {
        let steps = gates(&workflow);
        let live: Vec<_> = steps
            .iter()
            .filter(|step| step.says("tier", "model"))
            .collect();
        if live.is_empty() {
            continue;
        }
        assert_eq!(
            live.len(),
            steps.len(),
            "{}: another tier is in it",
            workflow.path
        );
        for step in live {
            assert!(
                step.says("samples", "3") && step.says("blocking", "false"),
                "{}",
                workflow.path
            );
        }
        assert_eq!(
            events(&workflow),
            ["pull_request", "push", "schedule", "workflow_dispatch"],
            "{}",
            workflow.path
        );
        count += 1;
    }
    assert_eq!(count, 2);
}

/// A fork gets the workflows of its original, and its own pushes and schedules start them. The gate itself has no condition.
fn forks() {
    let mut count = 0;
    for workflow in workflows()
        .iter()
        .filter(|workflow| !gates(workflow).is_empty())
    {
        let starts = ["push", "schedule"];
        if !events(workflow).iter().any(|event| starts.contains(event)) {
            continue;
        }
        for (id, job) in workflow.form["jobs"].as_object().unwrap() {
            let condition = text(&job["if"]);
            let is_gate = id == "goldgate";
            assert_eq!(
                !is_gate,
                condition.contains("!github.event.repository.fork"),
                "{}: {id}",
                workflow.path
            );
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

/// A job of another workflow with the same name would report its own result, or a skipped one, as the required check.
fn names() {
    for is_shipped in [true, false] {
        let all: Vec<Workflow> = workflows()
            .into_iter()
            .filter(|workflow| workflow.is_shipped == is_shipped)
            .collect();
        let required: BTreeSet<String> = all
            .iter()
            .flat_map(|workflow| required_checks(&workflow.text))
            .collect();
        assert!(!required.is_empty());
        for check in required {
            let jobs = all
                .iter()
                .flat_map(|workflow| workflow.form["jobs"].as_object().unwrap());
            let named = jobs.filter(|(id, job)| job["name"].as_str().unwrap_or(id) == check);
            // goldgate-trusted.yml stands in the place of goldgate.yml.
            assert_eq!(named.count(), if is_shipped { 2 } else { 1 }, "{check}");
        }
    }
}

fn pins() {
    for workflow in workflows() {
        for used in jobs(&workflow)
            .flat_map(steps)
            .filter_map(|step| step["uses"].as_str())
        {
            let is_pinned = used.split_once('@').is_some_and(|(_, commit)| {
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            assert!(
                is_pinned || used.starts_with("./"),
                "{}: {used}",
                workflow.path
            );
            assert!(
                !is_pinned || workflow.text.contains(&format!("{used} # ")),
                "{}: {used} has no version beside it",
                workflow.path
            );
        }
    }
}

fn owners() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let owners = read(".github/CODEOWNERS");
    let owned = |path: &str| {
        owners
            .lines()
            .any(|line| line.split_whitespace().next() == Some(path) && line.contains('@'))
    };
    for path in [
        "/goldgate.yaml",
        "/baselines/",
        "/fixtures/",
        "/examples/",
        "/.github/",
        "/action.yml",
        "/setup/",
        "/Dockerfile",
    ] {
        assert!(owned(path), "{path}");
        assert!(root().join(path.trim_matches('/')).exists(), "{path}");
    }
    let updates = read(".github/dependabot.yml");
    for ecosystem in ["github-actions", "docker", "cargo"] {
        assert!(
            updates.contains(&format!("package-ecosystem: {ecosystem}\n")),
            "{ecosystem}"
        );
    }
    assert!(read("SECURITY.md").contains("Do not open an issue or a pull request."));
    assert!(read("docs/security.md").contains("`SECURITY.md`"));
}

/// The page says which checks to require and which not, and every job of a shipped workflow is one of the two.
fn branch_protection() {
    let page = fs::read_to_string(root().join("docs/branch-protection.md")).unwrap();
    let ruleset = fs::read_to_string(root().join("docs/ruleset.json")).unwrap();
    let ruleset: Value = serde_json::from_str(&ruleset).unwrap();
    let rules = ruleset["rules"].as_array().unwrap();
    let rule = rules
        .iter()
        .find(|rule| rule["type"] == "required_status_checks")
        .unwrap();
    let offered = &rule["parameters"]["required_status_checks"][0]["context"];
    let (_, others) = page.split_once("Require nothing else").unwrap();
    let others = others.split("\n\n").next().unwrap();
    let mut is_offered = false;
    for workflow in workflows().iter().filter(|workflow| workflow.is_shipped) {
        let required = required_checks(&workflow.text);
        let file = workflow.path.strip_prefix("docs/").unwrap();
        for check in &required {
            is_offered |= offered == check.as_str();
            let row = page
                .lines()
                .find(|line| line.contains(file) && line.ends_with(&format!("| `{check}` |")));
            assert!(
                row.is_some(),
                "the table has no row with {file} and {check}"
            );
        }
        for (id, job) in workflow.form["jobs"].as_object().unwrap() {
            let name = job["name"].as_str().unwrap_or(id);
            let is_known =
                required.iter().any(|check| check == name) || others.contains(&format!("`{name}`"));
            assert!(is_known, "the page does not say whether to require {name}");
        }
    }
    assert!(is_offered, "the ruleset requires {offered}");
}
