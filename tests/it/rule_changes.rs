//! An agent that failed a rule which this commit rewrote did not ignore the rule: the rewriting is the likely cause.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::golden_changes::commit_all;
use crate::repository::{EXPECTED, RUN, Repository};
use crate::trial;

const PROMPT: &str = "prompts/legal.md";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a rule changed by this commit is reported with its change",
            changed,
        ),
        trial("an agent had an unchanged rule", unchanged),
        trial("a rule added by this commit is reported as new", added),
        trial(
            "without a base commit no rule change is reported",
            without_base,
        ),
    ]
}

/// A repository whose agent now misses the finding that rule COM-1 asks for.
fn missing(base_prompt: &str, prompt: &str) -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    repository.replace(
        "goldgate.yaml",
        "replay: golden/runs }",
        "replay: golden/runs, prompt: prompts/legal.md }",
    );
    let with_rule = EXPECTED.replace(
        "{ \"category\": \"change_of_control\",",
        "{ \"category\": \"change_of_control\", \"rule\": \"COM-1\",",
    );
    repository.write("golden/expected/legal/lease.json", with_rule);
    repository.write(PROMPT, base_prompt);
    commit_all(&repository);
    repository.write(PROMPT, prompt);
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replace("change-of-control", "rent"),
    );
    repository
}

/// Tag and detail of the check on the finding.
fn failure(repository: &Repository, arguments: &[&str]) -> (String, String) {
    let path = std::env::var("PATH").unwrap();
    let ran = repository.goldgate_with(
        &[arguments, &["--format", "json"]].concat(),
        &[("PATH", &path)],
    );
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let checks = report["suites"][0]["agents"][0]["cases"][0]["checks"]
        .as_array()
        .unwrap()
        .clone();
    let check = checks
        .iter()
        .find(|check| check["name"] == "expected_finding[0]")
        .unwrap();
    let text = |key: &str| {
        check[key]
            .as_str()
            .unwrap_or_else(|| panic!("{check}"))
            .to_owned()
    };
    (text("tag"), text("detail"))
}

const BASE: [&str; 3] = ["run", "--base", "HEAD"];
const WHOLE: &str = "- COM-1: Report every change of control.\n- COM-2: Be brief.\n";

fn changed() {
    let repository = missing(
        WHOLE,
        "- COM-1: Report large changes of control.\n- COM-2: Be brief.\n",
    );
    let (tag, detail) = failure(&repository, &BASE);
    let words = "rule COM-1 was changed in this commit: \"every change\" became \"large changes\"";
    assert!(
        tag == "prompt" && detail.ends_with(words),
        "{tag}: {detail}"
    );
}

fn unchanged() {
    let repository = missing(
        WHOLE,
        "- COM-1: Report every change of control.\n- COM-2: Be very brief.\n",
    );
    let (tag, detail) = failure(&repository, &BASE);
    assert!(
        tag == "model" && !detail.contains("COM-1"),
        "{tag}: {detail}"
    );
}

fn added() {
    let repository = missing("- COM-2: Be brief.\n", WHOLE);
    let (tag, detail) = failure(&repository, &BASE);
    assert!(
        tag == "prompt" && detail.ends_with("rule COM-1 is new in this commit"),
        "{tag}: {detail}"
    );
}

fn without_base() {
    let repository = missing(WHOLE, "- COM-1: Report large changes of control.\n");
    let (tag, detail) = failure(&repository, &["run"]);
    assert!(
        tag == "model" && !detail.contains("COM-1"),
        "{tag}: {detail}"
    );
}
