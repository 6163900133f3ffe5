//! `goldgate selftest`: suites that cannot fail are named.

use libtest_mimic::Trial;

use crate::repository::{Repository, program, ran, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a suite that can fail passes the self-test", sound),
        trial(
            "a case that an agent passes which knows nothing is named",
            vacuous,
        ),
        trial(
            "a case whose recordings can be broken unnoticed is named",
            unnoticed,
        ),
        trial(
            "an agent that always says the same is stable, and passes no property that says what is right",
            stable,
        ),
        trial(
            "an agent that always says the same passes no scenario that refuses identical runs",
            identical,
        ),
        trial(
            "the bundled suites can fail, as far as a debug build grades them in time",
            bundled,
        ),
    ]
}

fn sound() {
    let ran = Repository::small().goldgate(&["selftest"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.ends_with("all cases can fail\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("the keyword-stuffing agent: passes 0 cases\n"),
        "{}",
        ran.stdout
    );
}

const NOTHING: &str = r#"{ "expected_findings": [] }"#;

fn vacuous() {
    let repository = Repository::small();
    repository.write("golden/expected/legal/lease.json", NOTHING);
    let ran = repository.goldgate(&["selftest"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("  contracts/legal/lease: the echo agent passes it: check for"),
        "{}",
        ran.stdout
    );
    // With a limit that says what nothing means, it can fail.
    repository.write(
        "golden/expected/legal/lease.json",
        r#"{ "expected_findings": [], "max_expected_findings": 0 }"#,
    );
    repository.write(
        "golden/runs/legal/lease.json",
        r#"{"status": "completed", "outputs": {"findings": [], "gaps": []}}"#,
    );
    let ran = repository.goldgate(&["selftest"]);
    assert!(!ran.stdout.contains("agent passes it"), "{}", ran.stdout);
}

const CONFIG: &str = "version: 1\nsuites:\n  - id: chat\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n      \
                      assistant: { deterministic: { replay: runs }, fingerprint: { none: written by hand } }\n";
const CASE: &str = r#"[{ "id": "greeting", "category": "happy_path", "query": "Hello?", "expected_tools": [],
  "expected_output_contains": [KEYWORDS] }]"#;

fn unnoticed() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    repository.write("cases.json", CASE.replace("KEYWORDS", ""));
    let run =
        r#"{"status": "completed", "outputs": {"text": "Hello, what may I do for you today?"}}"#;
    repository.write("runs/assistant/greeting.json", run);
    let ran = repository.goldgate(&["selftest"]);
    let line = "  chat/assistant/greeting: it still passes with each of 2 mutants of its recordings: check more of the answer\n";
    assert!(
        ran.code == 1 && ran.stdout.contains(line),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = repository.goldgate(&["selftest", "-v"]);
    let named = "  chat/assistant/greeting: not detected: the text /text is \"something else\"\n";
    assert!(ran.stdout.contains(named), "{}", ran.stdout);
    repository.write("cases.json", CASE.replace("KEYWORDS", "\"what may I do\""));
    let ran = repository.goldgate(&["selftest"]);
    assert!(
        ran.stdout
            .contains("mutants of recordings: 2 of 2 detected, in 1 case\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("is noticed: check"), "{}", ran.stdout);
}

const STABILITY: &str = "version: 1\nsuites:\n  - id: stability\n    kind: property\n    policy: seed\n    path: suite\n    agents:\n      \
                         sorter: { deterministic: { replay: runs }, fingerprint: { none: written by hand } }\n";

fn stable() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", STABILITY);
    let case =
        r#"{ EXPECTED "variants": [ { "name": "locals", "transform": "locals renamed" } ] }"#;
    repository.write("suite/cases/rename.json", case.replace("EXPECTED", ""));
    let run = r#"{"status": "completed", "outputs": {"deltas": [{"item": "src/round.py", "kind": "ghost_code"}]}}"#;
    repository.write("runs/sorter/rename.json", run);
    repository.write("runs/sorter/rename--locals.json", run);
    let ran = repository.goldgate(&["selftest"]);
    let line = "  stability/sorter/rename: the keyword-stuffing agent passes it: check for";
    assert!(
        ran.code == 1 && ran.stdout.contains(line),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let expected = r#""expected_deltas": [ { "item": "src/round.py", "kind": "ghost_code" } ],"#;
    repository.write(
        "suite/cases/rename.json",
        case.replace("EXPECTED", expected),
    );
    let ran = repository.goldgate(&["selftest"]);
    assert!(
        ran.code == 0 && ran.stdout.ends_with("all cases can fail\n"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

const VARIABILITY: &str = "version: 1\nsuites:\n  - id: refunds\n    kind: stochastic\n    policy: seed\n    path: suite\n    GATES\n    agents:\n      \
                           asker: { deterministic: { replay: runs }, fingerprint: { none: written by hand } }\n";
const SCENARIO: &str = r#"{ "groundTruth": { "decidedFacts": ["refunds within 30 days", "no cash"],
  "keywordSets": [["refund", "30 days"], ["voucher", "no cash"]] },
  "runs": 2, "thresholds": { "precision": 0.7, "recall": 0.8 } }"#;

fn identical() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", VARIABILITY.replace("GATES", "gates: {}"));
    repository.write("suite/scenarios/refund.json", SCENARIO);
    for (sample, last) in ["a voucher, no cash", "a voucher instead: no cash is paid"]
        .into_iter()
        .enumerate()
    {
        let atoms = format!(
            r#"[{{"description": "A refund within 30 days"}}, {{"description": "{last}"}}]"#
        );
        let run = format!(r#"{{"status": "completed", "outputs": {{"atoms": {atoms}}}}}"#);
        repository.write(&format!("runs/asker/refund/{sample}.json"), run);
    }
    let ran = repository.goldgate(&["selftest"]);
    let line = "  refunds/asker/refund: the keyword-stuffing agent passes it: check for";
    assert!(
        ran.code == 1 && ran.stdout.contains(line),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let gate = "gates: { identical_runs: { max: 0, hard: true } }";
    repository.write("goldgate.yaml", VARIABILITY.replace("GATES", gate));
    let ran = repository.goldgate(&["selftest"]);
    assert!(
        ran.code == 0 && ran.stdout.ends_with("all cases can fail\n"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// What a debug build grades in time. `.ci/run` looks at every case, with an optimised build.
const IN_TIME: [&str; 8] = [
    "triggers",
    "cross",
    "assistant",
    "interview",
    "variability",
    "reconciliation",
    "stability",
    "evidence",
];
/// The documents in which there is nothing to find: what an echo would pass first.
const TRAPS: [&str; 4] = [
    "employee-handbook",
    "supplier-newsletter",
    "negotiation-training-manual",
    "mutual-nda",
];

fn bundled() {
    let traps = TRAPS.into_iter().flat_map(|case| ["--case", case]);
    for chosen in [
        IN_TIME
            .into_iter()
            .flat_map(|suite| ["--suite", suite])
            .collect::<Vec<_>>(),
        ["--suite", "contracts"].into_iter().chain(traps).collect(),
    ] {
        let ran = ran(program(root()).arg("selftest").args(chosen));
        assert!(
            ran.code == 0 && ran.stdout.ends_with("all cases can fail\n"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}
