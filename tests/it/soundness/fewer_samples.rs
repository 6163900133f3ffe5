//! Samples that the baseline has and a change leaves out: bad ones that are gone, that are recorded as timeouts, or that do not state what
//! they used.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{bases, goldgate};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "bad samples that are removed or recorded as timeouts give no verdict",
            left_out,
        ),
        trial(
            "one lost sample of four in several cases gives no verdict where it breaks a tie",
            broken_ties,
        ),
        trial(
            "costly samples that do not state what they used give no verdict",
            unstated,
        ),
        trial(
            "more samples that mostly do not state what they used give no verdict",
            more_unstated,
        ),
        trial(
            "one lost sample of many gives no verdict only where it could fail a gate",
            one_lost,
        ),
        trial(
            "the only case of a category that gives no result is not left out of its gate",
            lost_case,
        ),
    ]
}

const CASES: usize = 12;

fn file(case: usize, sample: usize) -> String {
    format!("runs/legal/lease-{case}/{sample}.json")
}

/// Twelve leases with so many samples of a good agent each, which state what they used, and a baseline of them.
fn repository(samples: usize) -> Repository {
    let repository = bases::base("contracts");
    repository.replace(
        "goldgate.yaml",
        "    gates:\n",
        "    gates:\n      tokens: { max: baseline }\n",
    );
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
    repository.write(
        "prompts/legal.md",
        "Report every change of control, briefly.\n",
    );
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
    change(
        &control,
        |sample, run| Some(if sample < 2 { good(run) } else { bad(run) }),
        5,
    );
    let ran = judged(&control);
    assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
    let timeout = |run: String| run.replace("\"completed\"", "\"timeout\"");
    for is_removed in [true, false] {
        let attacked = repository(5);
        let lost = |run: String| (!is_removed).then(|| timeout(run));
        // The majority of the three samples that are left is good.
        change(
            &attacked,
            |sample, run| {
                if sample < 3 {
                    Some(if sample < 2 { good(run) } else { bad(run) })
                } else {
                    lost(run)
                }
            },
            5,
        );
        let ran = judged(&attacked);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        // Removed samples also need an approval.
        assert_eq!(
            ran.stdout
                .contains("[needs approval] 24 recordings of `contracts/legal` were removed"),
            is_removed,
            "{}",
            ran.stdout
        );
        let why = if is_removed {
            "more samples are planned than are recorded of lease-0, lease-1, "
        } else {
            "because values are missing in lease-0, lease-1, "
        };
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
    }
}

fn broken_ties() {
    for (last, code) in [("completed", 1), ("timeout", 3)] {
        let repository = repository(4);
        change(
            &repository,
            |_, run| Some(run.replace("Needs prior approval.", "Needs prior consent.")),
            4,
        );
        for case in 0..4 {
            for sample in [2, 3] {
                repository.replace(
                    &file(case, sample),
                    "\"change-of-control\"",
                    "\"termination\"",
                );
            }
            repository.replace(&file(case, 3), "\"completed\"", &format!("\"{last}\""));
        }
        let ran = judged(&repository);
        assert_eq!(ran.code, code, "{last}: {}{}", ran.stdout, ran.stderr);
    }
}

fn unstated() {
    let again = |run: String| run.replace("Needs prior approval.", "Needs prior consent.");
    let costly =
        |run: String| again(run).replace("\"total_tokens\": 100", "\"total_tokens\": 5000");
    let control = repository(3);
    change(
        &control,
        |sample, run| Some(if sample == 0 { again(run) } else { costly(run) }),
        3,
    );
    let ran = judged(&control);
    assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
    let attacked = repository(3);
    let silent = |run: String| again(run).replace(", \"metrics\": { \"total_tokens\": 100 }", "");
    change(
        &attacked,
        |sample, run| Some(if sample == 0 { again(run) } else { silent(run) }),
        3,
    );
    let ran = judged(&attacked);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("tokens is at least "), "{}", ran.stdout);
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
    assert!(ran.stdout.contains("tokens is at least "), "{}", ran.stdout);
}

fn one_lost() {
    let repository = repository(3);
    change(
        &repository,
        |_, run| Some(run.replace("Needs prior approval.", "Needs prior consent.")),
        3,
    );
    repository.replace(&file(4, 1), "\"completed\"", "\"timeout\"");
    let ran = judged(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Twelve cases, of which the first is the only one of its category.
fn categories(gates: &str) -> Repository {
    let repository = bases::base("answers");
    repository.replace(
        "goldgate.yaml",
        "    gates: { case_pass_rate: { min: 1.0 } }\n",
        &format!("    gates: {{ coverage: {{ min: 0.9 }}{gates} }}\n"),
    );
    repository.remove("runs");
    let case = |case: usize| {
        json!({
            "id": format!("c{case}"), "category": if case == 0 { "adversarial" } else { "happy_path" },
            "query": format!("Question {case}?"), "expected_tools": [], "expected_output_contains": ["paris"],
        })
    };
    let cases: Vec<Value> = (0..CASES).map(case).collect();
    repository.write("golden/cases.json", json!(cases).to_string());
    (0..CASES).for_each(|case| answered(&repository, case, "completed", "It is Paris."));
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository.write("prompt.md", "Name the capital, briefly.\n");
    (0..CASES).for_each(|case| answered(&repository, case, "completed", "Paris."));
    repository
}

fn answered(repository: &Repository, case: usize, status: &str, text: &str) {
    let run = json!({ "status": status, "outputs": { "text": text }, "intermediate": { "tool_calls": [] } });
    repository.write(&format!("runs/helper/c{case}.json"), run.to_string());
}

fn lost_case() {
    for (gates, others) in [
        ("", 0),
        (
            ", 'case_pass_rate[adversarial]': { min: 1.0, hard: true }",
            0,
        ),
        ("", 1),
    ] {
        let repository = categories(gates);
        answered(&repository, 0, "completed", "Lyon.");
        let ran = judged(&repository);
        assert_eq!(ran.code, 1, "the control: {}{}", ran.stdout, ran.stderr);
        answered(&repository, 0, "timeout", "");
        let ran = judged(&repository);
        assert_eq!(ran.code, 3, "{gates}: {}{}", ran.stdout, ran.stderr);
        let why = "because values are missing in c0: ";
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
        // A lost case of many could fail the gate of all cases.
        answered(&repository, 0, "completed", "Paris.");
        (0..others).for_each(|other| answered(&repository, 1 + other, "timeout", ""));
        let ran = judged(&repository);
        let code = if others == 0 { 0 } else { 3 };
        assert_eq!(ran.code, code, "{gates}: {}{}", ran.stdout, ran.stderr);
    }
}
