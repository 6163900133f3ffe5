//! How old a recording is by its text alone, for whoever compares files and has no run.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::fingerprint::{AgentState, KeptDigests};
use crate::app::prompts::prompt_package;
use crate::model::{AgentName, Config, RecordingAge, SuiteId};
use crate::suites::{Files, PromptPackage};

/// The agents of a config as they are now, each looked at once.
pub struct CurrentAgents<'a> {
    config: &'a Config,
    files: &'a dyn Files,
    known: RefCell<BTreeMap<(SuiteId, AgentName), Option<CurrentAgent>>>,
}

struct CurrentAgent {
    state: AgentState,
    prompt: Option<PromptPackage>,
}

impl<'a> CurrentAgents<'a> {
    /// The agents of a config, made of these files.
    pub fn new(config: &'a Config, files: &'a dyn Files) -> Self {
        Self { config, files, known: RefCell::default() }
    }

    /// Whether a recording with this text is of the agent as it is now; `stale: warn` is not looked at.
    pub fn age(&self, suite: &SuiteId, agent: &AgentName, text: &str) -> RecordingAge {
        let mut known = self.known.borrow_mut();
        let now = known.entry((suite.clone(), agent.clone())).or_insert_with(|| self.now(suite, agent));
        let Some(now) = now else { return RecordingAge::Unknown };
        let run: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        let kept = |key: &str| run["provenance"][key].as_str();
        let kept = KeptDigests { fingerprint: kept("fingerprint"), prompt_sha256: kept("prompt_sha256") };
        now.state.age(now.prompt.as_ref(), &kept)
    }

    /// What cannot be read says nothing of any recording.
    fn now(&self, suite: &SuiteId, agent: &AgentName) -> Option<CurrentAgent> {
        let agent = self.config.suites.iter().find(|other| other.id == *suite)?.agents.get(agent)?;
        let package = agent.prompt.as_ref().and_then(|path| prompt_package(self.files, None, path).ok());
        let state = AgentState::of(self.files, agent, package.as_ref()).ok()??;
        Some(CurrentAgent { state, prompt: package })
    }
}
