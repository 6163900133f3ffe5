//! A baseline that is behind blocks nobody, and excuses nobody either: a gate that the base commit's own runs do not pass asks only for a
//! value that is no worse than theirs.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::honest::into_folder;
use super::{bases, goldgate};
use crate::golden_changes::{add_case, commit_all, expected, git, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| trial(format!("behind baseline: {}", row.name), || one(row)))
        .collect();
    trials.extend([
        trial(
            "a slow decline within the tolerance ends at the threshold",
            slow_decline,
        ),
        trial(
            "values that the base commit has lost are not asked of a change",
            lost_on_main,
        ),
        trial(
            "a newly failing case is excused only where it fails on the base commit",
            newly_failing,
        ),
        trial(
            "a base commit without the suite or the agent excuses nothing",
            unknown_agent,
        ),
        trial(
            "a case that the base commit has and the baseline lacks is not blamed on a change",
            new_on_main,
        ),
        trial(
            "the report keeps the base commit's own value, and renders it",
            kept,
        ),
        trial(
            "nothing of the base commit is graded while every gate passes",
            lazy,
        ),
        trial(
            "ten changes in a row that each lose a little are red against a baseline that stays",
            ten_small_losses,
        ),
        trial(
            "without a baseline a number is compared with the base commit's own",
            no_baseline,
        ),
    ]);
    trials
}

/// A change on a base commit where four of twelve severities are wrong, and the baseline says that none is.
struct Row {
    name: &'static str,
    gate: &'static str,
    change: fn(&Repository),
    code: i32,
    says: &'static str,
}

const ALREADY: &str = "main is already at 66.7%; baseline 100%, update pending";

const ROWS: &[Row] = &[
    Row {
        name: "a change of something else is green",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: readme,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "max_drop asks for the base commit's value as well",
        gate: "severity_accuracy: { max_drop: 0.1 }",
        change: readme,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "a change that is better than the base commit is green",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: better,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "one more case is red",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: worse,
        code: 1,
        says: "severity&#95;accuracy 58.3%",
    },
    Row {
        name: "one more case is red for max_drop, whatever its tolerance",
        gate: "severity_accuracy: { max_drop: 0.1 }",
        change: worse,
        code: 1,
        says: "severity&#95;accuracy 58.3%",
    },
    Row {
        name: "a gate with a fixed limit asks for the base commit's value as well",
        gate: "severity_accuracy: { min: 0.9, hard: true }",
        change: readme,
        code: 0,
        says: "≥ 90%; main is already at 66.7%",
    },
    Row {
        name: "one more case is red for a fixed limit",
        gate: "severity_accuracy: { min: 0.9, hard: true }",
        change: worse,
        code: 1,
        says: "severity&#95;accuracy 58.3%",
    },
    Row {
        name: "a bad new case is red by a fixed limit",
        gate: "severity_accuracy: { min: 0.9, hard: true }",
        change: bad_new_case,
        code: 1,
        says: "severity&#95;accuracy 61.5%",
    },
    Row {
        name: "stricter rules of another metric are judged twice and green",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: stricter,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "one more sample of a case is green",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: another_sample,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "a good new case is green",
        gate: "severity_accuracy: { min: baseline, otherwise: 1.0, hard: true }",
        change: |repository| add_case(repository, 12),
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "a bad new case is red by the limit for new cases",
        gate: "severity_accuracy: { min: baseline, otherwise: 1.0, hard: true }",
        change: bad_new_case,
        code: 1,
        says: "severity&#95;accuracy 61.5% (66.7% of those compared), needs 100%",
    },
    Row {
        name: "a gate is judged as a whole: as many bad cases as on the base commit are green",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: swapped,
        code: 0,
        says: ALREADY,
    },
    Row {
        name: "a case without a value is worse than one with a bad value",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: lost_values,
        code: 1,
        says: "finding&#95;recall 0%",
    },
    Row {
        name: "worse recordings in another folder do not become the base commit's",
        gate: "severity_accuracy: { min: baseline, hard: true }",
        change: moved_recordings,
        code: 1,
        says: "severity&#95;accuracy 58.3%",
    },
];

pub(super) fn readme(repository: &Repository) {
    repository.write("README.md", "Leases.\n");
}

pub(super) fn spoil(repository: &Repository, case: usize) {
    repository.replace(&recording(case), "\"P1\"", "\"P4\"");
}

pub(super) fn mend(repository: &Repository, case: usize) {
    repository.replace(&recording(case), "\"P4\"", "\"P1\"");
}

/// The agent is changed and recorded again, which needs no label.
pub(super) fn record_changed_agent(repository: &Repository) {
    repository.write("prompts/legal.md", "Report changes of control at once.\n");
    (0..12).for_each(|case| {
        repository.replace(
            &recording(case),
            "Needs prior approval.",
            "Needs approval first.",
        )
    });
}

fn better(repository: &Repository) {
    record_changed_agent(repository);
    mend(repository, 0);
}

fn worse(repository: &Repository) {
    record_changed_agent(repository);
    spoil(repository, 7);
}

fn stricter(repository: &Repository) {
    repository.replace(
        "goldgate.yaml",
        "finding_precision: { min: 0.5 }",
        "finding_precision: { min: 0.6 }",
    );
}

fn another_sample(repository: &Repository) {
    let good = repository.read(&recording(7));
    into_folder(repository, 7);
    repository.write(
        "runs/legal/lease-7/1.json",
        good.replace("\"sample\": 0", "\"sample\": 1"),
    );
}

fn bad_new_case(repository: &Repository) {
    add_case(repository, 12);
    spoil(repository, 12);
}

fn swapped(repository: &Repository) {
    record_changed_agent(repository);
    (0..4).for_each(|case| mend(repository, case));
    (6..10).for_each(|case| spoil(repository, case));
}

/// A severity can only be right or wrong where there is a finding.
fn lost_values(repository: &Repository) {
    record_changed_agent(repository);
    (0..4).for_each(|case| no_finding(repository, case));
    (5..7).for_each(|case| spoil(repository, case));
}

pub(super) fn no_finding(repository: &Repository, case: usize) {
    let mut run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
    run["outputs"]["findings"] = json!([]);
    repository.write(&recording(case), run.to_string());
}

/// The config of the change names other recordings, which are worse than those of the base commit.
fn moved_recordings(repository: &Repository) {
    record_changed_agent(repository);
    crate::cases::copy(&repository.path("runs"), &repository.path("other"));
    repository.replace("other/legal/lease-7.json", "\"P1\"", "\"P4\"");
    spoil(repository, 7);
    repository.replace("goldgate.yaml", "replay: runs", "replay: other");
}

/// The base commit `main`: `behind` cases are worse than the baseline says.
pub(super) fn behind(base: &str, gate: &str, behind: std::ops::Range<usize>) -> Repository {
    let repository = bases::base(base);
    let gates = format!("finding_precision: {{ min: 0.5 }}\n      {gate}\n");
    repository.replace("goldgate.yaml", "finding_precision: { min: 0.5 }\n", &gates);
    let ran = repository.goldgate(&["run", "-v", "--update-baseline", "--quiet"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    behind.for_each(|case| spoil(&repository, case));
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

pub(super) fn against_main(repository: &Repository, more: &[&str]) -> Ran {
    let run: Vec<String> = ["run", "-v", "--base", "main"]
        .iter()
        .chain(more)
        .map(|word| (*word).to_owned())
        .collect();
    goldgate(repository, &run)
}

fn one(row: &Row) {
    let repository = behind("contracts", row.gate, 0..4);
    let alone = repository.goldgate(&["run", "-v"]);
    assert_eq!(
        alone.code, 1,
        "the control: without a base commit the number fails: {}{}",
        alone.stdout, alone.stderr
    );
    (row.change)(&repository);
    let ran = against_main(&repository, &["--format", "markdown"]);
    assert_eq!(ran.code, row.code, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(row.says), "{}", ran.stdout);
    let headline = "excused because the base branch fails";
    assert_eq!(
        row.code == 0,
        ran.stdout.contains(headline),
        "{}",
        ran.stdout
    );
}

/// Every step stays within the tolerance of its own base, and all of them together within that of the baseline.
fn slow_decline() {
    let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
    lose_gap(&repository, 0);
    let ran = goldgate(&repository, &["run".to_owned(), "-v".to_owned()]);
    assert_eq!(
        ran.code, 0,
        "one of twelve is within the tolerance: {}",
        ran.stdout
    );
    commit_all(&repository);
    record_changed_agent(&repository);
    lose_gap(&repository, 1);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(!ran.stdout.contains("already"), "{}", ran.stdout);
}

/// A case of the base commit has no severity any more, because its agent reports nothing there.
fn lost_on_main() {
    let gate = "severity_accuracy: { min: baseline, hard: true }\n      finding_recall: { off: true, reason: the control }\n      \
                f1_score: { off: true, reason: the control }";
    let repository = behind("contracts", gate, 0..0);
    no_finding(&repository, 0);
    commit_all(&repository);
    let alone = goldgate(&repository, &["run", "-v"].map(str::to_owned));
    assert!(
        alone.code == 3 && alone.stdout.contains("and so could severity_accuracy"),
        "the control: {}",
        alone.stdout
    );
    readme(&repository);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("main is already at 100%; baseline"),
        "{}",
        ran.stdout
    );
    // One more case, and a wrong value in another.
    repository.write("prompts/legal.md", "Report changes of control at once.\n");
    (1..12).for_each(|case| {
        repository.replace(
            &recording(case),
            "Needs prior approval.",
            "Needs approval first.",
        )
    });
    let mut empty: Value = serde_json::from_str(&repository.read(&recording(0))).unwrap();
    empty["outputs"]["note"] = json!("Nothing was found.");
    repository.write(&recording(0), empty.to_string());
    no_finding(&repository, 2);
    let ran = against_main(&repository, &[]);
    assert_ne!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository.write(
        &recording(2),
        repository.read(&recording(3)).replace("lease-3", "lease-2"),
    );
    assert_eq!(against_main(&repository, &[]).code, 0, "the control");
    spoil(&repository, 2);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

/// A case that passed at the baseline fails on the base commit.
fn newly_failing() {
    let repository = behind("contracts", "newly_failing: { max: 0 }", 0..0);
    lose_gap(&repository, 0);
    commit_all(&repository);
    assert_eq!(
        goldgate(&repository, &["run".to_owned(), "-v".to_owned()]).code,
        1,
        "the control: it is newly failing"
    );
    readme(&repository);
    let ran = against_main(&repository, &["--format", "markdown"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("main is already at 1"),
        "{}",
        ran.stdout
    );
    // As many, and another one.
    record_changed_agent(&repository);
    find_gap(&repository, 0);
    lose_gap(&repository, 7);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

pub(super) fn lose_gap(repository: &Repository, case: usize) {
    repository.replace(&recording(case), "\"missing doc\"", "\"other doc\"");
}

pub(super) fn find_gap(repository: &Repository, case: usize) {
    repository.replace(&recording(case), "\"other doc\"", "\"missing doc\"");
}

fn unknown_agent() {
    let repository = behind(
        "contracts",
        "severity_accuracy: { min: baseline, hard: true }",
        0..4,
    );
    repository.replace("goldgate.yaml", "id: contracts", "id: leases");
    let baseline = repository.read("baselines/latest.json");
    repository.write(
        "baselines/latest.json",
        baseline.replace("\"contracts\":", "\"leases\":"),
    );
    let ran = against_main(&repository, &["--baseline", "baselines/latest.json"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("already"), "{}", ran.stdout);
}

/// A case whose severity is wrong was approved on the base branch; the baseline does not know it, and `otherwise` fails for it.
fn new_on_main() {
    let repository = behind(
        "contracts",
        "severity_accuracy: { min: baseline, otherwise: 1.0, hard: true }",
        0..0,
    );
    add_case(&repository, 12);
    spoil(&repository, 12);
    commit_all(&repository);
    readme(&repository);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // What is worse among the other cases is hidden by nothing.
    spoil(&repository, 3);
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // A case whose expectation changed is another set of cases.
    repository.replace(&recording(3), "\"P4\"", "\"P1\"");
    repository.replace(
        &expected(12),
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 4",
    );
    assert_eq!(against_main(&repository, &[]).code, 1);
}

fn kept() {
    let repository = behind(
        "contracts",
        "severity_accuracy: { min: baseline, hard: true }",
        0..4,
    );
    let ran = against_main(&repository, &["--out", "out"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&repository.read("out/report.json")).unwrap();
    let metrics = report["suites"][0]["agents"][0]["metrics"]
        .as_object()
        .unwrap();
    let gate = &metrics["severity_accuracy"]["gates"][0];
    assert_eq!(
        (&gate["verdict"], &gate["base_commit"]["branch"]),
        (&json!("pass"), &json!("main")),
        "{gate}"
    );
    assert!(
        (gate["base_commit"]["value"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9,
        "{gate}"
    );
    let others = metrics
        .values()
        .flat_map(|metric| metric["gates"].as_array().unwrap());
    assert_eq!(
        others
            .filter(|gate| gate.get("base_commit").is_some())
            .count(),
        1
    );
    assert!(
        repository.read("out/report.md").contains(ALREADY),
        "{}",
        repository.read("out/report.md")
    );
    assert!(repository.read("out/report.html").contains(ALREADY));
    let again = repository.goldgate(&["report", "-v", "out", "--format", "markdown"]);
    assert!(
        again.code == 0 && again.stdout.contains(ALREADY),
        "{}{}",
        again.stdout,
        again.stderr
    );
}

/// Every step is below the limit, also against its own base; together they are above it.
fn ten_small_losses() {
    let with_baseline = |has_baseline: bool| {
        let repository = behind("contracts", "gap_recall: { max_drop: 0.15 }", 0..0);
        if !has_baseline {
            repository.remove("baselines/latest.json");
            commit_all(&repository);
        }
        let mut codes = Vec::new();
        for case in 0..10 {
            let (old, new) = (
                format!("at once, {case}."),
                format!("at once, {}.", case + 1),
            );
            if case == 0 {
                record_changed_agent(&repository);
                repository.replace("prompts/legal.md", "at once.", &new);
            } else {
                repository.replace("prompts/legal.md", &old, &new);
            }
            (0..12).for_each(|other| {
                let run = repository.read(&recording(other));
                let title = format!("Needs approval, {case}.");
                let run = run.replace("Needs approval first.", &title);
                let before = format!("Needs approval, {}.", case.max(1) - 1);
                repository.write(&recording(other), run.replace(&before, &title));
            });
            lose_gap(&repository, case);
            codes.push(against_main(&repository, &[]).code);
            commit_all(&repository);
        }
        codes
    };
    assert_eq!(with_baseline(true)[..2], [0, 1], "two of twelve are 16.7%");
    let without = with_baseline(false);
    assert_eq!(without, [0; 10], "the control, against the own base alone");
}

fn no_baseline() {
    let judged = |spoiled: usize| {
        let repository = behind("contracts", "severity_accuracy: { max_drop: 0.1 }", 0..0);
        repository.remove("baselines/latest.json");
        commit_all(&repository);
        record_changed_agent(&repository);
        (0..spoiled).for_each(|case| spoil(&repository, case));
        against_main(&repository, &[])
    };
    let ran = judged(0);
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    let note = "no baseline; compared with the own runs of main";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    let ran = judged(12);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("severity_accuracy 0%"),
        "{}",
        ran.stdout
    );
}

/// A base commit that cannot be graded is not even looked at while no gate fails.
fn lazy() {
    let repository = behind(
        "contracts",
        "severity_accuracy: { min: baseline, hard: true }",
        0..4,
    );
    let broken = "{ broken";
    let good = repository.read(&recording(3));
    repository.write(&recording(3), broken);
    commit_all(&repository);
    repository.write(&recording(3), good);
    record_changed_agent(&repository);
    (0..4).for_each(|case| mend(&repository, case));
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    spoil(&repository, 3);
    let ran = against_main(&repository, &[]);
    assert_eq!(
        ran.code, 1,
        "a base commit that cannot be graded excuses nothing: {}{}",
        ran.stdout, ran.stderr
    );
    let why = "nothing is compared with the own runs of main, because its recordings cannot be graded: runs/legal/lease-3.json";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
}
