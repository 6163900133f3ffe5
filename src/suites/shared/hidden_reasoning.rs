//! `reasoning: hidden`: the answers of a suite's agents do not count their reasoning.

use serde_json::Value;

use crate::format::lenient;
use crate::model::{Json, NextRole, Run};
use crate::suites::kind::Refinement;
use crate::text::without_reasoning;

/// A run whose answers lack their reasoning.
pub fn with_hidden_reasoning(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(outputs) = plain_outputs(&run.outputs) {
        run.outputs = outputs.into();
    }
    run
}

/// Outputs whose texts lack their reasoning; `None` if they have none.
fn plain_outputs(outputs: &str) -> Option<String> {
    if !outputs.contains("think") {
        return None;
    }
    let mut value = lenient::any(outputs).ok()?;
    hide_reasoning(&mut value).then(|| value.to_string())
}

/// Removes the reasoning from every text of a value; returns whether it had any.
fn hide_reasoning(value: &mut Value) -> bool {
    let mut is_changed = false;
    match value {
        Value::String(text) => {
            let answer = without_reasoning(text).into_owned();
            is_changed = answer != *text;
            *text = answer;
        }
        Value::Array(list) => {
            for member in list {
                is_changed |= hide_reasoning(member);
            }
        }
        Value::Object(fields) => {
            for member in fields.values_mut() {
                is_changed |= hide_reasoning(member);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    is_changed
}

/// A loop that sees the answers without their reasoning.
pub struct HiddenReasoning(pub Box<dyn Refinement>);

impl Refinement for HiddenReasoning {
    fn next(&self, answers: &[Json]) -> NextRole {
        self.0.next(&plain_answers(answers))
    }

    fn outputs(&self, answers: &[Json]) -> Json {
        self.0.outputs(&plain_answers(answers))
    }

    fn identity(&self) -> String {
        format!("{} without reasoning", self.0.identity())
    }
}

fn plain_answers(answers: &[Json]) -> Vec<Json> {
    answers
        .iter()
        .map(|answer| plain_outputs(answer.text()).map_or_else(|| answer.clone(), Json::from))
        .collect()
}
