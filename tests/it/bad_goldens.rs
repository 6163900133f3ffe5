//! Golden files that cannot be: one clear line each, with its place and its mend, and exit code 2.

mod answer;
mod repositories;
mod talks;
mod tool_use;

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let tables = [
        answer::CASES,
        tool_use::CASES,
        talks::CASES,
        repositories::CASES,
        RULES,
    ];
    let named = tables
        .into_iter()
        .flatten()
        .map(|(kind, file, text, said)| {
            trial(format!("{kind} refuses {text}"), move || {
                refused(kind, file, text, said)
            })
        });
    named
        .chain([
            trial(
                "an id used by two files is refused at the second one",
                an_id_of_two_files,
            ),
            trial(
                "a fixture repository has at most a thousand folders",
                many_folders,
            ),
            trial(
                "an unreadable case does not shift the positions of other errors",
                two_problems,
            ),
        ])
        .collect()
}

fn an_id_of_two_files() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG.replace("KIND", "interview").replace("PATH", "g"),
    );
    repository.write(
        "g/scenarios/a.json",
        r#"{"minimumRubricScore": 9, "scenarioId": "one"}"#,
    );
    repository.write(
        "g/scenarios/b.json",
        "{\n  \"minimumRubricScore\": 9,\n  \"scenarioId\": \"one\"\n}\n",
    );
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let said = "g/scenarios/b.json:3:17: the id \"one\" is already used in g/scenarios/a.json; give each case its own id";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

fn many_folders() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG.replace("KIND", "evidence").replace("PATH", "g"),
    );
    let task = r#"{"name": "x", "repo_path": "r", "expected_file": "f", "expected_keyword": "k"}"#;
    repository.write("g/tasks/x.json", task);
    repository.write("g/r/f", "k");
    repository.write("runs/a/x.json", r#"{"status": "completed", "outputs": {}}"#);
    let folder =
        |number: usize| std::fs::create_dir(repository.path(&format!("g/r/{number}"))).unwrap();
    (0..1000).for_each(folder);
    let fine = repository.goldgate(&["check"]);
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    folder(1000);
    let ran = repository.goldgate(&["check"]);
    let said = "g/tasks/x.json:1:15: the fixture repository has too many folders; ";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
}

fn two_problems() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG
            .replace("KIND", "tool_use")
            .replace("PATH", "g/c.json"),
    );
    let case = r#"{"id": "c", "category": "edge_case", "query": "q", "expected_tools": [], "expected_output_contains": []}"#;
    repository.write(
        "g/c.json",
        format!("[\n{{\"category\": 7}},\n{case},\n{case}\n]"),
    );
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("g/c.json:2:14: "), "{}", ran.stderr);
    assert!(
        lines[1].starts_with("g/c.json:4:8: duplicate id \"c\""),
        "{}",
        ran.stderr
    );
}

fn refused(kind: &str, file: &str, text: &str, said: &str) {
    let repository = Repository::empty();
    let path = if kind == "tool_use" { "g/c.json" } else { "g" };
    repository.write(
        "goldgate.yaml",
        CONFIG.replace("KIND", kind).replace("PATH", path),
    );
    repository.write(&format!("g/{file}"), text);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with(&format!("g/{file}{said}")),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.lines().next().unwrap().contains("; "),
        "there is a mend: {}",
        ran.stderr
    );
}

const CONFIG: &str = "\
version: 1
suites:
  - id: s
    kind: KIND
    path: PATH
    agents: { a: { deterministic: { replay: runs }, fingerprint: { none: written by hand } } }
";

type Case = (&'static str, &'static str, &'static str, &'static str);

const RULES: &[Case] = &[(
    "triggers",
    "rules.yaml",
    "3",
    ":1:1: invalid type: integer `3`; expected a list of rules",
)];
const TOOL: &str = "tool_use";
const SCENE: &str = "scenarios/x.json";
