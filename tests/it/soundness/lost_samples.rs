//! Samples that a change loses where its agent became worse: what is lost turns no case unseen, wherever it is.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::base_values::{behind, record_changed_agent};
use super::{bases, goldgate};
use crate::golden_changes::{commit_all, git, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| trial(row.name, move || one(row)))
        .collect();
    trials.extend([
        trial(
            "an agent that stops quoting is seen while main is behind its baseline",
            quotes,
        ),
        trial(
            "lost runs of a scenario count for the numbers of the whole scenario",
            scenario,
        ),
        trial(
            "removed samples of a case that the baseline lacks need an approval",
            not_in_the_baseline,
        ),
    ]);
    trials
}

/// A sample of a case.
#[derive(Clone, Copy, PartialEq)]
enum Sample {
    Right,
    Wrong,
    /// It is wrong, and recorded as a timeout.
    Lost,
    /// It has no recording.
    Removed,
}

use Sample::{Lost, Right, Wrong};

/// Cases with five right samples each at the baseline, and two changes of their agent: one with all samples, and one where some of the
/// wrong samples are lost.
struct Row {
    name: &'static str,
    cases: usize,
    gate: &'static str,
    /// Whether the first case is wrong on main, which the baseline does not say yet.
    is_behind: bool,
    /// Right samples that the cases from the seventh on have in addition.
    further: usize,
    /// The change with all samples, by case and sample.
    whole: fn(usize, usize) -> Sample,
    code: i32,
    /// The change with lost samples.
    lossy: fn(usize, usize) -> Sample,
    verdict: i32,
    says: &'static str,
}

const HARD: &str = "case_pass_rate: { min: baseline, hard: true, otherwise: 0.5 }";

const BAND: &str = "case_pass_rate: { min: baseline, hard: false, zone: 0.05, otherwise: 0.5 }";

const FEWER: &str = "because values are missing in c0, c1, ";

/// A quarter of 40 cases becomes wrong in three of five samples, of which two are lost.
const PLAIN: Row = Row {
    name: "lost samples that decide a quarter of the cases are not few",
    cases: 40,
    gate: HARD,
    is_behind: false,
    further: 0,
    whole: |case, sample| {
        if case < 10 {
            mostly_wrong(sample)
        } else {
            Right
        }
    },
    code: 1,
    lossy: |case, sample| {
        if case < 10 {
            mostly_lost(sample)
        } else {
            Right
        }
    },
    verdict: 3,
    says: FEWER,
};

const ROWS: &[Row] = &[
    PLAIN,
    Row {
        name: "lost samples that decide a tenth of the cases give no verdict",
        whole: |case, sample| {
            if case < 4 {
                mostly_wrong(sample)
            } else {
                Right
            }
        },
        lossy: |case, sample| if case < 4 { mostly_lost(sample) } else { Right },
        ..PLAIN
    },
    Row {
        name: "lost samples in a gate that main excuses give no verdict",
        is_behind: true,
        whole: |case, sample| {
            if case < 6 {
                first_or(case, mostly_wrong(sample))
            } else {
                Right
            }
        },
        lossy: |case, sample| {
            if case < 6 {
                first_or(case, mostly_lost(sample))
            } else {
                Right
            }
        },
        says: "because values are missing in c1, ",
        ..PLAIN
    },
    Row {
        name: "lost samples in another gate than the one that main excuses give no verdict",
        cases: 12,
        is_behind: true,
        whole: |case, sample| {
            if case < 7 {
                first_or(case, mostly_wrong(sample))
            } else {
                Right
            }
        },
        lossy: |case, sample| {
            if case < 7 {
                first_or(case, mostly_lost(sample))
            } else {
                Right
            }
        },
        says: "because values are missing in c1, ",
        ..PLAIN
    },
    Row {
        name: "lost samples of the case that fails on main prevent no excuse",
        cases: 5,
        is_behind: true,
        whole: |case, _| first_or(case, Right),
        code: 0,
        lossy: |case, sample| {
            if case == 0 && sample > 2 {
                Lost
            } else {
                first_or(case, Right)
            }
        },
        verdict: 0,
        says: "excused because the base branch fails",
        ..PLAIN
    },
    Row {
        name: "one more wrong case does not keep a gate with a band from giving no verdict",
        gate: BAND,
        whole: |case, sample| {
            if case < 5 {
                mostly_wrong(sample)
            } else {
                Right
            }
        },
        lossy: |case, sample| match case {
            // With this case wrong, and without the lost samples, the number is in the band.
            39 => Wrong,
            0..5 => mostly_lost(sample),
            10..22 if sample == 4 => Lost,
            _ => Right,
        },
        ..PLAIN
    },
    Row {
        name: "a number in its band passes with one lost sample",
        gate: BAND,
        whole: |case, _| if case == 39 { Wrong } else { Right },
        code: 0,
        lossy: |case, sample| {
            if (case, sample) == (0, 4) {
                Lost
            } else {
                first_or(39 - case, Right)
            }
        },
        verdict: 0,
        says: "1 gate is inconclusive: helper case_pass_rate 97.5%",
        ..PLAIN
    },
    Row {
        name: "further samples of other cases do not make the lost ones few",
        cases: 12,
        further: 20,
        whole: |case, sample| {
            if case < 5 {
                mostly_wrong(sample)
            } else {
                Right
            }
        },
        lossy: |case, sample| if case < 5 { mostly_lost(sample) } else { Right },
        ..PLAIN
    },
];

/// Three of five samples are wrong.
fn mostly_wrong(sample: usize) -> Sample {
    if sample < 2 { Right } else { Wrong }
}

/// The same, and two of the wrong ones are lost, so that most of the others are right.
fn mostly_lost(sample: usize) -> Sample {
    if sample > 2 {
        Lost
    } else {
        mostly_wrong(sample)
    }
}

/// The first case is wrong.
fn first_or(case: usize, other: Sample) -> Sample {
    if case == 0 { Wrong } else { other }
}

fn case(id: &str) -> Value {
    json!({
        "id": id, "category": "happy_path", "query": format!("Question {id}?"), "expected_tools": [],
        "expected_output_contains": ["paris"],
    })
}

/// Records a sample in the words of an agent's version.
fn record(repository: &Repository, id: &str, number: usize, sample: Sample, version: &str) {
    let (status, city) = match sample {
        Right => ("completed", "Paris"),
        Wrong => ("completed", "Lyon"),
        Lost => ("timeout", "Lyon"),
        Sample::Removed => return repository.remove(&format!("runs/helper/{id}/{number}.json")),
    };
    let run = json!({
        "status": status, "outputs": { "text": format!("{city}, {version}.") }, "intermediate": { "tool_calls": [] },
    });
    repository.write(&format!("runs/helper/{id}/{number}.json"), run.to_string());
}

/// Cases with five right samples each, and a baseline of them, on the branch main.
fn right(cases: usize, gate: &str) -> Repository {
    let repository = bases::base("answers");
    repository.replace("goldgate.yaml", "case_pass_rate: { min: 1.0 }", gate);
    repository.remove("runs");
    let golden: Vec<Value> = (0..cases).map(|index| case(&format!("c{index}"))).collect();
    repository.write("golden/cases.json", json!(golden).to_string());
    for index in 0..cases {
        (0..5).for_each(|number| record(&repository, &format!("c{index}"), number, Right, "v1"));
    }
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

/// Changes the agent and records all cases again.
fn change(
    repository: &Repository,
    row: &Row,
    version: &str,
    samples: impl Fn(usize, usize) -> Sample,
) {
    repository.write("prompt.md", format!("Name the capital, {version}.\n"));
    for index in 0..row.cases {
        let further = if index < 6 { 0 } else { row.further };
        for number in 0..5 + further {
            let sample = if number < 5 {
                samples(index, number)
            } else {
                Right
            };
            record(repository, &format!("c{index}"), number, sample, version);
        }
    }
}

fn against_main(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "main"].map(str::to_owned))
}

fn one(row: &Row) {
    let repository = right(row.cases, row.gate);
    if row.is_behind {
        change(&repository, row, "v2", |case, _| first_or(case, Right));
        commit_all(&repository);
    }
    change(&repository, row, "v3", row.whole);
    let ran = against_main(&repository);
    assert_eq!(
        ran.code, row.code,
        "the control: {}{}",
        ran.stdout, ran.stderr
    );
    change(&repository, row, "v3", row.lossy);
    let ran = against_main(&repository);
    assert_eq!(ran.code, row.verdict, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(row.says), "{}", ran.stdout);
}

/// Every recording is complete: eleven of twelve answers only lack their quote.
fn quotes() {
    let without_quotes = |behind_by: usize, drops: bool| {
        let repository = behind(
            "contracts",
            "severity_accuracy: { min: baseline, hard: true }",
            0..behind_by,
        );
        record_changed_agent(&repository);
        let quote = ", \"quote\": \"a change of control\"";
        (1..12)
            .filter(|_| drops)
            .for_each(|case| repository.replace(&recording(case), quote, ""));
        against_main(&repository)
    };
    let ran = without_quotes(1, false);
    assert!(
        ran.code == 0 && ran.stdout.contains("excused"),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    for behind_by in [0, 1] {
        let ran = without_quotes(behind_by, true);
        assert_eq!(ran.code, 3, "{behind_by}: {}{}", ran.stdout, ran.stderr);
        let why = "because values are missing in lease-1, ";
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
    }
}

const STOCHASTIC: &str = "\
version: 1
baseline: baselines/latest.json
suites:
  - id: talks
    kind: stochastic
    policy: seed
    path: golden
    agents: { who: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }
";

/// Three scenarios with nine runs each; the last runs of the first one find nothing, or are lost.
fn scenarios(prompt: &str, nothing: usize, lost: usize) -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    repository.write("goldgate.yaml", STOCHASTIC);
    for scenario in 0..3 {
        let golden = json!({
            "scenarioId": format!("s{scenario}"), "personaVariant": "terse", "runs": 9,
            "groundTruth": {
                "decidedFacts": ["refunds within 30 days", "no cash"],
                "keywordSets": [["refund", "30 days"], ["voucher", "no cash"]],
            },
            "thresholds": { "precision": 0.7, "recall": 0.7 },
        });
        repository.write(
            &format!("golden/scenarios/s{scenario}.json"),
            golden.to_string(),
        );
    }
    scenario_runs(&repository, "v1", 0, 0);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    scenario_runs(&repository, prompt, nothing, lost);
    repository
}

fn scenario_runs(repository: &Repository, prompt: &str, nothing: usize, lost: usize) {
    repository.write("prompt.md", prompt);
    for (scenario, number) in
        (0..3).flat_map(|scenario| (0..9).map(move |number| (scenario, number)))
    {
        let from_end = if scenario == 0 { 8 - number } else { 8 };
        let atoms = match from_end < nothing {
            true => {
                json!([{ "description": format!("Returns are free, {prompt}") }, { "description": "x" }])
            }
            false => json!([
                { "description": format!("A refund within 30 days, {prompt} {number}") },
                { "description": "A voucher, no cash" },
            ]),
        };
        let status = if from_end < lost {
            "timeout"
        } else {
            "completed"
        };
        let run = json!({ "status": status, "outputs": { "atoms": atoms } });
        repository.write(
            &format!("runs/who/s{scenario}/{number}.json"),
            run.to_string(),
        );
    }
}

fn scenario() {
    for (nothing, lost, code) in [(3, 0, 1), (3, 3, 3), (0, 1, 3), (0, 0, 0)] {
        let ran = against_main(&scenarios("v2", nothing, lost));
        assert_eq!(
            ran.code, code,
            "{nothing} {lost}: {}{}",
            ran.stdout, ran.stderr
        );
        let says = "because values are missing in s0: its gate could fail";
        assert_eq!(ran.stdout.contains(says), code == 3, "{}", ran.stdout);
    }
}

/// One change adds cases, and the next one removes their wrong samples before the baseline has them.
fn not_in_the_baseline() {
    let row = Row { cases: 12, ..PLAIN };
    let judged = |samples: fn(usize) -> Sample| {
        let repository = right(12, HARD);
        let golden: Vec<Value> = (0..12)
            .map(|index| case(&format!("c{index}")))
            .chain([case("new-0"), case("new-1")])
            .collect();
        repository.write("golden/cases.json", json!(golden).to_string());
        let all = || {
            ["new-0", "new-1"]
                .into_iter()
                .flat_map(|id| (0..5).map(move |number| (id, number)))
        };
        all().for_each(|(id, number)| record(&repository, id, number, Right, "v1"));
        let ran = against_main(&repository);
        assert_eq!(
            ran.code, 0,
            "new cases need no label: {}{}",
            ran.stdout, ran.stderr
        );
        commit_all(&repository);
        change(&repository, &row, "v2", |_, _| Right);
        all().for_each(|(id, number)| record(&repository, id, number, samples(number), "v2"));
        against_main(&repository)
    };
    let removed = "[needs approval] 6 recordings of `answers/helper` were removed from cases that keep others";
    let ran = judged(|_| Right);
    assert!(
        ran.code == 0 && !ran.stdout.contains(removed),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = judged(mostly_wrong);
    assert!(
        ran.code == 1 && !ran.stdout.contains(removed),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = judged(|number| if number < 2 { Right } else { Sample::Removed });
    assert!(
        ran.code == 1 && ran.stdout.contains(removed),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        ran.stdout
            .contains("Merge blocked: 1 golden change needs an approval."),
        "{}",
        ran.stdout
    );
}
