//! A target that can be called, of any kind.

use std::path::Path;

use super::agent::{AgentProgram, ModelAnswers};
use super::capture::UpstreamChoice;
use super::chat::ChatModel;
use super::{Timeouts, Unopened};
use crate::model::{Target, Transport};
use crate::world::env::Env;

/// A target that can be called.
#[derive(Debug)]
pub enum Live {
    /// A model; its input is a conversation.
    Chat(ChatModel),
    /// An agent's own program; its input is a request.
    Agent(AgentProgram),
}

impl Live {
    /// Opens a target. Programs run in `root`, the repository's folder. Nothing is called yet.
    pub fn open(target: &Target, root: &Path, env: &Env) -> Result<Self, Unopened> {
        Self::open_answered(
            target,
            root,
            env,
            ModelAnswers::Server(UpstreamChoice::Usual),
        )
    }

    /// The same, for a captured agent whose model calls are answered like this.
    pub fn open_answered(
        target: &Target,
        root: &Path,
        env: &Env,
        answers: ModelAnswers,
    ) -> Result<Self, Unopened> {
        match &target.transport {
            Transport::Model(provider) => {
                ChatModel::open(provider, Timeouts::of(target), env).map(Self::Chat)
            }
            Transport::Command { .. } | Transport::Http(_) => {
                AgentProgram::open_answered(target, root, env, answers).map(Self::Agent)
            }
        }
    }
}
