//! Traces of OpenTelemetry.

use super::*;

/// A span; attributes that are JSON stand as a text, as SDKs without structured attributes write them.
pub fn span(
    id: &str,
    parent: &str,
    from_ms: u64,
    to_ms: u64,
    attributes: &[(&str, Value)],
) -> Value {
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|(key, value)| json!({ "key": key, "value": any(value) }))
        .collect();
    let nanos = |ms: u64| (1_767_225_600_000_000_000 + ms * 1_000_000).to_string();
    json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "parentSpanId": parent, "name": "n", "kind": 1,
        "startTimeUnixNano": nanos(from_ms), "endTimeUnixNano": nanos(to_ms), "attributes": attributes, "status": {} })
}

pub fn any(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(list) => {
            json!({ "arrayValue": { "values": list.iter().map(any).collect::<Vec<_>>() } })
        }
        Value::Object(map) => {
            let values: Vec<Value> = map
                .iter()
                .map(|(key, value)| json!({ "key": key, "value": any(value) }))
                .collect();
            json!({ "kvlistValue": { "values": values } })
        }
        other => json!({ "stringValue": other.to_string() }),
    }
}

pub fn request(spans: &[Value]) -> Value {
    let resource =
        json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": "acme" } }] });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": { "name": "s" }, "spans": spans }] }] })
}

pub fn chat_of<'a>(said: &[(&'a str, Value)], input: u64) -> Vec<(&'a str, Value)> {
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
pub fn run_of(first: &[(&str, Value)], second: &[(&str, Value)]) -> Value {
    let tool = [
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!("get_weather")),
        ("gen_ai.tool.call.id", json!("1")),
        ("gen_ai.tool.call.arguments", json!("{\"city\": \"Paris\"}")),
        ("gen_ai.tool.call.result", json!("rain")),
    ];
    let agent = [
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.agent.name", json!("Acme helper")),
    ];
    request(&[
        span("0c", "0a", 30, 50, &chat_of(second, 11)),
        span("0a", "", 0, 60, &agent),
        span("0b", "0a", 1, 20, &chat_of(first, 5)),
        span("0d", "0a", 21, 28, &tool),
        span("0e", "0a", 22, 23, &[("http.request.method", json!("GET"))]),
    ])
}

pub fn timed() -> Value {
    let mut calls = paris();
    calls[0]["latency_ms"] = json!(7);
    calls
}

#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
pub fn trace() {
    let text = |text: &str| json!({ "type": "text", "content": text });
    let call = json!({ "type": "tool_call", "id": "1", "name": "get_weather", "arguments": { "city": "Paris" } });
    let asked = json!([{ "role": "user", "parts": [text("Weather in Paris?")] }]);
    let called = json!([{ "role": "assistant", "parts": [{ "type": "reasoning", "content": "…" }, call], "finish_reason": "tool_call" }]);
    let answered =
        json!([{ "role": "assistant", "parts": [text("It rains.")], "finish_reason": "stop" }]);
    let system = ("gen_ai.system_instructions", json!([text("Be brief.")]));
    let structured = run_of(
        &[
            system.clone(),
            ("gen_ai.input.messages", asked.clone()),
            ("gen_ai.output.messages", called.clone()),
        ],
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
        assert_eq!(
            told(&record),
            (
                &json!("Be brief.\n\nWeather in Paris?"),
                &calls,
                &json!("It rains.")
            )
        );
        let metrics = &record["metrics"];
        let counts = [
            &metrics["input_tokens"],
            &metrics["output_tokens"],
            &metrics["total_tokens"],
            &metrics["total_latency_ms"],
        ];
        assert_eq!(counts, [&json!(16), &json!(4), &json!(20), &json!(60)]);
        let origin = &record["provenance"];
        assert_eq!(
            (&origin["model"], &origin["recorded_at"]),
            (&json!("m-4"), &json!("2026-01-01T00:00:00Z"))
        );
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
    let call =
        |id: &str| json!({ "type": "tool_call", "id": id, "name": "f", "arguments": { "id": id } });
    let tool = |span_id: &str, ms: u64, more: &[(&str, Value)]| {
        let plain = [
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!("f")),
        ];
        span(span_id, "", ms, ms + ms, &[&plain, more].concat())
    };
    let wanted = json!([{ "role": "assistant", "parts": [call("1"), call("2"), call("3")] }]);
    let several = request(&[
        span(
            "0b",
            "",
            1,
            2,
            &[
                ("gen_ai.operation.name", json!("chat")),
                ("gen_ai.output.messages", wanted),
            ],
        ),
        tool("0c", 10, &[("gen_ai.tool.call.id", json!("2"))]),
        tool("0d", 11, &[]),
        tool("0e", 12, &[("gen_ai.tool.call.id", json!("9"))]),
    ]);
    let (record, _) = imported("otlp", &several);
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    let times: Vec<(&Value, &Value)> = calls
        .iter()
        .map(|call| (&call["arguments"]["id"], &call["latency_ms"]))
        .collect();
    let none = &Value::Null;
    assert_eq!(
        times,
        [
            (&json!("1"), &json!(11)),
            (&json!("2"), &json!(10)),
            (&json!("3"), none),
            (none, &json!(12))
        ]
    );
    assert_eq!(
        told(&imported("otlp", &untooled).0),
        (&json!("Weather in Paris?"), &paris(), &json!("It rains."))
    );
}

pub fn older_traces() {
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
            (
                "gen_ai.completion.0.tool_calls.0.name",
                json!("get_weather"),
            ),
            (
                "gen_ai.completion.0.tool_calls.0.arguments",
                json!("{\"city\": \"Paris\"}"),
            ),
        ],
        &[
            ("gen_ai.completion.0.role", json!("assistant")),
            ("gen_ai.completion.0.content", json!("It rains.")),
        ],
    );
    let whole = run_of(
        &[
            (
                "gen_ai.prompt",
                json!("[{\"role\":\"user\",\"content\":\"Be brief.\\n\\nWeather in Paris?\"}]"),
            ),
            (
                "gen_ai.completion",
                json!(
                    json!([{ "role": "assistant", "content": null, "tool_calls": call }])
                        .to_string()
                ),
            ),
        ],
        &[(
            "gen_ai.completion",
            json!("[{\"role\":\"assistant\",\"content\":\"It rains.\"}]"),
        )],
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
    let spans = events["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .unwrap();
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
        event(
            "gen_ai.tool.message",
            json!({ "id": "1", "content": "rain" })
        ),
        event(
            "gen_ai.choice",
            json!({ "index": 0, "finish_reason": "stop", "message": "{\"content\":\"It rains.\"}" })
        ),
    ]);
    for request in [flat, whole, events] {
        let (record, _) = imported("otlp", &request);
        assert_eq!(
            told(&record),
            (
                &json!("Be brief.\n\nWeather in Paris?"),
                &calls,
                &json!("It rains.")
            ),
            "{request}"
        );
    }
}

pub fn silent_trace() {
    let (record, said) = imported("otlp", &run_of(&[], &[]));
    let calls = timed();
    assert_eq!(told(&record), (&Value::Null, &calls, &Value::Null));
    assert_eq!(
        (&record["outputs"], &record["metrics"]["total_tokens"]),
        (&json!({}), &json!(20))
    );
    assert_eq!(
        said,
        "1 run without an answer text: the trace does not contain the messages' content\n"
    );
}

pub fn failed_trace() {
    let mut request = run_of(&[], &[]);
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .unwrap();
    spans[3]["status"] = json!({ "code": 2, "message": "no route" });
    spans[1]["status"] = json!({ "code": "STATUS_CODE_ERROR" });
    spans[1]["attributes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "key": "error.type", "value": { "stringValue": "timeout" } }));
    let (record, _) = imported("otlp", &request);
    assert_eq!(
        (&record["status"], &record["error"]),
        (&json!("timeout"), &json!("timeout"))
    );
    assert_eq!(record["intermediate"]["tool_calls"][0]["error"], "no route");
}

/// What is said beside a call is no answer once its tool ran, and neither is the user's question.
#[expect(clippy::too_many_lines, reason = "a table of rows")]
pub fn unanswered() {
    let text = |text: &str| json!({ "type": "text", "content": text });
    let asked = json!([{ "role": "user", "parts": [text("Weather in Paris?")] }]);
    let call = json!({ "type": "tool_call", "id": "1", "name": "get_weather", "arguments": {} });
    let own_tool = json!([{ "role": "assistant", "parts": [call, text("It rains.")] }]);
    let said = json!([{ "role": "assistant", "parts": [text("I look it up."), call] }]);
    let answered = json!([{ "role": "assistant", "parts": [text("It rains.")] }]);
    let chat = chat_of(
        &[
            ("gen_ai.input.messages", asked.clone()),
            ("gen_ai.output.messages", said),
        ],
        5,
    );
    let chat = span("0b", "0a", 1, 20, &chat);
    let tool = [
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!("get_weather")),
    ];
    let tool = span("0d", "0a", 21, 28, &tool);
    let agent = |output: Option<&Value>| {
        let mut attributes = vec![("gen_ai.operation.name", json!("invoke_agent"))];
        attributes.extend(output.map(|output| ("gen_ai.output.messages", output.clone())));
        span("0a", "09", 0, 60, &attributes)
    };
    let mut failed = span("09", "", 0, 70, &[("http.request.method", json!("POST"))]);
    failed["status"] = json!({ "code": 2, "message": "500" });
    let one_of_two = |id: &str, [from, to]: [u64; 2]| {
        let output = ("gen_ai.output.messages", answered.clone());
        span(
            id,
            "09",
            from,
            to,
            &[("gen_ai.operation.name", json!("invoke_agent")), output],
        )
    };
    let gave_up = |to: u64| {
        let mut first = one_of_two("0e", [0, to]);
        first["status"] = json!({ "code": 2, "message": "overloaded" });
        first
    };
    let mut lookup = one_of_two("0f", [12, 60]);
    let is_helper = json!({ "key": "gen_ai.agent.name", "value": { "stringValue": "Helper" } });
    lookup["attributes"].as_array_mut().unwrap().push(is_helper);
    let mut failed_lookup = lookup.clone();
    failed_lookup["status"] = json!({ "code": 2, "message": "overloaded" });
    let triage = span(
        "0e",
        "09",
        0,
        10,
        &[
            ("gen_ai.operation.name", json!("invoke_agent")),
            (
                "gen_ai.output.messages",
                json!([{ "role": "assistant", "parts": [text("For the helper.")] }]),
            ),
        ],
    );
    let mut endless = agent(None);
    endless["endTimeUnixNano"] = json!("0");
    for (name, spans, status, expected) in [
        (
            "the call has not run",
            vec![agent(None), chat.clone()],
            "completed",
            "I look it up.",
        ),
        (
            "an agent without an answer",
            vec![agent(None), chat.clone(), tool.clone()],
            "completed",
            "",
        ),
        (
            "no agent",
            vec![chat.clone(), tool.clone()],
            "completed",
            "",
        ),
        (
            "a question",
            vec![agent(Some(&asked)), chat.clone(), tool.clone()],
            "completed",
            "",
        ),
        (
            "a tool of the vendor",
            vec![agent(Some(&own_tool)), chat.clone(), tool.clone()],
            "completed",
            "It rains.",
        ),
        (
            "an answer",
            vec![agent(Some(&answered)), chat.clone(), tool.clone()],
            "completed",
            "It rains.",
        ),
        // The second one may only give the conversation a title.
        (
            "an agent after a failed one",
            vec![gave_up(10), one_of_two("0f", [12, 60])],
            "error",
            "It rains.",
        ),
        (
            "an agent beside a failed one",
            vec![gave_up(30), one_of_two("0f", [12, 60])],
            "error",
            "It rains.",
        ),
        (
            "the named agent after another one",
            vec![triage.clone(), lookup],
            "completed",
            "It rains.",
        ),
        (
            "the named agent fails after another one",
            vec![triage, failed_lookup],
            "error",
            "It rains.",
        ),
        (
            "no end",
            vec![endless, chat.clone(), tool.clone()],
            "error",
            "",
        ),
        (
            "an error around it",
            vec![failed, agent(Some(&answered)), chat, tool],
            "error",
            "It rains.",
        ),
    ] {
        let (record, _) = imported("otlp", &request(&spans));
        assert_eq!(
            (&record["status"], &record["outputs"]["text"]),
            (&json!(status), &json!(expected)),
            "{name}"
        );
    }
}

pub fn conversation() {
    let message = |role: &str, part: Value| json!({ "role": role, "parts": [part] });
    let text = |text: &str| json!({ "type": "text", "content": text });
    let call = json!({ "type": "tool_call", "id": "1", "name": "get_weather", "arguments": { "city": "Paris" } });
    let result = json!({ "type": "tool_call_response", "id": "1", "response": "rain" });
    let asked = message("user", text("Weather in Paris?"));
    let before = [
        asked.clone(),
        message("assistant", call.clone()),
        message("tool", result),
    ];
    let later = [
        message("assistant", text("It rains.")),
        message("user", text("And tomorrow?")),
    ];
    let chat = |id: &str, from: u64, input: Value, output: Value| {
        let said = [
            ("gen_ai.input.messages", input),
            ("gen_ai.output.messages", json!([output])),
        ];
        span(id, "", from, from + 5, &chat_of(&said, 5))
    };
    let spans = [
        chat("0a", 0, json!([asked]), message("assistant", call)),
        chat(
            "0b",
            10,
            json!(before),
            message("assistant", text("It rains.")),
        ),
        chat(
            "0c",
            20,
            Value::from([&before[..], &later[..]].concat()),
            message("assistant", text("The sun shines.")),
        ),
    ];
    let (record, _) = imported("otlp", &request(&spans));
    assert_eq!(
        record["outputs"],
        json!({ "text": "The sun shines.", "turns": [
            { "user": "Weather in Paris?", "text": "It rains." }, { "user": "And tomorrow?", "text": "The sun shines." }] })
    );
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    assert_eq!(
        (calls.len(), &calls[0]["turn"], &calls[0]["result"]),
        (1, &json!(0), &json!("rain"))
    );
}
