//! When a live sample did what: from this its trace is made.

use super::call::{StopReason, TokenUsage};
use super::ids::SuiteId;
use super::record::RunRecord;

/// A finished live sample with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// Its suite; agent, case and sample say the record.
    pub suite: SuiteId,
    /// What it came to.
    pub record: RunRecord,
    /// From the first call to the end.
    pub period: Period,
    /// Whose model answers, as the GenAI conventions name it: `openai`, `anthropic`, `aws.bedrock`. A program has none.
    pub provider: Option<String>,
    /// The calls of the model, in their order; repeated tries among them.
    pub chats: Vec<ModelCall>,
    /// When the record's tool calls were made, in their order; those after the last one here have no times.
    pub tools: Vec<Period>,
}

/// From when to when, in nanoseconds after 1970.
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
    /// When.
    pub period: Period,
    /// Whose model it is, in the words of [`Traced::provider`]: a critic's may be another vendor's.
    pub provider: String,
    /// The model that was asked for.
    pub asked: String,
    /// What came of it.
    pub outcome: ModelCallResult,
}

/// What came of a call of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelCallResult {
    /// A turn.
    Turn {
        /// The model that answered, as the vendor names it.
        model: Option<String>,
        /// Why the turn ended.
        stop: StopReason,
        /// What it cost.
        spent: TokenUsage,
    },
    /// None: a word for why, such as `timeout`, `stalled`, or the answer's status, `429`.
    Fault(String),
}
