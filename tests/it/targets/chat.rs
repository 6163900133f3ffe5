//! A model's turn over each wire format, as the server sees it and as goldgate understands it.

use goldgate::live::targets::{ChatModel, Unopened};
use goldgate::model::{
    AnswerForm, AskedCall, Conversation, Message, ModelTurn, Provider, StopReason, TokenUsage,
    ToolAnswer, ToolSpec, Wire,
};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::standin::{Received, Standin, json};
use super::{PATIENCE, conversation, env, provider, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a turn over chat completions is asked and understood",
            openai,
        ),
        trial("a turn over messages is asked and understood", anthropic),
        trial(
            "an answer in a form is a schema over chat completions",
            openai_form,
        ),
        trial(
            "an answer in a form is a forced tool over messages of a compatible server",
            anthropic_form,
        ),
        trial("tools go to and fro over chat completions", openai_tools),
        trial("tools go to and fro over messages", anthropic_tools),
        trial("a key goes out only where it was meant to go", keys),
        trial(
            "a missing key is told with the variable that holds it",
            missing_keys,
        ),
        trial(
            "the environment names a server where the config names none",
            named_by_environment,
        ),
    ]
}

pub fn spoken(wire: Wire) -> Value {
    match wire {
        Wire::OpenAi => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "model-1-2026",
            "choices": [{ "index": 0, "finish_reason": "stop", "logprobs": null,
                "message": { "role": "assistant", "content": "A model.", "refusal": null } }],
            "usage": { "prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23, "prompt_tokens_details": { "cached_tokens": 8 } },
        }),
        Wire::Anthropic => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "model-1-2026", "stop_reason": "end_turn", "stop_sequence": null,
            "container": null, "diagnostics": null, "stop_details": null,
            "content": [{ "type": "thinking", "thinking": "Hm.", "signature": "x" }, { "type": "text", "text": "A ", "citations": null }, { "type": "text", "text": "model.", "citations": null }],
            "usage": { "input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 7, "cache_creation": null,
                "inference_geo": null, "output_tokens_details": null, "server_tool_use": null, "service_tier": "standard", "speed": null },
        }),
        Wire::Bedrock => json!({
            "output": { "message": { "role": "assistant", "content": [{ "text": "A model." }] } }, "stopReason": "end_turn",
            "usage": { "inputTokens": 5, "outputTokens": 3, "totalTokens": 23, "cacheReadInputTokens": 8, "cacheWriteInputTokens": 7 },
            "metrics": { "latencyMs": 12 },
        }),
    }
}

fn asked(wire: Wire, conversation: &Conversation, answer: Value) -> (Received, ModelTurn) {
    let server = Standin::always(json(&answer));
    let chat =
        ChatModel::open(&provider(wire, Some(server.address())), PATIENCE, &env(&[])).unwrap();
    let turn = wait(chat.turn(conversation)).unwrap();
    (server.only(), turn)
}

fn openai() {
    let (received, turn) = asked(Wire::OpenAi, &conversation(), spoken(Wire::OpenAi));
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("authorization"), None);
    let wanted = json!({ "model": "model-1", "temperature": 0.5, "max_tokens": 64, "messages": [
        { "role": "system", "content": "Be brief." }, { "role": "user", "content": "Who are you?" } ] });
    assert_eq!(received.body, wanted);
    assert_eq!(
        turn,
        said(TokenUsage {
            input: 20,
            cached_input: 8,
            output: 3
        })
    );
}

fn anthropic() {
    let (received, turn) = asked(Wire::Anthropic, &conversation(), spoken(Wire::Anthropic));
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("POST", "/v1/messages")
    );
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received.header("x-api-key"), None);
    let wanted = json!({ "model": "model-1", "temperature": 0.5, "max_tokens": 64, "system": "Be brief.", "messages": [
        { "role": "user", "content": [{ "type": "text", "text": "Who are you?" }] } ] });
    assert_eq!(received.body, wanted);
    assert_eq!(
        turn,
        said(TokenUsage {
            input: 20,
            cached_input: 8,
            output: 3
        })
    );
}

fn said(spent: TokenUsage) -> ModelTurn {
    let model = Some("model-1-2026".to_owned());
    ModelTurn {
        text: "A model.".to_owned(),
        calls: Vec::new(),
        stop: StopReason::End,
        spent,
        model,
    }
}

fn with_form() -> Conversation {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"], "additionalProperties": false });
    Conversation {
        answer: Some(AnswerForm {
            name: "answer",
            schema,
        }),
        ..conversation()
    }
}

fn openai_form() {
    let (received, _) = asked(Wire::OpenAi, &with_form(), spoken(Wire::OpenAi));
    let form = &received.body["response_format"];
    assert_eq!(form["type"], "json_schema");
    assert_eq!(
        (&form["json_schema"]["name"], &form["json_schema"]["strict"]),
        (&json!("answer"), &json!(true))
    );
    assert_eq!(
        form["json_schema"]["schema"],
        with_form().answer.unwrap().schema
    );
}

fn anthropic_form() {
    let mut answer = spoken(Wire::Anthropic);
    answer["stop_reason"] = json!("tool_use");
    answer["content"] =
        json!([{ "type": "tool_use", "id": "toolu_1", "name": "answer", "input": { "n": 3 } }]);
    let (received, turn) = asked(Wire::Anthropic, &with_form(), answer.clone());
    assert_eq!(
        received.body["tool_choice"],
        json!({ "type": "tool", "name": "answer" })
    );
    assert_eq!(
        received.body["tools"][0]["input_schema"],
        with_form().answer.unwrap().schema
    );
    assert_eq!(
        (turn.text.as_str(), turn.calls.len(), &turn.stop),
        ("{\"n\":3}", 0, &StopReason::End)
    );
    // A tool that was cut off before its first field is no empty answer.
    answer["stop_reason"] = json!("max_tokens");
    answer["content"][0]["input"] = json!({});
    let (_, turn) = asked(Wire::Anthropic, &with_form(), answer);
    assert_eq!((turn.text.as_str(), &turn.stop), ("", &StopReason::Length));
}

pub fn with_tools() -> Conversation {
    let call = |id: &str, arguments: Value| AskedCall {
        id: id.to_owned(),
        name: "look_up".to_owned(),
        arguments,
    };
    let parameters = json!({ "type": "object", "properties": { "term": { "type": "string" } } });
    Conversation {
        messages: vec![
            Message::User("What is a lien?".to_owned()),
            Message::Model {
                text: String::new(),
                calls: vec![
                    call("c1", json!({ "term": "lien" })),
                    call("c2", json!("{\"term\":")),
                ],
            },
            Message::Tools(vec![
                ToolAnswer {
                    id: "c1".to_owned(),
                    outcome: Ok(json!({ "found": 2 })),
                },
                ToolAnswer {
                    id: "c2".to_owned(),
                    outcome: Err("no JSON".to_owned()),
                },
            ]),
        ],
        tools: vec![ToolSpec {
            name: "look_up".to_owned(),
            description: "Looks up.".to_owned(),
            parameters,
        }],
        ..with_form()
    }
}

fn openai_tools() {
    let mut answer = spoken(Wire::OpenAi);
    answer["choices"][0]["finish_reason"] = json!("tool_calls");
    answer["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "c3", "type": "function", "function": { "name": "look_up", "arguments": "{\"term\":\"lease\"}" } },
        { "id": "", "type": "function", "function": { "name": "look_up", "arguments": "{\"term\":" } },
        { "type": "function", "function": { "name": "look_up", "arguments": "" } } ] });
    let (received, turn) = asked(Wire::OpenAi, &with_tools(), answer);
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "look_up", "arguments": arguments } });
    let wanted = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "What is a lien?" },
        { "role": "assistant", "content": null, "tool_calls": [call("c1", "{\"term\":\"lien\"}"), call("c2", "{\"term\":")] },
        { "role": "tool", "tool_call_id": "c1", "content": "{\"found\":2}" },
        { "role": "tool", "tool_call_id": "c2", "content": "{\"error\":\"no JSON\"}" },
    ]);
    assert_eq!(received.body["messages"], wanted);
    assert_eq!(received.body["tools"][0]["function"]["name"], "look_up");
    assert_eq!(received.body.get("response_format"), None);
    let calls: Vec<(&str, &Value)> = turn
        .calls
        .iter()
        .map(|call| (call.id.as_str(), &call.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("c3", &json!({ "term": "lease" })),
            ("call_1", &json!("{\"term\":")),
            ("call_2", &json!({}))
        ]
    );
    assert_eq!((turn.text.as_str(), &turn.stop), ("", &StopReason::End));
}

fn anthropic_tools() {
    let mut answer = spoken(Wire::Anthropic);
    answer["stop_reason"] = json!("tool_use");
    answer["content"] = json!([ { "type": "text", "text": "Let me see." },
        { "type": "tool_use", "id": "c3", "name": "look_up", "input": { "term": "lease" } } ]);
    let (received, turn) = asked(Wire::Anthropic, &with_tools(), answer);
    let wanted = json!([
        { "role": "user", "content": [{ "type": "text", "text": "What is a lien?" }] },
        { "role": "assistant", "content": [
            { "type": "tool_use", "id": "c1", "name": "look_up", "input": { "term": "lien" } },
            { "type": "tool_use", "id": "c2", "name": "look_up", "input": { "arguments": "{\"term\":" } } ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c1", "content": "{\"found\":2}", "is_error": false },
            { "type": "tool_result", "tool_use_id": "c2", "content": "no JSON", "is_error": true } ] },
    ]);
    assert_eq!(received.body["messages"], wanted);
    assert_eq!(received.body.get("tool_choice"), None);
    assert_eq!(turn.text, "Let me see.");
    assert_eq!(
        turn.calls,
        [AskedCall {
            id: "c3".to_owned(),
            name: "look_up".to_owned(),
            arguments: json!({ "term": "lease" })
        }]
    );
}

const KEY: &str = "sk-secret-1";

fn keys() {
    let all = [
        ("OPENAI_API_KEY", KEY),
        ("ANTHROPIC_API_KEY", KEY),
        ("MINE", "sk-mine"),
    ];
    for (wire, header, prefix) in [
        (Wire::OpenAi, "authorization", "Bearer "),
        (Wire::Anthropic, "x-api-key", ""),
    ] {
        let server = Standin::always(json(&spoken(wire)));
        let mut stated = provider(wire, Some(server.address()));
        let ask = |provider: &Provider| {
            wait(
                ChatModel::open(provider, PATIENCE, &env(&all))
                    .unwrap()
                    .turn(&conversation()),
            )
            .unwrap()
        };
        // The config's address might be anybody's: it gets the key that the config names, and no other.
        ask(&stated);
        stated.api_key_env = Some("MINE".to_owned());
        ask(&stated);
        let received = server.received();
        assert_eq!(received[0].header(header), None);
        assert_eq!(
            received[1].header(header),
            Some(format!("{prefix}sk-mine").as_str())
        );
        let shown = format!(
            "{:?}",
            ChatModel::open(&stated, PATIENCE, &env(&all)).unwrap()
        );
        assert!(!shown.contains("sk-"), "{shown}");
    }
}

fn missing_keys() {
    for (wire, variable) in [
        (Wire::OpenAi, "OPENAI_API_KEY"),
        (Wire::Anthropic, "ANTHROPIC_API_KEY"),
    ] {
        let wanted = format!("set the environment variable {variable}");
        let found =
            ChatModel::open(&provider(wire, None), PATIENCE, &env(&[(variable, "")])).unwrap_err();
        assert_eq!(found, Unopened::NoKey { wanted });
        let mut stated = provider(wire, Some("http://127.0.0.1:9".to_owned()));
        stated.api_key_env = Some("MINE".to_owned());
        let found = ChatModel::open(&stated, PATIENCE, &env(&[(variable, KEY)])).unwrap_err();
        assert_eq!(
            found.to_string(),
            "the key is missing: set the environment variable MINE"
        );
        let broken = ChatModel::open(
            &provider(wire, None),
            PATIENCE,
            &env(&[(variable, "sk-\nx")]),
        )
        .unwrap_err();
        assert!(!broken.to_string().contains("sk-"), "{broken}");
    }
}

fn named_by_environment() {
    for (wire, name, header) in [
        (Wire::OpenAi, "OPENAI", "authorization"),
        (Wire::Anthropic, "ANTHROPIC", "x-api-key"),
    ] {
        let server = Standin::always(json(&spoken(wire)));
        let (base, key) = (format!("{name}_BASE_URL"), format!("{name}_API_KEY"));
        let open = |variables: &[(&str, &str)]| {
            ChatModel::open(&provider(wire, None), PATIENCE, &env(variables)).unwrap()
        };
        wait(open(&[(&base, &server.address())]).turn(&conversation())).unwrap();
        wait(open(&[(&base, &server.address()), (&key, KEY)]).turn(&conversation())).unwrap();
        let received = server.received();
        assert_eq!(received[0].header(header), None);
        assert!(received[1].header(header).unwrap().ends_with(KEY));
    }
}
