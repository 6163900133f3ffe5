//! Golden files that cannot be: one clear line each, with its place and its mend, and exit code 2.

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let named = CASES.iter().map(|(kind, file, text, said)| {
        trial(format!("{kind} refuses {text}"), move || refused(kind, file, text, said))
    });
    named.collect()
}

fn refused(kind: &str, file: &str, text: &str, said: &str) {
    let repository = Repository::empty();
    let path = if kind == "tool_use" { "g/c.json" } else { "g" };
    let config = format!(
        "version: 1\nsuites:\n  - id: s\n    kind: {kind}\n    path: {path}\n    agents: {{ a: {{ deterministic: {{ replay: runs }} }} }}\n"
    );
    repository.write("goldgate.yaml", config);
    repository.write(&format!("g/{file}"), text);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("g/{file}{said}")), "{}", ran.stderr);
    assert!(ran.stderr.lines().next().unwrap().contains("; "), "there is a mend: {}", ran.stderr);
}

type Case = (&'static str, &'static str, &'static str, &'static str);

const TOOL: &str = "tool_use";
const SCENE: &str = "scenarios/x.json";

const CASES: &[Case] = &[
    (TOOL, "c.json", "{}", ":1:2: the key \"cases\" is missing"),
    (TOOL, "c.json", "3", ":1:1: invalid type: integer `3`; expected a list of cases, or { \"cases\": [] }"),
    (TOOL, "c.json", "[{\"category\": \"happy\"}]", ":1:21: unknown value \"happy\"; known are happy_path"),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": \"find\"}]",
        ":1:65: invalid type: string \"find\"; expected a list",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": []}]",
        ":1:62: the key \"expected_output_contains\" is missing",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [\" \"]}]",
        ":1:93: the keyword \" \" is empty",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [\"\"], \"expected_output_contains\": []}]",
        ":1:61: a tool has no name",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"expected_flags\": {\"can_diagnos\": false}}]",
        ":1:115: unknown flag \"can_diagnos\"; did you mean \"can_diagnose\"?",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"id\": \"a b\"}]",
        ":1:102: \"a b\" is no id",
    ),
    (
        TOOL,
        "c.json",
        "[{\"category\": \"edge_case\", \"query\": \"q\", \"expected_tools\": [], \"expected_output_contains\": [], \"trajectory\": {\"mode\": \"exact\", \"steps\": []}}]",
        ":1:134: unknown key \"steps\"",
    ),
    ("evidence", "tasks/x.json", "{\"name\": \"x\"}", ":1:13: the key \"repo_path\" is missing"),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x\", \"repo_path\": \"none\", \"expected_file\": \"f\", \"expected_keyword\": \"k\"}",
        ":1:15: there is no fixture repository \"none\"",
    ),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x\", \"repo_path\": \"r\", \"expected_file\": \"../f\", \"expected_keyword\": \"k\", \"allowed_files\": []}",
        ":1:33: \"../f\" leaves the fixture repository",
    ),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x\", \"repo_path\": \"r\", \"expected_file\": \"f\", \"expected_keyword\": \" \", \"allowed_files\": []}",
        ":1:55: expected_keyword has an empty text",
    ),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x y\", \"repo_path\": \"r\", \"expected_file\": \"f\", \"expected_keyword\": \"k\", \"allowed_files\": []}",
        ": \"x y\" is no id",
    ),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x\", \"repo_path\": \"r\", \"expected_file\": \"f\", \"expected_keyword\": \"k\", \"allowed_files\": [], \"checks\": {\"max_latency_ms\": \"50ms\"}}",
        ":1:135: invalid type: string \"50ms\"; expected a whole number, 0 or more",
    ),
    (
        "evidence",
        "tasks/x.json",
        "{\"name\": \"x\", \"repo_path\": \"r\", \"expected_file\": \"f\", \"expected_keyword\": \"k\", \"allowed_files\": [], \"lifecycle\": {\"retired\": {\"date\": \"d\"}}}",
        ":1:138: the key \"reason\" is missing",
    ),
    ("reconciliation", "fixtures/x.json", "{}", ":1:2: the key \"snapshot\" is missing"),
    ("reconciliation", "fixtures/x.json", "{\"snapshot\": {}}", ":1:16: the key \"max_recommendations\" is missing"),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {}, \"max_recommendations\": -1}",
        ":1:42: invalid value: integer `-1`; expected a whole number, 0 or more",
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {\"coverage\": [\"a.rs\"]}, \"max_recommendations\": 1}",
        ":1:29: \"a.rs\" is no coverage range",
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {}, \"max_recommendations\": 1, \"expected_deltas\": [{\"item\": \"a\", \"kind\": \"ghost\"}]}",
        ":1:92: unknown value \"ghost\"",
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {}, \"max_recommendations\": 1, \"expected_deltas\": [{\"item\": \"abc\", \"kind\": \"coupled\"}, {\"item\": \"abc\", \"kind\": \"ghost_code\"}]}",
        ":1:110: \"abc\" is expected twice",
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {\"file\": []}, \"max_recommendations\": 1}",
        ":1:20: unknown key \"file\"; did you mean \"files\"?",
    ),
    ("property", "cases/x.json", "{}", ":1:2: the key \"variants\" is missing"),
    ("property", "cases/x.json", "{\"variants\": []}", ":1:3: there is no variant"),
    ("property", "cases/x.json", "{\"variants\": [{\"name\": \"v\"}]}", ":1:27: the key \"transform\" is missing"),
    (
        "property",
        "cases/x.json",
        "{\"variants\": [{\"name\": \"v\", \"transform\": \"t\"}, {\"name\": \"v\", \"transform\": \"t\"}]}",
        ":1:57: the variant \"v\" stands here twice",
    ),
    (
        "property",
        "cases/x.json",
        "{\"variants\": [{\"name\": \"a/b\", \"transform\": \"t\"}]}",
        ": \"x--a/b\" is no id",
    ),
    ("interview", SCENE, "{}", ":1:2: the key \"minimumRubricScore\" is missing"),
    ("interview", SCENE, "{\"minimumRubricScore\": 13}", ":1:2: minimumRubricScore is 13"),
    (
        "interview",
        SCENE,
        "{\"minimumRubricScore\": 9, \"expectedAtom\": []}",
        ":1:40: unknown key \"expectedAtom\"; did you mean \"expectedAtoms\"?",
    ),
    (
        "interview",
        SCENE,
        "{\"minimumRubricScore\": 9, \"expectedAtoms\": [{\"minOutcomes\": \"2\"}]}",
        ":1:63: invalid type: string \"2\"; expected a whole number, 0 or more",
    ),
    (
        "interview",
        SCENE,
        "{\"minimumRubricScore\": 9, \"invariants\": [\"all is ok\"]}",
        ":1:43: the invariant \"all is ok\" has no word of at least 4 letters",
    ),
    (
        "interview",
        SCENE,
        "{\"minimumRubricScore\": 9, \"context\": {\"constraints\": \"fast\"}}",
        ":1:39: the context's constraints are no list of texts",
    ),
    ("stochastic", SCENE, "{}", ":1:2: the key \"groundTruth\" is missing"),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": []}, \"thresholds\": {\"precision\": 1, \"recall\": 1}}",
        ":1:2: there are 1 decidedFacts and 0 keywordSets",
    ),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": [[]]}, \"thresholds\": {\"precision\": 1, \"recall\": 1}}",
        ":1:41: a set has no keyword",
    ),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": [[\"k\"]]}, \"thresholds\": {\"precision\": 2, \"recall\": 1}}",
        ":1:66: the threshold of precision is 2",
    ),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": [[\"k\"]]}, \"runs\": 0, \"thresholds\": {\"precision\": 1, \"recall\": 1}}",
        ":1:66: the number of runs is out of range",
    ),
];
