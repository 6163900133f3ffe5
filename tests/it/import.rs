//! `goldgate import`: what transcripts of other tools become.

mod otlp;
mod paths;
mod promptfoo;
mod real_files;
mod records;
mod told_calls;

use goldgate::files::SourceText;
use goldgate::format::run_v1;
use goldgate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::otlp::{
    conversation, failed_trace, older_traces, request, silent_trace, span, trace, unanswered,
};
use crate::repository::Repository;
use crate::trial;

#[expect(clippy::too_many_lines, reason = "a table of rows")]
pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a list of chat messages becomes prompt, calls and answer",
            chat,
        ),
        trial(
            "the items of a response become prompt, calls and answer",
            items,
        ),
        trial("content blocks become prompt, calls and answer", blocks),
        trial(
            "a trace with messages on its spans becomes prompt, calls and answer",
            trace,
        ),
        trial(
            "a trace with messages in older forms becomes the same",
            older_traces,
        ),
        trial(
            "a trace without content has its calls and counts and says that the text is missing",
            silent_trace,
        ),
        trial(
            "a failed trace is a run that did not complete",
            failed_trace,
        ),
        trial(
            "a trace that ends with a tool or a question has no answer",
            unanswered,
        ),
        trial(
            "an answer of a server from promptfoo's cache is none",
            promptfoo::cached,
        ),
        trial(
            "a trace of several turns keeps them, each call with its turn",
            conversation,
        ),
        trial(
            "import records the calls of a trace wherever its messages tell them",
            told_calls::of_spans,
        ),
        trial(
            "import records the calls of LangSmith's and Langfuse's runs at any place",
            told_calls::of_run_trees,
        ),
        trial(
            "import records the calls of promptfoo and of inspect-ai at any place",
            told_calls::of_promptfoo_and_inspect,
        ),
        trial(
            "conversations a line are samples of a case, or cases of their own",
            lines,
        ),
        trial("traces are cases by an attribute", traces),
        trial(
            "what was said in between is kept, and what is left out is told",
            between,
        ),
        trial(
            "an answer's tokens are counted as its vendor counts them",
            tokens,
        ),
        trial(
            "a recording that is there is not replaced without --force",
            no_overwriting,
        ),
        trial(
            "with --force the recordings of a case are replaced together",
            together,
        ),
        trial(
            "import writes run records where they belong, with today's digests",
            records::where_they_belong,
        ),
        trial(
            "import tells run records and transcripts apart",
            records::told_apart,
        ),
        trial(
            "import leaves a recording with the same content alone, also with --force",
            records::same_content,
        ),
        trial(
            "import keeps other digests that a run record states, and says so",
            records::other_digests,
        ),
        trial(
            "import refuses run records that cannot be graded or have no place",
            records::refused,
        ),
        trial(
            "import removes secrets from run records",
            records::without_secrets,
        ),
        trial(
            "import finds out the format of files, folders and patterns",
            paths::formats_are_found_out,
        ),
        trial(
            "import tells paths that have nothing to read",
            paths::nothing_to_read_is_told,
        ),
        trial(
            "import shows three or more equal problems as one",
            paths::equal_problems_are_one,
        ),
        trial(
            "import reads what the SDKs of OpenAI and Anthropic record",
            real_files::of_sdks,
        ),
        trial(
            "import reads choices as samples, and refusals and errors",
            real_files::choices_refusals_and_errors,
        ),
        trial(
            "import adds the tokens of all steps of a loop",
            real_files::tokens_of_a_loop_are_added,
        ),
        trial(
            "import unpacks files within limits",
            real_files::packed_files,
        ),
        trial("import reads logs of inspect-ai", real_files::of_inspect),
        trial(
            "import reads sessions of Claude Code and Codex",
            real_files::of_coding_agents,
        ),
        trial(
            "import reads what the SDKs of Gemini, Bedrock and Ollama record",
            real_files::of_vendors,
        ),
        trial(
            "import reads the sets of cases of Google's ADK as recordings and as cases",
            real_files::of_adk,
        ),
        trial(
            "import makes draft cases of goldens of deepeval and of tables",
            real_files::of_goldens,
        ),
        trial(
            "import reads dumps of LangChain, LangSmith and Langfuse",
            real_files::of_chains,
        ),
        trial(
            "import reads spans of the instrumentations, in JSON and protobuf",
            real_files::of_instrumentations,
        ),
        trial(
            "import finds the cases of traces under a key",
            real_files::cases_of_traces,
        ),
        trial(
            "import refuses broken and hostile files of tools",
            real_files::broken_files_of_tools,
        ),
        trial(
            "import gives the tests of promptfoo the same verdicts",
            promptfoo::same_verdicts,
        ),
        trial(
            "import refuses by name what a promptfoo config keeps where it is not read",
            promptfoo::tests_elsewhere,
        ),
        trial(
            "import makes a case of each test of a promptfoo scenario with each of its configs",
            promptfoo::scenarios_are_a_product,
        ),
        trial(
            "import reads the files beside a promptfoo config as promptfoo does",
            promptfoo::files_beside,
        ),
        trial(
            "import makes cases of a promptfoo config",
            promptfoo::configs_are_cases,
        ),
        trial(
            "import says what it cannot make a case of",
            promptfoo::what_cannot_be_said,
        ),
        trial(
            "import makes a case of each test of promptfoo, and finds the runs of each",
            promptfoo::every_test,
        ),
        trial(
            "import refuses results of several providers or prompts as samples of one agent",
            promptfoo::side_by_side,
        ),
        trial(
            "import names cases by a key of their records",
            paths::cases_by_a_key,
        ),
        trial(
            "trials with a simulated user are samples of the case that they name",
            paths::trials_are_samples,
        ),
        trial(
            "import takes conversations as samples only where they answer one input",
            paths::samples_answer_one_input,
        ),
    ]
}

/// The record that one transcript becomes, and what was said of it; the record is one that replay reads.
fn imported(form: &str, transcript: &Value) -> (Value, String) {
    let repository = Repository::empty();
    repository.write("t.json", transcript.to_string());
    let ran = repository.goldgate(&[
        "import", form, "t.json", "--out", "runs", "--agent", "helper", "--case", "c",
    ]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/helper/c.json\n"),
        "{}",
        ran.stderr
    );
    (record(&repository, "runs/helper/c.json", 0), ran.stderr)
}

fn record(repository: &Repository, file: &str, sample: u32) -> Value {
    let text = repository.read(file);
    let record: Value = serde_json::from_str(&text).unwrap();
    let name = |key: &str| record[key].as_str().unwrap().to_owned();
    let key = RunKey {
        suite: SuiteId::new("s").unwrap(),
        agent: AgentName::new(&name("agent")).unwrap(),
        case: CaseId::new(&name("case")).unwrap(),
    };
    let source = SourceText::from_text(RepoPath::root().child("r.json"), text);
    let run = run_v1::read_run(&source, &key, sample).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&run.outputs).unwrap(),
        record["outputs"]
    );
    record
}

fn paris() -> Value {
    json!([{ "name": "get_weather", "arguments": { "city": "Paris" }, "result": "rain", "error": null, "latency_ms": null }])
}

fn told(record: &Value) -> (&Value, &Value, &Value) {
    (
        &record["inputs"]["prompt"],
        &record["intermediate"]["tool_calls"],
        &record["outputs"]["text"],
    )
}

fn chat() {
    let call = json!({ "id": "1", "type": "function", "function": { "name": "get_weather", "arguments": "{\"city\":\"Paris\"}" } });
    let messages = json!([
        { "role": "developer", "content": "Be brief." },
        { "role": "user", "content": [{ "type": "text", "text": "Weather" }, { "type": "text", "text": " in Paris?" }] },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "1", "content": "rain" },
        { "role": "assistant", "content": "It rains." },
    ]);
    let calls = paris();
    let wanted = (
        &json!("Be brief.\n\nWeather in Paris?"),
        &calls,
        &json!("It rains."),
    );
    let (bare, said) = imported("openai", &messages);
    assert_eq!((told(&bare), said.as_str()), (wanted, ""));
    assert_eq!(
        bare["metrics"]["tool_call_counts"],
        json!({ "get_weather": 1 })
    );
    assert_eq!(
        told(&imported("openai", &json!({ "messages": messages })).0),
        wanted
    );
    let (asked, answered) = (&messages.as_array().unwrap()[..4], &messages[4]);
    let whole = json!({ "model": "m-1", "messages": asked, "choices": [{ "message": answered }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 } });
    let (whole, _) = imported("openai", &whole);
    assert_eq!(told(&whole), wanted);
    assert_eq!(
        (
            &whole["provenance"]["model"],
            &whole["metrics"]["total_tokens"]
        ),
        (&json!("m-1"), &json!(13))
    );
    let older = json!([
        { "role": "user", "content": "q" },
        { "role": "assistant", "content": null, "function_call": { "name": "get_weather", "arguments": "{\"city\":\"Paris\"}" } },
        { "role": "function", "name": "get_weather", "content": "rain" },
        { "role": "assistant", "content": "It rains." },
    ]);
    assert_eq!(
        told(&imported("openai", &older).0),
        (&json!("q"), &calls, &json!("It rains."))
    );
    let broken = json!([{ "role": "assistant", "content": null, "refusal": "No.", "tool_calls":
        [{ "id": "1", "function": { "name": "f", "arguments": "{cut" } }] }]);
    let (broken, _) = imported("openai", &broken);
    assert_eq!(
        broken["intermediate"]["tool_calls"][0]["arguments"], "{cut",
        "what the model wrote is kept"
    );
    assert_eq!(
        (&broken["inputs"]["prompt"], &broken["outputs"]["text"]),
        (&Value::Null, &json!("No."))
    );
}

fn items() {
    let response = json!({
        "model": "m-2", "instructions": "Be brief.", "input": "Weather in Paris?", "status": "completed", "error": null,
        "output": [
            { "type": "reasoning", "summary": [] },
            { "type": "function_call", "call_id": "1", "name": "get_weather", "arguments": "{\"city\": \"Paris\"}" },
            { "type": "function_call_output", "call_id": "1", "output": "rain" },
            { "type": "web_search_call", "id": "w", "status": "completed", "action": { "type": "search", "query": "Paris" } },
            { "type": "mcp_call", "id": "m", "server_label": "db", "name": "delete_account", "arguments": "{\"id\": 1}",
              "output": "gone", "error": null },
            { "type": "local_shell_call", "id": "l", "call_id": "2", "status": "completed",
              "action": { "type": "exec", "command": ["rm", "-rf", "/"] } },
            { "type": "mcp_list_tools", "id": "t", "server_label": "db", "tools": [] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It rains." }] },
        ],
        "usage": { "input_tokens": 5, "output_tokens": 2, "total_tokens": 7 },
    });
    let (record, said) = imported("openai", &response);
    let (prompt, calls, text) = told(&record);
    assert_eq!(
        (prompt, text),
        (
            &json!("Be brief.\n\nWeather in Paris?"),
            &json!("It rains.")
        )
    );
    let seen = |key: &str| {
        calls
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call[key].clone())
            .collect::<Value>()
    };
    assert_eq!(
        seen("name"),
        json!(["get_weather", "web_search", "delete_account", "local_shell"])
    );
    assert_eq!(seen("server"), json!([null, null, "db", null]));
    assert_eq!(seen("step"), json!([0, 1, 1, 1]));
    assert_eq!(seen("result"), json!(["rain", null, "gone", null]));
    assert_eq!(
        calls[1]["arguments"],
        json!({ "action": { "type": "search", "query": "Paris" } })
    );
    assert_eq!(
        calls[3]["arguments"],
        json!({ "action": { "type": "exec", "command": ["rm", "-rf", "/"] } })
    );
    let others =
        json!([{ "type": "mcp_list_tools", "id": "t", "server_label": "db", "tools": [] }]);
    assert_eq!(record["intermediate"]["events"], others);
    assert_eq!(
        (&record["metrics"]["input_tokens"], said.as_str()),
        (&json!(5), "left out: 1 x \"reasoning\"\n")
    );
    let failed = json!({ "input": "q", "output": [], "status": "failed", "error": { "code": "x", "message": "overloaded" } });
    let (record, _) = imported("openai", &failed);
    assert_eq!(
        (&record["status"], &record["error"]),
        (&json!("error"), &json!("overloaded"))
    );
}

fn blocks() {
    let messages = json!([
        { "role": "user", "content": "Weather in Paris?" },
        { "role": "assistant", "model": "m-3", "usage": { "input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 10 }, "content": [
            { "type": "thinking", "thinking": "…", "signature": "s" },
            { "type": "text", "text": "Let me look." },
            { "type": "tool_use", "id": "1", "name": "get_weather", "input": { "city": "Paris" } },
            { "type": "tool_use", "id": "2", "name": "book", "input": {} } ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "2", "is_error": true, "content": [{ "type": "text", "text": "no room" }] },
            { "type": "tool_result", "tool_use_id": "1", "content": "rain" } ] },
        { "role": "assistant", "usage": { "input_tokens": 20, "output_tokens": 5 }, "content": [{ "type": "text", "text": "It rains." }] },
    ]);
    let (record, said) = imported(
        "anthropic",
        &json!({ "system": [{ "type": "text", "text": "Be brief." }], "messages": messages }),
    );
    let mut calls = paris();
    let failed = json!({ "name": "book", "arguments": {}, "result": "no room", "error": "no room", "latency_ms": null });
    calls.as_array_mut().unwrap().push(failed);
    // Both were asked for in one answer.
    calls
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|call| call["step"] = json!(0));
    assert_eq!(
        told(&record),
        (
            &json!("Be brief.\n\nWeather in Paris?"),
            &calls,
            &json!("It rains.")
        )
    );
    assert_eq!(
        record["intermediate"]["events"],
        json!([{ "role": "assistant", "text": "Let me look." }])
    );
    assert_eq!(said, "left out: 1 x \"thinking\"\n");
    assert_eq!(record["provenance"]["model"], "m-3");
    assert_eq!(told(&imported("anthropic", &messages).0).1, &calls);
}

fn lines() {
    let repository = Repository::empty();
    let said = |text: &str, more: &str| {
        format!("{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"{text}\"}}]{more}}}\n")
    };
    repository.write("samples.jsonl", said("a", "") + "\n" + &said("b", ""));
    let ran = repository.goldgate(&[
        "import",
        "openai",
        "samples.jsonl",
        "--out",
        "runs",
        "--agent",
        "h",
        "--case",
        "c",
    ]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/h/c/0.json\nruns/h/c/1.json\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        record(&repository, "runs/h/c/1.json", 1)["outputs"]["text"],
        "b"
    );
    let named = said("a", ", \"case\": \"x\", \"agent\": \"h\"")
        + &said("b", ", \"metadata\": {\"case\": \"y\", \"agent\": \"g\"}");
    repository.write("cases.jsonl", named);
    let ran = repository.goldgate(&["import", "anthropic", "cases.jsonl", "--out", "other"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "other/g/y.json\nother/h/x.json\n"),
        "{}",
        ran.stderr
    );
    let ran = repository.goldgate(&[
        "import",
        "anthropic",
        "cases.jsonl",
        "--out",
        "other",
        "--case",
        "x",
        "--force",
    ]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .starts_with("cases.jsonl:2:1: this run has the case \"y\""),
        "{}",
        ran.stderr
    );
    let message = |role: &str| format!("{{\"role\": \"{role}\", \"content\": \"{role}\"}}\n");
    repository.write("log.jsonl", message("user") + &message("assistant"));
    let ran = repository.goldgate(&[
        "import",
        "openai",
        "log.jsonl",
        "--out",
        "log",
        "--agent",
        "h",
        "--case",
        "c",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        record(&repository, "log/h/c.json", 0)["inputs"]["prompt"],
        "user",
        "a message a line is one conversation"
    );
}

fn traces() {
    let repository = Repository::empty();
    let one = |trace: &str, case: &str, ms: u64, text: &str| {
        let output =
            json!([{ "role": "assistant", "parts": [{ "type": "text", "content": text }] }]);
        let mut span = span(
            "0a",
            "",
            ms,
            ms + 1,
            &[
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.output.messages", output),
                ("acme.case", json!(case)),
            ],
        );
        span["traceId"] = json!(trace);
        request(&[span]).to_string() + "\n"
    };
    let unrelated = request(&[span(
        "0f",
        "",
        0,
        9,
        &[("http.request.method", json!("GET"))],
    )])
    .to_string();
    let file = one("0b", "late", 9, "l")
        + &one("0c", "twice", 5, "second")
        + &one("0a", "twice", 2, "first")
        + &unrelated;
    repository.write("t.jsonl", file);
    let import = |more: &[&str]| {
        let plain = ["import", "otlp", "t.jsonl", "--out", "runs", "--agent", "h"];
        repository.goldgate(&[&plain, more].concat())
    };
    let ran = import(&["--case-key", "acme.case"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "runs/h/late.json\nruns/h/twice/0.json\nruns/h/twice/1.json\n"
    );
    assert_eq!(ran.stderr, "left out: 1 x \"trace without GenAI spans\"\n");
    assert_eq!(
        record(&repository, "runs/h/twice/0.json", 0)["outputs"]["text"],
        "first",
        "the earliest is the first"
    );
    let refused = [
        (
            &["--case", "c"][..],
            "these are 3 traces, but --case c names one case",
        ),
        (
            &["--case-key", "acme.no"][..],
            "no span of this trace has the attribute \"acme.no\"",
        ),
        (&[][..], "this run has no case id"),
    ];
    for (more, what) in refused {
        let ran = import(more);
        assert!(ran.code == 2 && ran.stderr.contains(what), "{}", ran.stderr);
    }
}

fn between() {
    let messages = json!([
        { "role": "user", "content": "one" },
        { "role": "assistant", "content": "first" },
        { "role": "user", "content": [{ "type": "text", "text": "two" }, { "type": "image_url", "image_url": {} }] },
        { "role": "assistant", "content": "second" },
        { "role": "user", "content": "thanks" },
    ]);
    let (record, said) = imported("openai", &messages);
    let event = |role: &str, text: &str| json!({ "role": role, "text": text });
    let events = json!([
        event("assistant", "first"),
        event("user", "two"),
        event("user", "thanks")
    ]);
    assert_eq!(told(&record), (&json!("one"), &json!([]), &json!("second")));
    assert_eq!(
        (&record["intermediate"]["events"], said.as_str()),
        (&events, "left out: 1 x \"image_url\"\n")
    );
}

fn tokens() {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 4, "output_tokens": 2 });
    let message = json!([{ "role": "assistant", "content": "a", "usage": usage }, { "role": "assistant", "content": "b", "usage": usage }]);
    let (record, _) = imported("anthropic", &message);
    let metrics = &record["metrics"];
    let counts = [
        &metrics["input_tokens"],
        &metrics["output_tokens"],
        &metrics["total_tokens"],
    ];
    assert_eq!(counts, [&json!(34), &json!(4), &json!(38)]);
}

fn no_overwriting() {
    let repository = Repository::empty();
    let answer = |text: &str| format!("[{{\"role\": \"assistant\", \"content\": \"{text}\"}}]\n");
    let import = |text: String, more: &[&str]| {
        repository.write("t.json", text);
        let plain = [
            "import", "openai", "t.json", "--out", "runs", "--agent", "h", "--case", "c",
        ];
        repository.goldgate(&[&plain, more].concat())
    };
    assert_eq!(import(answer("a"), &[]).code, 0);
    let again = import(answer("b"), &[]);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    assert!(
        again
            .stderr
            .starts_with("runs/h/c.json: this recording already exists; use --force"),
        "{}",
        again.stderr
    );
    assert_eq!(
        record(&repository, "runs/h/c.json", 0)["outputs"]["text"],
        "a"
    );
    assert_eq!(import(answer("b"), &["--force"]).code, 0);
    assert_eq!(
        record(&repository, "runs/h/c.json", 0)["outputs"]["text"],
        "b"
    );
    let several = || import(answer("a") + &answer("b") + &answer("c"), &[]);
    assert!(
        several().code == 2 && several().stderr.contains("in the other layout"),
        "{}",
        several().stderr
    );
    assert_eq!(
        import(answer("a") + &answer("b") + &answer("c"), &["--force"]).code,
        0
    );
    assert!(!repository.path("runs/h/c.json").exists());
    let fewer = |more| import(answer("a") + &answer("b"), more);
    let mixed = "runs/h/c/2.json: this sample would be mixed with the new ones";
    assert!(
        fewer(&[]).code == 2 && fewer(&[]).stderr.contains(mixed),
        "{}",
        fewer(&[]).stderr
    );
    repository.write("runs/h/c/README.md", "How it was recorded.");
    for refused in [fewer(&["--force"]), import(answer("d"), &["--force"])] {
        let lost = "runs/h/c/README.md: this is not a recording, and it would be lost";
        assert!(
            refused.code == 2 && refused.stderr.starts_with(lost),
            "{}",
            refused.stderr
        );
    }
    repository.remove("runs/h/c/README.md");
    assert_eq!(fewer(&["--force"]).code, 0);
    assert!(!repository.path("runs/h/c/2.json").exists());
    let many = import(answer("a").repeat(1001), &["--force"]);
    assert!(
        many.code == 2
            && many
                .stderr
                .starts_with("runs/h/c: this case has 1001 samples"),
        "{}",
        many.stderr
    );
    assert_eq!(import(answer("d"), &["--force"]).code, 0);
    assert_eq!(
        record(&repository, "runs/h/c.json", 0)["outputs"]["text"],
        "d"
    );
    assert!(!repository.path("runs/h/c/0.json").exists());
}

fn together() {
    let repository = Repository::empty();
    let import = |texts: [&str; 3]| {
        let lines =
            texts.map(|text| format!("[{{\"role\": \"assistant\", \"content\": \"{text}\"}}]\n"));
        repository.write("t.json", lines.concat());
        repository.goldgate(&[
            "import", "openai", "t.json", "--out", "runs", "--agent", "h", "--case", "c", "--force",
        ])
    };
    let texts = || {
        [0, 1, 2].map(|sample| {
            record(&repository, &format!("runs/h/c/{sample}.json"), sample)["outputs"]["text"]
                .clone()
        })
    };
    assert_eq!(import(["a", "b", "c"]).code, 0);
    // One of the old ones cannot be written over: the new set takes the place of the whole, never of a part.
    repository.remove("runs/h/c/1.json");
    repository.write("runs/h/c/1.json/note.txt", "not a recording");
    let ran = import(["d", "e", "f"]);
    assert_eq!(
        (ran.code, texts()),
        (0, ["d", "e", "f"].map(Value::from)),
        "{}",
        ran.stderr
    );
    // Where nothing can be written, nothing is lost.
    let folder = repository.path("runs/h");
    let allow = |mode: u32| {
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap()
    };
    allow(0o555);
    let ran = import(["g", "h", "i"]);
    allow(0o755);
    // Whoever runs the tests as root may write everywhere.
    let wanted = if ran.code == 0 {
        ["g", "h", "i"]
    } else {
        ["d", "e", "f"]
    };
    assert_eq!(texts(), wanted.map(Value::from), "{}", ran.stderr);
}
