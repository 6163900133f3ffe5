//! The tools that the samples of a case called, for a report.

use crate::model::{CalledTool, Run};
use crate::suites::calls;
use crate::text::line;

/// The number of samples, and of calls of each, that are kept.
const SAMPLES: usize = 5;
const CALLS: usize = 40;

/// The calls of each completed sample in order; empty if no sample called a tool.
pub fn call_lanes(completed: &[Vec<Run>]) -> Vec<Vec<CalledTool>> {
    let mut lanes: Vec<Vec<CalledTool>> = Vec::new();
    for runs in completed.iter().take(SAMPLES) {
        let mut lane = Vec::new();
        for call in runs.iter().flat_map(|run| calls(run).0).take(CALLS) {
            lane.push(CalledTool {
                tool: line(&call.name, 60),
                failed: call.failed,
            });
        }
        lanes.push(lane);
    }
    if lanes.iter().all(Vec::is_empty) {
        Vec::new()
    } else {
        lanes
    }
}
