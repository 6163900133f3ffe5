//! Exchanges with a model in recordings: when two requests ask the same, and the run record of an agent that was captured.

mod captured_run;
mod recorded_calls;
mod request_key;

pub use self::captured_run::{AnswerBefore, CapturedRun, answers, captured_record};
pub use self::recorded_calls::{NoExchanges, RecordedExchanges, recorded_exchanges};
pub use self::request_key::{first_difference, request_key};
