//! `goldgate selftest`: suites that cannot fail are named.

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a suite that can fail passes the self-test", sound),
        trial("a case that an agent passes which knows nothing is named", vacuous),
        trial("a case whose recordings can be broken unnoticed is named", unnoticed),
    ]
}

fn sound() {
    let ran = Repository::small().goldgate(&["selftest"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("every case can fail\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the keyword-stuffing agent: passes 0 cases\n"), "{}", ran.stdout);
}

const NOTHING: &str = r#"{ "expected_findings": [] }"#;

fn vacuous() {
    let repository = Repository::small();
    repository.write("golden/expected/legal/lease.json", NOTHING);
    let ran = repository.goldgate(&["selftest"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("  contracts/legal/lease: the echo agent passes it: ask for"), "{}", ran.stdout);
    // With a limit that says what nothing means, it can fail.
    repository.write("golden/expected/legal/lease.json", r#"{ "expected_findings": [], "max_expected_findings": 0 }"#);
    repository
        .write("golden/runs/legal/lease.json", r#"{"status": "completed", "outputs": {"findings": [], "gaps": []}}"#);
    let ran = repository.goldgate(&["selftest"]);
    assert!(!ran.stdout.contains("agent passes it"), "{}", ran.stdout);
}

const CONFIG: &str = "version: 1\nsuites:\n  - id: chat\n    kind: tool_use\n    path: cases.json\n    agents:\n      \
                      assistant: { deterministic: { replay: runs } }\n";
const CASE: &str = r#"[{ "id": "greeting", "category": "happy_path", "query": "Hello?", "expected_tools": [],
  "expected_output_contains": [KEYWORDS] }]"#;

fn unnoticed() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    repository.write("cases.json", CASE.replace("KEYWORDS", ""));
    let run = r#"{"status": "completed", "outputs": {"text": "Hello, what may I do for you today?"}}"#;
    repository.write("runs/assistant/greeting.json", run);
    let ran = repository.goldgate(&["selftest"]);
    let line = "  chat/assistant/greeting: none of 2 mutants of its recordings is noticed: check more of the answer\n";
    assert!(ran.code == 1 && ran.stdout.contains(line), "{}{}", ran.stdout, ran.stderr);
    repository.write("cases.json", CASE.replace("KEYWORDS", "\"what may I do\""));
    let ran = repository.goldgate(&["selftest"]);
    assert!(ran.stdout.contains("mutants of recordings: 2 of 2 are noticed, in 1 case\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("is noticed: check"), "{}", ran.stdout);
}
