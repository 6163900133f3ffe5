//! Judges in a config and in recordings: what cannot be is refused before anything runs.

#[cfg(feature = "models")]
mod voted;

use libtest_mimic::Trial;
#[cfg(feature = "models")]
use serde_json::json;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![trial(
        "votes in a recording that goldgate never writes are refused with their place",
        bad_votes,
    )];
    #[cfg(feature = "models")]
    trials.extend(voted::trials());
    #[cfg(feature = "models")]
    trials.push(trial(
        "a program judges, and its recorded verdicts are shown without it",
        program,
    ));
    trials.extend(CONFIGS.iter().map(|(what, from, to, said)| {
        trial(
            format!("{what} is refused with its place and its mend"),
            move || refused(from, to, said),
        )
    }));
    trials
}

/// What the agent says: three deltas, so that an order can be seen.
pub const REVIEW: &str = r#"{"deltas": [
  {"item": "src/a.py", "kind": "coupled", "evidence": {"file_paths": ["src/a.py"], "test_names": [], "coverage_refs": []}},
  {"item": "src/b.py", "kind": "ghost_code", "evidence": {"file_paths": ["src/b.py"], "test_names": [], "coverage_refs": []}},
  {"item": "c", "kind": "decoupled_atom", "evidence": {"file_paths": ["src/a.py"], "test_names": [], "coverage_refs": []}}],
  "recommendations": [{"action": "Write the atom b", "success_condition": "atoms.yaml lists b"}]}"#;

const FIXTURE: &str = r#"{ "snapshot": { "files": ["src/a.py", "src/b.py"], "tests": ["t [a]"], "coverage": ["src/a.py:1-9"], "atoms": ["a", "c"] },
  "expected_deltas": [ { "item": "src/a.py", "kind": "coupled" }, { "item": "src/b.py", "kind": "ghost_code" },
    { "item": "c", "kind": "decoupled_atom" } ], "max_recommendations": 2 }"#;

/// So many cases of one agent that all pass by the rules, and a judge.
pub fn repository(cases: usize, more: &str) -> Repository {
    let repository = Repository::empty();
    let config = "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: upkeep\n    kind: reconciliation\n    policy: seed\n    path: golden\n    \
         tier: [deterministic, model]\n    agents:\n      quokka: { deterministic: { replay: runs }, fingerprint: { none: written by hand }, model: { target: live } }\n    \
         judges:\n      keeps_promises: { target: bench, rubric: rubric.md, votes: 3, labels: people.json }\n";
    repository.write("goldgate.yaml", format!("{config}{more}"));
    repository.write("rubric.md", "Keep what is promised.\n");
    repository.write("people.json", "[]\n");
    for case in 0..cases {
        repository.write(&format!("golden/fixtures/wombat-{case}.json"), FIXTURE);
        let record = format!("{{ \"status\": \"completed\",\n  \"outputs\": {REVIEW} }}\n");
        repository.write(&format!("runs/quokka/wombat-{case}.json"), record);
    }
    repository
}

const TARGETS: &str =
    "targets:\n  live: { command: [\"true\"] }\n  bench: { command: [\"sh\", \"bench.sh\"] }\n";

/// The program of docs/judges.md, as it is printed there.
#[cfg(feature = "models")]
fn program() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/judges.md")).unwrap();
    let block = |language: &str| {
        let start = format!("```{language}\n");
        let after = page
            .split("## A program as judge")
            .nth(1)
            .unwrap()
            .split(&start)
            .nth(1)
            .unwrap();
        after.split("```").next().unwrap().to_owned()
    };
    let repository = Repository::empty();
    let suite = "version: 1\nsuites:\n  - id: code\n    kind: custom\n    path: cases\n    agents: { coder: { deterministic: { replay: runs }, \
         fingerprint: { none: written by hand } } }\n";
    repository.write("goldgate.yaml", format!("{suite}{}", block("yaml")));
    repository.write(
        "checks/compiles.md",
        "Pass if the answer is valid Python, else fail.\n",
    );
    repository.write("checks/compiles.py", block("python"));
    for (case, code) in [
        ("right", "for i in range(3): print(i)"),
        ("wrong", "for i in range(3) print(i)"),
    ] {
        let golden = json!({ "input": "Write a loop.", "checks": [{ "name": "any", "expr": "text != ''" }] });
        repository.write(&format!("cases/{case}.json"), golden.to_string());
        let run = json!({ "status": "completed", "outputs": { "text": code } });
        repository.write(&format!("runs/coder/{case}.json"), run.to_string());
    }
    let ran = repository.goldgate(&["judge"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Without the program, the recorded verdicts are shown.
    repository.remove("checks/compiles.py");
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let says = "code/coder: judge compiles (advisory): of 2 cases, 1 pass, 0 weak, 1 fail";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
    let ran = repository.goldgate(&["explain", "wrong"]);
    assert!(
        ran.stdout
            .contains("    compiles: fail\n      sample 0 fail: "),
        "{}",
        ran.stdout
    );
}

fn bad_votes() {
    let repository = repository(1, TARGETS);
    repository.replace(
        "runs/quokka/wombat-0.json",
        "{ \"status\"",
        "{ \"judgements\": { \"keeps_promises\": 3 }, \"status\"",
    );
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .starts_with("runs/quokka/wombat-0.json:1:17: \"judgements\": "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("let `goldgate judge` write them"),
        "{}",
        ran.stderr
    );
}

/// What is spoiled, what stands there, what stands there then, and what is said.
const CONFIGS: &[(&str, &str, &str, &str)] = &[
    (
        "a gate on a judge",
        "    judges:\n",
        "    gates: { keeps_promises: { min: 0.8 } }\n    judges:\n",
        "goldgate.yaml:11:14: the judge \"keeps_promises\" has a gate, but LLM judges are advisory and never gate; remove the gate",
    ),
    (
        "a judge of an unknown target",
        "target: bench",
        "target: bunch",
        "goldgate.yaml:12:25: no target is called \"bunch\"; did you mean \"bench\"?",
    ),
    (
        "an even number of votes",
        "votes: 3",
        "votes: 4",
        "goldgate.yaml:12:59: votes is 4; write an odd number from 1 to 15",
    ),
    (
        "no vote at all",
        "votes: 3",
        "votes: 0",
        "goldgate.yaml:12:59: votes is 0",
    ),
    (
        "too many votes",
        "votes: 3",
        "votes: 17",
        "goldgate.yaml:12:59: votes is 17",
    ),
    (
        "a floor that no kappa reaches",
        "votes: 3",
        "kappa: 1.5",
        "goldgate.yaml:12:59: kappa is 1.5; write the agreement to exceed, 0 to 1",
    ),
    (
        "a judge without a rubric",
        "rubric: rubric.md, ",
        "",
        "goldgate.yaml:12:",
    ),
    (
        "a rubric that is not there",
        "rubric: rubric.md",
        "rubric: rubrik.md",
        "rubrik.md: the file does not exist",
    ),
    (
        "a rubric that says nothing",
        "rubric: rubric.md",
        "rubric: empty.md",
        "empty.md: the rubric is empty; describe when an output is a pass, weak or a fail",
    ),
    (
        "labels that are not there",
        "labels: people.json",
        "labels: pupils.json",
        "pupils.json: the file does not exist",
    ),
    (
        "labels of a case that there is not",
        "labels: people.json",
        "labels: strangers.json",
        "strangers.json:1:12: a label is about \"gnu\", which is not a case of the suite; fix its case",
    ),
    (
        "an unknown key of a judge",
        "votes: 3",
        "vote: 3",
        "goldgate.yaml:12:59: unknown key \"vote\"; did you mean \"votes\"?",
    ),
    (
        "a judge that is called as a metric",
        "keeps_promises: {",
        "delta_recall: {",
        "goldgate.yaml:12:7: kind reconciliation already has a metric \"delta_recall\"; give the judge another name, such as judged_delta_recall",
    ),
    (
        "a judge with an invalid name",
        "keeps_promises: {",
        "\"keeps promises\": {",
        "goldgate.yaml:12:7: \"keeps promises\" is not a valid id",
    ),
];

fn refused(from: &str, to: &str, said: &str) {
    let repository = repository(1, TARGETS);
    repository.write("empty.md", " \n");
    let label = r#"[{ "case": "gnu", "verdict": "pass", "by": "Subject A", "reason": "fine" }]"#;
    repository.write("strangers.json", label);
    repository.replace("goldgate.yaml", from, to);
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}
