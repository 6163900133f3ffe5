//! The age of a recording, computed from its text only, for comparing files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::pipeline::fingerprint::{AgentState, KeptDigests};
use crate::app::pipeline::prompts::prompt_package;
use crate::files::Files;
use crate::format::lenient;
use crate::model::{AgentName, Config, RecordingAge, SuiteId};
use crate::suites::PromptPackage;

/// The current agents of a config; each is read once.
pub struct CurrentAgents<'a> {
    config: &'a Config,
    files: &'a dyn Files,
    known: RefCell<BTreeMap<(SuiteId, AgentName), Option<CurrentAgent>>>,
}

/// The digests of an agent's files, as a recording states them.
pub struct AgentFileDigests {
    pub fingerprint: String,
    /// That of its prompt package, if it has one.
    pub prompt_sha256: Option<String>,
}

struct CurrentAgent {
    state: AgentState,
    prompt: Option<PromptPackage>,
}

impl<'a> CurrentAgents<'a> {
    /// Creates the agents of a config from these files.
    pub fn new(config: &'a Config, files: &'a dyn Files) -> Self {
        Self {
            config,
            files,
            known: RefCell::default(),
        }
    }

    /// Returns whether a recording with this text was made by the current agent. Ignores `stale: warn`.
    pub fn age(&self, suite: &SuiteId, agent: &AgentName, text: &str) -> RecordingAge {
        let mut known = self.known.borrow_mut();
        let current = known
            .entry((suite.clone(), agent.clone()))
            .or_insert_with(|| self.current(suite, agent));
        let Some(current) = current else {
            return RecordingAge::Unknown;
        };
        let run = lenient::whole(text).unwrap_or(Value::Null);
        let kept = |key: &str| run["provenance"][key].as_str();
        let kept = KeptDigests {
            fingerprint: kept("fingerprint"),
            prompt_sha256: kept("prompt_sha256"),
        };
        current.state.age(current.prompt.as_ref(), &kept)
    }

    /// Returns the digests of an agent's files; `None` if they cannot be named or read.
    pub fn digests(&self, suite: &SuiteId, agent: &AgentName) -> Option<AgentFileDigests> {
        let mut known = self.known.borrow_mut();
        let current = known
            .entry((suite.clone(), agent.clone()))
            .or_insert_with(|| self.current(suite, agent));
        let current = current.as_ref()?;
        let prompt_sha256 = current
            .prompt
            .as_ref()
            .map(|package| package.digest.sha256.clone());
        Some(AgentFileDigests {
            fingerprint: current.state.sha256()?.to_owned(),
            prompt_sha256,
        })
    }

    /// Reads the state of an agent; `None` if it cannot be read.
    fn current(&self, suite: &SuiteId, agent: &AgentName) -> Option<CurrentAgent> {
        let agent = self.config.suite(suite)?.agents.get(agent)?;
        let package = agent
            .prompt
            .as_ref()
            .and_then(|path| prompt_package(self.files, None, path).ok());
        let state = AgentState::of(self.files, agent, package.as_ref()).ok()??;
        Some(CurrentAgent {
            state,
            prompt: package,
        })
    }
}
