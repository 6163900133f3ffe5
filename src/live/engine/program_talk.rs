//! A conversation with an agent's own program: one request for each user message, with the turns before.

use serde_json::{Map, Value, json};

use super::Program;
use super::budget::BudgetState;
use super::conversation::said_turns;
use super::sample_calls::{SampleCalls, SampleFailure};
use super::sample_usage::{SampleUsage, blank};
use super::setup::Engine;
use super::simulated_user::{USER, UserSide};
use super::target_queue::Permit;
use crate::model::{
    Ask, CALL_LISTS, ConversationSoFar, Json, Measures, PastTurn, RunRecord, RunStatus,
    SampleRequest, Steps, UserMessage, UserTurns,
};

/// The answers of a program so far.
#[derive(Default)]
struct ProgramTalk {
    said: Vec<PastTurn>,
    outputs: Map<String, Value>,
    steps: Map<String, Value>,
    metrics: Measures,
}

impl Engine<'_> {
    /// Asks the program for its answer to each user message. A turn that does not complete ends the conversation with its
    /// status.
    pub(super) async fn talk<'l>(
        &'l self,
        program: &dyn Program,
        request: &SampleRequest,
        permit: &mut Permit<'l>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        let mut talk = ProgramTalk::default();
        let mut user = UserSide::of(&request.ask);
        let (mut next, mut last) = (user.first(&request.ask), None);
        while let Some(UserMessage { text, inputs }) = next {
            let ask = Ask {
                prompt: text.clone(),
                inputs,
                turns: UserTurns::Single,
                ..request.ask.clone()
            };
            let conversation = Some(ConversationSoFar {
                before: talk.said.clone(),
            });
            let turn = SampleRequest {
                ask,
                conversation,
                ..request.clone()
            };
            let record = self.start(program, &turn, permit, budget, usage).await?;
            if record.status != RunStatus::Completed {
                let why = record.error.as_deref().unwrap_or_default();
                let error = format!("turns.{}: {why}", talk.said.len());
                return Ok(RunRecord {
                    error: Some(error),
                    ..talk.record(record, request, user.record())
                });
            }
            talk.add(&text, &record);
            last = Some(record);
            next = self
                .next_message(
                    &mut user,
                    &talk.said,
                    SampleCalls {
                        permit,
                        budget,
                        usage,
                    },
                )
                .await?;
        }
        let last = last.unwrap_or_else(|| blank(request, RunStatus::Completed, None));
        Ok(talk.record(last, request, user.record()))
    }
}

impl ProgramTalk {
    /// Adds the answer to a message.
    fn add(&mut self, user: &str, record: &RunRecord) {
        let turn = self.said.len();
        self.outputs = json_object(&record.outputs);
        let text = self
            .outputs
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let steps = match &record.intermediate {
            Steps::Own(json) => json_object(json),
            Steps::Seen { .. } => Map::new(),
        };
        let mut calls = Vec::new();
        for (key, value) in steps {
            let Value::Array(mut list) = value else {
                self.steps.insert(key, value);
                continue;
            };
            if CALL_LISTS.contains(&key.as_str()) {
                calls.extend(list.iter().cloned());
                list.iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|call| drop(call.insert("turn".to_owned(), turn.into())));
            }
            match self.steps.entry(key).or_insert_with(|| json!([])) {
                Value::Array(earlier) => earlier.extend(list),
                entry => *entry = Value::Array(list),
            }
        }
        self.metrics = std::mem::take(&mut self.metrics).with_use_of(&record.metrics);
        self.said.push(PastTurn {
            user: user.to_owned(),
            text,
            calls,
        });
    }

    /// The record of the whole conversation; `last` is that of its last request.
    fn record(
        mut self,
        last: RunRecord,
        request: &SampleRequest,
        user: Option<Value>,
    ) -> RunRecord {
        self.outputs
            .insert("turns".to_owned(), said_turns(&self.said));
        self.outputs
            .extend(user.map(|user| (USER.to_owned(), user)));
        let steps = Steps::Own(Json::from(Value::Object(self.steps).to_string()));
        RunRecord {
            outputs: Json::from(Value::Object(self.outputs).to_string()),
            intermediate: steps,
            inputs: blank(request, last.status, None).inputs,
            metrics: self.metrics,
            ..last
        }
    }
}

/// The fields of a JSON object; none for another value.
fn json_object(json: &Json) -> Map<String, Value> {
    match serde_json::from_str(json.text()) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}
