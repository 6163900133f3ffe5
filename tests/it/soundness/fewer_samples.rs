//! Samples that the baseline has and a change leaves out: bad ones that are gone, that are recorded as timeouts, or that do not state what
//! they used.

use libtest_mimic::Trial;

use super::{bases, goldgate};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("bad samples that are removed or recorded as timeouts give no verdict", left_out),
        trial("costly samples that do not state what they used give no verdict", unstated),
        trial("more samples that mostly do not state what they used give no verdict", more_unstated),
        trial("one lost sample of many is no reason to withhold a verdict", one_lost),
    ]
}

const CASES: usize = 12;

fn file(case: usize, sample: usize) -> String {
    format!("runs/legal/lease-{case}/{sample}.json")
}

/// Twelve leases with so many samples of a good agent each, which state what they used, and a baseline of them.
fn repository(samples: usize) -> Repository {
    let repository = bases::base("contracts");
    repository.replace("goldgate.yaml", "    gates:\n", "    gates:\n      tokens: { max: baseline }\n");
    for case in 0..CASES {
        let recording = format!("runs/legal/lease-{case}.json");
        let run = repository.read(&recording);
        repository.remove(&recording);
        for sample in 0..samples {
            let metrics = format!("\"sample\": {sample}, \"metrics\": {{ \"total_tokens\": 100 }}");
            let written = run.replace("\"sample\": 0", &metrics);
            assert_ne!(written, run);
            repository.write(&file(case, sample), written);
        }
    }
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository.write("prompts/legal.md", "Report every change of control, briefly.\n");
    repository
}

/// Changes every sample of every case.
fn change(repository: &Repository, how: impl Fn(usize, String) -> Option<String>, samples: usize) {
    for case in 0..CASES {
        for sample in 0..samples {
            let name = file(case, sample);
            match how(sample, repository.read(&name)) {
                Some(text) => repository.write(&name, text),
                None => repository.remove(&name),
            }
        }
    }
}

fn judged(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn left_out() {
    let good = |run: String| run.replace("Needs prior approval.", "Needs prior consent.");
    let bad = |run: String| run.replace("\"change-of-control\"", "\"termination\"");
    let control = repository(5);
    change(&control, |sample, run| Some(if sample < 2 { good(run) } else { bad(run) }), 5);
    let ran = judged(&control);
    assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
    let timeout = |run: String| run.replace("\"completed\"", "\"timeout\"");
    for is_removed in [true, false] {
        let attacked = repository(5);
        let lost = |run: String| (!is_removed).then(|| timeout(run));
        // The majority of the three samples that are left is good.
        change(
            &attacked,
            |sample, run| if sample < 3 { Some(if sample < 2 { good(run) } else { bad(run) }) } else { lost(run) },
            5,
        );
        let ran = judged(&attacked);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        let why = "fewer values of finding_recall than in the baseline, in lease-0, lease-1, ";
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
    }
}

fn unstated() {
    let again = |run: String| run.replace("Needs prior approval.", "Needs prior consent.");
    let costly = |run: String| again(run).replace("\"total_tokens\": 100", "\"total_tokens\": 5000");
    let control = repository(3);
    change(&control, |sample, run| Some(if sample == 0 { again(run) } else { costly(run) }), 3);
    let ran = judged(&control);
    assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
    let attacked = repository(3);
    let silent = |run: String| again(run).replace(", \"metrics\": { \"total_tokens\": 100 }", "");
    change(&attacked, |sample, run| Some(if sample == 0 { again(run) } else { silent(run) }), 3);
    let ran = judged(&attacked);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("fewer values of tokens than in the baseline"), "{}", ran.stdout);
}

fn more_unstated() {
    let again = |run: String| run.replace("Needs prior approval.", "Needs prior consent.");
    let with_nine = |how: &dyn Fn(String) -> String| {
        let repository = repository(3);
        change(&repository, |_, run| Some(again(run)), 3);
        for case in 0..CASES {
            let first = repository.read(&file(case, 0));
            for sample in 1..9 {
                let run = first.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
                repository.write(&file(case, sample), if sample < 3 { run } else { how(run) });
            }
        }
        judged(&repository)
    };
    let ran = with_nine(&|run| run.replace("\"total_tokens\": 100", "\"total_tokens\": 5000"));
    assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
    let ran = with_nine(&|run| run.replace(", \"metrics\": { \"total_tokens\": 100 }", ""));
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("fewer values of tokens than in the baseline"), "{}", ran.stdout);
}

fn one_lost() {
    let repository = repository(3);
    change(&repository, |_, run| Some(run.replace("Needs prior approval.", "Needs prior consent.")), 3);
    repository.replace(&file(4, 1), "\"completed\"", "\"timeout\"");
    let ran = judged(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}
