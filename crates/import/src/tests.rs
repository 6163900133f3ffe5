//! Whole files, as the tools write them.

use serde_json::{Value, json};

use crate::{Ending, Format, Hints, ProblemKind, Source, Transcript, Usage};

fn read(text: &str) -> Vec<Transcript> {
    let source = Source::parse(text).unwrap();
    let format = source.format().unwrap_or(Format::OpenAi);
    source.transcripts(format, Hints::default()).unwrap()
}

fn only(value: &Value) -> Transcript {
    let mut runs = read(&value.to_string());
    assert_eq!(runs.len(), 1, "{value}");
    runs.remove(0)
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

#[test]
fn an_answer_in_several_lines_states_its_tokens_once() {
    let part = |id: &str, content: Value, usage: Value| json!({ "id": id, "role": "assistant", "content": [content], "usage": usage });
    let cached = |output: u32| json!({ "input_tokens": 5, "cache_creation_input_tokens": 100, "output_tokens": output });
    let text = lines(&[
        says("user", "Where is order 17?"),
        part(
            "m1",
            json!({ "type": "text", "text": "I look." }),
            cached(1),
        ),
        part(
            "m1",
            json!({ "type": "tool_use", "id": "t1", "name": "find", "input": {} }),
            cached(20),
        ),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "shipped" }] }),
        part(
            "m2",
            json!({ "type": "text", "text": "It was shipped." }),
            json!({ "input_tokens": 7, "cache_read_input_tokens": 100, "output_tokens": 6 }),
        ),
    ]);
    let runs = read(&text);
    let usage = &runs[0].usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(212), Some(26))
    );
    assert_eq!(runs[0].text.as_deref(), Some("It was shipped."));
}

#[test]
fn a_response_without_a_previous_one_continues_nothing() {
    let call = json!({ "type": "function_call", "id": "f1", "call_id": "c1", "name": "find", "arguments": "{}" });
    let asked = json!({ "role": "user", "content": "Where is order 17?" });
    let found = json!({ "type": "function_call_output", "call_id": "c1", "output": "shipped" });
    let answer = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It was shipped." }] });
    let exchange = |id: &str, input: Value, output: &Value| {
        json!({ "request": { "body": { "model": "g", "previous_response_id": null, "input": input } },
            "response": { "id": id, "output": [output] } })
    };
    let runs = read(&lines(&[
        exchange("r1", json!([asked]), &call),
        exchange("r2", json!([asked, call, found]), &answer),
    ]));
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].calls.len(), runs[0].turns.len()), (1, 1));
}

#[test]
fn a_run_state_of_the_agents_sdk_has_its_items() {
    let usage = json!({ "requests": 2, "input_tokens": 7, "output_tokens": 3, "total_tokens": 10 });
    let answer = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It was shipped." }] });
    let call = json!({ "type": "function_call", "id": "f1", "call_id": "c1", "name": "find", "arguments": "{\"id\":17}" });
    let found = json!({ "type": "function_call_output", "call_id": "c1", "output": "shipped" });
    let python = json!({ "$schemaVersion": "1.19", "original_input": "Where is order 17?", "context": { "usage": usage },
        "current_agent": { "name": "Desk" }, "model_responses": [], "generated_items": [
            { "type": "tool_call_item", "raw_item": call }, { "type": "tool_approval_item", "raw_item": call },
            { "type": "tool_call_output_item", "raw_item": found, "output": "shipped" },
            { "type": "message_output_item", "raw_item": answer }] });
    let call = json!({ "type": "function_call", "id": "f1", "callId": "c1", "name": "find", "arguments": "{\"id\":17}" });
    let found = json!({ "type": "function_call_result", "name": "find", "callId": "c1", "output": { "type": "text", "text": "shipped" } });
    let script = json!({ "$schemaVersion": "1.0", "originalInput": [says("user", "Where is order 17?")],
        "context": { "usage": { "inputTokens": 7, "outputTokens": 3 } }, "generatedItems": [
            { "type": "tool_call_item", "rawItem": call }, { "type": "tool_call_output_item", "rawItem": found },
            { "type": "message_output_item", "rawItem": answer }] });
    let result = json!({ "input": "Where is order 17?", "final_output": "It was shipped.", "new_items": python["generated_items"] });
    for (state, input_tokens) in [(python, Some(7)), (script, Some(7)), (result, None)] {
        let runs = read(&state.to_string());
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert_eq!(run.query.as_deref(), Some("Where is order 17?"));
        assert_eq!(run.text.as_deref(), Some("It was shipped."));
        assert_eq!(run.usage.input_tokens, input_tokens);
        let calls: Vec<_> = run
            .calls
            .iter()
            .map(|call| (&*call.name, &call.arguments, &call.result))
            .collect();
        assert_eq!(calls, [("find", &json!({ "id": 17 }), &json!("shipped"))]);
    }
}

#[test]
fn a_list_of_conversations_has_a_run_each() {
    let conversation = |text: &str| json!({ "messages": [says("user", "q"), says("assistant", text)], "case": 17 });
    let runs = read(&json!([conversation("a"), conversation("b")]).to_string());
    let found: Vec<_> = runs
        .iter()
        .map(|run| (run.text.as_deref(), run.case.as_deref()))
        .collect();
    assert_eq!(found, [(Some("a"), Some("17")), (Some("b"), Some("17"))]);
    assert!(runs[0].at < runs[1].at);
}

#[test]
fn the_events_of_a_stream_are_one_answer() {
    let call =
        json!({ "type": "function_call", "call_id": "c", "name": "find", "arguments": "{}" });
    let events = json!([
        { "type": "response.output_item.added", "item": call },
        { "type": "response.output_item.done", "item": call },
        { "type": "response.completed", "response": { "output": [call] } },
    ]);
    assert_eq!(only(&events).calls.len(), 1);
}

#[test]
fn a_failed_run_needs_no_answer() {
    let failed = json!({ "input": "q", "error": { "message": "overloaded" } });
    let run = only(&failed);
    assert_eq!(
        (run.ending, run.error.as_deref()),
        (Ending::Error, Some("overloaded"))
    );
    let choices = json!({ "messages": [says("user", "q")], "choices": [{ "finish_reason": "content_filter" }] });
    let run = only(&choices);
    let why = "the choice has no message: content_filter";
    assert_eq!(
        (run.ending, run.error.as_deref()),
        (Ending::Error, Some(why))
    );
}

#[test]
fn a_problem_has_the_place_of_its_message() {
    let unasked = json!({ "role": "tool", "tool_call_id": "c9", "content": "r" });
    for (value, before) in [
        (
            json!([says("user", "q"), unasked]),
            "[{\"content\":\"q\",\"role\":\"user\"},",
        ),
        (json!({ "messages": [unasked] }), "{\"messages\":["),
    ] {
        let text = value.to_string();
        let source = Source::parse(&text).unwrap();
        let problems = source.transcripts(Format::OpenAi, Hints::default());
        let problem = &problems.unwrap_err()[0];
        assert_eq!(
            (problem.kind, problem.at),
            (ProblemKind::UnaskedResult, before.len())
        );
    }
}

#[test]
fn somebody_else_is_left_out_by_name() {
    let runs = read(
        &json!([
            says("user", "q"),
            says("assistant", "a"),
            says("exit", "done")
        ])
        .to_string(),
    );
    assert_eq!(runs[0].text.as_deref(), Some("a"));
    assert_eq!(
        runs[0].left_out.keys().collect::<Vec<_>>(),
        ["message of the role \"exit\""]
    );
}

#[test]
fn a_session_of_claude_code_is_without_its_sub_agents_and_ends_as_it_says() {
    let record = |kind: &str, message: Value, more: Value| {
        let mut record = json!({ "type": kind, "session_id": "s", "message": message });
        let more = more.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(more);
        record
    };
    let session = |end: Value| {
        lines(&[
            json!({ "type": "summary", "summary": "x", "leafUuid": "y" }),
            json!({ "type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"] }),
            record("user", says("user", "a caveat"), json!({ "isMeta": true })),
            record("user", says("user", "Where is it?"), json!({})),
            record(
                "assistant",
                says("assistant", "no"),
                json!({ "parent_tool_use_id": "t" }),
            ),
            record("assistant", says("assistant", "In Paris."), json!({})),
            end,
        ])
    };
    let ended = |is_error: bool| json!({ "type": "result", "session_id": "s", "is_error": is_error, "result": "overloaded", "total_cost_usd": 0.5, "duration_ms": 7 });
    let runs = read(&session(ended(false)));
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (runs[0].query.as_deref(), runs[0].text.as_deref()),
        (Some("Where is it?"), Some("In Paris."))
    );
    assert_eq!(
        (runs[0].usage.cost_usd, runs[0].usage.latency_ms),
        (Some(0.5), Some(7))
    );
    assert_eq!(
        runs[0].left_out.keys().collect::<Vec<_>>(),
        ["message of a sub-agent"]
    );
    let runs = read(&session(ended(true)));
    assert_eq!(
        (runs[0].ending, runs[0].error.as_deref()),
        (Ending::Error, Some("overloaded"))
    );
    let other = record("user", says("user", "q"), json!({ "session_id": "other" }));
    let two = session(ended(false))
        + &lines(&[
            other,
            record(
                "assistant",
                says("assistant", "a"),
                json!({ "session_id": "other" }),
            ),
        ]);
    assert_eq!(read(&two).len(), 2, "a run each");
}

#[test]
fn what_codex_says_in_the_name_of_the_user_is_not_asked() {
    let item = |payload: Value| json!({ "type": "response_item", "payload": payload });
    let event = |payload: Value| json!({ "type": "event_msg", "payload": payload });
    let said = |role: &str, text: &str| {
        item(
            json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] }),
        )
    };
    let records = [
        json!({ "type": "session_meta", "timestamp": "2026-01-02T10:00:00Z", "payload": { "id": "s" } }),
        said(
            "user",
            "<environment_context>\n  <cwd>/acme</cwd>\n</environment_context>",
        ),
        said("user", "# AGENTS.md instructions for /acme\n\nBe brief."),
        said("user", "Where is order 17?"),
        said("assistant", "It was shipped."),
    ];
    let runs = read(&lines(&records));
    assert_eq!(runs[0].query.as_deref(), Some("Where is order 17?"));
    assert_eq!(runs[0].started_at.as_deref(), Some("2026-01-02T10:00:00Z"));
    assert_eq!(runs[0].turns.len(), 1);
    let aborted = [
        &records[..],
        &[event(
            json!({ "type": "turn_aborted", "reason": "interrupted" }),
        )],
    ]
    .concat();
    let runs = read(&lines(&aborted));
    assert_eq!(
        (runs[0].ending, runs[0].error.as_deref()),
        (Ending::Cancelled, Some("interrupted"))
    );
}

/// The prompt, the answer, the tools, and the tokens of a run.
type Seen<'r> = (
    Option<&'r str>,
    Option<&'r str>,
    Vec<&'r str>,
    Option<u64>,
    Option<u64>,
);

fn seen(run: &Transcript) -> Seen<'_> {
    let calls = run.calls.iter().map(|call| call.name.as_str()).collect();
    let Usage {
        input_tokens,
        output_tokens,
        ..
    } = run.usage;
    (
        run.prompt.as_deref(),
        run.text.as_deref(),
        calls,
        input_tokens,
        output_tokens,
    )
}

const ASKED: &str = "Be brief.\n\nWhere is order 17?";
const ANSWERED: &str = "It was shipped.";

fn exchange(request: &Value, response: &Value) -> Value {
    json!({ "request": { "method": "POST", "body": request }, "response": { "body": { "string": response.to_string() } } })
}

/// The form of a vendor: two requests of a loop, and the answers to them.
struct Loop {
    format: Format,
    requests: [Value; 2],
    answers: [Value; 2],
}

/// By the vendors' references: generateContent of Gemini, Converse of Bedrock, and the chat of Ollama.
fn loops() -> [Loop; 3] {
    let text = |text: &str| json!([{ "text": text }]);
    let call = json!({ "functionCall": { "name": "find", "args": { "order": 17 } } });
    let gemini = |contents: Value| json!({ "systemInstruction": { "parts": text("Be brief.") }, "contents": contents, "tools": [{ "functionDeclarations": [] }] });
    let asked = json!({ "role": "user", "parts": text("Where is order 17?") });
    let called = json!({ "role": "model", "parts": [{ "text": "Hm.", "thought": true }, call] });
    let found = json!({ "role": "user", "parts": [{ "functionResponse": { "name": "find", "response": { "state": "shipped" } } }] });
    let candidate = |content: &Value, output: u32| {
        json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }], "modelVersion": "g-1",
            "usageMetadata": { "promptTokenCount": 20, "candidatesTokenCount": output, "thoughtsTokenCount": 4, "totalTokenCount": 99 } })
    };
    let tool_use = json!({ "role": "assistant", "content": [{ "toolUse": { "toolUseId": "t1", "name": "find", "input": { "order": 17 } } }] });
    let tool_result = json!({ "role": "user", "content": [{ "toolResult": { "toolUseId": "t1", "content": [{ "json": { "state": "shipped" } }], "status": "success" } }] });
    let user = json!({ "role": "user", "content": text("Where is order 17?") });
    let converse = |messages: Value| json!({ "modelId": "b-1", "system": text("Be brief."), "messages": messages, "inferenceConfig": {} });
    let output = |message: &Value, reason: &str, output: u32| {
        json!({ "output": { "message": message }, "stopReason": reason, "metrics": { "latencyMs": 5 },
            "usage": { "inputTokens": 15, "outputTokens": output, "cacheReadInputTokens": 5, "totalTokens": 99 } })
    };
    let system = says("system", "Be brief.");
    let chat = |mut messages: Vec<Value>| {
        messages.insert(0, system.clone());
        json!({ "model": "l-1", "messages": messages, "stream": false })
    };
    let asks = says("user", "Where is order 17?");
    let function = json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "find", "arguments": { "order": 17 } } }] });
    let result = json!({ "role": "tool", "tool_name": "find", "content": "shipped" });
    let done = |message: &Value, output: u32| {
        json!({ "model": "l-1", "created_at": "2026-03-04T10:00:00Z", "message": message, "done": true, "done_reason": "stop",
            "prompt_eval_count": 20, "eval_count": output })
    };
    [
        Loop {
            format: Format::Gemini,
            requests: [
                gemini(json!([asked])),
                gemini(json!([asked, called, found])),
            ],
            answers: [
                candidate(&called, 3),
                candidate(&json!({ "role": "model", "parts": text(ANSWERED) }), 5),
            ],
        },
        Loop {
            format: Format::Bedrock,
            requests: [
                converse(json!([user])),
                converse(json!([user, tool_use, tool_result])),
            ],
            answers: [
                output(&tool_use, "tool_use", 7),
                output(
                    &json!({ "role": "assistant", "content": text(ANSWERED) }),
                    "end_turn",
                    9,
                ),
            ],
        },
        Loop {
            format: Format::Ollama,
            requests: [
                chat(vec![asks.clone()]),
                chat(vec![asks, function.clone(), result]),
            ],
            answers: [done(&function, 7), done(&says("assistant", ANSWERED), 9)],
        },
    ]
}

#[test]
fn loops_of_gemini_bedrock_and_ollama_are_read_like_those_of_chat_completions() {
    for Loop {
        format,
        requests,
        answers,
    } in loops()
    {
        let exchanges: Vec<Value> = requests
            .iter()
            .zip(&answers)
            .map(|(request, answer)| exchange(request, answer))
            .collect();
        for text in [
            lines(&exchanges),
            json!({ "interactions": exchanges, "version": 1 }).to_string(),
        ] {
            assert_eq!(Source::parse(&text).unwrap().format(), Some(format));
            let runs = read(&text);
            assert_eq!(runs.len(), 1, "{format:?}");
            // The thoughts of Gemini are output, and the cache of Bedrock is input.
            let expected = (
                Some(ASKED),
                Some(ANSWERED),
                vec!["find"],
                Some(40),
                Some(16),
            );
            assert_eq!(seen(&runs[0]), expected, "{format:?}");
            assert_eq!(runs[0].calls[0].arguments, json!({ "order": 17 }));
            assert!(runs[0].calls[0].result.to_string().contains("shipped"));
            assert!(
                runs[0].model.as_deref().unwrap().ends_with("-1"),
                "{format:?}"
            );
        }
        // The last request and its answer in one object.
        let mut whole = requests[1].as_object().unwrap().clone();
        whole.extend(answers[1].as_object().unwrap().clone());
        let whole = Value::Object(whole);
        assert_eq!(
            Source::parse(&whole.to_string()).unwrap().format(),
            Some(format)
        );
        assert_eq!(seen(&only(&whole)).1, Some(ANSWERED), "{format:?}");
        // The answer alone.
        assert_eq!(
            only(&answers[1]).text.as_deref(),
            Some(ANSWERED),
            "{format:?}"
        );
    }
}

#[test]
fn lists_of_messages_of_gemini_and_bedrock_show_their_format() {
    for (format, key) in [(Format::Gemini, "contents"), (Format::Bedrock, "messages")] {
        let [gemini, bedrock, _] = loops();
        let of = if format == Format::Gemini {
            gemini
        } else {
            bedrock
        };
        let mut messages = of.requests[1][key].as_array().unwrap().clone();
        messages.push(match format {
            Format::Gemini => of.answers[1]["candidates"][0]["content"].clone(),
            _ => of.answers[1]["output"]["message"].clone(),
        });
        let list = json!(messages);
        assert_eq!(
            Source::parse(&list.to_string()).unwrap().format(),
            Some(format)
        );
        assert_eq!(seen(&only(&list)).1, Some(ANSWERED));
        assert_eq!(seen(&only(&list)).2, ["find"]);
    }
}

#[test]
fn what_gemini_leaves_open_or_refuses_does_not_answer() {
    let asked = json!("Where is order 17?");
    let blocked = json!({ "contents": asked, "candidates": [], "promptFeedback": { "blockReason": "SAFETY" } });
    let cut = json!({ "contents": [asked], "candidates": [{ "finishReason": "MAX_TOKENS" }] });
    for (value, error) in [
        (blocked, "SAFETY"),
        (cut, "the choice has no message: MAX_TOKENS"),
    ] {
        let run = only(&value);
        assert_eq!(
            (run.ending, run.error.as_deref()),
            (Ending::Error, Some(error))
        );
        assert_eq!(run.query.as_deref(), Some("Where is order 17?"));
    }
    // What the SDK for Python dumps: names with underscores, and nulls.
    let part = |text: &str| json!({ "text": text, "thought": null, "function_call": null, "function_response": null, "executable_code": null });
    let code = json!({ "text": null, "executable_code": { "code": "3*7", "language": "PYTHON" } });
    let result = json!({ "text": null, "code_execution_result": { "outcome": "OUTCOME_OK", "output": "21" } });
    let dumped = json!({ "contents": "3 * 7?", "config": { "system_instruction": "Be brief." }, "model": "g",
        "candidates": [{ "content": { "role": "model", "parts": [part("I run it."), code, result, part("21.")] }, "finish_reason": "STOP" }],
        "usage_metadata": { "prompt_token_count": 4, "candidates_token_count": 2, "thoughts_token_count": null } });
    let run = only(&dumped);
    assert_eq!(
        seen(&run),
        (
            Some("Be brief.\n\n3 * 7?"),
            Some("21."),
            vec!["code_execution"],
            Some(4),
            Some(2)
        )
    );
    assert_eq!(run.calls[0].result, json!("21"));
}

#[test]
fn streams_of_gemini_and_ollama_are_one_answer() {
    let piece = |text: &str, reason: Value| {
        json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "finishReason": reason }],
            "usageMetadata": { "promptTokenCount": 4, "candidatesTokenCount": 2 } })
    };
    let gemini = [
        piece("It was ", Value::Null),
        piece("shipped.", json!("STOP")),
    ];
    let events: String = gemini
        .iter()
        .map(|event| format!("data: {event}\r\n\r\n"))
        .collect();
    let request = json!({ "contents": [{ "parts": [{ "text": "q" }] }] });
    let token = |text: &str, done: bool| json!({ "model": "l", "message": { "role": "assistant", "content": text }, "done": done, "eval_count": 2 });
    let ollama = [
        token("It was ", false),
        token("shipped.", false),
        token("", true),
    ];
    let chat = json!({ "model": "l", "messages": [says("user", "q")] });
    let generated = json!({ "model": "l", "prompt": "q" });
    let words = [
        json!({ "response": "It was ", "done": false }),
        json!({ "response": "shipped.", "done": true }),
    ];
    for (request, body) in [
        (&request, json!(gemini)),
        (&request, json!(events)),
        (&request, json!(json!(gemini).to_string())),
        (&chat, json!(lines(&ollama))),
        (&generated, json!(lines(&words))),
    ] {
        let run = only(&json!({ "request": { "body": request }, "response": { "body": body } }));
        assert_eq!(
            (run.query.as_deref(), run.text.as_deref()),
            (Some("q"), Some(ANSWERED)),
            "{body}"
        );
    }
    for text in [json!(gemini).to_string(), lines(&gemini), lines(&ollama)] {
        let runs = read(&text);
        assert_eq!(
            (runs.len(), runs[0].text.as_deref()),
            (1, Some(ANSWERED)),
            "{text}"
        );
    }
    let answers = [piece("a", json!("STOP")), piece("b", json!("STOP"))];
    assert_eq!(read(&lines(&answers)).len(), 2, "two whole answers");
}

#[test]
fn the_answer_to_a_request_in_the_background_is_in_a_later_exchange() {
    let answer = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": ANSWERED }] });
    let asked = json!({ "model": "g", "background": true, "input": "Where is order 17?" });
    let of = |status: &str, output: Value, usage: Value| json!({ "id": "r1", "status": status, "output": output, "usage": usage });
    let poll = |response: Value| json!({ "request": { "method": "GET", "body": "" }, "response": { "parsed_body": response } });
    let cassette = json!({ "interactions": [
        { "request": { "method": "POST", "parsed_body": asked }, "response": { "parsed_body": of("queued", json!([]), Value::Null) } },
        poll(of("in_progress", json!([]), Value::Null)),
        poll(of("completed", json!([answer]), json!({ "input_tokens": 4, "output_tokens": 3 }))),
    ] });
    let run = only(&cassette);
    assert_eq!(
        seen(&run),
        (
            Some("Where is order 17?"),
            Some(ANSWERED),
            vec![],
            Some(4),
            Some(3)
        )
    );
    assert_eq!(run.ending, Ending::Completed);
}

#[test]
fn several_questions_of_a_cassette_are_several_conversations_and_a_compressed_answer_is_refused() {
    let exchange = |question: &str, body: &str, encoding: &[&str]| {
        json!({ "request": { "body": json!({ "model": "g", "messages": [says("user", question)] }).to_string() },
            "response": { "headers": { "Content-Encoding": encoding }, "body": { "string": body } } })
    };
    let answer = json!({ "choices": [{ "message": says("assistant", "a") }] }).to_string();
    let cassette = |second: &Value| {
        json!({ "interactions": [exchange("one?", &answer, &["gzip"]), second], "version": 1 })
            .to_string()
    };
    let runs = read(&cassette(&exchange("two?", &answer, &[])));
    let asked: Vec<_> = runs.iter().map(|run| run.query.as_deref()).collect();
    assert_eq!(asked, [Some("one?"), Some("two?")]);
    let counted = exchange("two?", "{\"input_tokens\": 5}", &[]);
    assert_eq!(
        read(&cassette(&counted)).len(),
        1,
        "a count of tokens does not answer"
    );
    let text = cassette(&exchange("two?", "H4sIAAAAAAAA/6tWSs7PS8tMLQYA", &["gzip"]));
    let source = Source::parse(&text).unwrap();
    let problems = source
        .transcripts(Format::OpenAi, Hints::default())
        .unwrap_err();
    assert_eq!(
        (problems[0].kind, problems[0].what.as_str()),
        (
            ProblemKind::NoMessages,
            "the body of an answer is compressed"
        )
    );
}

/// `EnvRunResult` of tau-bench 0.1, and a simulation of tau2-bench.
#[test]
fn a_trial_of_tau_bench_is_a_run_of_its_task() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "cancel", "arguments": "{\"order\": 17}" } });
    let traj = json!([says("system", "Be brief."), says("user", "Cancel it."), { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done" }, says("assistant", "Cancelled."), says("user", "###STOP###")]);
    let failed = json!({ "task_id": 4, "trial": 1, "reward": 0.0, "info": { "error": "overloaded", "traceback": "…" }, "traj": [] });
    let results =
        json!([{ "task_id": 3, "trial": 0, "reward": 1.0, "info": {}, "traj": traj }, failed]);
    assert_eq!(
        Source::parse(&results.to_string()).unwrap().format(),
        Some(Format::TauBench)
    );
    let runs = read(&results.to_string());
    assert_eq!(
        (runs[0].case.as_deref(), runs[0].text.as_deref()),
        (Some("task-3"), Some("Cancelled."))
    );
    assert_eq!(
        (runs[0].calls[0].result.clone(), runs[0].turns.len()),
        (json!("done"), 1)
    );
    assert_eq!(
        (runs[1].case.as_deref(), runs[1].ending),
        (Some("task-4"), Ending::Error)
    );
    let user = json!([says("user", "Hi."), { "role": "assistant", "content": "Switch it off.", "cost": 0.1 },
        { "role": "tool", "id": "u1", "requestor": "user", "content": "off" }, says("user", "It is off."), says("assistant", "Good.")]);
    let run = only(&json!([{ "task_id": "t-1", "trial": 0, "messages": user, "reward_info": {} }]));
    assert_eq!(
        (run.case.as_deref(), run.text.as_deref(), run.turns.len()),
        (Some("t-1"), Some("Good."), 2)
    );
}

/// The form of a `.traj` file of SWE-agent 1.0, with the tools of a vendor and with commands in texts.
#[test]
fn a_trajectory_of_swe_agent_answers_with_its_submission() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "bash", "arguments": "{\"command\": \"ls\"}" } });
    let history = |is_of_calls: bool| {
        let assistant = if is_of_calls {
            json!({ "role": "assistant", "content": "I look.", "tool_calls": [call], "message_type": "action" })
        } else {
            says("assistant", "I look.\n```\nls\n```")
        };
        json!([says("system", "Be brief."), { "role": "user", "content": "Here is a demonstration.", "is_demo": true }, says("user", "Fix it."), assistant,
            { "role": if is_of_calls { "tool" } else { "user" }, "content": [{ "type": "text", "text": "a.py" }], "tool_call_ids": ["c1"] }])
    };
    for (is_of_calls, status) in [
        (true, "submitted"),
        (false, "submitted"),
        (true, "exit_cost"),
    ] {
        let step =
            json!({ "action": "ls", "observation": "a.py", "thought": "I look.", "response": "…" });
        let run = only(
            &json!({ "environment": "main", "trajectory": [step], "history": history(is_of_calls),
            "info": { "exit_status": status, "submission": "diff", "model_stats": { "tokens_sent": 9, "tokens_received": 3, "instance_cost": 0.5 } } }),
        );
        assert_eq!(
            seen(&run),
            (
                Some("Be brief.\n\nFix it."),
                Some("diff"),
                vec!["bash"],
                Some(9),
                Some(3)
            ),
            "{is_of_calls}"
        );
        assert_eq!(run.calls[0].arguments, json!({ "command": "ls" }));
        assert_eq!(run.calls[0].result, json!("a.py"));
        assert_eq!(run.ending == Ending::Completed, status == "submitted");
    }
}

/// Events as `event_to_dict` of OpenHands 0.50 writes them.
#[test]
fn an_event_log_of_openhands_is_a_conversation() {
    let event = |id: u32, source: &str, more: Value| {
        let mut event = json!({ "id": id, "timestamp": "2026-03-04T10:00:00.5", "source": source });
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event
    };
    let state = |state: &str| json!({ "observation": "agent_state_changed", "cause": null, "content": "", "extras": { "agent_state": state, "reason": "" } });
    let log = json!([
        event(
            0,
            "agent",
            json!({ "action": "system", "args": { "content": "Be brief.", "tools": [] } })
        ),
        event(
            1,
            "user",
            json!({ "action": "message", "args": { "content": "Where is order 17?", "image_urls": [] } })
        ),
        event(
            2,
            "user",
            json!({ "action": "recall", "args": { "query": "Where is order 17?" } })
        ),
        event(
            3,
            "environment",
            json!({ "observation": "recall", "cause": 2, "content": "…", "extras": {} })
        ),
        event(
            4,
            "agent",
            json!({ "action": "run", "args": { "command": "cat 17", "thought": "I look.", "blocking": false, "hidden": false },
            "tool_call_metadata": { "function_name": "execute_bash", "tool_call_id": "c1" } })
        ),
        event(
            5,
            "agent",
            json!({ "observation": "run", "cause": 4, "content": "shipped", "extras": { "command": "cat 17" } })
        ),
        event(
            6,
            "agent",
            json!({ "action": "finish", "args": { "final_thought": ANSWERED, "outputs": {} }, "message": "All done!" })
        ),
        event(7, "environment", state("finished")),
    ]);
    let run = only(&log);
    assert_eq!(
        seen(&run),
        (
            Some(ASKED),
            Some(ANSWERED),
            vec!["execute_bash"],
            None,
            None
        )
    );
    assert_eq!(
        (&run.calls[0].arguments, &run.calls[0].result),
        (&json!({ "command": "cat 17" }), &json!("shipped"))
    );
    assert_eq!(run.started_at.as_deref(), Some("2026-03-04T10:00:00Z"));
    let mut failed = log.as_array().unwrap().clone();
    failed[7] = event(7, "environment", state("error"));
    let run = only(&json!(failed));
    assert_eq!(
        (run.ending, run.error.as_deref()),
        (Ending::Error, Some("error"))
    );
}

#[test]
fn an_answer_is_cut_off_if_the_model_says_so_in_the_words_of_its_vendor() {
    let asked = says("user", "q");
    let message = says("assistant", "a");
    let chat = |reason: &str| json!({ "messages": [asked], "choices": [{ "message": message, "finish_reason": reason }] });
    let content = json!([{ "type": "text", "text": "a" }]);
    let anthropic =
        |reason: &str| json!({ "role": "assistant", "content": content, "stop_reason": reason });
    let item = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "a" }] });
    let gemini = json!({ "contents": "q", "candidates": [{ "content": { "parts": [{ "text": "a" }] }, "finishReason": "MAX_TOKENS" }] });
    let chunk = |reason: Value| json!({ "choices": [{ "index": 0, "delta": { "content": "a" }, "finish_reason": reason }] });
    for (value, is_cut_off) in [
        (chat("length"), true),
        (chat("stop"), false),
        (json!([asked, anthropic("max_tokens")]), true),
        (
            json!([asked, anthropic("max_tokens"), asked, anthropic("end_turn")]),
            false,
        ),
        (
            json!({ "input": "q", "output": [item], "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } }),
            true,
        ),
        (gemini, true),
        (json!([chunk(Value::Null), chunk(json!("length"))]), true),
    ] {
        assert_eq!(only(&value).is_cut_off, is_cut_off, "{value}");
    }
}

#[test]
fn a_table_of_questions_is_not_a_conversation_of_the_kit() {
    let row = json!({ "query": "Where?", "reference": "here" });
    let format = |record: &Value| {
        Source::parse(&json!([record]).to_string())
            .unwrap()
            .format()
    };
    assert_eq!(format(&row), Some(Format::Csv));
    let mut invocation = row;
    invocation["expected_tool_use"] = json!([]);
    assert_eq!(format(&invocation), Some(Format::Adk));
}
