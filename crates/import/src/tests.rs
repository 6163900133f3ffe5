//! Whole files, as the tools write them.

use serde_json::{Value, json};

use crate::{Ending, Format, Hints, ProblemKind, Source, Transcript};

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
