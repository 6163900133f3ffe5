//! The command that records an agent again.

use crate::model::{Agent, AgentName, RunSource, SuiteId};

/// What to do to get new recordings: with a target, one command; without one, the agent runs elsewhere and its transcripts are imported.
/// Without a name it concerns all agents of the suite.
pub fn record_again(suite: &SuiteId, name: Option<&AgentName>, agent: Option<&Agent>, folder: &str) -> String {
    let whose = name.map_or(String::new(), |name| format!(" --agent {name}"));
    match agent.is_some_and(has_live_source) {
        true => format!("record again: `goldgate run --tier model --suite {suite}{whose} --record {folder}`"),
        false => format!(
            "record again, then import the transcripts: `goldgate import FORMAT FILE{whose} --out {folder} --force`"
        ),
    }
}

fn has_live_source(agent: &Agent) -> bool {
    [&agent.deterministic, &agent.model].into_iter().any(|source| matches!(source, Some(RunSource::Live(_))))
}
