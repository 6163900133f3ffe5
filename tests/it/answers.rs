//! Checks of answers: the key `answer` of a case of any kind.

use std::collections::BTreeMap;
use std::fs;

use goldgate::suites::{AnswerOutput, KINDS};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    // Every case of kind `custom` has checks; custom.rs tests them.
    let others = KINDS
        .iter()
        .filter(|kind| kind.answer != AnswerOutput::None && kind.name != "custom");
    let kinds = others.map(|kind| {
        trial(
            format!("a case of kind {} states checks of the answer", kind.name),
            || every_kind(kind.name),
        )
    });
    let assertions = PROMPTFOO.iter().map(|row| {
        trial(
            format!("the verdict of promptfoo's assertion {} is the same", row.0),
            || assertion(row),
        )
    });
    let mut trials = vec![
        trial(
            "an answer that fails a check is red without and with a baseline",
            gates,
        ),
        trial(
            "an answer in the baseline that fails already does not block",
            failed_before,
        ),
        trial(
            "the metrics of answers stand only where a case states them",
            only_where_stated,
        ),
        trial(
            "a changed file of a JSON Schema changes the digest of its case",
            schema_digest,
        ),
    ];
    trials.extend(kinds);
    trials.extend(assertions);
    trials
}

const CONFIG: &str = "\
version: 1
baseline: latest.json
suites:
  - id: s
    kind: tool_use
    policy: seed
    path: cases.json
    terms: { refusal: refusal.txt }
    agents: { a: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }
    gates: { answer_pass_rate: { min: baseline, otherwise: 1.0, hard: true }, answer_score: { max_drop: 0.15 }, case_pass_rate: { min: 0.1 } }
";

/// A repository with one case: its checks of the answer, and the answer.
fn one_case(answer: &Value, text: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    repository.write("prompt.md", "Answer.");
    repository.write("refusal.txt", "i cannot help\n");
    repository.write("cases.json", json!([case("c", answer)]).to_string());
    repository.write(
        "runs/a/c.json",
        json!({"status": "completed", "outputs": {"text": text}}).to_string(),
    );
    repository
}

fn case(id: &str, answer: &Value) -> Value {
    json!({"id": id, "category": "happy_path", "query": "q", "expected_tools": [], "expected_output_contains": [],
        "answer": answer})
}

/// The first agent of a report, and the exit code.
fn report(repository: &Repository, arguments: &[&str]) -> (i32, Value) {
    let ran = repository.goldgate(&[&["run", "--format", "json"], arguments].concat());
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran.code, report["suites"][0]["agents"][0].clone())
}

/// The failed checks of the first case.
fn failed(agent: &Value) -> Vec<String> {
    let checks = agent["cases"][0]["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["passed"] == false)
        .map(|check| check["name"].as_str().unwrap().to_owned())
        .collect()
}

/// An assertion of promptfoo: its name, its value as a check of an answer, the answer, and whether it passes there.
type Assertion = (&'static str, &'static str, &'static str, Passes);

#[derive(Clone, Copy, PartialEq)]
enum Passes {
    Yes,
    No,
}

const TEXT: &str = "The capital of France is Paris.";
const JSON_TEXT: &str = r#"{"city": "Paris", "people": 2100000}"#;
const ESCAPED: &str = r#"{"a": "He says \"stop\"", "b": ["two\nlines"]}"#;
const SCHEMA: &str = r#"{"json_schema": {"type": "object", "required": ["city"], "properties": {"people": {"type": "integer"}}}}"#;

const PROMPTFOO: &[Assertion] = &[
    (
        "equals",
        r#"{"equals": "The capital of France is Paris.", "case_sensitive": true}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "equals in another case",
        r#"{"equals": "the capital of france is paris.", "case_sensitive": true}"#,
        TEXT,
        Passes::No,
    ),
    (
        "contains",
        r#"{"all_of": ["Paris"], "case_sensitive": true}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "contains in another case",
        r#"{"all_of": ["paris"], "case_sensitive": true}"#,
        TEXT,
        Passes::No,
    ),
    ("icontains", r#"{"all_of": ["paris"]}"#, TEXT, Passes::Yes),
    (
        "icontains-any",
        r#"{"any_of": ["london", "paris"]}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "icontains-any without a hit",
        r#"{"any_of": ["london", "rome"]}"#,
        TEXT,
        Passes::No,
    ),
    (
        "icontains-all",
        r#"{"all_of": ["france", "paris"]}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "icontains-all with a miss",
        r#"{"all_of": ["france", "rome"]}"#,
        TEXT,
        Passes::No,
    ),
    (
        "not-contains",
        r#"{"none_of": ["London"], "case_sensitive": true}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "not-contains with a hit",
        r#"{"none_of": ["Paris"], "case_sensitive": true}"#,
        TEXT,
        Passes::No,
    ),
    (
        "regex",
        r#"{"regex": "[A-Z][a-z]+\\.$"}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "regex without a match",
        r#"{"regex": "\\d+"}"#,
        TEXT,
        Passes::No,
    ),
    ("is-json with a schema", SCHEMA, JSON_TEXT, Passes::Yes),
    (
        "is-json with a schema that differs",
        SCHEMA,
        r#"{"city": "Paris", "people": "many"}"#,
        Passes::No,
    ),
    (
        "contains-json",
        SCHEMA,
        "Here you are: {\"city\": \"Paris\"}. Anything else?",
        Passes::Yes,
    ),
    (
        "starts-with",
        r#"{"starts_with": "The capital", "case_sensitive": true}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "levenshtein",
        r#"{"similar": {"to": "The capital of France is Pariss", "levenshtein": 0.9}}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "rouge-n",
        r#"{"similar": {"to": "Paris is the capital of France", "token_f1": 0.75}}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "is-refusal",
        r#"{"refusal": true}"#,
        "I'm sorry, but I cannot help with that.",
        Passes::Yes,
    ),
    (
        "icontains in JSON",
        r#"{"all_of": ["says \"stop\"", "two lines"]}"#,
        ESCAPED,
        Passes::Yes,
    ),
    (
        "not-contains in JSON with a hit",
        r#"{"none_of": ["two lines"]}"#,
        ESCAPED,
        Passes::No,
    ),
    (
        "equals of one text in JSON",
        r#"{"equals": "two\nlines"}"#,
        ESCAPED,
        Passes::No,
    ),
    (
        "regex in JSON",
        r#"{"regex": "says \"stop\"$"}"#,
        ESCAPED,
        Passes::Yes,
    ),
    (
        "javascript",
        r#"{"all_of": ["Paris"], "case_sensitive": true, "length": {"chars": {"max": 40}}}"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "assert-set",
        r#"[{"checks": [{"all_of": ["rome"]}, {"all_of": ["paris"]}], "min_score": 0.5}, {"starts_with": "the"}]"#,
        TEXT,
        Passes::Yes,
    ),
    (
        "weight and threshold",
        r#"{"checks": [{"all_of": ["paris"], "weight": 3}, {"all_of": ["rome"]}], "min_score": 0.75}"#,
        TEXT,
        Passes::Yes,
    ),
];

fn assertion((name, answer, text, passes): &Assertion) {
    let repository = one_case(&serde_json::from_str(answer).unwrap(), text);
    let (code, agent) = report(&repository, &[]);
    let expected = i32::from(*passes == Passes::No);
    assert_eq!(code, expected, "{name}: {agent}");
    assert_eq!(
        failed(&agent).len(),
        usize::try_from(expected).unwrap(),
        "{name}: {agent}"
    );
}

fn gates() {
    let answer = json!([{"all_of": ["paris"]}, {"all_of": ["rome"], "weight": 3}]);
    let repository = one_case(&answer, TEXT);
    let (code, agent) = report(&repository, &[]);
    assert_eq!(
        (code, failed(&agent)),
        (1, vec!["answer_all_of[1]".to_owned()])
    );
    assert_eq!(agent["metrics"]["answer_pass_rate"]["value"], 0.0);
    assert_eq!(agent["metrics"]["answer_score"]["value"], 0.25);
    assert_eq!(agent["metrics"]["case_pass_rate"]["value"], 0.0);
    repository.write(
        "runs/a/c.json",
        r#"{"status": "completed", "outputs": {"text": "Paris, Rome"}}"#,
    );
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.write(
        "runs/a/c.json",
        r#"{"status": "completed", "outputs": {"text": "Rome"}}"#,
    );
    let (code, agent) = report(&repository, &[]);
    assert_eq!(
        (code, failed(&agent)),
        (1, vec!["answer_all_of[0]".to_owned()])
    );
    assert_eq!(agent["metrics"]["answer_score"]["value"], 0.75);
    assert_eq!(agent["metrics"]["answer_pass_rate"]["verdict"], "fail");
    assert_eq!(agent["metrics"]["answer_score"]["verdict"], "fail");
}

fn failed_before() {
    let repository = one_case(&json!({"all_of": ["rome"]}), TEXT);
    repository.write(
        "cases.json",
        json!([
            case("c", &json!({"all_of": ["rome"]})),
            case("d", &json!({"all_of": ["paris"]}))
        ])
        .to_string(),
    );
    repository.write(
        "runs/a/d.json",
        json!({"status": "completed", "outputs": {"text": TEXT}}).to_string(),
    );
    assert_eq!(
        repository
            .goldgate(&["run", "--update-baseline", "--all"])
            .code,
        1
    );
    let (code, agent) = report(&repository, &[]);
    assert_eq!(
        (code, &agent["metrics"]["answer_pass_rate"]["baseline"]),
        (0, &json!(0.5)),
        "{agent}"
    );
    repository.write(
        "runs/a/d.json",
        r#"{"status": "completed", "outputs": {"text": "Rome"}}"#,
    );
    assert_eq!(report(&repository, &[]).0, 1);
}

fn only_where_stated() {
    let repository = one_case(&Value::Null, TEXT);
    repository.write("goldgate.yaml", CONFIG.split("    gates:").next().unwrap());
    let (code, agent) = report(&repository, &[]);
    assert_eq!(code, 0, "{agent}");
    assert!(
        !agent["metrics"]
            .as_object()
            .unwrap()
            .keys()
            .any(|name| name.starts_with("answer")),
        "{agent}"
    );
    repository.write("goldgate.yaml", CONFIG);
    let ran = repository.goldgate(&["run"]);
    let said = "goldgate.yaml:10:14: the gate on answer_pass_rate has no effect: no case of the suite states answer; state answer";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
}

fn schema_digest() {
    let repository = one_case(&json!({"json_schema": "schema.json"}), JSON_TEXT);
    repository.write("schema.json", r#"{"type": "object"}"#);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.write("schema.json", r#"{"type": "object", "required": ["city"]}"#);
    let ran = repository.goldgate(&["run", "-v"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains("cases or expectations have changed since the baseline"),
        "{said}"
    );
}

/// A golden file of each kind in the bundled suites: the suite, the file, the case in it and in the report, and the agent.
const GOLDENS: &[(&str, &str, &str, &str)] = &[
    (
        "findings",
        "contracts",
        "fixtures/contracts/expected/legal",
        "legal",
    ),
    (
        "tool_use",
        "assistant",
        "fixtures/tool_use/eval_cases.json",
        "assistant",
    ),
    (
        "interview",
        "interview",
        "fixtures/interview/scenarios",
        "interviewer",
    ),
    (
        "stochastic",
        "variability",
        "fixtures/stochastic/scenarios",
        "",
    ),
    (
        "reconciliation",
        "reconciliation",
        "fixtures/reconciliation/fixtures",
        "",
    ),
    ("property", "stability", "fixtures/property/cases", ""),
    ("evidence", "evidence", "fixtures/evidence/tasks", ""),
    ("revision", "revision", "fixtures/revision/cases", ""),
];

/// The first golden file below a path.
fn first_file(repository: &Repository, path: &str) -> String {
    let there = repository.path(path);
    if there.is_file() {
        return path.to_owned();
    }
    let mut names: Vec<String> = fs::read_dir(&there)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let name = names.iter().find(|name| !name.starts_with('.')).unwrap();
    match there.join(name).is_dir() {
        true => format!("{path}/{name}/instructions.json"),
        false => format!("{path}/{name}"),
    }
}

/// The numbers of the metrics of every agent of a report, and the failed checks of answers.
type Numbers = (BTreeMap<String, Value>, Vec<Value>);

fn numbers(repository: &Repository, suite: &str, agent: &str) -> (i32, Numbers) {
    let mut arguments = vec![
        "run",
        "--format",
        "json",
        "--suite",
        suite,
        "--tier",
        "deterministic",
    ];
    if !agent.is_empty() {
        arguments.extend(["--agent", agent]);
    }
    let ran = repository.goldgate(&arguments);
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    let (mut values, mut failing) = (BTreeMap::new(), Vec::new());
    for agent in report["suites"][0]["agents"].as_array().unwrap() {
        for (name, metric) in agent["metrics"].as_object().unwrap() {
            values.insert(
                format!("{}/{name}", agent["agent"].as_str().unwrap()),
                metric["value"].clone(),
            );
        }
        let checks = agent["cases"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|case| case["checks"].as_array().unwrap());
        let of_answers =
            checks.filter(|check| check["name"].as_str().unwrap().starts_with("answer"));
        failing.extend(of_answers.filter(|check| check["passed"] == false).cloned());
    }
    (ran.code, (values, failing))
}

fn every_kind(kind: &str) {
    let (_, suite, path, agent) = GOLDENS.iter().find(|golden| golden.0 == kind).unwrap();
    let repository = Repository::bundled();
    let file = first_file(&repository, path);
    let golden: Value = serde_json::from_str(&repository.read(&file)).unwrap();
    let with = |answer: Value| {
        let mut golden = golden.clone();
        let case = if kind == "tool_use" {
            &mut golden["cases"][0]
        } else {
            &mut golden
        };
        case["answer"] = answer;
        repository.write(&file, golden.to_string());
        numbers(&repository, suite, agent)
    };
    let (before, (own, _)) = numbers(&repository, suite, agent);
    let (code, (values, failing)) = with(json!({"length": {"chars": {"min": 2}}}));
    assert_eq!((code, failing.len()), (before, 0), "{failing:?}");
    for (name, value) in &own {
        assert_eq!(&values[name], value, "{name}");
    }
    let others: Vec<&Value> = values
        .iter()
        .filter(|(name, _)| !own.contains_key(*name))
        .map(|(_, value)| value)
        .collect();
    assert!(
        !others.is_empty() && others.iter().all(|value| **value == 1.0 || value.is_null()),
        "{values:?}"
    );
    let (_, (values, failing)) =
        with(json!([{"none_of": ["planted"]}, {"all_of": ["planted", "words"]}]));
    assert!(!failing.is_empty());
    for check in &failing {
        assert_eq!(check["name"], "answer_all_of[1]");
        assert_eq!(
            check["expected"],
            "an answer with \"planted\" and \"words\""
        );
        assert!(
            check["detail"]
                .as_str()
                .unwrap()
                .contains("not in the answer: \"planted\""),
            "{check}"
        );
        assert!(
            check["next_action"]
                .as_str()
                .is_some_and(|action| !action.is_empty()),
            "{check}"
        );
    }
    let rates = values
        .iter()
        .filter(|(name, value)| name.ends_with("/answer_pass_rate") && !value.is_null());
    assert!(
        rates.into_iter().all(|(_, value)| *value == 0.0),
        "{values:?}"
    );
}
