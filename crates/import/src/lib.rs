//! Reads what other tools record of agents: message lists, exchanges with models, traces, and logs of evaluations.
//!
//! A file is parsed once ([`Source`]); its [`Format`] is found out by the keys of its records; and each of its runs becomes a
//! [`Transcript`]: what was asked, the calls of tools, and the answer. The formats differ in where they keep their messages. A
//! message itself is read in one place (`message`), whoever wrote it.
//!
//! Everything is read as far as it can be. Parts other than texts, calls and results are left out, and counted
//! ([`Transcript::left_out`]); a call that cannot be read is a [`Problem`], because the transcript would say that it was never made.

mod adk;
mod answers;
mod benchmarks;
mod builder;
mod calls;
mod case_key;
mod coding_agents;
mod conversations;
mod dates;
mod detect;
mod event_stream;
mod exchanges;
pub mod goldens;
mod inspect;
pub mod loose;
mod message;
mod otlp;
mod problem;
pub mod promptfoo;
mod results;
mod run_trees;
mod source;
mod streamed_calls;
#[cfg(test)]
mod tests;
mod transcript;
mod usage;
mod vendor_bodies;

pub use self::answers::{AnsweredRequest, OwnCalls, answer_transcripts};
pub use self::event_stream::{is_event_stream, streamed_answer};
pub use self::message::CallPart;
pub use self::otlp::json_of_protobuf;
pub use self::problem::{Problem, ProblemKind};
pub use self::source::Source;
pub use self::transcript::{Call, Ending, Format, Hints, Transcript, Turn, Usage};
