//! Where the records of live runs are found.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::source_of;
use crate::model::{AgentName, Config, RepoPath, RunKey, RunSource, SuiteId, Tier};

/// The paths of live records, which are read like recordings.
#[derive(Debug, Clone, Default)]
pub struct LiveLayout {
    pub folders: BTreeMap<(SuiteId, AgentName), RepoPath>,
    /// Samples that were skipped, because no answer could have changed a verdict.
    pub spared: BTreeSet<(RunKey, u32)>,
    /// What the agents' programs wrote to stderr about a sample.
    pub complaints: BTreeMap<(RunKey, u32), String>,
}

impl LiveLayout {
    /// The recorded runs whose exchanges the agents of a tier replay, in place of runs that are made of them.
    pub fn of_exchanges(config: &Config, tier: Tier) -> Self {
        let mut layout = Self::default();
        for suite in &config.suites {
            for (name, agent) in &suite.agents {
                let Some(RunSource::Live(live)) = source_of(agent, tier) else {
                    continue;
                };
                if let Some(exchanges) = &live.exchanges {
                    let key = (suite.id.clone(), name.clone());
                    layout.folders.insert(key, exchanges.clone());
                }
            }
        }
        layout
    }
}
