//! The tools that the samples of a case called, for a report.

use crate::model::{CalledTool, Run};
use crate::suites::calls;
use crate::text::line;

/// The number of samples, and of calls of each, that are kept.
const SAMPLES: usize = 5;
const CALLS: usize = 40;

/// The calls of each completed sample in order; empty if no sample called a tool.
pub fn call_lanes(completed: &[Vec<Run>]) -> Vec<Vec<CalledTool>> {
    let lanes = completed.iter().take(SAMPLES).map(|runs| {
        let all = runs.iter().flat_map(|run| calls(run).0).take(CALLS);
        all.map(|call| CalledTool {
            tool: line(&call.name, 60),
            failed: call.failed,
        })
        .collect()
    });
    let lanes: Vec<Vec<CalledTool>> = lanes.collect();
    if lanes.iter().all(Vec::is_empty) {
        Vec::new()
    } else {
        lanes
    }
}
