//! Plans and schedules live samples: how many at once, when again, when no more.
//!
//! The engine knows requests and records; what a call is like, [`crate::world::targets`] knows. It waits for models and for
//! nothing else: a sample that waits for its next try holds no place.

mod budget;
mod calls;
mod conversation;
mod refine;
mod retry;
mod sample_usage;
mod schedule;
mod tools;

use std::future::Future;
use std::pin::Pin;

use crate::model::{CallError, Conversation, ModelTurn, RunRecord, SampleRequest};

pub use budget::{Prices, SpendingLimits};
pub use retry::RetryPolicy;
pub use schedule::{
    Engine, EngineEvents, EngineOutcome, JobOutcome, RefinementSetup, SampleJob, Spending, TargetQueue, TimeSpan,
    TimedCall, Timeline,
};

/// What a call comes to, once it has.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, CallError>> + 'a>>;

/// A model behind a wire format.
pub trait Model {
    /// The model's next turn.
    fn turn<'a>(&'a self, conversation: &'a Conversation) -> Pending<'a, ModelTurn>;
}

/// An agent's own program, behind a process or an address.
pub trait Program {
    /// The run record that it answers with.
    fn run<'a>(&'a self, request: &'a SampleRequest) -> Pending<'a, RunRecord>;

    /// What it wrote to stderr about a request that has come to its end; given once.
    fn complaints(&self, request: &SampleRequest) -> Option<String>;

    /// Ends what waits for further requests, and gives it time to end well.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// Who answers on a lane.
pub enum TargetClient {
    /// A model, with the loop around it.
    Model(Box<dyn Model>),
    /// An agent's own program.
    Program(Box<dyn Program>),
}

#[cfg(test)]
mod tests;
