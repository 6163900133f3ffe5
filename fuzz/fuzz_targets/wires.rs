//! Any bytes as a model's answer in each wire format: a turn, or an error in one line.
#![no_main]

use goldgate::live::wire::{anthropic, answer, converse, openai};
use goldgate::model::{AnswerForm, Conversation, Message};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(body) = answer(Some("application/json"), bytes) {
        let form = AnswerForm { name: "answer", schema: json!({ "type": "object" }) };
        let messages = vec![Message::User("q".to_owned())];
        let asked = Conversation { system: String::new(), messages, tools: Vec::new(), answer: Some(form) };
        for turn in [anthropic::turn(&body, &asked), converse::turn(&body, &asked), openai::turn(&body)] {
            assert!(turn.err().is_none_or(|error| !error.what.is_empty() && !error.what.contains('\n')));
        }
    }
});
