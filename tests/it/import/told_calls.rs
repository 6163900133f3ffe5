//! Calls that stand elsewhere than in the answer of a model's own span.

use super::otlp::{request, span};
use super::*;

/// The names of the calls in the record that a transcript becomes.
fn names(form: &str, transcript: &Value) -> Vec<String> {
    let (record, _) = imported(form, transcript);
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    calls
        .iter()
        .map(|call| call["name"].as_str().unwrap().to_owned())
        .collect()
}

fn message(role: &str, part: &Value) -> Value {
    json!({ "role": role, "parts": [part] })
}

fn said(role: &str, text: &str) -> Value {
    message(role, &json!({ "type": "text", "content": text }))
}

/// A call of `delete` with its result.
fn call(id: Option<&str>) -> [Value; 2] {
    let mut call = json!({ "type": "tool_call", "name": "delete", "arguments": {} });
    let mut result = json!({ "type": "tool_call_response", "result": "x" });
    if let Some(id) = id {
        call["id"] = json!(id);
        result["id"] = json!(id);
    }
    [message("assistant", &call), message("tool", &result)]
}

/// A span of this operation with messages.
fn of(id: &str, parent: &str, operation: &str, input: &[Value], output: &[Value]) -> Value {
    let from = id.bytes().map(u64::from).sum();
    let attributes = [
        ("gen_ai.operation.name", json!(operation)),
        ("gen_ai.input.messages", json!(input).to_string().into()),
        ("gen_ai.output.messages", json!(output).to_string().into()),
    ];
    span(id, parent, from, from + 1, &attributes)
}

pub fn of_spans() {
    let (ask, answer) = ([said("user", "q")], [said("assistant", "ok")]);
    let with = |id: Option<&str>| [&ask[..], &call(id)].concat();
    let made = |id: Option<&str>| [&call(id)[..], &answer].concat();
    let tool = |id: &str, more: &[(&str, Value)]| span(id, "a", 200, 201, more);
    let plain = [
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!("delete")),
    ];
    let vercel = [
        ("ai.operationId", json!("ai.toolCall")),
        ("ai.toolCall.name", json!("delete")),
    ];
    let state = [(
        "output.value",
        json!(json!({ "update": { "messages": made(Some("1")) } }).to_string()),
    )];
    let silent = span(
        "c",
        "a",
        99,
        100,
        &[("gen_ai.operation.name", json!("chat"))],
    );
    for id in [Some("1"), None] {
        for spans in [
            vec![of("a", "", "invoke_agent", &ask, &made(id)), silent.clone()],
            vec![
                of("a", "", "invoke_agent", &[], &answer),
                of("c", "a", "chat", &with(id), &answer),
            ],
            vec![
                of("a", "", "invoke_agent", &ask, &answer),
                of("b", "a", "invoke_agent", &ask, &made(id)),
            ],
            vec![
                of("c", "", "chat", &ask, &answer),
                of("d", "c", "chat", &ask, &call(id)[..1]),
            ],
            // An equal call of an earlier turn does not hide it.
            vec![of(
                "c",
                "",
                "chat",
                &[&ask[..], &call(Some("0")), &answer, &ask].concat(),
                &made(id),
            )],
            // The same call in the answer, in the history of the next one and in what the agent repeats.
            vec![
                of(
                    "a",
                    "",
                    "invoke_agent",
                    &ask,
                    &[&ask[..], &made(id)].concat(),
                ),
                of("b", "a", "chat", &ask, &call(id)[..1]),
                of("c", "a", "chat", &with(id), &answer),
            ],
        ] {
            assert_eq!(names("otlp", &request(&spans)), ["delete"], "{spans:?}");
        }
    }
    // A turn repeats the history of its conversation, and tells it again at its end. Its calls are of turns before.
    let history = [&ask[..], &call(Some("0")), &answer, &ask].concat();
    let turn = [
        of(
            "a",
            "",
            "invoke_agent",
            &history,
            &[&history[..], &answer].concat(),
        ),
        of("b", "a", "chat", &history, &answer),
    ];
    assert!(names("otlp", &request(&turn)).is_empty(), "{turn:?}");
    let agent = of("a", "", "invoke_agent", &ask, &answer);
    assert_eq!(
        names(
            "otlp",
            &request(&[agent.clone(), tool("", &plain), tool("", &plain)])
        ),
        ["delete", "delete"]
    );
    assert_eq!(
        names("otlp", &request(&[agent.clone(), tool("b", &vercel)])),
        ["delete"]
    );
    assert_eq!(
        names("otlp", &request(&[agent.clone(), tool("b", &state)])),
        ["delete"]
    );
    let two = [
        of("b", "a", "invoke_agent", &ask, &made(None)),
        of("c", "a", "invoke_agent", &ask, &made(None)),
    ];
    assert_eq!(
        names("otlp", &request(&[&[agent], &two[..]].concat())),
        ["delete", "delete"]
    );
}

pub fn of_run_trees() {
    let run = |id: &str, parent: Value, kind: &str, inputs: Value, outputs: Value| {
        json!({ "id": id, "trace_id": "t", "parent_run_id": parent, "run_type": kind, "name": "delete",
            "inputs": inputs, "outputs": outputs, "start_time": format!("2026-01-01T00:00:0{id}"), "end_time": "2026-01-01T00:00:09" })
    };
    let asked = json!({ "type": "human", "content": "q" });
    let input = json!({ "messages": [asked] });
    let answered = json!({ "type": "ai", "content": "ok" });
    let called = json!({ "type": "ai", "content": "", "tool_calls": [{ "name": "delete", "args": {}, "id": "1" }] });
    let model = run(
        "3",
        json!("1"),
        "llm",
        input.clone(),
        json!({ "generations": [[{ "text": "ok" }]] }),
    );
    let root = |messages: Value| {
        run(
            "1",
            Value::Null,
            "chain",
            input.clone(),
            json!({ "messages": messages }),
        )
    };
    let told = root(json!([asked, called, answered]));
    assert_eq!(names("langsmith", &json!([told, model])), ["delete"]);
    let quiet = root(json!([asked, answered]));
    let step = run(
        "2",
        json!("1"),
        "chain",
        input.clone(),
        json!({ "update": { "messages": [called] } }),
    );
    assert_eq!(names("langsmith", &json!([quiet, step, model])), ["delete"]);
    for (state, expected) in [
        ("success", "completed"),
        ("error", "error"),
        ("pending", "error"),
    ] {
        let mut root = quiet.clone();
        root["status"] = json!(state);
        assert_eq!(
            imported("langsmith", &json!([root, model])).0["status"],
            expected,
            "{state}"
        );
    }
    for kind in ["tool", "Tool"] {
        let mut around = quiet.clone();
        around["child_runs"] = json!([run(
            "2",
            Value::Null,
            kind,
            json!({}),
            json!({ "output": "x" })
        )]);
        assert_eq!(names("langsmith", &json!([around])), ["delete"]);
        let observation = json!({ "id": "1", "traceId": "t", "type": kind, "name": "delete", "input": {}, "output": {} });
        let trace = json!({ "id": "t", "name": "g", "input": [{ "role": "user", "content": "q" }],
            "output": { "role": "assistant", "content": "ok" }, "observations": [observation] });
        assert_eq!(names("langfuse", &trace), ["delete"]);
    }
}

pub fn of_promptfoo_and_inspect() {
    let call = json!({ "id": "1", "type": "function", "function": { "name": "delete", "arguments": "{}" } });
    let message = json!({ "role": "assistant", "content": "ok", "tool_calls": [call] });
    for response in [
        json!({ "output": [call] }),
        json!({ "output": [call], "raw": { "choices": [{ "message": message }] } }),
        json!({ "output": "ok", "raw": json!({ "choices": [{ "message": message }] }).to_string() }),
        json!({ "output": "ok", "metadata": { "toolCalls": [{ "id": "1", "name": "delete", "input": {} }] } }),
    ] {
        let result = json!({ "testIdx": 0, "promptIdx": 0, "success": true, "vars": {}, "prompt": { "raw": "q" },
            "testCase": { "vars": {}, "description": "c" }, "response": response });
        assert_eq!(
            names("promptfoo", &json!({ "results": { "results": [result] } })),
            ["delete"],
            "{response}"
        );
    }
    let tool = |id: &str, name: &str| json!({ "event": "tool", "id": id, "function": name, "arguments": {}, "result": "x" });
    let mut around = tool("2", "ask");
    around["events"] = json!([tool("3", "pay")]);
    let told = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "1", "function": "delete", "arguments": {} }] });
    let messages = json!([{ "role": "user", "content": "q" }, told, { "role": "tool", "tool_call_id": "1", "content": "x" },
        { "role": "assistant", "content": "ok" }]);
    let log = json!({ "version": 2, "status": "success", "eval": { "model": "m", "task": "t" }, "samples": [{ "id": "c", "epoch": 1,
        "input": "q", "target": "", "messages": messages, "events": [tool("1", "delete"), around] }] });
    assert_eq!(names("inspect", &log), ["delete", "ask", "pay"]);
}
