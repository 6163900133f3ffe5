//! Both wire formats against a real model's server: `GOLDGATE_TEST_MODEL=http://127.0.0.1:18080`; without it, skipped.

use std::time::Duration;

use goldgate::live::targets::{ChatModel, Timeouts};
use goldgate::model::{AnswerForm, Conversation, Message, Provider, StopReason, Wire};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{conversation, env, provider, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let server = std::env::var("GOLDGATE_TEST_MODEL").ok();
    let skipped = server.is_none();
    let server = server.unwrap_or_default();
    let (one, other) = (server.clone(), server);
    // libtest shows an ignored test as such, and its name says what would run it.
    vec![
        trial(
            "a real model answers over chat completions (GOLDGATE_TEST_MODEL names its server)",
            move || {
                answers(Wire::OpenAi, one);
            },
        )
        .with_ignored_flag(skipped),
        trial(
            "a real model answers over messages (GOLDGATE_TEST_MODEL names its server)",
            move || {
                answers(Wire::Anthropic, other);
            },
        )
        .with_ignored_flag(skipped),
    ]
}

/// The machine may be busy.
const PATIENCE: Timeouts = Timeouts {
    call: Duration::from_secs(300),
    stall: Duration::from_secs(30),
};

fn answers(wire: Wire, server: String) {
    let provider = Provider {
        max_tokens: Some(40),
        temperature: Some(0.0),
        ..provider(wire, Some(server))
    };
    let chat = ChatModel::open(&provider, PATIENCE, &env(&[])).unwrap();
    let turn = wait(chat.turn(&conversation())).unwrap();
    assert!(
        !turn.text.is_empty() && turn.spent.input > 0 && turn.spent.output > 0,
        "{turn:?}"
    );
    let cut = Provider {
        max_tokens: Some(3),
        ..provider.clone()
    };
    let turn = wait(
        ChatModel::open(&cut, PATIENCE, &env(&[]))
            .unwrap()
            .turn(&conversation()),
    )
    .unwrap();
    assert_eq!((turn.stop, turn.spent.output), (StopReason::Length, 3));
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["colour", "amount"],
        "properties": { "colour": { "type": "string", "enum": ["red", "blue"] }, "amount": { "type": "integer", "enum": [1, 2, 3] } } });
    let form = Conversation {
        messages: vec![Message::User(
            "Name a colour and an amount, as JSON.".to_owned(),
        )],
        answer: Some(AnswerForm {
            name: "answer",
            schema,
        }),
        ..conversation()
    };
    let turn = wait(chat.turn(&form)).unwrap();
    assert!(!turn.text.is_empty() && turn.calls.is_empty(), "{turn:?}");
    // llama.cpp forces a tool only where the model's own template knows tools; a small model's answer is then any text, and is
    // read as such.
    if wire == Wire::OpenAi {
        let answer: Value =
            serde_json::from_str(&turn.text).unwrap_or_else(|error| panic!("{error}: {turn:?}"));
        assert!(
            ["red", "blue"].contains(&answer["colour"].as_str().unwrap()),
            "{answer}"
        );
        assert!(
            (1..=3).contains(&answer["amount"].as_i64().unwrap()),
            "{answer}"
        );
    }
}
