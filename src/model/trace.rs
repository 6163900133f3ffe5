//! Times of a live sample's calls, from which its trace is built.

use super::call::{StopReason, TokenUsage};
use super::ids::SuiteId;
use super::record::RunRecord;

/// A finished live sample with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// Its suite; the record contains agent, case and sample.
    pub suite: SuiteId,
    /// Its record.
    pub record: RunRecord,
    /// From the first call to the end.
    pub period: Period,
    /// The model's vendor under the GenAI conventions: `openai`, `anthropic`, `aws.bedrock`. `None` for a program.
    pub provider: Option<String>,
    /// The model calls in order, including retries.
    pub chats: Vec<ModelCall>,
    /// Times of the record's tool calls, in order; further calls have no times.
    pub tools: Vec<Period>,
}

/// A time span in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// The start.
    pub start: u64,
    /// The end.
    pub end: u64,
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// Start and end.
    pub period: Period,
    /// The model's vendor, as in [`Traced::provider`]; a critic's may differ.
    pub provider: String,
    /// The requested model.
    pub asked: String,
    /// Its result.
    pub outcome: ModelCallResult,
}

/// The result of a model call.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelCallResult {
    /// A turn.
    Turn {
        /// The model that answered, by the vendor's name.
        model: Option<String>,
        /// Why the turn ended.
        stop: StopReason,
        /// Its tokens.
        spent: TokenUsage,
    },
    /// No turn; the cause, such as `timeout`, `stalled` or the HTTP status `429`.
    Fault(String),
}
