//! Snapshots: the graded essence of each case, and what differs from it.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::trial;

const RUN: &str = "golden/runs/legal/lease.json";
const SNAPSHOT: &str = "golden/snapshots/legal/lease.json";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an unexplained change of a snapshot is shown and does not decide the verdict",
            unexplained,
        ),
        trial(
            "a change explained by the golden file is reported with its reason",
            explained,
        ),
        trial(
            "a change of a case's terms is reported with its reason",
            measured,
        ),
        trial("a broken snapshot is reported with its position", broken),
    ]
}

fn kept() -> Repository {
    let repository = Repository::small();
    let ran = repository.goldgate(&["run", "-v", "--update-snapshots"]);
    assert_eq!((ran.code, ran.stderr.trim_end()), (0, "wrote 1 snapshot"));
    assert!(
        !repository
            .goldgate(&["run", "-v"])
            .stdout
            .contains("snapshot"),
        "a run is like its own snapshot"
    );
    repository
}

fn unexplained() {
    let repository = kept();
    repository.replace(RUN, "\"P1\"", "\"P3\"");
    let ran = repository.goldgate(&["run", "-v"]);
    let told = "lease differs from its snapshot (unexplained): severity_accuracy 1 → 0";
    assert!(ran.code == 0 && ran.stdout.contains(told), "{}", ran.stdout);
    repository.replace(RUN, "\"missing doc\"", "");
    let told = "gap_recall 1 → 0; severity_accuracy 1 → 0; now failing expected_gap[0]";
    assert!(repository.goldgate(&["run", "-v"]).stdout.contains(told));
}

fn explained() {
    let repository = kept();
    repository.replace(
        "golden/expected/legal/lease.json",
        "\"medium\"",
        "\"critical\"",
    );
    let told =
        "lease differs from its snapshot (cases or expectations changed): severity_accuracy 1 → 0";
    assert!(repository.goldgate(&["run", "-v"]).stdout.contains(told));
}

fn measured() {
    for (key, why) in [
        ("scorer", "the scorer changed"),
        ("agent_sha256", "the agent's files changed"),
    ] {
        let repository = kept();
        let mut snapshot: Value = serde_json::from_str(&repository.read(SNAPSHOT)).unwrap();
        snapshot[key] = json!("another");
        repository.write(SNAPSHOT, snapshot.to_string());
        repository.replace(RUN, "\"P1\"", "\"P3\"");
        let told = format!("lease differs from its snapshot ({why}): severity_accuracy 1 → 0");
        assert!(repository.goldgate(&["run", "-v"]).stdout.contains(&told));
    }
    let terms = Repository::empty();
    terms.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: i\n    kind: interview\n    policy: seed\n    path: g\n    terms: { vague: vague.txt }\n    agents: { a: { deterministic: { replay: g/runs }, fingerprint: { none: written by hand } } }\n",
    );
    terms.write("vague.txt", "nice\n");
    let scenario =
        json!({"expectedAtoms": [{"descriptionContainsAny": ["refund"]}], "minimumRubricScore": 0});
    terms.write("g/scenarios/one.json", scenario.to_string());
    let atom = json!({"description": "A quick refund", "category": "functional", "observableOutcomes": ["paid"]});
    terms.write(
        "g/runs/a/one.json",
        json!({"status": "completed", "outputs": {"atoms": [atom]}}).to_string(),
    );
    assert_eq!(terms.goldgate(&["run", "-v", "--update-snapshots"]).code, 0);
    terms.write("vague.txt", "quick\n");
    let told = "one differs from its snapshot (cases or expectations changed): atom_clarity 2 → 0";
    let shown = terms.goldgate(&["run", "-v"]).stdout;
    assert!(shown.contains(told), "{shown}");
}

fn broken() {
    let repository = kept();
    repository.write(SNAPSHOT, "{ \"metrics\": ");
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .starts_with("golden/snapshots/legal/lease.json:1:"),
        "{}",
        ran.stderr
    );
}
