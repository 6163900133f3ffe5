//! Cases and agents that the baseline does not have yet are compared with the base commit's own numbers: otherwise nothing would guard
//! them between the merge that adds them and the next baseline.

use libtest_mimic::Trial;

use super::base_values::{against_main, behind, lose_gap, readme, record_changed_agent};
use super::goldgate;
use crate::golden_changes::{add_case, commit_all, git_answer};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a case that the baseline lacks is compared with the base commit",
            new_cases,
        ),
        trial(
            "an agent that the baseline lacks is compared with the base commit",
            new_agent,
        ),
        trial(
            "a newly failing case that the baseline lacks is one",
            newly_failing,
        ),
        trial(
            "a case that is new in the change is compared with nothing",
            own_cases,
        ),
        trial(
            "a base commit that is not a branch has what the baseline lacks",
            by_id,
        ),
        trial(
            "a case that the baseline has in quarantine is compared with the base commit",
            out_of_quarantine,
        ),
        trial(
            "a metric that the baseline lacks is compared with the base commit",
            new_metric,
        ),
        trial(
            "a value that only the change has takes no other value out of the comparison",
            one_more_value,
        ),
        trial(
            "merged shards are compared with the branch as one machine does",
            merged,
        ),
    ]
}

const NEW: std::ops::Range<usize> = 12..18;

/// Six cases were added on the base branch after its baseline.
fn with_new_cases(gate: &str) -> Repository {
    let repository = behind("contracts", gate, 0..0);
    NEW.for_each(|case| add_case(&repository, case));
    commit_all(&repository);
    repository
}

fn worse(repository: &Repository) -> Ran {
    record_changed_agent(repository);
    NEW.for_each(|case| lose_gap(repository, case));
    against_main(repository, &[])
}

fn new_cases() {
    let repository = with_new_cases("gap_recall: { max_drop: 0.1 }");
    readme(&repository);
    let ran = against_main(&repository, &[]);
    assert_eq!(
        ran.code, 0,
        "an honest change: {}{}",
        ran.stdout, ran.stderr
    );
    let ran = worse(&repository);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("gap_recall 66.7%, may drop by 10 pp (baseline 100%)"),
        "{}",
        ran.stdout
    );
    let note = "not in the baseline, so compared with the own runs of main: lease-12, lease-13, lease-14, lease-15, lease-16, lease-17";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
}

fn new_agent() {
    let change = |name: &str| {
        let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
        repository.write("README.md", "Leases.\n");
        let baseline = repository.read("baselines/latest.json");
        repository.write(
            "baselines/latest.json",
            baseline.replace("\"legal\":", &format!("\"{name}\":")),
        );
        commit_all(&repository);
        let honest = against_main(&repository, &[]);
        assert_eq!(honest.code, 0, "{}{}", honest.stdout, honest.stderr);
        record_changed_agent(&repository);
        (0..6).for_each(|case| lose_gap(&repository, case));
        against_main(&repository, &[])
    };
    for (name, what) in [
        ("legal", "the control"),
        ("other", "the baseline has no such agent"),
    ] {
        let ran = change(name);
        assert_eq!(ran.code, 1, "{what}: {}{}", ran.stdout, ran.stderr);
    }
}

fn newly_failing() {
    let repository = with_new_cases("newly_failing: { max: 0 }");
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    record_changed_agent(&repository);
    lose_gap(&repository, 13);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

fn own_cases() {
    let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
    NEW.for_each(|case| add_case(&repository, case));
    NEW.for_each(|case| lose_gap(&repository, case));
    let ran = against_main(&repository, &[]);
    assert_eq!(
        ran.code, 0,
        "nobody approved other values of these cases: {}{}",
        ran.stdout, ran.stderr
    );
}

fn by_id() {
    let repository = with_new_cases("gap_recall: { max_drop: 0.1 }");
    readme(&repository);
    let main = git_answer(&repository.path(""), &["rev-parse", "main"]);
    let against_id = || {
        goldgate(
            &repository,
            &["run", "-v", "--base", main.trim()].map(str::to_owned),
        )
    };
    let honest = against_id();
    assert_eq!(honest.code, 0, "{}{}", honest.stdout, honest.stderr);
    worse(&repository);
    let ran = against_id();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("not in the baseline, so compared with the own runs of the base commit"),
        "{}",
        ran.stdout
    );
}

/// A case in quarantine has an entry without values.
fn out_of_quarantine() {
    let repository = with_new_cases("gap_recall: { max_drop: 0.1 }");
    let mut baseline: serde_json::Value =
        serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
    let cases = &mut baseline["suites"]["contracts"]["agents"]["legal"]["cases"];
    assert!(cases.is_object(), "{baseline}");
    NEW.for_each(|case| cases[format!("lease-{case}")] = serde_json::json!({}));
    repository.write(
        "baselines/latest.json",
        serde_json::to_string_pretty(&baseline).unwrap() + "\n",
    );
    commit_all(&repository);
    let ran = worse(&repository);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

fn new_metric() {
    let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
    let mut baseline: serde_json::Value =
        serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
    let entry = &mut baseline["suites"]["contracts"]["agents"]["legal"];
    entry["metrics"]
        .as_object_mut()
        .unwrap()
        .remove("gap_recall")
        .unwrap();
    for case in entry["cases"].as_object_mut().unwrap().values_mut() {
        case.as_object_mut().unwrap().remove("gap_recall");
    }
    repository.write(
        "baselines/latest.json",
        serde_json::to_string_pretty(&baseline).unwrap() + "\n",
    );
    commit_all(&repository);
    let honest = against_main(&repository, &[]);
    assert_eq!(honest.code, 0, "{}{}", honest.stdout, honest.stderr);
    record_changed_agent(&repository);
    (0..6).for_each(|case| lose_gap(&repository, case));
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("gap_recall"), "{}", ran.stdout);
}

fn one_more_value() {
    let repository = with_new_cases("gap_recall: { max_drop: 0.1 }");
    record_changed_agent(&repository);
    NEW.for_each(|case| lose_gap(&repository, case));
    // A quote gives these cases a value of quote_grounding, which they do not have on the base branch.
    NEW.for_each(|case| {
        let file = format!("runs/legal/lease-{case}.json");
        let mut run: serde_json::Value = serde_json::from_str(&repository.read(&file)).unwrap();
        let findings = run["outputs"]["findings"].as_array_mut().unwrap();
        findings[0]["citations"][0]["quote"] = serde_json::json!("Needs prior approval");
        repository.write(&file, run.to_string());
    });
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

fn merged() {
    let repository = with_new_cases("gap_recall: { max_drop: 0.1 }");
    worse(&repository);
    for number in ["1", "2"] {
        let shard = format!("{number}/2");
        let ran = against_main(
            &repository,
            &["--shard", &shard, "--out", &format!(".goldgate/s{number}")],
        );
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    let ran = goldgate(
        &repository,
        &["merge", "-v", ".goldgate/s1", ".goldgate/s2"].map(str::to_owned),
    );
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("gap_recall 66.7%, may drop by 10 pp (baseline 100%)"),
        "{}",
        ran.stdout
    );
}
