//! `run --update-baseline`: what it writes, and what it says.

use libtest_mimic::Trial;
use serde_json::Value;

use super::{RUN, switch_off};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the first baseline passes where every gate waits for it, and gates nothing that is not measured",
            first_baseline,
        ),
        trial(
            "an update writes only the suites and agents that ran",
            update_part,
        ),
        trial(
            "an update of a run that measured nothing keeps the numbers that were there",
            update_of_nothing,
        ),
        trial(
            "an update with a filter of cases is refused",
            update_filtered,
        ),
    ]
}

/// The gates that are left compare with the baseline.
fn first_baseline() {
    let fixed = [
        "finding_recall",
        "false_positive_rate",
        "case_pass_rate",
        "count_in_range",
    ];
    let repository = Repository::small();
    switch_off(&repository, &fixed);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 3, "the control: {}{}", ran.stdout, ran.stderr);
    let headline = "Merge blocked: no verdict is possible, because every evaluated gate needs a baseline. `goldgate run --update-baseline` writes one.";
    assert!(ran.stdout.contains(headline), "{}", ran.stdout);
    let recorded = repository.read(RUN);
    repository.write(RUN, r#"{"status": "timeout", "outputs": {}}"#);
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(
        (ran.code, repository.path("baselines").exists()),
        (3, false),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write(RUN, recorded);
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    let headline = "First run: without a baseline, only coverage is checked. These numbers become the baseline,";
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(headline) && !ran.stdout.contains("no verdict"),
        "{}",
        ran.stdout
    );
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(
        repository.goldgate(&["run"]).code,
        1,
        "the gates compare from the next run on"
    );

    // Without a gate that waits for the baseline, nothing was judged.
    let repository = Repository::small();
    let waiting = ["citation_accuracy", "severity_accuracy", "f1_score"];
    switch_off(&repository, &[&fixed[..], &waiting].concat());
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 3);
}

fn update_part() {
    let repository = Repository::small();
    repository.write("golden/expected/finance/lease.json", "{}");
    repository.write(
        "golden/runs/finance/lease.json",
        r#"{"status": "completed", "outputs": {"findings": []}}"#,
    );
    repository.replace(
        "goldgate.yaml",
        "    agents:\n",
        "    agents:\n      finance: { deterministic: { replay: golden/runs }, fingerprint: { none: written by hand } }\n",
    );
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    repository.replace(
        "baselines/latest.json",
        "\"finding_precision\": 1.0",
        "\"finding_precision\": 0.25",
    );
    repository.goldgate(&["run", "-v", "--update-baseline", "--agent", "legal"]);
    let baseline: Value = serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
    let agents = &baseline["suites"]["contracts"]["agents"];
    assert_eq!(agents["legal"]["metrics"]["finding_precision"], 1.0);
    assert_eq!(agents["finance"]["metrics"]["finding_precision"], 0.25);
}

fn update_of_nothing() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    let entry = || {
        let text = std::fs::read_to_string(repository.path("baselines/latest.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["suites"].clone()
    };
    let before = entry();
    repository.write(RUN, r#"{"status": "timeout", "outputs": {}}"#);
    let ran = repository.goldgate(&["run", "-v", "--update-baseline"]);
    assert!(
        ran.code == 3 && ran.stderr.contains("contracts/legal: no case was measured"),
        "{}",
        ran.stderr
    );
    assert!(
        entry() == before
            && !before["contracts"]["agents"]["legal"]["metrics"]
                .as_object()
                .unwrap()
                .is_empty()
    );
}

fn update_filtered() {
    let repository = Repository::small();
    let ran = repository.goldgate(&["run", "-v", "--update-baseline", "--case", "lease"]);
    assert_eq!(ran.code, 2);
    assert!(!repository.path("baselines").exists());
}
