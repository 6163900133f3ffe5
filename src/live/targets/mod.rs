//! Live targets: processes, agents behind HTTP, and models. Each function makes one call; the engine decides when, how often and
//! how many at once.
#![expect(
    clippy::disallowed_methods,
    reason = "targets are the outside, as world is"
)]

mod agent;
mod bedrock;
mod capture;
mod chat;
mod credentials;
mod descendants;
mod http_request;
mod live;
mod oneshot;
mod origin;
mod pool;
mod process;
mod secret_header;

use std::error::Error;
use std::fmt;
use std::time::Duration;

pub use self::agent::AgentProgram;
pub(crate) use self::agent::ModelAnswers;
pub(crate) use self::capture::{RecordedSamples, SampleExchanges, UpstreamChoice};
pub use self::chat::ChatModel;
pub use self::live::Live;
pub(crate) use self::origin::{is_vendors, origin};
use crate::model::{CallError, Charge, InputLimit, Retry, RunStatus, Target};

/// The largest answer that is read, in bytes: a response body, or a process's output.
pub const MAX_ANSWER_BYTES: usize = InputLimit::ANSWER.count();

/// Default timeout of a call.
pub const CALL: Duration = Duration::from_secs(120);

/// Default time that an answer's body may pause.
pub const STALL: Duration = Duration::from_secs(30);

/// Time limits of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a whole call.
    pub call: Duration,
    /// For the next chunk of an answer that has begun.
    pub stall: Duration,
}

impl Timeouts {
    /// The config's limits, or the defaults.
    pub fn of(target: &Target) -> Self {
        Self {
            call: target.timeout.unwrap_or(CALL),
            stall: target.stall.unwrap_or(STALL),
        }
    }
}

/// Why a target cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unopened {
    /// The key is missing. The config is fine, and the run is reported as not made.
    NoKey {
        /// How to provide one, such as the environment variable to set.
        wanted: String,
    },
    /// The config or this machine makes it impossible.
    Unusable(String),
}

impl fmt::Display for Unopened {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey { wanted } => write!(out, "the key is missing: {wanted}"),
            Self::Unusable(message) => out.write_str(message),
        }
    }
}

impl Error for Unopened {}

/// A failure that a retry cannot fix.
fn lasting(message: String) -> CallError {
    CallError {
        status: RunStatus::Error,
        what: message,
        retry: Retry::Never,
        charge: Charge::Never,
    }
}

/// A failure that may not occur on a retry.
fn passing(message: String) -> CallError {
    CallError {
        retry: Retry::Later { after: None },
        ..lasting(message)
    }
}

fn display_timeout(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}
