//! `goldgate import`: what transcripts of other tools become.

use goldgate::format::SourceText;
use goldgate::format::run_v1;
use goldgate::model::AgentName;
use goldgate::model::CaseId;
use goldgate::model::RepoPath;
use goldgate::model::RunKey;
use goldgate::model::SuiteId;
use libtest_mimic::Trial;
use serde_json::Value;
use serde_json::json;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a list of chat messages becomes prompt, calls and answer", chat),
        trial("the items of a response become prompt, calls and answer", items),
        trial("content blocks become prompt, calls and answer", blocks),
        trial("a trace with messages on its spans becomes prompt, calls and answer", trace),
        trial("a trace with messages in older forms becomes the same", older_traces),
        trial("a trace without content has its calls and counts and says that the text is missing", silent_trace),
        trial("a failed trace is a run that did not complete", failed_trace),
        trial("conversations a line are samples of a case, or cases of their own", lines),
        trial("traces are cases by an attribute", traces),
        trial("what was said in between is kept, and what is left out is told", between),
        trial("an answer's tokens are counted as its vendor counts them", tokens),
        trial("a recording that is there is not replaced without --force", no_overwriting),
    ]
}

/// The record that one transcript becomes, and what was said of it; the record is one that replay reads.
fn imported(form: &str, transcript: &Value) -> (Value, String) {
    let repository = Repository::empty();
    repository.write("t.json", transcript.to_string());
    let ran = repository.goldgate(&["import", form, "t.json", "--out", "runs", "--agent", "helper", "--case", "c"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "runs/helper/c.json\n"), "{}", ran.stderr);
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
    let source = SourceText { file: RepoPath::root().child("r.json"), text };
    let run = run_v1::read(&source, &key, sample).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&run.outputs).unwrap(), record["outputs"]);
    record
}

fn paris() -> Value {
    json!([{ "name": "get_weather", "arguments": { "city": "Paris" }, "result": "rain", "error": null, "latency_ms": null }])
}

fn told(record: &Value) -> (&Value, &Value, &Value) {
    (&record["inputs"]["prompt"], &record["intermediate"]["tool_calls"], &record["outputs"]["text"])
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
    let wanted = (&json!("Be brief.\n\nWeather in Paris?"), &calls, &json!("It rains."));
    let (bare, said) = imported("openai", &messages);
    assert_eq!((told(&bare), said.as_str()), (wanted, ""));
    assert_eq!(bare["metrics"]["tool_call_counts"], json!({ "get_weather": 1 }));
    assert_eq!(told(&imported("openai", &json!({ "messages": messages })).0), wanted);
    let (asked, answered) = (&messages.as_array().unwrap()[..4], &messages[4]);
    let whole = json!({ "model": "m-1", "messages": asked, "choices": [{ "message": answered }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13 } });
    let (whole, _) = imported("openai", &whole);
    assert_eq!(told(&whole), wanted);
    assert_eq!((&whole["provenance"]["model"], &whole["metrics"]["total_tokens"]), (&json!("m-1"), &json!(13)));
    let older = json!([
        { "role": "user", "content": "q" },
        { "role": "assistant", "content": null, "function_call": { "name": "get_weather", "arguments": "{\"city\":\"Paris\"}" } },
        { "role": "function", "name": "get_weather", "content": "rain" },
        { "role": "assistant", "content": "It rains." },
    ]);
    assert_eq!(told(&imported("openai", &older).0), (&json!("q"), &calls, &json!("It rains.")));
    let broken = json!([{ "role": "assistant", "content": null, "refusal": "No.", "tool_calls":
        [{ "id": "1", "function": { "name": "f", "arguments": "{cut" } }] }]);
    let (broken, _) = imported("openai", &broken);
    assert_eq!(broken["intermediate"]["tool_calls"][0]["arguments"], "{cut", "what the model wrote is kept");
    assert_eq!((&broken["inputs"]["prompt"], &broken["outputs"]["text"]), (&Value::Null, &json!("No.")));
}

fn items() {
    let response = json!({
        "model": "m-2", "instructions": "Be brief.", "input": "Weather in Paris?", "status": "completed", "error": null,
        "output": [
            { "type": "reasoning", "summary": [] },
            { "type": "function_call", "call_id": "1", "name": "get_weather", "arguments": "{\"city\": \"Paris\"}" },
            { "type": "function_call_output", "call_id": "1", "output": "rain" },
            { "type": "web_search_call", "id": "w", "status": "completed" },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It rains." }] },
        ],
        "usage": { "input_tokens": 5, "output_tokens": 2, "total_tokens": 7 },
    });
    let (record, said) = imported("openai", &response);
    let calls = paris();
    assert_eq!(told(&record), (&json!("Be brief.\n\nWeather in Paris?"), &calls, &json!("It rains.")));
    assert_eq!(
        record["intermediate"]["events"],
        json!([{ "type": "web_search_call", "id": "w", "status": "completed" }])
    );
    assert_eq!((&record["metrics"]["input_tokens"], said.as_str()), (&json!(5), "left out: 1 x \"reasoning\"\n"));
    let failed =
        json!({ "input": "q", "output": [], "status": "failed", "error": { "code": "x", "message": "overloaded" } });
    let (record, _) = imported("openai", &failed);
    assert_eq!((&record["status"], &record["error"]), (&json!("error"), &json!("overloaded")));
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
    let (record, said) =
        imported("anthropic", &json!({ "system": [{ "type": "text", "text": "Be brief." }], "messages": messages }));
    let mut calls = paris();
    let failed =
        json!({ "name": "book", "arguments": {}, "result": "no room", "error": "no room", "latency_ms": null });
    calls.as_array_mut().unwrap().push(failed);
    assert_eq!(told(&record), (&json!("Be brief.\n\nWeather in Paris?"), &calls, &json!("It rains.")));
    assert_eq!(record["intermediate"]["events"], json!([{ "role": "assistant", "text": "Let me look." }]));
    assert_eq!(said, "left out: 1 x \"thinking\"\n");
    assert_eq!(record["provenance"]["model"], "m-3");
    assert_eq!(told(&imported("anthropic", &messages).0).1, &calls);
}

/// A span; attributes that are JSON stand as a text, as SDKs without structured attributes write them.
fn span(id: &str, parent: &str, from_ms: u64, to_ms: u64, attributes: &[(&str, Value)]) -> Value {
    let attributes: Vec<Value> =
        attributes.iter().map(|(key, value)| json!({ "key": key, "value": any(value) })).collect();
    let nanos = |ms: u64| (1_767_225_600_000_000_000 + ms * 1_000_000).to_string();
    json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "parentSpanId": parent, "name": "n", "kind": 1,
        "startTimeUnixNano": nanos(from_ms), "endTimeUnixNano": nanos(to_ms), "attributes": attributes, "status": {} })
}

fn any(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(list) => json!({ "arrayValue": { "values": list.iter().map(any).collect::<Vec<_>>() } }),
        Value::Object(map) => {
            let values: Vec<Value> =
                map.iter().map(|(key, value)| json!({ "key": key, "value": any(value) })).collect();
            json!({ "kvlistValue": { "values": values } })
        }
        other => json!({ "stringValue": other.to_string() }),
    }
}

fn request(spans: &[Value]) -> Value {
    let resource = json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": "acme" } }] });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": { "name": "s" }, "spans": spans }] }] })
}

fn chat_of<'a>(said: &[(&'a str, Value)], input: u64) -> Vec<(&'a str, Value)> {
    let mut all = vec![
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.request.model", json!("m")),
        ("gen_ai.response.model", json!("m-4")),
        ("gen_ai.usage.input_tokens", json!(input)),
        ("gen_ai.usage.output_tokens", json!(2)),
    ];
    all.extend_from_slice(said);
    all
}

/// Two calls of a model with one of a tool between; what the models' spans say of their messages comes from outside.
fn run_of(first: &[(&str, Value)], second: &[(&str, Value)]) -> Value {
    let tool = [
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!("get_weather")),
        ("gen_ai.tool.call.id", json!("1")),
        ("gen_ai.tool.call.arguments", json!("{\"city\": \"Paris\"}")),
        ("gen_ai.tool.call.result", json!("rain")),
    ];
    let agent = [("gen_ai.operation.name", json!("invoke_agent")), ("gen_ai.agent.name", json!("Acme helper"))];
    request(&[
        span("0c", "0a", 30, 50, &chat_of(second, 11)),
        span("0a", "", 0, 60, &agent),
        span("0b", "0a", 1, 20, &chat_of(first, 5)),
        span("0d", "0a", 21, 28, &tool),
        span("0e", "0a", 22, 23, &[("http.request.method", json!("GET"))]),
    ])
}

fn timed() -> Value {
    let mut calls = paris();
    calls[0]["latency_ms"] = json!(7);
    calls
}

fn trace() {
    let text = |text: &str| json!({ "type": "text", "content": text });
    let call = json!({ "type": "tool_call", "id": "1", "name": "get_weather", "arguments": { "city": "Paris" } });
    let asked = json!([{ "role": "user", "parts": [text("Weather in Paris?")] }]);
    let called = json!([{ "role": "assistant", "parts": [{ "type": "reasoning", "content": "…" }, call], "finish_reason": "tool_call" }]);
    let answered = json!([{ "role": "assistant", "parts": [text("It rains.")], "finish_reason": "stop" }]);
    let system = ("gen_ai.system_instructions", json!([text("Be brief.")]));
    let structured = run_of(
        &[system.clone(), ("gen_ai.input.messages", asked.clone()), ("gen_ai.output.messages", called.clone())],
        &[("gen_ai.output.messages", answered.clone())],
    );
    let texts = run_of(
        &[
            ("gen_ai.system_instructions", json!(system.1.to_string())),
            ("gen_ai.input.messages", json!(asked.to_string())),
            ("gen_ai.output.messages", json!(called.to_string())),
        ],
        &[("gen_ai.output.messages", json!(answered.to_string()))],
    );
    let calls = timed();
    for request in [structured, texts] {
        let (record, said) = imported("otlp", &request);
        assert_eq!(told(&record), (&json!("Be brief.\n\nWeather in Paris?"), &calls, &json!("It rains.")));
        let metrics = &record["metrics"];
        let counts = [
            &metrics["input_tokens"],
            &metrics["output_tokens"],
            &metrics["total_tokens"],
            &metrics["total_latency_ms"],
        ];
        assert_eq!(counts, [&json!(16), &json!(4), &json!(20), &json!(60)]);
        let origin = &record["provenance"];
        assert_eq!((&origin["model"], &origin["recorded_at"]), (&json!("m-4"), &json!("2026-01-01T00:00:00Z")));
        assert_eq!(said, "left out: 1 x \"reasoning\"\n");
    }
    let untooled = request(&[
        span(
            "0b",
            "",
            1,
            20,
            &[
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.input.messages", asked),
                ("gen_ai.output.messages", called),
            ],
        ),
        span(
            "0c",
            "",
            30,
            50,
            &[
                ("gen_ai.operation.name", json!("chat")),
                (
                    "gen_ai.input.messages",
                    json!([{ "role": "tool", "parts": [{ "type": "tool_call_response", "id": "1", "response": "rain" }] }]),
                ),
                ("gen_ai.output.messages", answered),
            ],
        ),
    ]);
    // Three calls of one tool: spans with and without the id, and one that was never made.
    let call = |id: &str| json!({ "type": "tool_call", "id": id, "name": "f", "arguments": { "id": id } });
    let tool = |span_id: &str, ms: u64, more: &[(&str, Value)]| {
        let plain = [("gen_ai.operation.name", json!("execute_tool")), ("gen_ai.tool.name", json!("f"))];
        span(span_id, "", ms, ms + ms, &[&plain, more].concat())
    };
    let wanted = json!([{ "role": "assistant", "parts": [call("1"), call("2"), call("3")] }]);
    let several = request(&[
        span("0b", "", 1, 2, &[("gen_ai.operation.name", json!("chat")), ("gen_ai.output.messages", wanted)]),
        tool("0c", 10, &[("gen_ai.tool.call.id", json!("2"))]),
        tool("0d", 11, &[]),
        tool("0e", 12, &[("gen_ai.tool.call.id", json!("9"))]),
    ]);
    let (record, _) = imported("otlp", &several);
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    let times: Vec<(&Value, &Value)> =
        calls.iter().map(|call| (&call["arguments"]["id"], &call["latency_ms"])).collect();
    let none = &Value::Null;
    assert_eq!(times, [(&json!("1"), &json!(11)), (&json!("2"), &json!(10)), (&json!("3"), none), (none, &json!(12))]);
    assert_eq!(told(&imported("otlp", &untooled).0), (&json!("Weather in Paris?"), &paris(), &json!("It rains.")));
}

fn older_traces() {
    let calls = timed();
    let call = json!([{ "id": "1", "type": "function", "function": { "name": "get_weather", "arguments": "{\"city\":\"Paris\"}" } }]);
    let flat = run_of(
        &[
            ("gen_ai.prompt.0.role", json!("system")),
            ("gen_ai.prompt.0.content", json!("Be brief.")),
            ("gen_ai.prompt.1.role", json!("user")),
            ("gen_ai.prompt.1.content", json!("Weather in Paris?")),
            ("gen_ai.completion.0.role", json!("assistant")),
            ("gen_ai.completion.0.tool_calls.0.id", json!("1")),
            ("gen_ai.completion.0.tool_calls.0.name", json!("get_weather")),
            ("gen_ai.completion.0.tool_calls.0.arguments", json!("{\"city\": \"Paris\"}")),
        ],
        &[("gen_ai.completion.0.role", json!("assistant")), ("gen_ai.completion.0.content", json!("It rains."))],
    );
    let whole = run_of(
        &[
            ("gen_ai.prompt", json!("[{\"role\":\"user\",\"content\":\"Be brief.\\n\\nWeather in Paris?\"}]")),
            (
                "gen_ai.completion",
                json!(json!([{ "role": "assistant", "content": null, "tool_calls": call }]).to_string()),
            ),
        ],
        &[("gen_ai.completion", json!("[{\"role\":\"assistant\",\"content\":\"It rains.\"}]"))],
    );
    let mut events = run_of(&[], &[]);
    let event = |name: &str, attributes: Value| {
        let list: Vec<Value> = attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": any(value) }))
            .collect();
        json!({ "timeUnixNano": "1", "name": name, "attributes": list })
    };
    let spans = events["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap();
    spans[2]["events"] = json!([
        event("gen_ai.system.message", json!({ "content": "Be brief." })),
        event(
            "gen_ai.user.message",
            json!({ "gen_ai.event.content": "{\"role\":\"user\",\"content\":\"Weather in Paris?\"}" })
        ),
        event(
            "gen_ai.choice",
            json!({ "index": 0, "finish_reason": "tool_calls", "message": { "role": "assistant", "tool_calls": call } })
        ),
    ]);
    spans[0]["events"] = json!([
        event("gen_ai.assistant.message", json!({ "tool_calls": call })),
        event("gen_ai.tool.message", json!({ "id": "1", "content": "rain" })),
        event(
            "gen_ai.choice",
            json!({ "index": 0, "finish_reason": "stop", "message": "{\"content\":\"It rains.\"}" })
        ),
    ]);
    for request in [flat, whole, events] {
        let (record, _) = imported("otlp", &request);
        assert_eq!(told(&record), (&json!("Be brief.\n\nWeather in Paris?"), &calls, &json!("It rains.")), "{request}");
    }
}

fn silent_trace() {
    let (record, said) = imported("otlp", &run_of(&[], &[]));
    let calls = timed();
    assert_eq!(told(&record), (&Value::Null, &calls, &Value::Null));
    assert_eq!((&record["outputs"], &record["metrics"]["total_tokens"]), (&json!({}), &json!(20)));
    assert_eq!(said, "1 run without an answer's text: it was traced without the messages' content\n");
}

fn failed_trace() {
    let mut request = run_of(&[], &[]);
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap();
    spans[3]["status"] = json!({ "code": 2, "message": "no route" });
    spans[1]["status"] = json!({ "code": "STATUS_CODE_ERROR" });
    spans[1]["attributes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "key": "error.type", "value": { "stringValue": "timeout" } }));
    let (record, _) = imported("otlp", &request);
    assert_eq!((&record["status"], &record["error"]), (&json!("timeout"), &json!("timeout")));
    assert_eq!(record["intermediate"]["tool_calls"][0]["error"], "no route");
}

fn lines() {
    let repository = Repository::empty();
    let said = |text: &str, more: &str| {
        format!("{{\"messages\": [{{\"role\": \"assistant\", \"content\": \"{text}\"}}]{more}}}\n")
    };
    repository.write("samples.jsonl", said("a", "") + "\n" + &said("b", ""));
    let ran =
        repository.goldgate(&["import", "openai", "samples.jsonl", "--out", "runs", "--agent", "h", "--case", "c"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "runs/h/c/0.json\nruns/h/c/1.json\n"), "{}", ran.stderr);
    assert_eq!(record(&repository, "runs/h/c/1.json", 1)["outputs"]["text"], "b");
    let named = said("a", ", \"case\": \"x\", \"agent\": \"h\"")
        + &said("b", ", \"metadata\": {\"case\": \"y\", \"agent\": \"g\"}");
    repository.write("cases.jsonl", named);
    let ran = repository.goldgate(&["import", "anthropic", "cases.jsonl", "--out", "other"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "other/g/y.json\nother/h/x.json\n"), "{}", ran.stderr);
    let ran = repository.goldgate(&["import", "anthropic", "cases.jsonl", "--out", "other", "--case", "x", "--force"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("cases.jsonl:2:1: this run says that it is of the case \"y\""), "{}", ran.stderr);
    let message = |role: &str| format!("{{\"role\": \"{role}\", \"content\": \"{role}\"}}\n");
    repository.write("log.jsonl", message("user") + &message("assistant"));
    let ran = repository.goldgate(&["import", "openai", "log.jsonl", "--out", "log", "--agent", "h", "--case", "c"]);
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
        let output = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": text }] }]);
        let mut span = span(
            "0a",
            "",
            ms,
            ms + 1,
            &[("gen_ai.operation.name", json!("chat")), ("gen_ai.output.messages", output), ("acme.case", json!(case))],
        );
        span["traceId"] = json!(trace);
        request(&[span]).to_string() + "\n"
    };
    let unrelated = request(&[span("0f", "", 0, 9, &[("http.request.method", json!("GET"))])]).to_string();
    let file =
        one("0b", "late", 9, "l") + &one("0c", "twice", 5, "second") + &one("0a", "twice", 2, "first") + &unrelated;
    repository.write("t.jsonl", file);
    let import = |more: &[&str]| {
        let plain = ["import", "otlp", "t.jsonl", "--out", "runs", "--agent", "h"];
        repository.goldgate(&[&plain, more].concat())
    };
    let ran = import(&["--case-from", "acme.case"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, "runs/h/late.json\nruns/h/twice/0.json\nruns/h/twice/1.json\n");
    assert_eq!(ran.stderr, "left out: 1 x \"trace without GenAI spans\"\n");
    assert_eq!(record(&repository, "runs/h/twice/0.json", 0)["outputs"]["text"], "first", "the earliest is the first");
    let refused = [
        (&["--case", "c"][..], "the file has 3 traces, and --case c names one"),
        (&["--case-from", "acme.no"][..], "no span of this trace has the attribute \"acme.no\""),
        (&[][..], "this run does not say which case it is of"),
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
    let events = json!([event("user", "two"), event("assistant", "first"), event("user", "thanks")]);
    assert_eq!(told(&record), (&json!("one"), &json!([]), &json!("second")));
    assert_eq!((&record["intermediate"]["events"], said.as_str()), (&events, "left out: 1 x \"image_url\"\n"));
}

fn tokens() {
    let usage = json!({ "input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 4, "output_tokens": 2 });
    let message = json!([{ "role": "assistant", "content": "a", "usage": usage }, { "role": "assistant", "content": "b", "usage": usage }]);
    let (record, _) = imported("anthropic", &message);
    let metrics = &record["metrics"];
    let counts = [&metrics["input_tokens"], &metrics["output_tokens"], &metrics["total_tokens"]];
    assert_eq!(counts, [&json!(34), &json!(4), &json!(38)]);
}

fn no_overwriting() {
    let repository = Repository::empty();
    let answer = |text: &str| format!("[{{\"role\": \"assistant\", \"content\": \"{text}\"}}]\n");
    let import = |text: String, more: &[&str]| {
        repository.write("t.json", text);
        let plain = ["import", "openai", "t.json", "--out", "runs", "--agent", "h", "--case", "c"];
        repository.goldgate(&[&plain, more].concat())
    };
    assert_eq!(import(answer("a"), &[]).code, 0);
    let again = import(answer("b"), &[]);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    assert!(
        again.stderr.starts_with("runs/h/c.json: this recording is there already; give --force"),
        "{}",
        again.stderr
    );
    assert_eq!(record(&repository, "runs/h/c.json", 0)["outputs"]["text"], "a");
    assert_eq!(import(answer("b"), &["--force"]).code, 0);
    assert_eq!(record(&repository, "runs/h/c.json", 0)["outputs"]["text"], "b");
    let several = import(answer("a") + &answer("b"), &["--force"]);
    assert!(several.code == 2 && several.stderr.contains("in the other form"), "{}", several.stderr);
    repository.remove("runs/h/c.json");
    assert_eq!(import(answer("a") + &answer("b") + &answer("c"), &[]).code, 0);
    let fewer = import(answer("a") + &answer("b"), &["--force"]);
    assert!(
        fewer.code == 2 && fewer.stderr.starts_with("runs/h/c/2.json: this sample would stand beside"),
        "{}",
        fewer.stderr
    );
    let many = import(answer("a").repeat(1001), &["--force"]);
    assert!(
        many.code == 2 && many.stderr.starts_with("runs/h/c: 1001 runs are samples of this case"),
        "{}",
        many.stderr
    );
    assert_eq!(import(answer("d"), &["--force"]).code, 2, "one sample and a folder of them contradict each other");
}
