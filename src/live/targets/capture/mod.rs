//! Captured agents: a program whose model calls go through an endpoint on this machine, which records them or answers them
//! from a recording.

mod captured_agent;
mod endpoint;
mod endpoint_answers;
mod endpoint_paths;
mod endpoint_state;
mod forward;
mod http_connection;
mod observed;
mod recorded_answers;
mod sample_key;
mod upstream;

pub use self::captured_agent::{CapturedAgent, RecordedSamples, SampleExchanges};
pub use self::upstream::UpstreamChoice;
