//! Every form of a request, for `tests/contract/wires.sh`, which holds them against the vendors' own descriptions.

use std::fs;
use std::path::PathBuf;

use goldgate::live::wire::{Server, anthropic, converse, openai};
use goldgate::model::{AnswerForm, Conversation, Message, Provider, Wire};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::chat::{spoken, with_tools};
use super::{conversation, provider};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("every form of a request is written down", written),
        trial("the vendor is asked in its own present form", vendor),
    ]
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

/// The user says something after the answer.
fn with_turns() -> Conversation {
    let mut conversation = with_tools();
    let answer = Message::Model {
        text: "A lien is a right.".to_owned(),
        calls: Vec::new(),
    };
    conversation
        .messages
        .extend([answer, Message::User("Whose?".to_owned())]);
    conversation
}

fn bare(wire: Wire) -> Provider {
    Provider {
        temperature: None,
        max_tokens: None,
        ..provider(wire, None)
    }
}

fn body(wire: Wire, conversation: &Conversation, provider: &Provider, server: Server) -> Value {
    match wire {
        Wire::OpenAi => openai::request(conversation, provider, server),
        Wire::Anthropic => anthropic::request(conversation, provider, server),
        Wire::Bedrock => converse::request(conversation, provider),
    }
}

fn written() {
    let folder = std::env::var_os("GOLDGATE_WIRES").map(PathBuf::from);
    let mut bodies = Vec::new();
    for (wire, name) in [
        (Wire::OpenAi, "openai"),
        (Wire::Anthropic, "anthropic"),
        (Wire::Bedrock, "bedrock"),
    ] {
        let without = Conversation {
            system: String::new(),
            ..conversation()
        };
        for (server, who) in [
            (Server::Vendor, "vendor"),
            (Server::Compatible, "compatible"),
        ] {
            for (case, asked, provider) in [
                ("plain", conversation(), provider(wire, None)),
                ("least", without.clone(), bare(wire)),
                ("form", with_form(), provider(wire, None)),
                ("tools", with_tools(), provider(wire, None)),
                ("turns", with_turns(), provider(wire, None)),
            ] {
                bodies.push((
                    format!("{name}.{who}-{case}.json"),
                    body(wire, &asked, &provider, server),
                ));
            }
        }
        bodies.push((format!("{name}.answer.json"), spoken(wire)));
    }
    assert_eq!(bodies.len(), 33);
    for (name, body) in bodies {
        assert!(
            body["messages"].is_array() || name.ends_with(".answer.json"),
            "{name}"
        );
        if let Some(folder) = &folder {
            fs::write(folder.join(name), format!("{body:#}\n")).unwrap();
        }
    }
}

fn vendor() {
    let found = |wire, server| body(wire, &with_form(), &provider(wire, None), server);
    let openai = found(Wire::OpenAi, Server::Vendor);
    assert_eq!(
        (&openai["max_completion_tokens"], openai.get("max_tokens")),
        (&json!(64), None)
    );
    let anthropic = found(Wire::Anthropic, Server::Vendor);
    assert_eq!(anthropic["output_config"]["format"]["type"], "json_schema");
    assert_eq!(
        anthropic["output_config"]["format"]["schema"],
        with_form().answer.unwrap().schema
    );
    assert_eq!(
        (anthropic.get("tools"), anthropic.get("tool_choice")),
        (None, None)
    );
    // The vendor wants a limit; the others have their own.
    let least = |wire| body(wire, &conversation(), &bare(wire), Server::Vendor);
    assert_eq!(least(Wire::Anthropic)["max_tokens"], 16_384);
    assert_eq!(least(Wire::OpenAi).get("max_completion_tokens"), None);
    assert_eq!(least(Wire::Bedrock).get("inferenceConfig"), None);
}
