//! The command that records an agent again.

use crate::model::{Agent, AgentName, RepoPath, RunSource, SuiteId};
use crate::text::{as_argument, config_option};

/// Which cases of an agent are recorded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedCases {
    /// All.
    All,
    /// Those without current recordings.
    Missing,
}

/// What to do to get new recordings: with a target, one command; without one, the command needs the agent's program, or the agent runs elsewhere
/// and its transcripts are imported.
/// Without a name it concerns all agents of the suite.
pub fn record_again(
    config: &RepoPath,
    suite: &SuiteId,
    name: Option<&AgentName>,
    agent: Option<&Agent>,
    folder: &str,
    cases: RecordedCases,
) -> String {
    let (config, folder) = (config_option(config.as_str()), as_argument(folder));
    let missing = match cases {
        RecordedCases::All => "",
        RecordedCases::Missing => " --missing",
    };
    let whose = name.map_or(String::new(), |name| format!(" --agent {name}"));
    match agent.is_some_and(has_live_source) {
        true => format!(
            "record again: `goldgate run{config} --tier model --suite {suite}{whose} --record {folder}{missing}`"
        ),
        false => {
            format!(
                "record again with `goldgate record{config} --suite {suite}{whose}{missing} -- COMMAND`, or import new transcripts: \
                 `goldgate import PATH…{config}{whose} --out {folder} --force`"
            )
        }
    }
}

/// What to do to get the recordings that an agent lacks.
pub fn record_missing(config: &RepoPath, suite: &SuiteId, name: &AgentName, agent: &Agent, folder: &str) -> String {
    let (config, folder) = (config_option(config.as_str()), as_argument(folder));
    match has_live_source(agent) {
        true => {
            format!(
                "record what is missing: `goldgate run{config} --tier model --suite {suite} --agent {name} --record {folder} --missing`"
            )
        }
        false => {
            format!(
                "record what is missing with `goldgate record{config} --suite {suite} --agent {name} --missing -- COMMAND`, or import the \
                 agent's transcripts: `goldgate import PATH…{config} --agent {name} --out {folder}`"
            )
        }
    }
}

fn has_live_source(agent: &Agent) -> bool {
    [&agent.deterministic, &agent.model].into_iter().any(|source| matches!(source, Some(RunSource::Live(_))))
}
