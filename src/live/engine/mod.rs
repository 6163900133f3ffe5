//! Plans and schedules live samples: concurrency, retries, spending limits.
//!
//! The engine knows requests and records; how a call is made is up to [`crate::live::targets`]. A sample that waits for
//! its next try occupies no concurrency slot.

mod budget;
mod calls;
mod conversation;
mod program_talk;
mod refine;
mod retry;
mod sample_calls;
mod sample_job;
mod sample_usage;
mod schedule;
mod setup;
mod simulated_user;
mod target_queue;
mod timeline;
mod tools;

use std::future::Future;
use std::pin::Pin;

use crate::model::{CallError, Conversation, ModelTurn, RunRecord, SampleRequest};

pub use budget::{Prices, SpendingLimits};
pub use retry::RetryPolicy;
pub use sample_job::{RefinementSetup, SampleJob};
pub use sample_usage::UnreportedUsage;
pub use schedule::{EngineEvents, EngineOutcome, JobOutcome, Spending};
pub use setup::Engine;
pub use target_queue::TargetQueue;
pub use timeline::{TimeSpan, TimedCall, Timeline};

/// The future of one call.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, CallError>> + 'a>>;

/// A model, whatever its wire format.
pub trait Model {
    /// Asks for the model's next turn.
    fn turn<'a>(&'a self, conversation: &'a Conversation) -> Pending<'a, ModelTurn>;
}

/// An agent's own program, reached as a process or over HTTP.
pub trait Program {
    /// Runs the program on one request and returns its run record.
    fn run<'a>(&'a self, request: &'a SampleRequest) -> Pending<'a, RunRecord>;

    /// What the program wrote to stderr about a finished request; returned once.
    fn complaints(&self, request: &SampleRequest) -> Option<String>;

    /// Stops the processes that wait for further requests, with time to exit cleanly.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

pub enum TargetClient {
    /// A model and its conversation loop.
    Model(Box<dyn Model>),
    /// An agent's own program.
    Program(Box<dyn Program>),
}

#[cfg(test)]
mod tests;
