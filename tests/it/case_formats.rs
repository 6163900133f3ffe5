//! Cases in YAML and JSON Lines, in files of one and of many: they mean the same as in JSON, and problems have their place in the file.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("a suite of each kind gives the same report in YAML", || {
            same_report(&|repository| each_file(repository, "yaml"))
        }),
        trial(
            "a suite of each kind gives the same report as one file of YAML",
            || same_report(&|it| one_file(it, "cases.yaml")),
        ),
        trial(
            "a suite of each kind gives the same report as one file of JSON",
            || same_report(&|it| one_file(it, "cases.json")),
        ),
        trial(
            "a suite of each kind gives the same report as JSON Lines",
            || same_report(&|it| one_file(it, "cases.jsonl")),
        ),
        trial(
            "a byte order mark before any file changes nothing in the report",
            || same_report(&byte_order_marks),
        ),
        trial(
            "two files for one case are refused at the second one",
            two_files,
        ),
        trial("a case in YAML is accepted and rejected in place", reviewed),
        trial("each agent has its own cases in a file of many", of_agents),
        trial("a draft is added to a file in each format", added_drafts),
        trial("a stray file beside cases in YAML is noted", strays),
        trial("selftest reads the texts of a case in YAML", selftest),
        trial("explain shows only the entry of a case in YAML", explained),
        trial(
            "the new cases of a file of many change nothing for the others",
            added_with_schema,
        ),
    ];
    trials.extend(REFUSED.iter().map(|(file, text, said)| {
        trial(format!("a file of cases refuses {text:?}"), || {
            refused(file, text, said)
        })
    }));
    trials
}

/// The folders of the bundled suites, each with its folder of cases.
const FOLDERS: &[(&str, &str)] = &[
    ("fixtures/contracts", "expected"),
    ("fixtures/triggers", "cases"),
    ("fixtures/cross", "cases"),
    ("fixtures/interview", "scenarios"),
    ("fixtures/stochastic", "scenarios"),
    ("fixtures/reconciliation", "fixtures"),
    ("fixtures/property", "cases"),
    ("fixtures/evidence", "tasks"),
];

/// The files of many cases of the bundled suites.
const LISTS: &[&str] = &[
    "fixtures/tool_use/eval_cases.json",
    "examples/order-desk/cases.json",
];

fn names(repository: &Repository, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(repository.path(folder)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn value(repository: &Repository, file: &str) -> Value {
    serde_json::from_str(&repository.read(file)).unwrap()
}

/// Writes each case as YAML, in a file of its own; those of lists as well.
fn each_file(repository: &Repository, ending: &str) {
    let rewrite = |file: &str, stem: &str| {
        let value = value(repository, file);
        repository.remove(file);
        repository.write(
            &format!("{stem}.{ending}"),
            serde_yaml::to_string(&value).unwrap(),
        );
    };
    for (folder, cases) in FOLDERS {
        for name in names(repository, &format!("{folder}/{cases}")) {
            let path = format!("{folder}/{cases}/{name}");
            match name.strip_suffix(".json") {
                Some(stem) => rewrite(&path, &format!("{folder}/{cases}/{stem}")),
                None => {
                    for name in names(repository, &path) {
                        rewrite(
                            &format!("{path}/{name}"),
                            &format!("{path}/{}", name.strip_suffix(".json").unwrap()),
                        );
                    }
                }
            }
        }
    }
    for name in names(repository, "fixtures/revision/cases") {
        let stem = format!("fixtures/revision/cases/{name}/instructions");
        rewrite(&format!("{stem}.json"), &stem);
    }
    for file in LISTS {
        let stem = file.strip_suffix(".json").unwrap();
        rewrite(file, stem);
        repository.replace(
            "goldgate.yaml",
            &format!("path: {file}"),
            &format!("path: {stem}.{ending}"),
        );
    }
}

/// Puts the mark that Windows programs write before the config, the cases and the recordings.
fn byte_order_marks(repository: &Repository) {
    let mut folders = vec!["fixtures".to_owned()];
    let mut files = vec!["goldgate.yaml".to_owned()];
    while let Some(folder) = folders.pop() {
        for name in names(repository, &folder) {
            let path = format!("{folder}/{name}");
            if repository.path(&path).is_dir() {
                folders.push(path);
            } else if path.ends_with(".json") {
                files.push(path);
            }
        }
    }
    for file in files {
        repository.write(&file, format!("\u{feff}{}", repository.read(&file)));
    }
}

/// Writes the cases of each suite into one file. Those of `revision` have documents, and stay.
fn one_file(repository: &Repository, file: &str) {
    for (folder, cases) in FOLDERS {
        let below = format!("{folder}/{cases}");
        let mut list = Vec::new();
        for name in names(repository, &below) {
            match name.strip_suffix(".json") {
                Some(stem) => list.push(named(value(repository, &format!("{below}/{name}")), stem)),
                None => {
                    for inner in names(repository, &format!("{below}/{name}")) {
                        let case = value(repository, &format!("{below}/{name}/{inner}"));
                        let mut case = named(case, inner.strip_suffix(".json").unwrap());
                        case["agent"] = name.clone().into();
                        list.push(case);
                    }
                }
            }
        }
        repository.remove(&below);
        repository.write(&format!("{folder}/{file}"), in_format(file, &list));
        repository.replace(
            "goldgate.yaml",
            &format!("path: {folder}\n"),
            &format!("path: {folder}/{file}\n"),
        );
    }
    for list in LISTS {
        let cases = value(repository, list);
        let cases = cases
            .as_array()
            .or_else(|| cases["cases"].as_array())
            .unwrap()
            .clone();
        let (folder, _) = list.rsplit_once('/').unwrap();
        repository.remove(list);
        repository.write(&format!("{folder}/{file}"), in_format(file, &cases));
        repository.replace(
            "goldgate.yaml",
            &format!("path: {list}"),
            &format!("path: {folder}/{file}"),
        );
    }
}

/// A case of a file of many: its id is that of its kind, or `id`.
fn named(mut case: Value, stem: &str) -> Value {
    if case.get("scenarioId").is_none() && case.get("name").is_none() {
        case["id"] = stem.into();
    }
    case
}

fn in_format(file: &str, cases: &[Value]) -> String {
    match file.rsplit_once('.').unwrap().1 {
        "jsonl" => cases.iter().map(|case| format!("{case}\n")).collect(),
        "json" => json!({ "cases": cases }).to_string(),
        _ => serde_yaml::to_string(cases).unwrap(),
    }
}

/// Grades the bundled suites before and after a change; the reports differ in nothing but the places of cases.
fn same_report(change: &dyn Fn(&Repository)) {
    let report = |repository: &Repository| -> (i32, Value) {
        let ran = repository.goldgate(&["run", "--quiet", "--out", "out"]);
        assert!(ran.code < 2, "{}", ran.stderr);
        let mut report = value(repository, "out/report.json");
        without_places(&mut report);
        (ran.code, report)
    };
    let repository = Repository::bundled();
    let before = report(&repository);
    change(&repository);
    let after = report(&repository);
    assert_eq!(before.0, after.0);
    let (before, after) = (format!("{:#}", before.1), format!("{:#}", after.1));
    let different = before
        .lines()
        .zip(after.lines())
        .find(|(one, other)| one != other);
    assert!(before == after, "{different:?}");
    let ran = repository.goldgate(&["check"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Takes the file and the line of each case and expectation out of a report.
fn without_places(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            ["golden", "file", "line"]
                .iter()
                .for_each(|key| drop(fields.remove(*key)));
            fields.values_mut().for_each(without_places);
        }
        Value::Array(list) => list.iter_mut().for_each(without_places),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn two_files() {
    let repository = Repository::small();
    repository.write(
        "golden/expected/legal/lease.yaml",
        "expected_gaps: [missing_doc]\n",
    );
    let ran = repository.goldgate(&["run"]);
    let said = "golden/expected/legal/lease.yaml: the id \"lease\" is already used in golden/expected/legal/lease.json; ";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG
            .replace("tool_use", "interview")
            .replace("g/FILE", "g"),
    );
    repository.write("g/scenarios/a.json", r#"{"minimumRubricScore": 9}"#);
    repository.write("g/scenarios/a.yml", "minimumRubricScore: 9\n");
    let ran = repository.goldgate(&["run"]);
    let said = "g/scenarios/a.yml:1:1: the id \"a\" is already used in g/scenarios/a.json; ";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
}

const CONFIG: &str = "\
version: 1
suites:
  - id: s
    kind: tool_use
    policy: seed
    path: g/FILE
    agents: { a: { deterministic: { replay: runs }, fingerprint: { none: written by hand } } }
";

const YAML: &str = "\
# Our cases.
- id: one # the first
  category: happy_path
  query: Where is my order?
  expected_tools: []
  expected_output_contains: [on its way]
# The second is proposed.
- id: two
  draft: true
  category: edge_case
  query: |
    Hello?
  expected_tools: []
  expected_output_contains: [hello]
- {id: three, draft: true, category: edge_case, query: Hi, expected_tools: [], expected_output_contains: [hi]}
";

/// A suite with these cases, and recordings of three.
fn suite(file: &str, text: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("FILE", file));
    repository.write(&format!("g/{file}"), text);
    for (case, answer) in [
        ("one", "It is on its way."),
        ("two", "hello"),
        ("three", "hi"),
    ] {
        let run = json!({"agent": "a", "case": case, "sample": 0, "status": "completed", "outputs": {"text": answer}});
        repository.write(&format!("runs/a/{case}.json"), run.to_string());
    }
    repository
}

#[track_caller]
fn fine(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn reviewed() {
    let repository = suite("c.yaml", YAML);
    fine(&repository.goldgate(&["run"]));
    fine(&repository.goldgate(&["review", "--accept", "three", "--reject", "two"]));
    let expected = "\
# Our cases.
- id: one # the first
  category: happy_path
  query: Where is my order?
  expected_tools: []
  expected_output_contains: [on its way]
# The second is proposed.
- {id: three, category: edge_case, query: Hi, expected_tools: [], expected_output_contains: [hi]}
";
    assert_eq!(repository.read("g/c.yaml"), expected);
    assert!(!repository.path("runs/a/two.json").exists());
    let repository = Repository::small();
    repository.remove("golden/expected/legal/lease.json");
    repository.write(
        "golden/expected/legal/lease.yaml",
        "draft: true # for now\nexpected_gaps: [missing_doc] # why\n",
    );
    fine(&repository.goldgate(&["review", "--accept", "lease"]));
    assert_eq!(
        repository.read("golden/expected/legal/lease.yaml"),
        "expected_gaps: [missing_doc] # why\n"
    );
    // What cannot be edited stays, and the message names the file and the case.
    let text = "- draft: true\n  # of the id\n  id: one\n  category: edge_case\n  query: q\n  expected_tools: []\n  expected_output_contains: [on]\n";
    let repository = suite("c.yaml", text);
    let ran = repository.goldgate(&["review", "--accept", "one"]);
    assert!(
        ran.code != 0
            && ran
                .stderr
                .contains("g/c.yaml: the draft one cannot be found"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read("g/c.yaml"), text);
}

fn of_agents() {
    let repository = Repository::small();
    repository.remove("golden/expected");
    repository.replace(
        "goldgate.yaml",
        "path: golden\n",
        "path: golden/cases.yaml\n",
    );
    repository.replace(
        "goldgate.yaml",
        "      legal:",
        "      other: { deterministic: { replay: golden/runs }, fingerprint: [prompts/legal.md] }\n      legal:",
    );
    let run = repository
        .read("golden/runs/legal/lease.json")
        .replace("\"legal\"", "\"other\"");
    repository.write("golden/runs/other/lease.json", run);
    let case = |agent: &str| {
        format!("- id: lease\n  agent: {agent}\n  draft: true\n  expected_gaps: [missing_doc]\n")
    };
    repository.write("golden/cases.yaml", case("legal") + &case("other"));
    fine(&repository.goldgate(&["review", "--accept", "*"]));
    assert!(!repository.read("golden/cases.yaml").contains("draft"));
    fine(&repository.goldgate(&["run", "--update-baseline"]));
    commit_all(&repository);
    repository.replace(
        "golden/cases.yaml",
        "agent: other\n  expected_gaps: [missing_doc]",
        "agent: other\n  expected_gaps: []",
    );
    let ran = repository.goldgate(&["run", "--base", "HEAD"]);
    assert_eq!(
        ran.stdout.matches("expectation of").count(),
        1,
        "{}",
        ran.stdout
    );
    repository.write("golden/cases.yaml", case("legal") + &case("legall"));
    let ran = repository.goldgate(&["check"]);
    assert!(
        ran.stderr.starts_with(
            "golden/cases.yaml:6:10: the suite has no agent \"legall\"; did you mean \"legal\"?"
        ),
        "{}",
        ran.stderr
    );
}

const ADDED: &str = r#"{"messages": [{"role": "user", "content": "May I return it?"},
{"role": "assistant", "content": "Within thirty days, with the receipt."}]}"#;

fn added_drafts() {
    let one = json!({"id": "one", "category": "happy_path", "query": "Where is my order?", "expected_tools": [],
        "expected_output_contains": ["on its way"]});
    for (file, text) in [
        ("c.json", format!("[\n  {one}\n]\n")),
        ("c.jsonl", format!("{one}\n")),
        ("c.yaml", YAML.to_owned()),
        ("c.yml", format!("cases: [{one}] # ours\n")),
    ] {
        let repository = suite(file, &text);
        for case in ["two", "three"]
            .iter()
            .filter(|case| !text.contains(**case))
        {
            repository.remove(&format!("runs/a/{case}.json"));
        }
        repository.write("new.json", ADDED);
        let ran = repository.goldgate(&[
            "import",
            "new.json",
            "--agent",
            "a",
            "--out",
            "runs",
            "--new-cases",
        ]);
        fine(&ran);
        let written = repository.read(&format!("g/{file}"));
        assert!(
            written.contains("May I return it?") && written.starts_with(&text[..10]),
            "{written}"
        );
        fine(&repository.goldgate(&["check"]));
    }
}

fn strays() {
    let repository = Repository::small();
    repository.write("golden/expected/legal/notes.txt", "x");
    repository.write("golden/expected/legal/more.jsonl", "{}\n");
    let ran = repository.goldgate(&["check"]);
    fine(&ran);
    for name in ["notes.txt", "more.jsonl"] {
        let note = format!("golden/expected/legal/{name}: not a golden file: it is ignored");
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(&note),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let repository = Repository::small();
    let case = repository.read("golden/expected/legal/lease.json");
    repository.remove("golden/expected/legal/lease.json");
    repository.write("golden/expected/legal/lease.yml", case);
    let ran = repository.goldgate(&["check"]);
    fine(&ran);
    assert!(
        !format!("{}{}", ran.stdout, ran.stderr).contains("ignored"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn selftest() {
    for file in ["c.json", "c.yaml", "c.jsonl"] {
        let case = json!({"id": "one", "category": "happy_path", "query": "Where?", "expected_tools": [],
            "expected_output_contains": ["on its way"]});
        let text = if file == "c.json" {
            format!("[{case}]")
        } else {
            case.to_string()
        };
        let text = if file == "c.yaml" {
            format!("- {case}\n")
        } else {
            text
        };
        let ran = suite(file, &text).goldgate(&["selftest"]);
        assert!(
            ran.stdout.contains("the keyword-stuffing agent passes it"),
            "{file}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn explained() {
    let ran = suite("c.yaml", YAML).goldgate(&["explain", "two"]);
    fine(&ran);
    let shown = ran.stdout.split("expected, g/c.yaml:").nth(1).unwrap();
    assert!(
        shown.contains("id: two") && shown.contains("Hello?"),
        "{shown}"
    );
    assert!(
        !shown.contains("id: one") && !shown.contains("id: three"),
        "{shown}"
    );
}

/// A new entry that reads files of its own is one added case, and no change of the other entries.
fn added_with_schema() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG
            .replace("tool_use", "evidence")
            .replace("FILE", "tasks.yaml"),
    );
    let task = |name: &str| {
        format!(
            "- name: {name}\n  repo_path: {name}\n  expected_file: f.py\n  expected_keyword: division\n"
        )
    };
    for name in ["first", "second"] {
        repository.write(&format!("g/{name}/f.py"), "x = 1 / 0\n");
        let run = json!({"agent": "a", "case": name, "sample": 0, "status": "completed",
            "outputs": {"result": "a division by zero", "files_inspected": ["f.py"]},
            "intermediate": {"tool_calls": [{"name": "read_file", "arguments": {"path": "f.py"}}]}});
        repository.write(&format!("runs/a/{name}.json"), run.to_string());
    }
    let later = ["g/second/f.py", "runs/a/second.json"].map(|file| (file, repository.read(file)));
    later.iter().for_each(|(file, _)| repository.remove(file));
    repository.write("g/tasks.yaml", task("first"));
    repository.goldgate(&["run", "--update-baseline", "--quiet"]);
    commit_all(&repository);
    later
        .iter()
        .for_each(|(file, text)| repository.write(file, text));
    repository.write("g/tasks.yaml", task("second") + &task("first"));
    let ran = repository.goldgate(&["run", "--base", "HEAD"]);
    assert!(
        ran.stdout.contains("1 case of `s` added"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!ran.stdout.contains("[needs approval]"), "{}", ran.stdout);
}

fn refused(file: &str, text: &str, said: &str) {
    let (kind, file) = file.split_once(' ').unwrap();
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        CONFIG.replace("tool_use", kind).replace("FILE", file),
    );
    repository.write(
        "g/rules.yaml",
        "- { id: r, when: { category: a }, trigger: { agent: b, reason: c } }\n",
    );
    repository.write(&format!("g/{file}"), text);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
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

const REFUSED: &[(&str, &str, &str)] = &[
    (
        "tool_use c.yaml",
        "- id: a\n  kategory: x\n",
        ":2:3: unknown key \"kategory\"; did you mean \"category\"?",
    ),
    (
        "tool_use c.yaml",
        "# none\n- id: a\n  category: edge_case\n",
        ":2:3: the key \"query\" is missing",
    ),
    (
        "tool_use c.yaml",
        "- {id: a, category: [happy]}\n",
        ":1:21: invalid type: a list; expected a string",
    ),
    (
        "tool_use c.yaml",
        "- id: ä b\n  id: c\n",
        ":2:3: duplicate key \"id\"",
    ),
    (
        "tool_use c.yaml",
        "- category: edge_case\n  query: 'äö'\n  expected_tools: [find, 1]\n",
        ":3:26: invalid type: integer `1`; expected a string",
    ),
    (
        "tool_use c.yaml",
        "- id: &a x\n",
        ":1:7: an anchor marks this part for an alias",
    ),
    (
        "tool_use c.yaml",
        "cases:\n- query: !!str x\n",
        ":2:10: a tag sets the type of this value",
    ),
    ("tool_use c.yaml", "a: 1\n", ":1:1: unknown key \"a\""),
    (
        "tool_use c.yaml",
        "",
        ":1:1: invalid type: null; expected a list of cases",
    ),
    ("tool_use c.yaml", "- query: [\n", ":2:1: invalid YAML: "),
    (
        "tool_use c.yaml",
        "- query: 010\n",
        ":1:10: 010 can be read as a number in two ways",
    ),
    (
        "tool_use c.yaml",
        "- expected_flags: {no: true, 1: false}\n",
        ":1:30: the key \"1\" is not a string",
    ),
    (
        "tool_use c.yaml",
        "- a: .nan\n",
        ":1:6: .nan is not a finite number",
    ),
    (
        "tool_use c.yaml",
        "- expected_tool_output: {t: {a: 1e999}}\n",
        ":1:33: the number is out of range",
    ),
    (
        "tool_use c.jsonl",
        "\n{\"id\": \"a\"}\n{\"id\": \"b\", \"x\": 1}\n",
        ":2:1: the key \"query\" is missing",
    ),
    ("tool_use c.jsonl", "{\"ä\": 1\n", ":1:7: invalid JSON: EOF"),
    (
        "tool_use c.jsonl",
        "{\"id\": \"a\", \"id\": \"b\"}\n",
        ":1:13: duplicate key \"id\"",
    ),
    (
        "interview c.yaml",
        "- minimumRubricScore: 9\n",
        ":1:3: the key \"id\" is missing; add \"id\"",
    ),
    (
        "interview c.yaml",
        "- id: a\n  minimumRubricScore: 13\n",
        ":2:3: minimumRubricScore is 13",
    ),
    (
        "interview c.yaml",
        "- id: a\n  minimumRubricScore: 9\n  scenarioId: b\n",
        ":3:15: the case is called \"a\" and \"b\"",
    ),
    (
        "interview c.yaml",
        "- id: a b\n  minimumRubricScore: 9\n",
        ":1:7: \"a b\" is not a valid id",
    ),
    (
        "interview c.jsonl",
        "{\"id\": 1.5, \"minimumRubricScore\": 9}\n",
        ":1:10: invalid type: floating point `1.5`; expected a string or a whole number",
    ),
    (
        "interview c.yaml",
        "- id: a\n  minimumRubricScore: 9\n- id: a\n  minimumRubricScore: 9\n",
        ":3:7: duplicate id \"a\"",
    ),
    (
        "interview c.json",
        "[{\"id\": \"a\", \"minimumRubricScore\": 9, \"x\": 1}]",
        ":1:41: unknown key \"x\"",
    ),
    (
        "interview c.yaml",
        "- 3\n",
        ":1:3: invalid type: integer `3`; expected an object",
    ),
    (
        "triggers c.yaml",
        "- id: a\n  agent: b\n  findings: []\n  expected_triggers: [s]\n",
        ":4:23: unknown rule \"s\"",
    ),
    (
        "findings c.yaml",
        "- id: a\n  expected_gaps: [b]\n",
        ":1:3: the key \"agent\" is missing; add \"agent\"",
    ),
];
