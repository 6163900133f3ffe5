//! Live targets: how a run is obtained from a process, an agent behind HTTP, or a model. One call each; who calls when,
//! how often and how many at once is the engine's affair.

mod agent;
mod bedrock;
mod chat;
mod credentials;
mod descendants;
mod exchange;
mod oneshot;
mod origin;
mod pool;

mod process;

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::time::Duration;

pub use self::agent::AgentProgram;
pub use self::chat::ChatModel;
pub use self::origin::{is_vendors, origin};
use super::env::Env;
use crate::model::{CallError, Retry, RunStatus, Target, Transport};

/// The largest answer that is read: a body, or what a process prints.
pub const MAX_ANSWER_BYTES: usize = 32 << 20;

/// How long a call may take where the config does not say.
pub const CALL: Duration = Duration::from_secs(120);

/// How long the body of an answer may stop where the config does not say.
pub const STALL: Duration = Duration::from_secs(30);

/// A target that can be called.
#[derive(Debug)]
pub enum Live {
    /// A model, which is told a conversation.
    Chat(ChatModel),
    /// An agent's own program, which is given a request.
    Agent(AgentProgram),
}

impl Live {
    /// Opens a target; `root` is the repository's folder, in which programs run. Nothing is called yet.
    ///
    /// # Errors
    /// Why it can never be called.
    pub fn open(target: &Target, root: &Path, env: &Env) -> Result<Self, Unopened> {
        match &target.transport {
            Transport::Model(provider) => ChatModel::open(provider, Timeouts::of(target), env).map(Self::Chat),
            Transport::Command { .. } | Transport::Http(_) => AgentProgram::open(target, root, env).map(Self::Agent),
        }
    }
}

/// How long a target is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a whole call.
    pub call: Duration,
    /// For the next piece of an answer that has begun.
    pub stall: Duration,
}

impl Timeouts {
    /// What the config says, or the usual.
    pub fn of(target: &Target) -> Self {
        Self { call: target.timeout.unwrap_or(CALL), stall: target.stall.unwrap_or(STALL) }
    }
}

/// Why a target cannot be called at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unopened {
    /// There is no key: nothing is wrong with the config, and the run can be told as not made.
    NoKey {
        /// What would give one, such as the environment variable that holds it.
        wanted: String,
    },
    /// The config or this machine makes it impossible.
    Unusable(String),
}

impl fmt::Display for Unopened {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey { wanted } => write!(out, "there is no key: {wanted}"),
            Self::Unusable(what) => out.write_str(what),
        }
    }
}

impl Error for Unopened {}

/// A fault after which no other try helps.
fn lasting(what: String) -> CallError {
    CallError { status: RunStatus::Error, what, retry: Retry::Never }
}

/// A fault that the next try may be spared.
fn passing(what: String) -> CallError {
    CallError { status: RunStatus::Error, what, retry: Retry::Later { after: None } }
}

/// The time in which a call has to end.
fn display_timeout(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}
