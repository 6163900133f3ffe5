//! Kind `custom`, and expressions in the suites and cases of every kind.

use std::fs;

use expr::FUNCTIONS;
use goldgate::format::expression::VARIABLES;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the page of kind custom lists the program's own names and functions",
            tables,
        ),
        trial(
            "a check of a case, of the suite and of answer fails its case and a gate",
            every_place,
        ),
        trial(
            "an expression that is not true for any reason fails",
            without_value,
        ),
        trial(
            "a metric of the suite is folded, compared with the baseline and gated",
            metric,
        ),
        trial(
            "a metric without a value fails its case",
            metric_without_value,
        ),
        trial("expressions work in the suites of other kinds", other_kinds),
        trial(
            "a bad expression is found by check, with line and column",
            bad_expressions,
        ),
        trial("a case of kind custom without a check is refused", no_check),
        trial(
            "the longest expression of a case is refused and ends no thread",
            longest,
        ),
        trial(
            "a suite and a case have at most 100 checks and metrics of their own",
            many,
        ),
        trial(
            "an added check or metric is listed, a changed or removed one needs an approval",
            changes,
        ),
        trial(
            "a gate on a metric of the suite that gets looser needs an approval",
            looser_gate,
        ),
        trial("a flat golden set is a suite as it is", flat),
        trial(
            "a category of a suite's own has its own metric and gate",
            categories,
        ),
    ]
}

/// Writes the tables of the page between the headings and the text that follow them.
fn tables() {
    let file = root().join("docs/kinds/custom.md");
    let text = fs::read_to_string(&file).unwrap();
    let names: String = VARIABLES
        .iter()
        .map(|(name, meaning)| format!("| `{name}` | {meaning} |\n"))
        .collect();
    let functions: Vec<String> = FUNCTIONS.iter().map(|name| format!("`{name}`")).collect();
    let expected = format!(
        "| name | value |\n|---|---|\n{names}\n| functions |\n|---|\n| {} |\n",
        functions.join(", ")
    );
    let (from, to) = (
        text.find("| name | value |").unwrap(),
        text.find("\n- Operators:").unwrap(),
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, format!("{}{expected}{}", &text[..from], &text[to..])).unwrap();
    } else {
        assert_eq!(&text[from..to], expected, "BLESS=1 rewrites it");
    }
}

fn many() {
    let said = |in_suite: usize, in_case: usize| {
        let check =
            |number: usize| json!({ "name": format!("n{number}"), "expr": "output.total == 5" });
        let list = |count: usize| (0..count).map(check).collect::<Vec<Value>>();
        let suite = format!("    checks: {}\n", json!(list(in_suite)));
        let repository = repository(
            &suite,
            &json!({ "input": "Add.", "checks": list(in_case) }),
            &json!({ "total": 5 }),
        );
        repository.goldgate(&["check"]).stderr
    };
    let at_limit = said(100, 100);
    assert!(!at_limit.contains("[too-many]"), "{at_limit}");
    for (above, file) in [
        (said(101, 1), "goldgate.yaml:8:"),
        (said(1, 101), "cases/c.json:1:"),
    ] {
        let line = above
            .lines()
            .find(|line| line.starts_with(file))
            .unwrap_or_default();
        assert!(
            line.contains("101 entries in `checks`; the limit is 100")
                && line.contains("[too-many]"),
            "{above}"
        );
    }
}

const CONFIG: &str = "\
version: 1
baseline: latest.json
suites:
  - id: s
    kind: custom
    path: cases
    agents: { a: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }
";

fn repository(suite: &str, case: &Value, outputs: &Value) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", format!("{CONFIG}{suite}"));
    repository.write("prompt.md", "Answer.");
    repository.write("cases/c.json", case.to_string());
    answered(&repository, outputs);
    repository
}

fn answered(repository: &Repository, outputs: &Value) {
    repository.write(
        "runs/a/c.json",
        json!({"status": "completed", "outputs": outputs}).to_string(),
    );
}

/// The exit code, and the first agent of the report.
fn graded(repository: &Repository) -> (i32, Value) {
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran.code, report["suites"][0]["agents"][0].clone())
}

fn failed(agent: &Value) -> Vec<&str> {
    let checks = agent["cases"][0]["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["passed"] == false)
        .map(|check| check["name"].as_str().unwrap())
        .collect()
}

fn every_place() {
    let suite = "    checks: [{ name: euro, expr: \"output.currency == 'EUR'\" }]\n";
    let case = json!({"input": "q", "expected": {"total": 5}, "checks": [{"name": "total", "expr": "output.total == expected.total"}],
        "answer": {"expr": "size(text) < 100"}});
    let good = json!({"total": 5, "currency": "EUR"});
    let files = repository(suite, &case, &good);
    let (code, agent) = graded(&files);
    assert_eq!((code, failed(&agent)), (0, vec![]));
    for (outputs, name) in [
        (json!({"total": 6, "currency": "EUR"}), "check[total]"),
        (json!({"total": 5, "currency": "USD"}), "check[euro]"),
        (
            json!({"total": 5, "currency": "EUR", "text": "x".repeat(100)}),
            "answer_expr",
        ),
    ] {
        answered(&files, &outputs);
        let (code, agent) = graded(&files);
        assert_eq!((code, failed(&agent)), (1, vec![name]), "{outputs}");
        assert_eq!(agent["metrics"]["pass_rate"]["verdict"], "fail", "{name}");
        assert_eq!(agent["metrics"]["answer_pass_rate"]["value"], 0.0, "{name}");
    }
    // The same JSON in a text.
    answered(
        &files,
        &json!({"text": "Here it is: {\"total\": 5, \"currency\": \"EUR\",}"}),
    );
    assert_eq!(graded(&files).0, 0);
}

fn without_value() {
    let case = |expr: &str| json!({"input": "q", "expected": 1, "checks": [{"name": "one", "expr": expr}]});
    for (expr, outputs, detail) in [
        (
            "output.total == 5",
            json!({"sum": 5}),
            "it has no value: the key \"total\" is missing; output {\"sum\":5}",
        ),
        (
            "output.total",
            json!({"total": 5}),
            "it is 5, not true or false",
        ),
        (
            "output.items[0] == 1",
            json!({"items": []}),
            "it has no value: the list has no item 0; output {\"items\":[]}",
        ),
        (
            "output.items.all(a, output.items.all(b, a <= b || b <= a))",
            json!({"items": vec![1; 9000]}),
            "it has no value: it could take too long on a run of this size",
        ),
    ] {
        let files = repository("", &case(expr), &outputs);
        let (code, agent) = graded(&files);
        assert_eq!((code, failed(&agent)), (1, vec!["check[one]"]), "{expr}");
        let checks = agent["cases"][0]["checks"].to_string();
        assert!(
            checks.contains(&detail.replace('"', "\\\"")),
            "{expr}: {checks}"
        );
    }
    let files = repository("", &case("true"), &json!({}));
    let (code, agent) = graded(&files);
    assert_eq!(
        (code, failed(&agent)),
        (1, vec!["schema"]),
        "nothing was answered"
    );
}

const OVERLAP: &str = "    metrics: [{ name: overlap, expr: \"double(output.hits) / 4.0\", better: higher, unit: share }]\n";

fn metric() {
    let case = json!({"input": "q", "checks": [{"name": "any", "expr": "output.hits > 0"}]});
    let files = repository(OVERLAP, &case, &json!({"hits": 3}));
    files.replace(
        "goldgate.yaml",
        "    metrics:",
        "    gates: { overlap: { max_drop: 0.15 } }\n    metrics:",
    );
    assert_eq!(files.goldgate(&["run", "--update-baseline"]).code, 0);
    let (code, agent) = graded(&files);
    let overlap = &agent["metrics"]["overlap"];
    assert_eq!(
        (
            code,
            &overlap["value"],
            &overlap["baseline"],
            &overlap["unit"]
        ),
        (0, &json!(0.75), &json!(0.75), &json!("share"))
    );
    answered(&files, &json!({"hits": 2}));
    let (code, agent) = graded(&files);
    assert_eq!(
        (code, &agent["metrics"]["overlap"]["verdict"]),
        (1, &json!("fail"))
    );
    files.replace(
        "goldgate.yaml",
        "overlap: { max_drop: 0.15 }",
        "overlap: { min: 0.5 }",
    );
    assert_eq!(graded(&files).0, 0);
    files.replace(
        "goldgate.yaml",
        "overlap: { min: 0.5 }",
        "overlop: { min: 0.5 }",
    );
    let ran = files.goldgate(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("unknown metric \"overlop\"; did you mean \"overlap\"?"),
        "{}",
        ran.stderr
    );
}

fn metric_without_value() {
    let case = json!({"input": "q", "checks": [{"name": "any", "expr": "has(output.any)"}]});
    for (expr, unit, outputs, detail) in [
        ("output.hits", "count", json!({"any": 1}), "is missing"),
        (
            "output.any",
            "count",
            json!({"any": "many"}),
            "not a number",
        ),
        (
            "output.any",
            "share",
            json!({"any": 15}),
            "15 is not a share of 0 to 1",
        ),
    ] {
        let suite = format!(
            "    metrics: [{{ name: m, expr: \"{expr}\", better: higher, unit: {unit} }}]\n"
        );
        let (code, agent) = graded(&repository(&suite, &case, &outputs));
        assert_eq!((code, failed(&agent)), (1, vec!["metric[m]"]), "{expr}");
        assert!(
            agent["cases"][0]["checks"].to_string().contains(detail),
            "{expr}"
        );
    }
    let null = "    metrics: [{ name: m, expr: \"null\", better: higher }]\n";
    let (code, agent) = graded(&repository(null, &case, &json!({"any": 1})));
    assert_eq!((code, &agent["metrics"]["m"]["value"]), (0, &Value::Null));
}

fn other_kinds() {
    let files = Repository::small();
    files.replace(
        "goldgate.yaml",
        "    agents:",
        "    checks: [{ name: some, expr: \"size(output.findings) > 0\" }]\n    agents:",
    );
    let ran = files.goldgate(&["run", "--format", "json"]);
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    assert!(report.to_string().contains("check[some]"), "{report}");
    let triggers = Repository::empty();
    triggers.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - { id: t, kind: triggers, policy: seed, path: g, checks: [{ name: x, expr: 'true' }] }\n",
    );
    let ran = triggers.goldgate(&["check"]);
    assert!(
        ran.stderr
            .contains("goldgate.yaml:3:53: checks have no effect on kind triggers"),
        "{}",
        ran.stderr
    );
}

fn bad_expressions() {
    let case = json!({"input": "q", "checks": [{"name": "one", "expr": "true"}]});
    let files = repository(
        "    checks:\n      - name: euro\n        expr: outptu.currency == 'EUR'\n",
        &case,
        &json!({"a": 1}),
    );
    let ran = files.goldgate(&["check"]);
    assert_eq!(ran.code, 2);
    let problem = "goldgate.yaml:10:9: unknown name \"outptu\" in the expression; did you mean \"output\"? [bad-expression]";
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    let files = repository("", &case, &json!({"a": 1}));
    files.write(
        "cases/c.json",
        "{ \"input\": \"q\",\n  \"checks\": [ { \"name\": \"one\",\n    \"expr\": \"output.total = 5\" } ] }\n",
    );
    let ran = files.goldgate(&["check"]);
    let problem = "cases/c.json:3:13: the expression is not valid at character 14: token recognition error at: '= '";
    assert!(
        ran.code == 2 && ran.stderr.contains(problem),
        "{}",
        ran.stderr
    );
    for (edit, problem) in [
        (
            json!([{"name": "a b", "expr": "true"}]),
            "\"a b\" is not a valid id",
        ),
        (
            json!([{"name": "a", "expr": "true"}, {"name": "a", "expr": "true"}]),
            "duplicate name \"a\"",
        ),
        (
            json!([{"name": "a", "expr": ""}]),
            "the expression is empty",
        ),
        (json!([{"name": "a"}]), "the key \"expr\" is missing"),
        (
            json!([{"name": "a", "expr": "true", "weight": 1}]),
            "unknown key \"weight\"",
        ),
    ] {
        files.write(
            "cases/c.json",
            json!({"input": "q", "checks": edit}).to_string(),
        );
        let ran = files.goldgate(&["check"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(problem),
            "{edit}: {}",
            ran.stderr
        );
    }
    let files = repository(
        "    metrics: [{ name: case_pass_rate, expr: '1', better: higher }]\n",
        &case,
        &json!({"a": 1}),
    );
    let ran = files.goldgate(&["check"]);
    assert!(
        ran.stderr
            .contains("kind custom already has a metric \"case_pass_rate\""),
        "{}",
        ran.stderr
    );
    let files = repository(
        "    metrics: [{ name: passed, expr: '1', better: higher }]\n",
        &case,
        &json!({"a": 1}),
    );
    let ran = files.goldgate(&["check"]);
    let problem = "a metric cannot be called \"passed\": the baseline keeps which samples pass under this name";
    assert!(
        ran.code == 2 && ran.stderr.contains(problem),
        "{}",
        ran.stderr
    );
}

/// Cases are read by several threads, each with a stack for it.
fn longest() {
    for expr in [
        format!("1{}", "+1".repeat(80)),
        format!("output{}", ".a".repeat(80)),
    ] {
        let files = repository(
            "",
            &json!({"input": "q", "checks": [{"name": "one", "expr": expr}]}),
            &json!({"a": 1}),
        );
        for case in 0..20 {
            files.write(&format!("cases/c{case}.json"), files.read("cases/c.json"));
        }
        let ran = files.goldgate(&["check"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("the expression is nested too deeply"),
            "{}",
            ran.stderr
        );
    }
}

fn no_check() {
    let files = repository("", &json!({"input": "q", "expected": 1}), &json!({"a": 1}));
    let ran = files.goldgate(&["run"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("cases/c.json:1:1: the case has no check, so it could not fail"),
        "{}",
        ran.stderr
    );
}

/// The golden changes of the last commit, and the exit code.
fn changes_of(files: &Repository) -> (i32, String) {
    commit_all(files);
    let ran = files.goldgate(&["run", "--base", "HEAD~1", "-v"]);
    (ran.code, ran.stdout)
}

fn changes() {
    let suite = "    checks: [{ name: euro, expr: \"output.currency == 'EUR'\" }]\n";
    let case = json!({"input": "q", "checks": [{"name": "total", "expr": "output.total == 5"}]});
    let files = repository(suite, &case, &json!({"total": 5, "currency": "EUR"}));
    assert_eq!(files.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&files);
    files.replace(
        "goldgate.yaml",
        "    checks: [",
        "    metrics: [{ name: m, expr: '1', better: higher }]\n    checks: [{ name: more, expr: 'true' }, ",
    );
    let (code, shown) = changes_of(&files);
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("check more of `s` added") && shown.contains("metric m of `s` added"),
        "{shown}"
    );
    for (from, to, change) in [
        ("'EUR'", "'USD'", "check euro of `s` changed"),
        (
            "{ name: more, expr: 'true' }, ",
            "",
            "check more of `s` removed",
        ),
        ("better: higher", "better: lower", "metric m of `s` changed"),
        (
            "    metrics: [{ name: m, expr: '1', better: lower }]\n",
            "",
            "metric m of `s` removed",
        ),
    ] {
        files.replace("goldgate.yaml", from, to);
        let (code, shown) = changes_of(&files);
        assert!(
            code == 1 && shown.contains(change),
            "{from}: {code} {shown}"
        );
    }
}

fn looser_gate() {
    let case = json!({"input": "q", "checks": [{"name": "any", "expr": "output.hits > 0"}]});
    let files = repository(
        &format!("    gates: {{ overlap: {{ min: 0.7 }} }}\n{OVERLAP}"),
        &case,
        &json!({"hits": 3}),
    );
    assert_eq!(files.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&files);
    files.replace("goldgate.yaml", "min: 0.7", "min: 0.5");
    let (code, shown) = changes_of(&files);
    assert!(
        code == 1 && shown.contains("overlap floor of `s` 0.70"),
        "{code} {shown}"
    );
}

fn categories() {
    let files = Repository::empty();
    let config = CONFIG
        .replace("custom", "tool_use")
        .replace("path: cases", "path: cases.json");
    files.write("goldgate.yaml", format!("{config}    gates: {{ \"case_pass_rate[refunds]\": {{ min: 0.9, hard: true }}, case_pass_rate: {{ min: 0.1 }} }}\n"));
    files.write("prompt.md", "Answer.");
    let case = |id: &str, category: &str| json!({"id": id, "category": category, "query": "q", "expected_tools": [], "expected_output_contains": ["yes"]});
    files.write(
        "cases.json",
        json!([case("c", "refunds"), case("d", "happy_path")]).to_string(),
    );
    let answer = |id: &str, text: &str| {
        files.write(
            &format!("runs/a/{id}.json"),
            json!({"status": "completed", "outputs": {"text": text}}).to_string(),
        );
    };
    answer("c", "yes");
    answer("d", "no");
    let (code, agent) = graded(&files);
    assert_eq!(
        (code, &agent["metrics"]["case_pass_rate[refunds]"]["value"]),
        (0, &json!(1.0)),
        "{agent}"
    );
    assert_eq!(agent["metrics"]["case_pass_rate[happy_path]"]["value"], 0.0);
    answer("c", "no");
    answer("d", "yes");
    let (code, agent) = graded(&files);
    assert_eq!(
        (
            code,
            &agent["metrics"]["case_pass_rate[refunds]"]["verdict"]
        ),
        (1, &json!("fail"))
    );
    files.replace("goldgate.yaml", "rate[refunds", "rate[returns");
    let ran = files.goldgate(&["run"]);
    assert!(
        ran.stderr
            .contains("the gate on case_pass_rate[returns] has no effect: no case of the suite has this category"),
        "{}",
        ran.stderr
    );
    files.replace("goldgate.yaml", "rate[returns", "rate[refunds");
    files.write(
        "cases.json",
        json!([case("c", "two words"), case("d", "edge_cas")]).to_string(),
    );
    let ran = files.goldgate(&["check"]);
    assert!(
        ran.stderr.contains("\"two words\" is not a valid id"),
        "{}",
        ran.stderr
    );
}

/// The cases of a flat golden set, in JSON and JSON Lines. Its questions name the cases to import.
fn flat() {
    let rows = [
        ("cases.json", "expected", "text.contains(expected)"),
        ("cases.jsonl", "expected", "text.contains(expected)"),
        (
            "cases.json",
            "expected_answer",
            "text.contains(expected.expected_answer)",
        ),
    ];
    for (file, key, check) in rows {
        let repository = Repository::empty();
        let config = CONFIG.replace("path: cases", &format!("path: {file}"));
        let checks = format!("    checks: [{{ name: right, expr: \"{check}\" }}]\n");
        repository.write("goldgate.yaml", format!("{config}{checks}"));
        repository.write("prompt.md", "Answer.");
        let cases = [(1, "shipped"), (2, "lost")].map(|(id, answer)| {
            let question = format!("Where is order {id}?");
            json!({ "id": id, "question": question, "topic": "orders", key: answer })
        });
        let text = match file {
            "cases.json" => json!(cases).to_string(),
            _ => cases.map(|case| format!("{case}\n")).concat(),
        };
        repository.write(file, text);
        let chat = |id: u32| {
            let question = format!("Where is order {id}?");
            let answer = json!({ "role": "assistant", "content": "It was shipped." });
            json!([{ "role": "user", "content": question }, answer])
        };
        repository.write("chats.jsonl", format!("{}\n{}\n", chat(1), chat(2)));
        let ran = repository.goldgate(&["import", "chats.jsonl", "--agent", "a", "--out", "runs"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "runs/a/1.json\nruns/a/2.json\n"),
            "{}",
            ran.stderr
        );
        let (_, agent) = graded(&repository);
        let cases = agent["cases"].as_array().unwrap();
        let is_red = |case: &Value| {
            let checks = case["checks"].as_array().unwrap();
            checks.iter().any(|check| check["passed"] == false)
        };
        let red: Vec<(&Value, bool)> = cases
            .iter()
            .map(|case| (&case["case"], is_red(case)))
            .collect();
        assert_eq!(red, [(&json!("1"), false), (&json!("2"), true)], "{file}");
    }
}
