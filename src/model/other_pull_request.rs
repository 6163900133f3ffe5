//! Other pull requests with the same head commit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict on another open pull request with the same head commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPullRequest {
    /// Its number.
    pub number: u64,
    /// Its base branch.
    pub into: String,
    /// Its verdict.
    #[serde(rename = "verdict")]
    pub outcome: OtherOutcome,
}

/// The verdict on another pull request, from best to worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum OtherOutcome {
    /// It passes.
    #[serde(rename = "pass")]
    Passes,
    /// No verdict is possible.
    #[serde(rename = "no_verdict")]
    NoVerdict,
    /// It fails.
    #[serde(rename = "fail")]
    Fails,
}
