//! Tags select cases; a run of some cases is no full verdict.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a tag selects its cases, and the others are not judged",
            selected,
        ),
        trial("an unknown tag is refused with a suggestion", unknown),
        trial(
            "an invalid tag, and one that is stated twice, is refused",
            bad,
        ),
        trial(
            "a run of tagged cases updates no baseline and is no shard",
            partial,
        ),
        trial(
            "a tag needs no approval and is no other expectation",
            listed,
        ),
    ]
}

const CONFIG: &str = "\
version: 1
baseline: baselines/latest.json
suites:
  - id: chat
    kind: tool_use
    policy: seed
    path: cases.json
    agents: { helper: { deterministic: { replay: runs }, fingerprint: { none: written by hand } } }
";

/// Three cases, of which the last one fails.
pub fn tagged() -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    let case = |id: &str, says: &str, tags: &[&str]| {
        json!({ "id": id, "category": "happy_path", "query": format!("About {id}?"),
        "expected_tools": [], "expected_output_contains": [says], "tags": tags })
    };
    let cases = [
        case("a", "yes", &["smoke", "slow"]),
        case("b", "yes", &["smoke"]),
        case("c", "no", &[]),
    ];
    repository.write("cases.json", serde_json::to_string_pretty(&cases).unwrap());
    for id in ["a", "b", "c"] {
        let run = json!({ "status": "completed", "outputs": { "text": "yes", "tool_calls": [] } });
        repository.write(&format!("runs/helper/{id}.json"), run.to_string());
    }
    repository
}

fn graded(repository: &Repository, arguments: &[&str]) -> (i32, Vec<String>, String) {
    let ran = repository.goldgate(&[&["run", "--format", "json"], arguments].concat());
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let cases = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .unwrap();
    let ids = cases
        .iter()
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .collect();
    (
        ran.code,
        ids,
        report["graded_cases"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    )
}

fn selected() {
    let repository = tagged();
    assert_eq!(graded(&repository, &[]).1, ["a", "b", "c"]);
    assert_eq!(
        graded(&repository, &["--tag", "smoke"]),
        (0, vec!["a".into(), "b".into()], "matching".into())
    );
    assert_eq!(
        graded(&repository, &["--tag", "slow", "--tag", "smoke"]).1,
        ["a", "b"]
    );
    assert_eq!(
        graded(&repository, &["--tag", "smoke", "--case", "b"]).1,
        ["b"]
    );
    let shown = repository.goldgate(&["run", "--tag", "smoke"]).stdout;
    assert!(
        shown.contains("Only cases that match --case or --tag were graded"),
        "{shown}"
    );
}

fn unknown() {
    let ran = tagged().goldgate(&["run", "--tag", "smok"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("--tag: unknown tag \"smok\"; did you mean \"smoke\"?"),
        "{}",
        ran.stderr
    );
}

fn bad() {
    for (from, to, said) in [
        (
            "\"slow\"",
            "\"two words\"",
            "cases.json:12:7: \"two words\" is not a valid id",
        ),
        (
            "\"slow\"",
            "\"smoke\"",
            "cases.json:12:7: duplicate tag \"smoke\"; remove it",
        ),
        ("\"slow\"", "1", "cases.json:12:7: "),
    ] {
        let repository = tagged();
        repository.replace("cases.json", from, to);
        let ran = repository.goldgate(&["check"]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

fn partial() {
    let repository = tagged();
    let ran = repository.goldgate(&["run", "--tag", "smoke", "--update-baseline"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("--update-baseline with --tag would save numbers of only some cases"),
        "{}",
        ran.stderr
    );
    assert!(!repository.path("baselines").exists());
    assert_eq!(
        repository
            .goldgate(&["run", "--tag", "smoke", "--shard", "1/2", "--out", "out"])
            .code,
        2
    );
}

fn listed() {
    let repository = tagged();
    repository.replace("cases.json", "\"no\"", "\"yes\"");
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    crate::golden_changes::commit_all(&repository);
    repository.replace("cases.json", "\"slow\"", "\"fast\"");
    let ran = crate::soundness::goldgate(
        &repository,
        &["run", "--base", "HEAD", "-v"].map(str::to_owned),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("fast"), "{}", ran.stdout);
    assert!(
        !ran.stdout.contains("edited in the golden set since"),
        "{}",
        ran.stdout
    );
}
