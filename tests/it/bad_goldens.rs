//! Golden files that cannot be: one clear line each, with its place and its mend, and exit code 2.

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let named = CASES.iter().map(|(kind, file, text, said)| {
        trial(format!("{kind} refuses {text}"), move || refused(kind, file, text, said))
    });
    named
        .chain([
            trial("an id that two files state is refused at the second", an_id_of_two_files),
            trial("a fixture repository has a thousand folders at most in one folder", many_folders),
            trial("a case that cannot be read does not move the place of another", two_problems),
        ])
        .collect()
}

fn an_id_of_two_files() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("KIND", "interview").replace("PATH", "g"));
    repository.write("g/scenarios/a.json", r#"{"minimumRubricScore": 9, "scenarioId": "one"}"#);
    repository.write("g/scenarios/b.json", "{\n  \"minimumRubricScore\": 9,\n  \"scenarioId\": \"one\"\n}\n");
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let said = "g/scenarios/b.json:3:17: the id \"one\" is also that of g/scenarios/a.json; give each case its own id";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

fn many_folders() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("KIND", "evidence").replace("PATH", "g"));
    let task = r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k"}"#;
    repository.write("g/tasks/x.json", task);
    repository.write("g/r/f", "k");
    repository.write("runs/a/x.json", r#"{"status": "completed", "outputs": {}}"#);
    let folder = |number: usize| std::fs::create_dir(repository.path(&format!("g/r/{number}"))).unwrap();
    (0..1000).for_each(folder);
    let fine = repository.goldgate(&["check"]);
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    folder(1000);
    let ran = repository.goldgate(&["check"]);
    let said = "g/tasks/x.json:1:15: the fixture repository has too many folders; ";
    assert!(ran.code == 2 && ran.stderr.starts_with(said), "{}", ran.stderr);
}

fn two_problems() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("KIND", "tool_use").replace("PATH", "g/c.json"));
    let case =
        r#"{"id": "c", "category": "edge_case", "query": "q", "expected_tools": [], "expected_output_contains": []}"#;
    repository.write("g/c.json", format!("[\n{{\"category\": \"happy\"}},\n{case},\n{case}\n]"));
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("g/c.json:2:20: unknown value \"happy\""), "{}", ran.stderr);
    assert!(lines[1].starts_with("g/c.json:4:8: the id \"c\" stands here twice"), "{}", ran.stderr);
}

fn refused(kind: &str, file: &str, text: &str, said: &str) {
    let repository = Repository::empty();
    let path = if kind == "tool_use" { "g/c.json" } else { "g" };
    repository.write("goldgate.yaml", CONFIG.replace("KIND", kind).replace("PATH", path));
    repository.write(&format!("g/{file}"), text);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("g/{file}{said}")), "{}", ran.stderr);
    assert!(ran.stderr.lines().next().unwrap().contains("; "), "there is a mend: {}", ran.stderr);
}

const CONFIG: &str = "\
version: 1
suites:
  - id: s
    kind: KIND
    path: PATH
    agents: { a: { deterministic: { replay: runs } } }
";

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
        "{\"name\": \"x y\", \"repo_path\": \"r\", \"expected_file\": \"f\", \"expected_keyword\": \"k\", \"allowed_files\": [\"f\"]}",
        ":1:10: \"x y\" is no id",
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
        ":1:28: \"a.rs\" is no coverage range",
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
        ":1:109: \"abc\" is expected twice",
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        "{\"snapshot\": {\"file\": []}, \"max_recommendations\": 1}",
        ":1:20: unknown key \"file\"; did you mean \"files\"?",
    ),
    ("property", "cases/x.json", "{}", ":1:2: the key \"variants\" is missing"),
    ("property", "cases/x.json", "{\"variants\": []}", ":1:14: there is no variant"),
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
        ":1:24: \"x--a/b\" is no id",
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
        ":1:42: the invariant \"all is ok\" has no word of at least 4 letters",
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
        ":1:57: a set has no keyword",
    ),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": [[\"k\"]]}, \"thresholds\": {\"precision\": 2, \"recall\": 1}}",
        ":1:94: the threshold of precision is 2",
    ),
    (
        "stochastic",
        SCENE,
        "{\"groundTruth\": {\"decidedFacts\": [\"a\"], \"keywordSets\": [[\"k\"]]}, \"runs\": 0, \"thresholds\": {\"precision\": 1, \"recall\": 1}}",
        ":1:66: the number of runs is out of range",
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "expected_files": "g"}"#,
        r#":1:119: unknown key "expected_files"; did you mean "expected_file"?"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "/etc/passwd", "expected_keyword": "k", "allowed_files": ["f"]}"#,
        r#":1:33: "/etc/passwd" leaves the fixture repository; write a path inside of it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f", "a/../../g"]}"#,
        r#":1:103: "a/../../g" leaves the fixture repository; write a path inside of it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": []}"#,
        r#":1:97: no file may be inspected; name the files"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "question": " ", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"]}"#,
        r#":1:45: the question is empty; write it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "a/b", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"]}"#,
        r#":1:10: "a/b" is no id; an id starts with"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"context_budget_tokens": 0}}"#,
        r#":1:140: context_budget_tokens is 0; write 1 or more"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"policy_violations": {"network": 1, "network": 2}}}"#,
        r#":1:151: the key "network" stands here twice; keep one of them"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"policy_violations": {"network": -1}}}"#,
        r#":1:149: invalid value: integer `-1`; expected a whole number, 0 or more"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"policy_violations": {"": 1}}}"#,
        r#":1:137: a category of policy violations has no name; name it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"required_events": ["start", ""]}}"#,
        r#":1:144: a required event is empty; write it, or remove it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "checks": {"forbidden_strings": ["rm -rf", "  "]}}"#,
        r#":1:147: forbidden_strings has an empty text; write a word"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "lifecycle": {"reviewed": "2026-02-30"}}"#,
        r#":1:130: "2026-02-30" is no day; write it as YYYY-MM-DD"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "lifecycle": {"retired": {"date": "last week", "reason": "r"}}}"#,
        r#":1:138: "last week" is no day; write it as YYYY-MM-DD"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "lifecycle": {"retired": {"date": "2026-01-31", "reason": ""}}}"#,
        r#":1:162: the reason why a task is retired is empty; write it"#,
    ),
    (
        "evidence",
        "tasks/x.json",
        r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k", "allowed_files": ["f"], "quarantine": {"owner": "o", "reason": "r", "expires": "2026-12-22"}}"#,
        r#":1:159: the quarantine of "x" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "expected_deltas": [{"item": "a", "kind": "ghost_cod"}]}"#,
        r#":1:113: unknown value "ghost_cod"; did you mean "ghost_code"?"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "expected_deltas": [{"item": "ab", "kind": "coupled"}, {"item": "ab", "kind": "coupled"}], "rule": "ab"}"#,
        r#":1:125: "ab" is expected twice; an item has one kind"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "expected_deltas": [{"item": " ", "kind": "coupled"}]}"#,
        r#":1:90: an expected item is empty; write it, or remove it"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs", "../a.rs"]}, "max_recommendations": 1}"#,
        r#":1:33: "../a.rs" is no path inside the repository; write it"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"tests": ["a.rs:9-3", ""]}, "max_recommendations": 1}"#,
        r#":1:37: the name of a test is empty; write it, or remove it"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"tests": ["a.rs:9-3"], "coverage": ["a.rs:9-3"]}, "max_recommendations": 1}"#,
        r#":1:51: "a.rs:9-3" is no coverage range; write path:from-to"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {}, "max_recommendations": 1.5}"#,
        r#":1:43: invalid type: floating point `1.5`; expected a whole number, 0 or more"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {}, "max_recommendations": 1, "max_recommendations": 2}"#,
        r#":1:64: the key "max_recommendations" stands here twice; keep one of them"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "rule": " "}"#,
        r#":1:69: the rule is empty; write it, or remove it"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "quarantine": {"reason": "r", "expires": "2026-12-01"}}"#,
        r#":1:114: the key "owner" is missing; add "owner""#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "quarantine": {"owner": " ", "reason": "r", "expires": "2026-12-01"}}"#,
        r#":1:85: the quarantine of "x" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
    (
        "reconciliation",
        "fixtures/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "max_recommendations": 1, "quarantine": {"owner": "o", "reason": " ", "expires": "2026-12-01"}}"#,
        r#":1:100: the quarantine of "x" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"snapshot": {"files": ["a.rs"]}, "variants": [{"name": "v", "transform": "t"}]}"#,
        r#":1:57: the case and its variant "v" do not both have a snapshot; give"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"snapshot": {}, "variants": [{"name": "v", "transform": "t", "snapshot": {"coverage": ["a.rs"]}}]}"#,
        r#":1:89: "a.rs" is no coverage range; write path:from-to"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": {"name": "v"}}"#,
        r#":1:14: invalid type: an object; expected a list"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "", "transform": "t"}]}"#,
        r#":1:24: the name of a variant is empty; write it"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "v", "transform": "  "}]}"#,
        r#":1:42: the transform of a variant is empty; write it"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "v", "transforms": "t"}]}"#,
        r#":1:40: unknown key "transforms"; did you mean "transform"?"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "a", "transform": "t"}, {"name": "b c", "transform": "t"}]}"#,
        r#":1:57: "x--b c" is no id; an id starts with"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "v", "transform": "v"}, {"name": "v", "transform": "v"}]}"#,
        r#":1:57: the variant "v" stands here twice; give each"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": 3, "transform": "t"}]}"#,
        r#":1:24: invalid type: integer `3`; expected a string"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "v", "transform": "t"#,
        r#":1:43: this is no JSON: EOF while parsing a string; correct the syntax here"#,
    ),
    (
        "property",
        "cases/x y.json",
        r#"{"variants": [{"name": "v", "transform": "t"}]}"#,
        r#":1:1: "x y" is no id; an id starts with"#,
    ),
    (
        "property",
        "cases/x.json",
        r#"{"variants": [{"name": "v", "transform": "t"}], "quarantine": {"owner": "o", "reason": "r", "expires": "2026-11-31"}}"#,
        r#":1:104: the quarantine of "x" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "expectedAtoms": [{"minOutcomes": 1}, {}]}"#,
        r#":1:65: an expected atom asks for nothing; state"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "expectedAtoms": [{"descriptionContainsAny": ["a"]}, {"descriptionContainsAny": ["a", ""]}]}"#,
        r#":1:113: the keyword "" is empty; write a word"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "expectedAtoms": [{"categoryOneOf": ["security", " "]}]}"#,
        r#":1:76: the category is empty; name a category"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "expectedAtoms": [{"minOutcomes": -1}]}"#,
        r#":1:62: invalid value: integer `-1`; expected a whole number, 0 or more"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "expectedAtoms": [{"minOutcomes": 1, "rule": ""}]}"#,
        r#":1:72: the rule is empty; write it"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "scenarioId": "a/b"}"#,
        r#":1:41: "a/b" is no id; an id starts with"#,
    ),
    ("interview", SCENE, r#"{"minimumRubricScore": 1e999}"#, r#":1:28: the number is out of range; write one"#),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "context": {"constraints": ["must be fast"], "constraints": []}}"#,
        r#":1:72: the key "constraints" stands here twice; keep one of them"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "context": {"note": "all", "constraints": ["must be fast", "all"]}}"#,
        r#":1:86: the invariant "all" has no word of at least 4 letters; name what"#,
    ),
    (
        "interview",
        SCENE,
        r#"{"minimumRubricScore": 9, "quarantine": {"owner": "o", "reason": "r", "expires": "2027-11-21"}}"#,
        r#":1:82: the quarantine of "x" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
    (
        "interview",
        SCENE,
        "\u{feff}{\"minimumRubricScore\": 9}",
        r#":1:1: the file starts with a byte order mark; save it as UTF-8 without a BOM"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a", "b"], "keywordSets": [["k"], ["k", " "]]}, "thresholds": {"precision": 1, "recall": 1}}"#,
        r#":1:75: the keyword " " is empty; write a word"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["recall"], "keywordSets": [["recall"]]}, "thresholds": {"precision": 1, "recall": -0.1}}"#,
        r#":1:117: the threshold of recall is -0.1; write a number from 0 to 1"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": NaN, "recall": 1}}"#,
        r#":1:94: this is no JSON: expected value; correct the syntax here"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1}}"#,
        r#":1:95: the key "recall" is missing; add "recall""#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a", ""], "keywordSets": [["k"], ["l"]]}, "thresholds": {"precision": 1, "recall": 1}}"#,
        r#":1:40: a decided fact is empty; write it"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": ["k"]}, "thresholds": {"precision": 1, "recall": 1}}"#,
        r#":1:59: invalid type: string "k"; expected a list"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1, "recall": 1}, "persona": "terse"}"#,
        r#":1:119: unknown key "persona""#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1, "recall": 1}, "runs": 2.5}"#,
        r#":1:121: invalid type: floating point `2.5`; expected a whole number, 0 or more"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1, "recall": 1}, "context": {"a": {"b": 1, "b": 2}}}"#,
        r#":1:137: the key "b" stands here twice; keep one of them"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1, "recall": 1}, "scenarioId": ""}"#,
        r#":1:125: "" is no id; an id starts with"#,
    ),
    (
        "stochastic",
        SCENE,
        r#"{"groundTruth": {"decidedFacts": ["a"], "keywordSets": [["k"]]}, "thresholds": {"precision": 1, "recall": 1}, "quarantine": {"owner": "o", "reason": "r", "expires": "2026-12-01", "until": "x"}}"#,
        r#":1:186: unknown key "until"; the keys here are owner, reason, expires"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": " ", "expected_tools": ["t"], "expected_output_contains": ["k"]}]"#,
        r#":1:37: the query is empty; write it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"id": "c", "category": "edge_case", "query": "c", "expected_tools": [], "expected_output_contains": []}, {"query": "c", "id": "c", "category": "edge_case", "expected_tools": [], "expected_output_contains": []}]"#,
        r#":1:129: the id "c" stands here twice; give each case its own id"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "exact", "tools": [{"name": "t"}], "forbidden_tools": ["t"]}}]"#,
        r#":1:160: the tool "t" is both asked for and forbidden; remove it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "exact", "tools": [{"name": "name", "args": {}}, {"name": ""}]}}]"#,
        r#":1:183: a tool of the trajectory has no name; name it"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "trajectory": {"mode": "subset", "tools": [{"name": "t", "args": {"values": {"n": 1}, "fields": {"n": {"near": {"value": 1, "within": -1}}}}}]}}]"#,
        r#":1:199: within is -1; write 0 or more"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "expected_flags": {"can_diagnose": true, "can_diagnose": false}}]"#,
        r#":1:143: the key "can_diagnose" stands here twice; keep one of them"#,
    ),
    (
        TOOL,
        "c.json",
        r#"[{"category": "edge_case", "query": "q", "expected_tools": ["t"], "expected_output_contains": ["k"], "quarantine": {"owner": "o", "reason": "r", "expires": "2026-12-22"}}]"#,
        r#":1:157: the quarantine of "edge_case-0" has to name an owner, a reason and a day up to 2026-12-21; write expires"#,
    ),
];
