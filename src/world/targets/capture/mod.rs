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
mod upstream;

pub use self::captured_agent::{CapturedAgent, RecordedSamples, SampleExchanges};
pub use self::upstream::UpstreamChoice;

/// What agents get as their key: their clients refuse to start without one, and the endpoint replaces it by the real one.
const PLACEHOLDER_KEY: &str = "goldgate-placeholder";
