//! When the calls of a sample were made.

use std::time::Duration;

use crate::model::ModelCallResult;

/// When a sample's calls were made, relative to the start of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// From its first call to its end.
    pub period: TimeSpan,
    /// Its model calls, retries included.
    pub chats: Vec<TimedCall>,
    /// Its tool calls.
    pub tools: Vec<TimeSpan>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TimedCall {
    /// Start and end.
    pub stretch: TimeSpan,
    /// Index of the target queue.
    pub queue: usize,
    pub outcome: ModelCallResult,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeSpan {
    pub from: Duration,
    pub to: Duration,
}
