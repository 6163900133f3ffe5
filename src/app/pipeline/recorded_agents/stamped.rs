//! Today's digests of recordings, and how they are written into one: [`StampedAgent`], [`RecordingDigests`].

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::SuiteInputs;
use super::{called, listed, recordings_of};
use crate::app::pipeline::agent_digest::AgentState;
use crate::app::pipeline::plan::Plan;
use crate::diag::Diagnostics;
use crate::files::Files;
use crate::format::run_v1;
use crate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId, Tier};
use crate::render::plural;
use crate::text::first_of;

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

/// What happens to a recording that states another digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherDigests {
    /// It keeps all that it states.
    Kept,
    /// They are replaced.
    Replaced,
}

/// What becomes of a recording.
pub enum Stamped {
    /// Its new text.
    Written(String),
    /// It states all of today's digests.
    Current,
    /// It states another digest, and keeps it.
    Other,
}

impl RecordingDigests {
    /// Writes these digests, and that of the content, into the text of a recording: those that it lacks, and in place of others if they are
    /// replaced.
    pub fn stamped(&self, text: &str, over: OtherDigests) -> Stamped {
        let stated = run_v1::stated_origin(text);
        let content = run_v1::content_sha256(text);
        let today = [
            ("agent_sha256", &stated.agent_sha256, &self.agent),
            ("input_sha256", &stated.input_sha256, &self.input),
            ("target_sha256", &stated.target_sha256, &self.target),
            ("content_sha256", &stated.content_sha256, &content),
        ];
        let mut values: Vec<(&str, &str)> = Vec::new();
        for (key, stated, now) in today {
            let Some(now) = now else { continue };
            match (stated, over) {
                (Some(stated), _) if stated == now => {}
                (Some(_), OtherDigests::Kept) => return Stamped::Other,
                (Some(_), OtherDigests::Replaced) | (None, _) => values.push((key, now)),
            }
        }
        if values.is_empty() {
            return Stamped::Current;
        }
        values.push(("by", run_v1::STAMPED));
        Stamped::Written(run_v1::with_origin(text, &values))
    }
}

/// Says which recordings keep other digests.
pub fn with_other_digests(recordings: &BTreeSet<String>) -> String {
    let subject = plural(recordings.len(), "recording states", "recordings state");
    let names: Vec<&String> = recordings.iter().collect();
    format!(
        "{subject} digests of other files or inputs, or was edited ({})",
        first_of(&names)
    )
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
