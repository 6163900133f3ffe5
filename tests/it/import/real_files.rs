//! What import reads of files that the tools themselves wrote: `tests/imports/` has the scripts that made them.

use std::fs;

use serde_json::{Value, json};

use super::record;
use crate::repository::{Repository, root};

/// A file of a tool, and what it contains.
struct Written {
    file: &'static str,
    format: &'static str,
    /// The status, the query and the answer of each run, and the tools that it called.
    runs: &'static [Run],
}

type Run = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    &'static [&'static str],
);

const ANSWER: &str = "Order 17 was shipped on 2026-03-04 with Acme Express.";
const QUERY: Option<&str> = Some("You are the helper of Acme.\n\nWhere is my order 17?");
const BARE: Option<&str> = Some("Where is my order 17?");
const WHOLE: Run = ("completed", QUERY, Some(ANSWER), &["find_order"]);
const ALONE: Run = ("completed", None, Some(ANSWER), &[]);

const SDKS: &[Written] = &[
    Written {
        file: "openai/chat-messages.json",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "openai/chat-exchanges.jsonl",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "openai/chat-streamed-exchanges.jsonl",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "openai/chat-call.sse",
        format: "openai",
        runs: &[("completed", None, Some(""), &["find_order"])],
    },
    Written {
        file: "openai/chat-answer.sse",
        format: "openai",
        runs: &[ALONE],
    },
    Written {
        file: "openai/completion.json",
        format: "openai",
        runs: &[("completed", None, Some("I cannot help with that."), &[])],
    },
    Written {
        file: "openai/error.json",
        format: "openai",
        runs: &[("error", None, Some(""), &[])],
    },
    Written {
        file: "openai/responses-messages.json",
        format: "openai",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "openai/responses-exchanges.jsonl",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "openai/responses-streamed-exchanges.jsonl",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "openai/responses-call.sse",
        format: "openai",
        runs: &[(
            "completed",
            Some("You are the helper of Acme."),
            Some(""),
            &["find_order"],
        )],
    },
    Written {
        file: "openai/responses-answer.sse",
        format: "openai",
        runs: &[(
            "completed",
            Some("You are the helper of Acme."),
            Some(ANSWER),
            &[],
        )],
    },
    Written {
        file: "anthropic/messages.json",
        format: "anthropic",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "anthropic/exchanges.jsonl",
        format: "anthropic",
        runs: &[WHOLE],
    },
    Written {
        file: "anthropic/streamed-exchanges.jsonl",
        format: "anthropic",
        runs: &[WHOLE],
    },
    Written {
        file: "anthropic/answer.json",
        format: "anthropic",
        runs: &[ALONE],
    },
    Written {
        file: "anthropic/answer.sse",
        format: "anthropic",
        runs: &[ALONE],
    },
    Written {
        file: "anthropic/call.sse",
        format: "anthropic",
        runs: &[(
            "completed",
            None,
            Some("I look the order up."),
            &["find_order"],
        )],
    },
    Written {
        file: "anthropic/error.json",
        format: "anthropic",
        runs: &[("error", None, Some(""), &[])],
    },
    Written {
        file: "anthropic/error-exchange.jsonl",
        format: "anthropic",
        runs: &[("error", BARE, Some(""), &[])],
    },
    Written {
        file: "cassettes/chat.yaml",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "cassettes/chat.json",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "cassettes/chat-streamed.yaml",
        format: "openai",
        runs: &[WHOLE],
    },
    Written {
        file: "cassettes/chat-streamed.json",
        format: "openai",
        runs: &[WHOLE],
    },
];

const ANSWERED_BARE: Run = ("completed", BARE, Some(ANSWER), &["find_order"]);
const VENDORS: &[Written] = &[
    Written {
        file: "gemini/contents.json",
        format: "gemini",
        runs: &[ANSWERED_BARE],
    },
    Written {
        file: "gemini/exchanges.jsonl",
        format: "gemini",
        runs: &[WHOLE],
    },
    Written {
        file: "gemini/streamed-exchanges.jsonl",
        format: "gemini",
        runs: &[WHOLE],
    },
    Written {
        file: "bedrock/messages.json",
        format: "bedrock",
        runs: &[ANSWERED_BARE],
    },
    Written {
        file: "bedrock/exchanges.jsonl",
        format: "bedrock",
        runs: &[WHOLE],
    },
    Written {
        file: "ollama/exchanges.jsonl",
        format: "ollama",
        runs: &[WHOLE],
    },
    Written {
        file: "ollama/streamed-exchanges.jsonl",
        format: "ollama",
        runs: &[WHOLE],
    },
    Written {
        file: "adk/orders.session.json",
        format: "adk",
        runs: &[ANSWERED_BARE],
    },
    Written {
        file: "adk/old.test.json",
        format: "adk",
        runs: &[ANSWERED_BARE],
    },
];

/// Each epoch of a sample is a run.
const INSPECT: &[Written] = &[Written {
    file: "inspect/failing.json",
    format: "inspect",
    runs: &[(
        "error",
        Some("You are the helper of Acme.\n\nWhere is my order 404?"),
        Some(""),
        &["find_order"],
    )],
}];

const CHAINS: &[Written] = &[
    Written {
        file: "langchain/messages.json",
        format: "langchain",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "langchain/dumpd.json",
        format: "langchain",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "langchain/model-dump.json",
        format: "langchain",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "langchain/state.json",
        format: "langchain",
        runs: &[("completed", BARE, Some(ANSWER), &["find_order"])],
    },
    Written {
        file: "langsmith/runs.jsonl",
        format: "langsmith",
        runs: &[WHOLE],
    },
    Written {
        file: "langfuse/observations.jsonl",
        format: "langfuse",
        runs: &[WHOLE],
    },
    Written {
        file: "langfuse/trace.json",
        format: "langfuse",
        runs: &[WHOLE],
    },
];

const FAILED: Run = ("error", BARE, None, &[]);
const SPANS: &[Written] = &[
    Written {
        file: "otlp/openinference-openai.jsonl",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/openinference-openai.pb",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/openinference-openai-responses.jsonl",
        format: "otlp",
        runs: &[("completed", QUERY, Some(ANSWER), &[])],
    },
    Written {
        file: "otlp/openinference-openai-responses.pb",
        format: "otlp",
        runs: &[("completed", QUERY, Some(ANSWER), &[])],
    },
    Written {
        file: "otlp/openinference-anthropic.jsonl",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/openinference-anthropic.pb",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/openinference-langchain.jsonl",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/openinference-langchain.pb",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/opentelemetry-openai.jsonl",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/opentelemetry-openai.pb",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/pydantic-ai.jsonl",
        format: "otlp",
        runs: &[WHOLE, WHOLE, WHOLE, WHOLE],
    },
    Written {
        file: "otlp/pydantic-ai.pb",
        format: "otlp",
        runs: &[WHOLE, WHOLE, WHOLE, WHOLE],
    },
    Written {
        file: "otlp/langfuse-sdk.jsonl",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/langfuse-sdk.pb",
        format: "otlp",
        runs: &[WHOLE],
    },
    Written {
        file: "otlp/failing-openai.jsonl",
        format: "otlp",
        runs: &[FAILED],
    },
    Written {
        file: "otlp/failing-openai.pb",
        format: "otlp",
        runs: &[FAILED],
    },
];

pub fn of_inspect() {
    all_are_read(INSPECT);
    for form in ["json", "eval"] {
        let (repository, ran) = import(&format!("inspect/orders.{form}"), &[]);
        let files = "runs/helper/18/0.json\nruns/helper/18/1.json\nruns/helper/order-17/0.json\nruns/helper/order-17/1.json\n";
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, files),
            "{}",
            ran.stderr
        );
        let run = record(&repository, "runs/helper/order-17/1.json", 1);
        assert_eq!(run["inputs"]["prompt"], QUERY.unwrap());
        assert_eq!(
            run["outputs"]["text"],
            "Order 17 was shipped on 2026-03-04."
        );
        let call = &run["intermediate"]["tool_calls"][0];
        assert_eq!(
            (&call["name"], &call["arguments"]),
            (&json!("find_order"), &json!({ "order": 17 }))
        );
        assert_eq!(call["result"], "order 17 was shipped on 2026-03-04");
        assert!(
            run["metrics"]["total_tokens"].as_u64().unwrap() > 100,
            "{}",
            run["metrics"]
        );
    }
}

/// Tokens as the programs count them: two answers of 21 and 9.
pub fn of_coding_agents() {
    let command = json!("cat order-17.txt");
    for (file, format, asked, tool, arguments) in [
        (
            "claude-code/session.jsonl",
            "claude-code",
            BARE,
            "Bash",
            "/command",
        ),
        (
            "claude-code/stream.jsonl",
            "claude-code",
            None,
            "Bash",
            "/command",
        ),
        (
            "claude-code/execution.json",
            "claude-code",
            None,
            "Bash",
            "/command",
        ),
        ("codex/rollout.jsonl", "codex", BARE, "exec_command", "/cmd"),
        ("codex/exec.jsonl", "codex", None, "command_execution", ""),
    ] {
        let (repository, ran) = import(file, &["--case", "c"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "runs/helper/c.json\n"),
            "{file}: {}",
            ran.stderr
        );
        let run = record(&repository, "runs/helper/c.json", 0);
        let target = &run["provenance"]["target"];
        assert_eq!(target, &json!(format!("import {format}")), "{file}");
        let prompt = run["inputs"]["prompt"].as_str();
        assert_eq!(prompt.is_some(), asked.is_some(), "{file}: {prompt:?}");
        assert!(
            prompt
                .unwrap_or_default()
                .ends_with(asked.unwrap_or_default()),
            "{file}: {prompt:?}"
        );
        assert_eq!(run["outputs"], json!({ "text": ANSWER }), "{file}");
        let calls = run["intermediate"]["tool_calls"].as_array().unwrap();
        assert_eq!(
            (calls.len(), &calls[0]["name"]),
            (1, &json!(tool)),
            "{file}"
        );
        if !arguments.is_empty() {
            assert_eq!(
                calls[0]["arguments"].pointer(arguments),
                Some(&command),
                "{file}"
            );
        }
        let result = calls[0]["result"].as_str().unwrap();
        assert!(result.contains("Order 17 was shipped."), "{file}: {result}");
        assert_eq!(
            (
                &run["metrics"]["input_tokens"],
                &run["metrics"]["output_tokens"]
            ),
            (&json!(42), &json!(18)),
            "{file}"
        );
    }
}

pub fn of_vendors() {
    all_are_read(VENDORS);
}

/// A set of cases is what the agent should do, and a recording of it.
pub fn of_adk() {
    for file in ["adk/orders.evalset.json", "adk/camel.evalset.json"] {
        let (repository, ran) = import(file, &[]);
        let files = "runs/helper/order-17.json\nruns/helper/thanks.json\n";
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, files),
            "{file}: {}",
            ran.stderr
        );
        let turns = &record(&repository, "runs/helper/thanks.json", 0)["outputs"]["turns"];
        assert_eq!(
            turns[1],
            json!({ "user": "Thank you.", "text": "You are welcome." })
        );
        let config = "version: 1\nsuites:\n  - id: orders\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n      \
            helper: { deterministic: { replay: runs }, fingerprint: { none: the agent is not here } }\n";
        repository.write("goldgate.yaml", config);
        repository.write("runs/helper/.keep", "");
        let cases = |name: &str| -> Value {
            let ran = repository.goldgate(&["import", file, "--cases", name, "--force"]);
            assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
            serde_json::from_str(&repository.read(name)).unwrap()
        };
        let first = cases("cases.json")["cases"][0].clone();
        let call = json!({ "name": "find_order", "args": { "match": "exact", "values": { "order": 17 } } });
        assert_eq!(
            first["trajectory"],
            json!({ "mode": "exact", "tools": [call] })
        );
        assert_eq!(
            first["answer"],
            json!({ "similar": { "to": ANSWER, "token_f1": 0.8 } })
        );
        let ran = repository.goldgate(&["run"]);
        assert_eq!(ran.code, 0, "{file}: {}{}", ran.stdout, ran.stderr);
        let changed = repository
            .read("runs/helper/thanks.json")
            .replace("You are welcome.", "No.");
        repository.write("runs/helper/thanks.json", changed);
        let ran = repository.goldgate(&["run"]);
        assert!(
            ran.stdout.contains("\n  thanks  (cases.json:"),
            "{file}: {}",
            ran.stdout
        );
        repository.write(
            "adk/test_config.json",
            "{\"criteria\": {\"tool_trajectory_avg_score\": 0.5, \"response_match_score\": 0.6}}",
        );
        let first = cases("other.json")["cases"][0].clone();
        assert_eq!(
            (
                &first["trajectory"],
                &first["answer"]["similar"]["token_f1"]
            ),
            (&Value::Null, &json!(0.6))
        );
        assert_eq!(
            first["notes"],
            "Not imported: tool_trajectory_avg_score: it is an average"
        );
    }
    let (repository, _) = import("adk/orders.session.json", &["--case", "c"]);
    let ran = repository.goldgate(&["import", "adk/orders.session.json", "--cases", "cases.json"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("no file has cases"),
        "{}",
        ran.stderr
    );
}

/// Goldens are drafts of cases, and recordings where they have an answer; a plain table has the same form.
pub fn of_goldens() {
    for file in [
        "deepeval/goldens.json",
        "deepeval/goldens.csv",
        "deepeval/goldens.jsonl",
    ] {
        let (repository, ran) = import(file, &[]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "runs/helper/order-17.json\n"),
            "{file}: {}",
            ran.stderr
        );
        let run = record(&repository, "runs/helper/order-17.json", 0);
        assert_eq!(run["outputs"]["text"], "Order 17 was shipped.");
        assert_eq!(
            run["intermediate"]["tool_calls"][0]["arguments"],
            json!({ "order": 17 })
        );
        let ran = repository.goldgate(&["import", file, "--cases", "cases.json"]);
        assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
        let cases: Value = serde_json::from_str(&repository.read("cases.json")).unwrap();
        let first = json!({ "id": "order-17", "query": "Where is my order 17?", "expected_tools": ["find_order"],
            "answer": [{ "any_of": ["shipped"] }], "draft": true });
        let second = json!({ "id": "sample-2", "query": "When are you open, \"today\"?", "answer": [{ "any_of": ["9 to 5"] }], "draft": true });
        assert_eq!(cases["cases"], json!([first, second]), "{file}");
    }
    let repository = Repository::empty();
    repository.write(
        "golden.csv",
        "id,question,expected_answer\n7,\"Where, please?\",here\n,When?,\n",
    );
    let ran = repository.goldgate(&["import", "golden.csv", "--cases", "cases.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let cases: Value = serde_json::from_str(&repository.read("cases.json")).unwrap();
    let first = json!({ "id": "7", "query": "Where, please?", "answer": [{ "any_of": ["here"] }], "draft": true });
    assert_eq!(
        cases["cases"],
        json!([first, { "id": "sample-2", "query": "When?", "draft": true }])
    );
    repository.write("open.csv", "question,answer\nWhere?,\"here\n");
    let ran = repository.goldgate(&["import", "open.csv", "--cases", "c.json"]);
    assert!(
        ran.code == 2
            && ran
                .stderr
                .starts_with("open.csv:2:8: this quote is not closed"),
        "{}",
        ran.stderr
    );
}

pub fn of_chains() {
    all_are_read(CHAINS);
}

pub fn of_instrumentations() {
    all_are_read(SPANS);
}

pub fn of_sdks() {
    all_are_read(SDKS);
}

fn all_are_read(files: &[Written]) {
    let mut wrong = Vec::new();
    for Written { file, format, runs } in files {
        let (repository, ran) = import(file, &["--case", "c"]);
        let expected: Vec<Value> = runs.iter().map(|run| told(format, run)).collect();
        let found: Vec<Value> = ran
            .stdout
            .lines()
            .map(|path| found(&repository, path))
            .collect();
        if ran.code != 0 || found != expected {
            wrong.push(format!(
                "{file}: {}\n  expected {expected:?}\n  found    {found:?}",
                ran.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Imports a file of a tool in an empty repository.
fn import(file: &str, more: &[&str]) -> (Repository, crate::repository::Ran) {
    let repository = Repository::empty();
    let bytes = fs::read(root().join("tests/imports/files").join(file)).unwrap();
    let path = repository.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    let ran = repository.goldgate(
        &[
            &["import", file, "--out", "runs", "--agent", "helper"],
            more,
        ]
        .concat(),
    );
    (repository, ran)
}

fn told(format: &str, (status, prompt, answer, tools): &Run) -> Value {
    json!([format!("import {format}"), status, prompt, answer, tools])
}

fn found(repository: &Repository, path: &str) -> Value {
    let sample = path
        .rsplit('/')
        .next()
        .and_then(|name| name.trim_end_matches(".json").parse().ok())
        .unwrap_or(0);
    let record = record(repository, path, sample);
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    let tools: Vec<&Value> = calls.iter().map(|call| &call["name"]).collect();
    let answered = calls
        .iter()
        .all(|call| [json!({ "order": 17 }), json!({ "order": 404 })].contains(&call["arguments"]));
    assert!(answered, "{path}: {calls:?}");
    json!([
        record["provenance"]["target"],
        record["status"],
        record["inputs"]["prompt"],
        record["outputs"]["text"],
        tools
    ])
}

pub fn cases_of_traces() {
    for (file, key, case) in [
        ("langsmith/runs.jsonl", "extra.metadata.thread_id", "t-17"),
        ("langfuse/trace.json", "sessionId", "s-17"),
        ("langfuse/observations.jsonl", "sessionId", "s-17"),
        ("otlp/openinference-openai.pb", "session.id", "s-17"),
        ("inspect/failing.json", "id", "order-404"),
    ] {
        let (_, ran) = import(file, &["--case-key", key]);
        let expected = format!("runs/helper/{case}.json\n");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, expected.as_str()),
            "{file}: {}",
            ran.stderr
        );
        let (_, ran) = import(file, &["--case-key", "no.such.key"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("no.such.key"),
            "{file}: {}",
            ran.stderr
        );
    }
}

pub fn broken_files_of_tools() {
    let repository = Repository::empty();
    let sample = "{\"id\": \"a\", \"epoch\": 1, \"messages\": []}";
    let link = "samples/../../up.json";
    let archive = |entries: &[(&str, &str)]| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in entries {
            writer
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let spaces = " ".repeat(33 << 20);
    let log = fs::read(root().join("tests/imports/files/inspect/orders.eval")).unwrap();
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "unanswered.eval",
            archive(&[("samples/a.json", sample)]),
            "unanswered.eval/samples/a.json:1:1: this transcript has no assistant message",
        ),
        (
            "up.eval",
            archive(&[(link, sample)]),
            "up.eval: the path \"samples/../../up.json\" in the archive",
        ),
        (
            "bomb.eval",
            archive(&[("samples/a.json", &spaces)]),
            "bomb.eval: samples/a.json in the archive is larger than 32 MiB",
        ),
        (
            "other.eval",
            archive(&[("readme.txt", "x")]),
            "other.eval: this archive has no samples/*.json",
        ),
        (
            "cut.eval",
            log[..log.len() / 2].to_vec(),
            "cut.eval: the archive cannot be read",
        ),
        ("bytes.pb", vec![0xff; 40], "bytes.pb"),
        (
            "empty.json",
            b"{\"version\": 2, \"eval\": {}, \"samples\": []}".to_vec(),
            "empty.json:1:1: this log has no samples",
        ),
        (
            "chain.json",
            b"[{\"type\": \"human\", \"data\": {\"content\": \"q\"}}]".to_vec(),
            "chain.json:1:1: this transcript has no assistant message",
        ),
        (
            "tool.json",
            b"[{\"type\": \"tool\", \"content\": \"r\", \"tool_call_id\": \"c9\"}]".to_vec(),
            "tool.json:1:2: the tool result \"c9\" matches no open call",
        ),
        (
            "smith.json",
            b"{\"run_type\": \"parser\", \"id\": \"1\", \"parent_run_id\": \"0\"}".to_vec(),
            "smith.json:1:1: this file has no spans of a model",
        ),
    ];
    for (file, bytes, what) in files {
        fs::write(repository.path(file), bytes).unwrap();
        let ran = repository.goldgate(&[
            "import", file, "--out", "runs", "--agent", "h", "--case", "c",
        ]);
        assert!(
            ran.code == 2 && ran.stderr.starts_with(what),
            "{file}: {}",
            ran.stderr
        );
    }
}

pub fn choices_refusals_and_errors() {
    let (_, ran) = import("openai/choices-refusal-error.jsonl", &["--case", "c"]);
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("this conversation asks \"Tell me the secret.\""),
        "{}",
        ran.stderr
    );
    let (repository, ran) = import(
        "openai/choices-refusal-error.jsonl",
        &["--case-key", "request.messages.0.content"],
    );
    assert!(
        ran.code == 2 && ran.stderr.contains("at \"request.messages.0.content\""),
        "{}",
        ran.stderr
    );
    let text = repository.read("openai/choices-refusal-error.jsonl");
    let kinds = ["choices", "refusal", "error"];
    let named = text
        .lines()
        .zip(kinds)
        .map(|(line, case)| format!("{{\"case\": \"{case}\", {}\n", &line[1..]));
    repository.write("named.jsonl", named.collect::<String>());
    let ran = repository.goldgate(&[
        "import",
        "named.jsonl",
        "--out",
        "runs",
        "--agent",
        "helper",
    ]);
    let files = "runs/helper/choices/0.json\nruns/helper/choices/1.json\nruns/helper/error.json\nruns/helper/refusal.json\n";
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, files),
        "{}",
        ran.stderr
    );
    let error = record(&repository, "runs/helper/error.json", 0);
    assert_eq!(
        (&error["status"], &error["error"]),
        (&json!("error"), &json!("The model `nobody` does not exist"))
    );
    let tokens = |sample: u32| {
        record(
            &repository,
            &format!("runs/helper/choices/{sample}.json"),
            sample,
        )["metrics"]["total_tokens"]
            .clone()
    };
    assert_eq!(
        [tokens(0), tokens(1)],
        [json!(30), Value::Null],
        "the tokens of one answer are counted once"
    );
}

pub fn tokens_of_a_loop_are_added() {
    for file in [
        "openai/chat-exchanges.jsonl",
        "openai/chat-streamed-exchanges.jsonl",
        "anthropic/streamed-exchanges.jsonl",
    ] {
        let (repository, _) = import(file, &["--case", "c"]);
        let record = record(&repository, "runs/helper/c.json", 0);
        let metrics = &record["metrics"];
        assert_eq!(
            [&metrics["input_tokens"], &metrics["output_tokens"]],
            [&json!(42), &json!(18)],
            "{file}"
        );
    }
}

pub fn packed_files() {
    let repository = Repository::empty();
    let packed = |text: &[u8]| {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut writer, text).unwrap();
        writer.finish().unwrap()
    };
    let chat = fs::read(root().join("tests/imports/files/openai/chat-messages.json")).unwrap();
    fs::write(repository.path("chat.json.gz"), packed(&chat)).unwrap();
    fs::write(
        repository.path("bomb.json.gz"),
        packed(&vec![b' '; 40 << 20]),
    )
    .unwrap();
    fs::write(repository.path("cut.json.gz"), &packed(&chat)[..40]).unwrap();
    let import = |file: &str| {
        repository.goldgate(&[
            "import", file, "--out", "runs", "--agent", "h", "--case", "c",
        ])
    };
    assert_eq!(import("chat.json.gz").stdout, "runs/h/c.json\n");
    for (file, what) in [
        (
            "bomb.json.gz",
            "bomb.json.gz: the file unpacks to more than 32 MiB",
        ),
        ("cut.json.gz", "cut.json.gz: the file cannot be unpacked"),
    ] {
        let ran = import(file);
        assert!(
            ran.code == 2
                && ran.stderr.starts_with(what)
                && ran.stderr.contains("[broken-archive]"),
            "{}",
            ran.stderr
        );
    }
    repository.write("empty.sse", "event: ping\ndata: {\"type\": \"ping\"}\n\n");
    let ran = import("empty.sse");
    assert!(
        ran.code == 2
            && ran
                .stderr
                .starts_with("empty.sse:1:1: this event stream has no answer"),
        "{}",
        ran.stderr
    );
    repository.write(
        "get.json",
        "{\"interactions\": [{\"request\": {\"body\": null}, \"response\": {\"body\": {\"string\": \"ok\"}}}]}",
    );
    let ran = import("get.json");
    assert!(
        ran.code == 2
            && ran
                .stderr
                .starts_with("get.json:1:1: the format of this file is not known"),
        "{}",
        ran.stderr
    );
}
