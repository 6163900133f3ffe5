//! The inputs of live runs: the state of their agents, and the folders that tools may read.

use std::collections::{BTreeMap, BTreeSet};

use super::planned_run::PlannedRun;
use crate::diag::Diagnostic;
use crate::evaluation::agent_digest::AgentState;
use crate::files::Files;
use crate::model::{AgentName, RepoPath, SuiteId, Toolbox};
use crate::render::CliError;
use crate::world::Disk;

/// The digests of the agents' files, each computed once.
#[derive(Default)]
pub(super) struct AgentDigests {
    known: BTreeMap<(SuiteId, AgentName), Option<String>>,
    /// The files that they cover.
    pub(super) files: BTreeSet<RepoPath>,
}

impl AgentDigests {
    pub(super) fn of(
        &mut self,
        disk: &Disk,
        run: &PlannedRun<'_>,
    ) -> Result<Option<String>, Diagnostic> {
        let key = (run.loaded.config.id.clone(), run.request.key.agent.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let state = match run.loaded.config.agents.get(&key.1) {
            Some(agent) => Some(AgentState::of(disk, agent)?),
            None => None,
        };
        let digest = state
            .as_ref()
            .and_then(|state| state.sha256().map(str::to_owned));
        if let Some(AgentState::Files(agent_files)) = state {
            self.files.extend(agent_files.files);
        }
        Ok(self.known.entry(key).or_insert(digest).clone())
    }
}

/// Opens the folders that tools may read, each as its own root.
pub(super) fn folders(
    disk: &Disk,
    planned: &[PlannedRun<'_>],
) -> Result<BTreeMap<RepoPath, Box<dyn Files>>, CliError> {
    let mut folders: BTreeMap<RepoPath, Box<dyn Files>> = BTreeMap::new();
    for run in planned {
        if let Toolbox::Folder { root, .. } = &run.request.ask.tools {
            folders.insert(root.clone(), Box::new(disk.within(root)?));
        }
    }
    Ok(folders)
}
