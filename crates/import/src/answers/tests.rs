//! Histories as agents repeat them, and the answers of every API.

use serde_json::{Value, json};

use super::{AnsweredRequest, OwnCalls, answer_transcripts};
use crate::transcript::Call;

/// The bodies of a request and of its answer.
type Bodies = (Value, Value);

fn chat(messages: &Value, answer: &Value) -> Bodies {
    (
        json!({ "messages": messages }),
        json!({ "choices": [{ "message": answer }] }),
    )
}

fn responses(input: &Value, output: &Value) -> Bodies {
    (json!({ "input": input }), json!({ "output": output }))
}

fn anthropic(messages: &Value, content: &Value) -> Bodies {
    (
        json!({ "messages": messages }),
        json!({ "type": "message", "role": "assistant", "content": content }),
    )
}

fn read(exchanges: &[Bodies], own: OwnCalls) -> Result<Vec<crate::Transcript>, String> {
    let exchanges: Vec<AnsweredRequest<'_>> = exchanges
        .iter()
        .map(|(request, response)| AnsweredRequest { request, response })
        .collect();
    answer_transcripts(&exchanges, own)
}

fn call_and_result(call: &Call) -> String {
    format!("{}={}", call.name, call.result)
}

/// The calls of each answer, as `name=result`.
fn calls(exchanges: &[Bodies]) -> Result<Vec<Vec<String>>, String> {
    let transcripts = read(exchanges, OwnCalls::All)?;
    Ok(transcripts
        .iter()
        .map(|transcript| transcript.calls.iter().map(call_and_result).collect())
        .collect())
}

fn called(id: &str, name: &str) -> Value {
    let function = json!({ "name": name, "arguments": "{}" });
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn system(text: &str) -> Value {
    json!({ "role": "system", "content": text })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn expected(calls: &[&[&str]]) -> Result<Vec<Vec<String>>, String> {
    Ok(calls
        .iter()
        .map(|calls| calls.iter().map(|call| (*call).to_owned()).collect())
        .collect())
}

#[test]
fn a_history_is_repeated_as_the_agent_likes() {
    let (find, delete) = (called("1", "find"), called("2", "delete"));
    let first = || chat(&json!([user("q")]), &find);
    let whole = chat(&json!([user("q"), find, result("1", "found")]), &delete);
    let shortened = chat(&json!([user("q"), result("1", "found")]), &delete);
    let instructed = chat(
        &json!([
            system("It is 10:01."),
            user("q"),
            find,
            result("1", "found")
        ]),
        &delete,
    );
    let nudged = chat(
        &json!([user("q"), find, result("1", "found"), user("Continue.")]),
        &delete,
    );
    for second in [whole, shortened, instructed, nudged] {
        assert_eq!(
            calls(&[first(), second]),
            expected(&[&["find=\"found\""], &["delete=null"]])
        );
    }
}

#[test]
fn an_id_that_is_used_again_has_its_own_result() {
    let (find, delete) = (called("call_0", "find"), called("call_0", "delete"));
    let end = json!([
        user("q"),
        find,
        result("call_0", "found"),
        delete,
        result("call_0", "gone")
    ]);
    let exchanges = [
        chat(&json!([user("q")]), &find),
        chat(
            &json!([user("q"), find, result("call_0", "found")]),
            &delete,
        ),
        chat(&end, &says("Done.")),
    ];
    assert_eq!(
        calls(&exchanges),
        expected(&[&["find=\"found\""], &["delete=\"gone\""], &[]])
    );
}

#[test]
fn every_vendor_is_read_in_its_own_format() {
    let hello = chat(&json!([user("hi")]), &says("Hello."));
    let delete = json!([{ "type": "tool_use", "id": "t", "name": "delete", "input": {} }]);
    let tool_result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "gone" });
    let before = json!([user("q"), { "role": "assistant", "content": delete }, { "role": "user", "content": [tool_result] }]);
    let find =
        json!([{ "type": "function_call", "call_id": "c", "name": "find", "arguments": "{}" }]);
    let found = json!([{ "type": "function_call_output", "call_id": "c", "output": "found" }]);
    let exchanges = [
        hello,
        anthropic(&json!([user("q")]), &delete),
        anthropic(&before, &json!([{ "type": "text", "text": "Done." }])),
        responses(&json!("q"), &find),
        responses(&found, &json!([])),
    ];
    assert_eq!(
        calls(&exchanges),
        expected(&[&[], &["delete=\"gone\""], &[], &["find=\"found\""], &[]])
    );
}

#[test]
fn an_answer_that_cannot_be_read_is_named() {
    let nothing = (json!({ "messages": [] }), json!("event: cut"));
    let later = json!({ "status": "queued", "output": [] });
    let background = (json!({ "input": "q" }), later);
    let nameless = anthropic(
        &json!([user("q")]),
        &json!([{ "type": "tool_use", "id": "t", "input": {} }]),
    );
    for (answer, why) in [
        (
            nothing,
            "the response is not a JSON object, and no stream of one",
        ),
        (
            background,
            "it was not complete when it came, because the request says \"background\"",
        ),
        (nameless, "this call has no \"name\""),
        (
            chat(&json!([user("q")]), &Value::Null),
            "it has no \"choices[].message\"",
        ),
    ] {
        let exchanges = [chat(&json!([user("q")]), &says("Hello.")), answer];
        assert_eq!(
            calls(&exchanges),
            Err(format!("answer 2 of the model cannot be read: {why}"))
        );
    }
}

/// The agent's code chooses the tool, and tells the model what it did.
#[test]
fn a_call_that_no_answer_made_is_one_of_the_agents_code() {
    let find = called("own", "find");
    let exchanges = [
        chat(&json!([user("q")]), &says("find it")),
        chat(
            &json!([user("q"), find, result("own", "found")]),
            &says("Here it is."),
        ),
        chat(
            &json!([
                user("q"),
                find,
                result("own", "found"),
                says("Here it is."),
                user("Check.")
            ]),
            &says("Right."),
        ),
    ];
    assert_eq!(
        calls(&exchanges),
        expected(&[&[], &["find=\"found\""], &[], &[]])
    );
    let mut counted = exchanges[1].clone();
    counted.1["usage"] = json!({ "prompt_tokens": 7, "completion_tokens": 2 });
    let transcripts = read(&[exchanges[0].clone(), counted], OwnCalls::All).unwrap();
    let tokens: Vec<Option<u64>> = transcripts
        .iter()
        .map(|one| one.usage.input_tokens)
        .collect();
    assert_eq!(
        tokens,
        [None, None, Some(7)],
        "the tokens of an exchange count once"
    );
    // In a later turn of a conversation, those before the user's last message are of earlier turns.
    let turn = json!([
        user("q"),
        find,
        result("own", "found"),
        says("Here it is."),
        user("Delete it."),
        called("2", "delete")
    ]);
    let of_turn = read(&[chat(&turn, &says("Deleted."))], OwnCalls::OfLastTurn).unwrap();
    let names: Vec<&str> = of_turn
        .iter()
        .flat_map(|one| &one.calls)
        .map(|call| call.name.as_str())
        .collect();
    assert_eq!(names, ["delete"]);
}

#[test]
fn a_call_has_the_arguments_with_which_the_code_ran_it() {
    let of_chat = |order: &str| {
        let function = json!({ "name": "cancel", "arguments": order });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function", "function": function }] })
    };
    let item = |order: &str| json!({ "type": "function_call", "call_id": "1", "name": "cancel", "arguments": order });
    let block = |order: u32| json!({ "type": "tool_use", "id": "1", "name": "cancel", "input": { "order": order } });
    let assistant = |order: u32| json!({ "role": "assistant", "content": [block(order)] });
    let (asked, run, same) = ("{\"order\": 17}", "{\"order\": 170}", "{\"order\":17}");
    let first = json!([user("Cancel 17.")]);
    for (exchanges, expected) in [
        (
            [
                chat(&first, &of_chat(asked)),
                chat(&json!([user("Cancel 17."), of_chat(run)]), &says("Done.")),
            ],
            170,
        ),
        (
            [
                chat(&first, &of_chat(asked)),
                chat(&json!([user("Cancel 17."), of_chat(same)]), &says("Done.")),
            ],
            17,
        ),
        (
            [
                responses(&first, &json!([item(asked)])),
                responses(&json!([item(run)]), &json!([says("Done.")])),
            ],
            170,
        ),
        (
            [
                anthropic(&first, &json!([block(17)])),
                anthropic(
                    &json!([assistant(170)]),
                    &json!([{ "type": "text", "text": "Done." }]),
                ),
            ],
            170,
        ),
    ] {
        let transcripts = read(&exchanges, OwnCalls::All).unwrap();
        let made: Vec<Value> = transcripts
            .iter()
            .flat_map(|transcript| &transcript.calls)
            .map(|call| call.arguments.clone())
            .collect();
        assert_eq!(made, [json!({ "order": expected })]);
    }
}
