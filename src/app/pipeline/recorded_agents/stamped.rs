//! Today's digests of recordings, for writing them: [`StampedAgent`].

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::SuiteInputs;
use super::{called, listed, recordings_of};
use crate::app::pipeline::agent_digest::AgentState;
use crate::app::pipeline::plan::Plan;
use crate::diag::Diagnostics;
use crate::files::Files;
use crate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId, Tier};

/// An agent whose recordings get today's digests.
pub struct StampedAgent {
    /// `suite/agent`.
    pub name: String,
    suite: SuiteId,
    agent: AgentName,
    cases: BTreeSet<CaseId>,
}

/// Today's digests of a recording. `None` is not stated.
pub struct RecordingDigests {
    /// Of the agent's files.
    pub agent: Option<String>,
    /// Of what the case asks.
    pub input: Option<String>,
    /// Of what is called.
    pub target: Option<String>,
}

impl StampedAgent {
    /// The agents of the chosen cases of a plan, drafts among them.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let mut cases: BTreeMap<(SuiteId, AgentName), BTreeSet<CaseId>> = BTreeMap::new();
        for loaded in &plan.suites {
            for key in loaded
                .chosen_to_run(&plan.wanted)
                .flat_map(|pair| &pair.runs)
            {
                let agent = (key.suite.clone(), key.agent.clone());
                cases.entry(agent).or_default().insert(key.case.clone());
            }
        }
        cases
            .into_iter()
            .map(|((suite, agent), cases)| Self {
                name: format!("{suite}/{agent}"),
                suite,
                agent,
                cases,
            })
            .collect()
    }

    /// The recordings of the agent with today's digests.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn recordings(
        &self,
        plan: &Plan,
        files: &dyn Files,
    ) -> Result<Vec<(RepoPath, RecordingDigests)>, Diagnostics> {
        let suite = plan.config.suite(&self.suite);
        let Some(agent) = suite.and_then(|suite| suite.agents.get(&self.agent)) else {
            return Ok(Vec::new());
        };
        let inputs = SuiteInputs::open(plan, &self.suite, files, None)?;
        let state = AgentState::of(files, agent)?;
        let target = called(&plan.config, agent);
        let folders: BTreeSet<&RepoPath> = Tier::ALL
            .into_iter()
            .filter_map(|tier| recordings_of(agent, tier))
            .map(|(folder, _)| folder)
            .collect();
        let mut found = Vec::new();
        for folder in folders {
            for ((case, _), (_, file)) in listed(files, folder, &self.agent)? {
                let case = CaseId::new(&case).ok();
                let Some(case) = case.filter(|case| self.cases.contains(case)) else {
                    continue;
                };
                let run = RunKey {
                    suite: self.suite.clone(),
                    agent: self.agent.clone(),
                    case,
                };
                let digests = RecordingDigests {
                    agent: state.sha256().map(str::to_owned),
                    input: inputs.of(&run).now().map(str::to_owned),
                    target: target.clone(),
                };
                found.push((file, digests));
            }
        }
        Ok(found)
    }
}
