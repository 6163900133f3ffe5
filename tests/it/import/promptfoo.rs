//! The tests of promptfoo as cases: the same answers get the same verdicts.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::repository::{Repository, root};

const CONFIG: &str = "version: 1\nsuites:\n  - id: asserted\n    kind: tool_use\n    policy: seed\n    path: golden/cases.json\n    agents:\n      \
    helper: { deterministic: { replay: golden/runs }, fingerprint: { none: the agent is not here } }\n";

/// Where the verdict is another one, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "equals-with-other-blanks",
        "texts are compared without regard to runs of blanks",
    ),
    (
        "contains-with-other-quotes",
        "texts are compared without regard to kinds of quotes",
    ),
    (
        "contains-json-broken",
        "promptfoo repairs JSON that is cut off in prose; here such an answer has no JSON",
    ),
];

/// The 24 assertions of the table in docs/coming-from/promptfoo.md, each with an answer that is right, and with one that is wrong where it has one.
fn repository() -> (Repository, Value) {
    let repository = Repository::empty();
    let output =
        fs::read_to_string(root().join("tests/imports/files/promptfoo/assertions-output.json"))
            .unwrap();
    repository.write("out.json", &output);
    repository.write("goldgate.yaml", CONFIG);
    repository.write("golden/.keep", "");
    (repository, serde_json::from_str(&output).unwrap())
}

pub fn same_verdicts() {
    let (repository, output) = repository();
    let ran = repository.goldgate(&["import", "out.json", "--cases", "golden/cases.json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "golden/cases.json\n", "")
    );
    let ran = repository.goldgate(&[
        "import",
        "out.json",
        "--out",
        "golden/runs",
        "--agent",
        "helper",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let results = output["results"]["results"].as_array().unwrap();
    assert_eq!(
        ran.stdout.lines().count(),
        results.len(),
        "every result is a recording"
    );
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let pairs = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .unwrap();
    let own: BTreeMap<String, bool> = pairs
        .iter()
        .map(|pair| {
            let failed = pair["checks"]
                .as_array()
                .unwrap()
                .iter()
                .any(|check| check["passed"] == json!(false));
            (pair["case"].as_str().unwrap().to_owned(), !failed)
        })
        .collect();
    assert!(
        own.values().filter(|passed| !**passed).count() > 20 && own.len() == results.len(),
        "{own:?}"
    );
    let mut other = Vec::new();
    for result in results {
        let id = slug(result["testCase"]["description"].as_str().unwrap());
        let is_known = DIFFERENT.iter().any(|(case, _)| *case == id);
        if own[&id] != result["success"].as_bool().unwrap() && !is_known {
            other.push(format!(
                "{id}: promptfoo {}, goldgate {}",
                result["success"], own[&id]
            ));
        }
        if is_known {
            assert_ne!(
                own[&id],
                result["success"].as_bool().unwrap(),
                "{id} is no longer different"
            );
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
}

fn slug(text: &str) -> String {
    let kept = text.chars().map(|one| {
        if one.is_ascii_alphanumeric() {
            one.to_ascii_lowercase()
        } else {
            ' '
        }
    });
    kept.collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("-")
}

pub fn configs_are_cases() {
    let repository = Repository::empty();
    let config =
        fs::read_to_string(root().join("tests/imports/promptfoo/assertions.yaml")).unwrap();
    repository.write("promptfooconfig.yaml", config);
    let ran = repository.goldgate(&[
        "import",
        "promptfooconfig.yaml",
        "--cases",
        "of-config.json",
    ]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let (other, _) = self::repository();
    assert_eq!(
        other
            .goldgate(&["import", "out.json", "--cases", "of-output.json"])
            .code,
        0
    );
    let cases = |repository: &Repository, file: &str| {
        let whole: Value = serde_json::from_str(&repository.read(file)).unwrap();
        let cases = whole["cases"].as_array().unwrap().clone();
        cases
            .into_iter()
            .map(|case| (case["id"].as_str().unwrap().to_owned(), case))
            .collect::<BTreeMap<_, _>>()
    };
    let (of_config, of_output) = (
        cases(&repository, "of-config.json"),
        cases(&other, "of-output.json"),
    );
    assert_eq!(of_config.len(), 57);
    let different: Vec<&String> = of_config
        .keys()
        .filter(|id| of_config.get(*id) != of_output.get(*id))
        .collect();
    // promptfoo writes the JSON in a variable without blanks.
    assert!(
        different.iter().all(|id| id.contains("json")),
        "{different:?}"
    );
    let again = repository.goldgate(&[
        "import",
        "promptfooconfig.yaml",
        "--cases",
        "of-config.json",
    ]);
    assert!(
        again.code == 2 && again.stderr.contains("[would-overwrite]"),
        "{}",
        again.stderr
    );
    let runs = repository.goldgate(&[
        "import",
        "promptfooconfig.yaml",
        "--out",
        "runs",
        "--agent",
        "a",
    ]);
    assert!(
        runs.code == 2 && runs.stderr.contains("this file has cases, but no runs"),
        "{}",
        runs.stderr
    );
}

/// Two tests with one description, a variable with two values, and a test whose output is transformed.
pub fn every_test() {
    let repository = Repository::empty();
    repository.write(
        "promptfooconfig.yaml",
        "prompts: ['{{q}}']\nproviders: [echo]\ntests:\n  \
         - { description: refund, vars: { q: one }, assert: [{ type: contains, value: EUR }] }\n  \
         - { description: refund, vars: { q: two }, assert: [{ type: not-contains, value: EUR }] }\n  \
         - { description: names, vars: { q: [three, four] }, assert: [{ type: contains, value: x }] }\n  \
         - { description: refund 2, vars: { q: five }, options: { transform: output.total }, assert: [{ type: not-contains, value: '0' }] }\n",
    );
    let ran = repository.goldgate(&["import", "promptfooconfig.yaml", "--cases", "c.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("refund-2: not imported: transform: the code is not run\n"),
        "{}",
        ran.stderr
    );
    let cases = |file: &str| {
        let whole: Value = serde_json::from_str(&repository.read(file)).unwrap();
        let said = |case: &Value| {
            format!(
                "{} {}",
                case["id"].as_str().unwrap(),
                case["query"].as_str().unwrap()
            )
        };
        (
            whole["cases"]
                .as_array()
                .unwrap()
                .iter()
                .map(said)
                .collect::<Vec<_>>(),
            whole,
        )
    };
    let (of_config, whole) = cases("c.json");
    assert_eq!(
        of_config,
        [
            "refund one",
            "refund-3 two",
            "names three",
            "names-2 four",
            "refund-2 five"
        ]
    );
    assert_eq!(
        (&whole["cases"][4]["draft"], &whole["cases"][4]["answer"]),
        (&json!(true), &Value::Null)
    );
    let result = |test: u64, text: &str| {
        json!({ "testIdx": test, "testCase": { "description": "refund", "assert": [{ "type": "contains", "value": "EUR" }] },
            "prompt": { "raw": text }, "response": { "output": text }, "provider": { "id": "echo" } })
    };
    // The results of two tests, in the order in which they were ready.
    let results = json!({ "evalId": "e", "results": { "version": 3, "results": [result(1, "b"), result(0, "a")] } });
    repository.write("out.json", results.to_string());
    assert_eq!(
        repository
            .goldgate(&["import", "out.json", "--cases", "d.json"])
            .code,
        0
    );
    assert_eq!(cases("d.json").0, ["refund-2 b", "refund a"]);
    let ran = repository.goldgate(&["import", "out.json", "--out", "runs", "--agent", "a"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        repository.read("runs/a/refund-2.json").contains("\"b\"")
            && repository.read("runs/a/refund.json").contains("\"a\"")
    );
}

/// Several providers, or prompts, are not samples of one agent.
pub fn side_by_side() {
    let repository = Repository::empty();
    let result = |provider: &str, prompt: u64| {
        json!({ "testIdx": 0, "promptIdx": prompt, "testCase": { "description": "hours" }, "prompt": { "raw": "q" },
            "response": { "output": provider }, "provider": { "id": provider } })
    };
    let ran = |results: Value, agent: &[&str]| {
        repository.write(
            "out.json",
            json!({ "evalId": "e", "results": { "version": 3, "results": results } }).to_string(),
        );
        repository.goldgate(&[&["import", "out.json", "--force", "--out", "runs"], agent].concat())
    };
    for results in [
        json!([result("large", 0), result("small", 0)]),
        json!([result("large", 0), result("large", 1)]),
    ] {
        let ran = ran(results, &["--agent", "a"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("[many-agents]"),
            "{} {}",
            ran.code,
            ran.stderr
        );
    }
    let repeated = ran(
        json!([result("large", 0), result("large", 0)]),
        &["--agent", "a"],
    );
    assert_eq!(repeated.code, 0, "{}", repeated.stderr);
    let each = ran(json!([result("large", 0), result("small", 0)]), &[]);
    assert_eq!(each.code, 0, "{}", each.stderr);
}

/// Tests and assertions that are not read would be missing without a word.
pub fn tests_elsewhere() {
    let repository = Repository::empty();
    repository.write("other.yaml", "- { vars: { q: x } }\n");
    let own = "prompts: ['{{ q }}']\ntests:\n  - { vars: { q: hi }, assert: [{ type: contains, value: a }] }\n";
    let tests =
        |tests: &str| format!("prompts: ['{{{{ q }}}}']\nproviders: [echo]\ntests: {tests}\n");
    let prompts = |prompts: &str| own.replace("['{{ q }}']", prompts);
    for (config, what) in [
        (
            tests("file://tests.py:cases"),
            "tests: \"file://tests.py:cases\" is code, which is not run",
        ),
        (tests("[file://tests.js]"), "is code, which is not run"),
        (
            tests("{ path: 'file://gen.ts', config: {} }"),
            "is code, which is not run",
        ),
        (
            tests("https://acme.example/tests.csv"),
            "tests: \"https://acme.example/tests.csv\" is not a file",
        ),
        (
            tests("file://../other.yaml"),
            "tests: \"file://../other.yaml\" is not below the folder of the config",
        ),
        (
            tests("['../*.yaml']"),
            "is not below the folder of the config",
        ),
        (
            tests("tests/*.yaml"),
            "tests: \"tests/*.yaml\" matches no file",
        ),
        (tests("file://more.yaml"), "evals/more.yaml: "),
        (
            tests("file://texts.yaml"),
            "entry 1 of texts.yaml is not a test",
        ),
        (
            tests("[{ vars: file://../other.yaml }]"),
            "vars: \"file://../other.yaml\" is not below",
        ),
        (
            tests("[{ vars: { q: 'file://q.py' } }]"),
            "vars.q: \"file://q.py\" is code, which is not run",
        ),
        (
            tests("[{ vars: { q: x }, assert: [{ $ref: 'b.yaml#/a' }] }]"),
            "the reference \"b.yaml#/a\" of an assertion",
        ),
        (
            tests("[{ vars: { q: x }, assert: [{ type: contains, value: 'file://no.txt' }] }]"),
            "evals/no.txt: ",
        ),
        (
            format!("{own}defaultTest: file://default.py\n"),
            "defaultTest: \"file://default.py\" is code",
        ),
        (
            format!("{own}scenarios:\n  - {{ tests: [{{}}] }}\n"),
            "a scenario has no config",
        ),
        (
            format!("{own}scenarios:\n  - {{ config: file://data.py }}\n"),
            "is code, which is not run",
        ),
        (
            tests("file://cases.xlsx#Sheet1"),
            "tests: \"file://cases.xlsx#Sheet1\" is a workbook, which is not read: save it as CSV",
        ),
        (
            prompts("file://prompt.py:ask"),
            "prompts: \"file://prompt.py:ask\" is code, which is not run",
        ),
        (
            prompts("[exec:./ask]"),
            "prompts: \"exec:./ask\" is code, which is not run",
        ),
        (prompts("prompts/a.txt"), "evals/prompts/a.txt: "),
    ] {
        repository.write("evals/promptfooconfig.yaml", &config);
        repository.write("evals/texts.yaml", "[a]");
        let ran =
            repository.goldgate(&["import", "evals/promptfooconfig.yaml", "--cases", "c.json"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(what),
            "{config}: {} {}",
            ran.code,
            ran.stderr
        );
    }
    let piped = repository.goldgate_reading(
        &["import", "promptfoo", "-", "--cases", "c.json"],
        b"{\"prompts\": [\"p\"], \"tests\": \"t.yaml\"}",
    );
    assert!(
        piped.code == 2
            && piped
                .stderr
                .contains("is a file, but the config is not in one"),
        "{}",
        piped.stderr
    );
}

/// Each test of a scenario is one with each of its configs.
pub fn scenarios_are_a_product() {
    let repository = Repository::empty();
    let config = "prompts: ['Say it in {{ language }}: {{ word }}']
defaultTest: { vars: { language: English } }
tests:
  - { description: plain, vars: { word: day }, assert: [{ type: contains, value: day }] }
scenarios:
  - config:
      - { description: German, vars: { language: German }, assert: [{ type: not-contains, value: English }] }
      - { vars: { language: French, word: night } }
    tests:
      - { vars: { word: morning }, assert: [{ type: contains, value: m }] }
      - { description: evening, vars: { word: evening }, assert: [{ type: contains, value: v }] }
  - config: file://more.yaml
";
    repository.write("promptfooconfig.yaml", config);
    repository.write(
        "more.yaml",
        "- { vars: { word: noon }, assert: [{ type: contains, value: n }] }\n",
    );
    let ran = repository.goldgate(&["import", "promptfooconfig.yaml", "--cases", "c.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let whole: Value = serde_json::from_str(&repository.read("c.json")).unwrap();
    let cases = whole["cases"].as_array().unwrap().iter();
    let shown: Vec<String> = cases
        .map(|case| {
            let checks = case["answer"].as_array().map_or(1, Vec::len);
            format!("{} | {} | {checks}", case["id"], case["query"])
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#""plain" | "language: English\nword: day" | 1"#,
            r#""german" | "language: German\nword: morning" | 2"#,
            r#""evening" | "language: German\nword: evening" | 2"#,
            r#""test-4" | "language: French\nword: morning" | 1"#,
            r#""evening-2" | "language: French\nword: evening" | 1"#,
            r#""test-6" | "language: English\nword: noon" | 1"#,
        ]
    );
}

/// The config of `tests/imports/promptfoo-files`, whose tests, prompts and variables are in files beside it, and what promptfoo makes of it.
pub fn files_beside() {
    let repository = Repository::empty();
    for file in [
        "promptfooconfig.yaml",
        "default.yaml",
        "prompts/ask.txt",
        "letters/a.txt",
        "letters/b.txt",
        "tests/orders.csv",
        "tests/more/one.yaml",
        "tests/more/two.jsonl",
        "tests/more/three.json",
        "tests/vars.yaml",
        "assertions/answer.txt",
    ] {
        let text =
            fs::read_to_string(root().join("tests/imports/promptfoo-files").join(file)).unwrap();
        repository.write(&format!("evals/{file}"), text);
    }
    let output = root().join("tests/imports/files/promptfoo/files-output.json");
    repository.write("out.json", fs::read_to_string(output).unwrap());
    let cases = |from: &str, to: &str| -> Vec<Value> {
        let ran = repository.goldgate(&["import", from, "--cases", to]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let whole: Value = serde_json::from_str(&repository.read(to)).unwrap();
        whole["cases"].as_array().unwrap().clone()
    };
    let of_config = cases("evals/promptfooconfig.yaml", "of-config.json");
    let of_output = cases("out.json", "of-output.json");
    // In its output promptfoo does not say what was in the file of a variable or of an assertion, and it takes files in any order.
    let is_of_file = |case: &Value| {
        let id = case["id"].as_str().unwrap();
        id.starts_with("letters") || id == "read-in-files"
    };
    let others = |cases: &[Value]| -> Vec<Value> {
        let kept = cases.iter().filter(|case| !is_of_file(case));
        kept.cloned().collect()
    };
    assert_eq!(others(&of_config), others(&of_output));
    assert_eq!(of_config.len(), of_output.len());
    assert_eq!(
        of_config[9]["answer"][1],
        json!({ "equals": "Order 18 was shipped by Acme.", "case_sensitive": true })
    );
    let queries: Vec<&str> = of_config
        .iter()
        .map(|case| case["query"].as_str().unwrap())
        .collect();
    assert_eq!(queries.len(), 10, "{queries:?}");
    assert!(
        queries.contains(&"Where is my order 17, \"the red one\"?")
            && queries.contains(&"Dear Acme, where is it?"),
        "{queries:?}"
    );
    for (config, query) in [
        (
            "tests: [{ vars: { prompt: hi }, assert: [{ type: contains, value: x }] }]",
            "hi",
        ),
        (
            "prompts: ask.yaml\ntests: [{ vars: { q: 'a \"b\"' } }]",
            "a \"b\"",
        ),
        (
            "prompts: ['Hi {{ user.name }}!']\ntests: [{ vars: { user: { name: Ada } } }]",
            "Hi Ada!",
        ),
        (
            "prompts: ['{% if lang %}{{ lang | upper }}{% endif %}: {{ q | trim }}']\ntests: [{ vars: { q: hi } }]",
            "hi",
        ),
        (
            "prompts: { 'ask.csv': a }\ntests: [{ vars: &v { q: x } }, { vars: { <<: *v, q: hi } }]",
            "x",
        ),
    ] {
        repository.write(
            "ask.yaml",
            "- { role: system, content: Be kind. }\n- { role: user, content: '{{ q }}' }\n",
        );
        repository.write("ask.csv", "prompt,label\n\"Say, {{ q }}\",a\n");
        repository.write("p.yaml", format!("providers: [echo]\n{config}\n"));
        let made = cases("p.yaml", "one.json");
        assert_eq!(made[0]["query"], query, "{config}");
        fs::remove_file(repository.path("one.json")).unwrap();
    }
    repository.write("p.yaml", "prompts: ['{{ q }}']\nassertionTemplates: { kind: { type: icontains, value: acme } }\ntests: [{ vars: { q: x }, assert: [{ $ref: '#/assertionTemplates/kind' }] }, { vars: { q: y }, assert: { type: contains, value: b } }]\n");
    let made = cases("p.yaml", "one.json");
    assert_eq!(made[0]["answer"], json!([{ "all_of": ["acme"] }]));
    assert_eq!(
        made[1]["answer"],
        json!([{ "all_of": ["b"], "case_sensitive": true }]),
        "an assertion without a list"
    );
}

pub fn what_cannot_be_said() {
    let repository = Repository::empty();
    repository.write(
        "promptfooconfig.yaml",
        "prompts: ['Ask: {{ q }}']\nproviders: [echo]\ndefaultTest: { assert: [{ type: icontains, value: acme }] }\ntests:\n  \
         - { description: One, vars: { q: who? }, assert: [{ type: llm-rubric, value: polite }] }\n",
    );
    let ran = repository.goldgate(&["import", "promptfooconfig.yaml", "--cases", "c.json"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (0, "one: not imported: llm-rubric: it has no counterpart\n")
    );
    let whole: Value = serde_json::from_str(&repository.read("c.json")).unwrap();
    let case = &whole["cases"][0];
    assert_eq!(
        (&case["id"], &case["query"]),
        (&json!("one"), &json!("who?"))
    );
    assert_eq!(case["answer"], json!([{ "all_of": ["acme"] }]));
    assert_eq!(
        case["notes"],
        "Not imported: llm-rubric: it has no counterpart"
    );
    repository.write(
        "samples.jsonl",
        "{\"input\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"2+2?\"}], \"ideal\": \"4\"}\n\
         {\"input\": \"3+3?\", \"ideal\": [\"6\", \"six\"]}\n",
    );
    let ran = repository.goldgate(&["import", "samples.jsonl", "--cases", "evals.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let whole: Value = serde_json::from_str(&repository.read("evals.json")).unwrap();
    let said = |index: usize| {
        [
            whole["cases"][index]["query"].clone(),
            whole["cases"][index]["answer"].clone(),
            whole["cases"][index]["draft"].clone(),
        ]
    };
    assert_eq!(
        said(0),
        [json!("2+2?"), json!([{ "any_of": ["4"] }]), json!(true)]
    );
    assert_eq!(
        said(1),
        [
            json!("3+3?"),
            json!([{ "any_of": ["6", "six"] }]),
            json!(true)
        ]
    );
    for (file, text, what) in [
        (
            "chat.json",
            "[{\"role\": \"assistant\", \"content\": \"a\"}]",
            "c2.json: no file has cases",
        ),
        (
            "twice.yaml",
            "prompts: [p]\ntests: [{ description: a }, { description: A }]",
            "",
        ),
        (
            "files.yaml",
            "prompts: [p]\nproviders: [echo]\ntests: ~\ndefaultTest: {}",
            "files.yaml:1:1: the format",
        ),
        (
            "broken.yaml",
            "prompts: [p]\ntests: [{ description: a",
            "broken.yaml:",
        ),
        (
            "bad.jsonl",
            "{\"input\": \"q\", \"ideal\": \"a\"}\n{\"input\": ",
            "bad.jsonl:2:",
        ),
    ] {
        repository.write(file, text);
        let ran = repository.goldgate(&["import", file, "--cases", "c2.json"]);
        let is_right = if what.is_empty() {
            ran.code == 0
        } else {
            ran.code == 2 && ran.stderr.starts_with(what)
        };
        assert!(is_right, "{file}: {}", ran.stderr);
    }
}

/// What is behind an address may have changed since promptfoo kept its answer.
pub fn cached() {
    let repository = Repository::empty();
    let result = |case: &str, provider: &str| {
        json!({ "provider": { "id": provider }, "prompt": { "raw": "q" }, "testCase": { "description": case, "vars": {} }, "success": true,
            "response": { "output": "an answer", "cached": true }, "latencyMs": 3 })
    };
    let mut failed = result("failed", "openai:m-1");
    (failed["failureReason"], failed["error"]) = (json!(2), json!("overloaded"));
    let mut wrong = result("wrong", "openai:m-1");
    (wrong["failureReason"], wrong["error"]) =
        (json!(1), json!("Expected output to contain \"x\""));
    let results = [
        result("server", "https://acme.example/chat"),
        result("model", "openai:m-1"),
        failed,
        wrong,
    ];
    repository.write(
        "out.json",
        json!({ "evalId": "e1", "results": { "version": 3, "results": results } }).to_string(),
    );
    let ran = repository.goldgate(&["import", "out.json", "--out", "runs", "--agent", "helper"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let of = |case: &str| -> Value {
        serde_json::from_str(&repository.read(&format!("runs/helper/{case}.json"))).unwrap()
    };
    let (server, model) = (of("server"), of("model"));
    assert_eq!(
        (&server["status"], &model["status"]),
        (&json!("error"), &json!("completed"))
    );
    assert_eq!(
        (&of("failed")["status"], &of("failed")["error"]),
        (&json!("error"), &json!("overloaded"))
    );
    assert_eq!(of("wrong")["status"], "completed");
    assert!(
        server["error"]
            .as_str()
            .unwrap()
            .contains("run `promptfoo eval --no-cache`"),
        "{server}"
    );
}
