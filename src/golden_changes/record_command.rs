//! The command that records an agent again.

use crate::model::{Agent, AgentName, RunSource, SuiteId};

/// What to do to get new recordings: with a target, one command; without one, the agent runs elsewhere and its transcripts are imported.
/// Without a name it concerns all agents of the suite.
pub fn record_again(suite: &SuiteId, name: Option<&AgentName>, agent: Option<&Agent>, folder: &str) -> String {
    let whose = name.map_or(String::new(), |name| format!(" --agent {name}"));
    match agent.is_some_and(has_live_source) {
        true => format!("record again: `goldgate run --tier model --suite {suite}{whose} --record {folder}`"),
        false => {
            format!("record again, then import the transcripts: `goldgate import PATH…{whose} --out {folder} --force`")
        }
    }
}

/// What to do to get the first recordings of an agent.
pub fn record_first(suite: &SuiteId, name: &AgentName, agent: &Agent, folder: &str) -> String {
    match has_live_source(agent) {
        true => format!("record them: `goldgate run --tier model --suite {suite} --agent {name} --record {folder}`"),
        false => format!("import the agent's transcripts: `goldgate import PATH… --agent {name} --out {folder}`"),
    }
}

fn has_live_source(agent: &Agent) -> bool {
    [&agent.deterministic, &agent.model].into_iter().any(|source| matches!(source, Some(RunSource::Live(_))))
}
