//! A model that never answers.

use std::time::Duration;

use serde_json::json;

use super::{Seen, jobs, request, run, says};
use crate::live::engine::{JobOutcome, SampleJob, SpendingLimits};
use crate::model::{
    AskedCall, CannedResult, CannedTool, Conversation, ModelTurn, ToolSpec, Toolbox,
};

/// What is said with a call does not answer, also where the model never gives one.
#[test]
fn a_model_that_calls_tools_until_the_end_has_not_answered() {
    let canned = CannedTool {
        spec: ToolSpec {
            name: "cancel".to_owned(),
            description: String::new(),
            parameters: json!({}),
        },
        results: vec![CannedResult {
            when: json!({}),
            says: json!("try again"),
        }],
    };
    let job = SampleJob {
        request: request("c", 0, Toolbox::Canned(vec![canned])),
        refining: None,
        ..jobs(1, 1).remove(0)
    };
    let script = |_: usize, _: &Conversation| {
        let calls = vec![AskedCall {
            id: "1".to_owned(),
            name: "cancel".to_owned(),
            arguments: json!({}),
        }];
        (
            Duration::ZERO,
            Ok(ModelTurn {
                calls,
                ..says("I will cancel it.")
            }),
        )
    };
    let ran = run(
        script,
        1,
        &[job],
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    let JobOutcome::Made(record) = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    assert_eq!(
        (
            record.outputs.text(),
            record.intermediate.seen_calls().len()
        ),
        (r#"{"text":""}"#, 24)
    );
}
