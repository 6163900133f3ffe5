//! Operating characteristics: how often the gates of a suite fail on an unchanged agent that is recorded again, and how often they detect a
//! drop, estimated from recorded samples. Informational; no verdict uses them.

mod advice;
mod rates;
mod recorded;
mod rounds;
mod simulation;
#[cfg(test)]
mod tests;

pub use self::advice::{Advice, GateAdvice, HardGates, advice};
pub use self::rates::{Basis, DROP, GateRates, OperatingEstimate, Rates};
pub use self::recorded::{RecordedAgent, RecordedCase, Refold};
pub use self::simulation::operating;
