//! What recordings show of the part of the agent's own code in a run: whether it printed the answer, and whether it ran the tools.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::recording_change::CaseSample;
use super::recording_comparison::RecordingComparison;
use crate::files::Files;
use crate::model::{Answerer, RepoPath};

const PRINTS_NO_MORE: &str = "whose program printed its answer on the base commit and prints none now, so that the text of its model is graded; let it print \
                              the answer, and record again";
const RUNS_NO_TOOL: &str = "without any result of a tool that had results on the base commit, so the code may not run it any more; let it run the tool, \
                            and record again";

impl RecordingComparison<'_> {
    /// What a recording does not show any more of the part of the agent's code; `None` if nothing is lost.
    pub fn lost_part(&self, key: &CaseSample) -> Option<&'static str> {
        let [old, new] = self.both_runs(key)?;
        if printed(&old)
            .into_iter()
            .zip(printed(&new))
            .any(|both| both == (Some(Answerer::Program), Some(Answerer::Model)))
        {
            return Some(PRINTS_NO_MORE);
        }
        let (old, new) = (tools(&old), tools(&new));
        let is_lost = |(tool, ended): (&String, &CallsEnded)| {
            *ended == CallsEnded::WithoutResult && old.get(tool) == Some(&CallsEnded::WithResult)
        };
        new.iter().any(is_lost).then_some(RUNS_NO_TOOL)
    }

    /// The recordings of both commits; of the base commit also that of another sample of the case.
    fn both_runs(&self, key: &CaseSample) -> Option<[Value; 2]> {
        let read = |files: &dyn Files, file: &RepoPath| serde_json::from_str(&files.text(file).ok()?.text).ok();
        let old = self.old.get(key).or_else(|| self.old_of_case(&key.0))?;
        Some([read(self.sides.base, &old.file)?, read(self.sides.head, &self.new.get(key)?.file)?])
    }
}

/// Whose words the answers are, one for each start of the program.
fn printed(run: &Value) -> Vec<Option<Answerer>> {
    let stated = run["intermediate"]["answered_by"].as_array().into_iter().flatten();
    stated.map(|one| serde_json::from_value(one.clone()).ok()).collect()
}

/// How the calls of a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallsEnded {
    /// At least one with a result or an error.
    WithResult,
    WithoutResult,
}

/// How the calls ended, by tool.
fn tools(run: &Value) -> BTreeMap<String, CallsEnded> {
    let calls: Vec<&Value> = run["intermediate"]["tool_calls"].as_array().into_iter().flatten().collect();
    let name = |call: &&&Value| call["name"].as_str().map(str::to_owned);
    let has_result = |call: &&&Value| ["result", "error"].iter().any(|key| !call[*key].is_null());
    let with: BTreeSet<String> = calls.iter().filter(has_result).filter_map(|call| name(&call)).collect();
    let ended = |tool: &String| if with.contains(tool) { CallsEnded::WithResult } else { CallsEnded::WithoutResult };
    calls.iter().filter_map(|call| name(&call)).map(|tool| (tool.clone(), ended(&tool))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CallsEnded, tools};

    #[test]
    fn one_result_of_a_tool_shows_that_it_runs() {
        let run = json!({ "intermediate": { "tool_calls": [
            { "name": "find", "result": null }, { "name": "find", "result": "x" }, { "name": "cancel", "result": null },
            { "name": "plan", "error": "too late" }, { "result": "y" }] } });
        let ended = tools(&run);
        assert_eq!(ended["find"], CallsEnded::WithResult);
        assert_eq!(ended["cancel"], CallsEnded::WithoutResult);
        assert_eq!((ended["plan"], ended.len()), (CallsEnded::WithResult, 3));
        assert!(tools(&json!({})).is_empty());
    }
}
