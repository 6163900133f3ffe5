//! What live runs stand on: the state that their agents are in, and the folders that tools may look into.

use std::collections::BTreeMap;

use super::planned_run::PlannedRun;
use crate::app::cli_error::CliError;
use crate::app::fingerprint::AgentState;
use crate::diag::Diagnostic;
use crate::model::{AgentName, RepoPath, SuiteId, Toolbox};
use crate::suites::Files;
use crate::world::Disk;

/// The digests of what the agents are made of, each taken once.
#[derive(Default)]
pub(super) struct AgentDigests(BTreeMap<(SuiteId, AgentName), Option<String>>);

impl AgentDigests {
    pub(super) fn of(&mut self, disk: &Disk, one: &PlannedRun<'_>) -> Result<Option<String>, Diagnostic> {
        let key = (one.opened.config.id.clone(), one.request.key.agent.clone());
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let state = match one.opened.config.agents.get(&key.1) {
            Some(agent) => AgentState::of(disk, agent, one.opened.prompts.get(&key.1))?,
            None => None,
        };
        let digest = state.and_then(|state| state.sha256().map(str::to_owned));
        Ok(self.0.entry(key).or_insert(digest).clone())
    }
}

/// The folders that tools may look into, each a root of its own.
pub(super) fn folders(disk: &Disk, wanted: &[PlannedRun<'_>]) -> Result<BTreeMap<RepoPath, Box<dyn Files>>, CliError> {
    let mut folders: BTreeMap<RepoPath, Box<dyn Files>> = BTreeMap::new();
    for one in wanted {
        if let Toolbox::Folder { root, .. } = &one.request.ask.tools {
            folders.insert(root.clone(), Box::new(disk.within(root)?));
        }
    }
    Ok(folders)
}
