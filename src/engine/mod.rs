//! Plans and schedules live samples: how many at once, when again, when no more.
//!
//! The engine knows requests and records; what a call is like, [`crate::world::targets`] knows. It waits for models and for
//! nothing else: a sample that waits for its next try holds no place.

mod bill;
mod budget;
mod calls;
mod conversation;
mod refine;
mod retry;
mod schedule;
mod tools;

use std::future::Future;
use std::pin::Pin;

use crate::model::{Conversation, Fault, Record, Request, Turn};

pub use budget::{Limits, Prices};
pub use retry::Patience;
pub use schedule::{Called, Engine, Events, Finished, Job, Lane, Outcome, Refining, Spending, Stretch, Timeline};

/// What a call comes to, once it has.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + 'a>>;

/// A model behind a wire format.
pub trait Model {
    /// The model's next turn.
    fn turn<'a>(&'a self, conversation: &'a Conversation) -> Pending<'a, Turn>;
}

/// An agent's own program, behind a process or an address.
pub trait Program {
    /// The run record that it answers with.
    fn run<'a>(&'a self, request: &'a Request) -> Pending<'a, Record>;

    /// What it wrote to stderr about a request that has come to its end; given once.
    fn complaints(&self, request: &Request) -> Option<String>;

    /// Ends what waits for further requests, and gives it time to end well.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// Who answers on a lane.
pub enum Voice {
    /// A model, with the loop around it.
    Model(Box<dyn Model>),
    /// An agent's own program.
    Program(Box<dyn Program>),
}

#[cfg(test)]
mod tests;
