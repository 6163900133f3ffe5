//! What recordings show of the part of the agent's own code in a run: whether it printed the answer, and whether it ran the tools.

use std::collections::BTreeMap;

use serde_json::Value;

use super::recording_change::CaseSample;
use super::recording_comparison::RecordingComparison;
use crate::files::Files;
use crate::format::lenient;
use crate::model::{Answerer, CALL_LISTS, RepoPath};

const PRINTS_NO_MORE: &str = "whose program printed its answer on the base commit and prints none now, so that the text of its model is graded; let it print \
                              the answer, and record again";
const RUNS_NO_TOOL: &str = "with more calls of a tool without a result than on the base commit, so the code may not run them any more; let it run the tool, \
                            and record again; if it ends with the tool from now on, or prints the tool's result, an approval says so";
const ASKS_NO_MODEL: &str = "in which the code asked no model, while it asked one on the base commit: a cache of the agent may have answered; record \
                             again without it; if the code answers by itself from now on, an approval says so";

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
        if model_calls(&old) > Some(0) && model_calls(&new) == Some(0) {
            return Some(ASKS_NO_MODEL);
        }
        let (old, new) = (self.tools_of_case(&key.0, &old), tools(&new));
        let is_lost = |(tool, calls): (&String, &ToolCalls)| {
            old.get(tool)
                .is_some_and(|before| before.ended > 0 && calls.open > before.open)
        };
        new.iter().any(is_lost).then_some(RUNS_NO_TOOL)
    }

    /// The calls of a case on the base commit by tool: of several samples, the most open ones. `first` is one of its recordings.
    fn tools_of_case(&self, case: &str, first: &Value) -> BTreeMap<String, ToolCalls> {
        let mut most = tools(first);
        for (_, recorded) in self
            .old
            .range((case.to_owned(), 0)..=(case.to_owned(), u32::MAX))
        {
            let text = self.sides.base.text(&recorded.file).ok();
            let run = text
                .and_then(|source| lenient::whole(&source.text))
                .unwrap_or_default();
            for (tool, calls) in tools(&run) {
                let known = most.entry(tool).or_default();
                *known = ToolCalls {
                    ended: known.ended.max(calls.ended),
                    open: known.open.max(calls.open),
                };
            }
        }
        most
    }

    /// The recordings of both commits; of the base commit also that of another sample of the case.
    fn both_runs(&self, key: &CaseSample) -> Option<[Value; 2]> {
        let read =
            |files: &dyn Files, file: &RepoPath| lenient::whole(&files.text(file).ok()?.text);
        let old = self.old.get(key).or_else(|| self.old_of_case(&key.0))?;
        Some([
            read(self.sides.base, &old.file)?,
            read(self.sides.head, &self.new.get(key)?.file)?,
        ])
    }
}

/// Whose words the answers are, one for each start of the program.
fn printed(run: &Value) -> Vec<Option<Answerer>> {
    let stated = run["intermediate"]["answered_by"]
        .as_array()
        .into_iter()
        .flatten();
    stated
        .map(|one| serde_json::from_value(one.clone()).ok())
        .collect()
}

/// The number of answers of models, where it is recorded.
fn model_calls(run: &Value) -> Option<u64> {
    run["metrics"]["model_calls"].as_u64()
}

/// The calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ToolCalls {
    /// With a result or an error.
    ended: usize,
    open: usize,
}

/// The calls by tool.
fn tools(run: &Value) -> BTreeMap<String, ToolCalls> {
    let mut tools: BTreeMap<String, ToolCalls> = BTreeMap::new();
    for call in CALL_LISTS
        .iter()
        .filter_map(|list| run["intermediate"][*list].as_array())
        .flatten()
    {
        let Some(name) = call["name"].as_str() else {
            continue;
        };
        let has_ended = ["result", "error"].iter().any(|key| !call[*key].is_null());
        let calls = tools.entry(name.to_owned()).or_default();
        if has_ended {
            calls.ended += 1
        } else {
            calls.open += 1
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolCalls, tools};

    #[test]
    fn a_call_without_a_result_is_open() {
        let run = json!({ "intermediate": { "tool_calls": [
            { "name": "find", "result": null }, { "name": "find", "result": "x" }, { "name": "cancel", "result": null },
            { "name": "plan", "error": "too late" }, { "result": "y" }], "toolCalls": [{ "name": "cancel" }] } });
        let found = tools(&run);
        assert_eq!(found["find"], ToolCalls { ended: 1, open: 1 });
        assert_eq!(found["cancel"], ToolCalls { ended: 0, open: 2 });
        assert_eq!(
            (found["plan"], found.len()),
            (ToolCalls { ended: 1, open: 0 }, 3)
        );
        assert!(tools(&json!({})).is_empty());
    }
}
