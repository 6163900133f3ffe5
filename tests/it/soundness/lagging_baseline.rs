//! Cases and agents that the baseline does not have yet are compared with the base commit's own numbers: otherwise nothing would guard
//! them between the merge that adds them and the next baseline.

use libtest_mimic::Trial;

use super::base_values::{against_main, behind, lose_gap, readme, record_changed_agent};
use crate::golden_changes::{add_case, commit_all};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a case that the baseline lacks is compared with the base commit", new_cases),
        trial("an agent that the baseline lacks is compared with the base commit", new_agent),
        trial("a newly failing case that the baseline lacks is one", newly_failing),
        trial("a case that is new in the change is compared with nothing", own_cases),
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
    assert_eq!(ran.code, 0, "an honest change: {}{}", ran.stdout, ran.stderr);
    let ran = worse(&repository);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("gap_recall 66.7%, may drop by 10 pp (baseline 100%)"), "{}", ran.stdout);
    let note = "gap_recall, case_pass_rate: cases that the baseline lacks are compared with the own numbers of main";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
}

fn new_agent() {
    let change = |name: &str| {
        let repository = behind("contracts", "gap_recall: { max_drop: 0.1 }", 0..0);
        repository.write("README.md", "Leases.\n");
        let baseline = repository.read("baselines/latest.json");
        repository.write("baselines/latest.json", baseline.replace("\"legal\":", &format!("\"{name}\":")));
        commit_all(&repository);
        let honest = against_main(&repository, &[]);
        assert_eq!(honest.code, 0, "{}{}", honest.stdout, honest.stderr);
        record_changed_agent(&repository);
        (0..6).for_each(|case| lose_gap(&repository, case));
        against_main(&repository, &[])
    };
    for (name, what) in [("legal", "the control"), ("other", "the baseline has no such agent")] {
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
    assert_eq!(ran.code, 0, "nobody approved other values of these cases: {}{}", ran.stdout, ran.stderr);
}
