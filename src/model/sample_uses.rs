//! What a sample of a case uses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::since_base::SampleUse;

/// The medians of what the completed samples of a case use; absent where no sample states it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleUses {
    /// Input and output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl SampleUses {
    /// One of them.
    pub fn of(&self, sample_use: SampleUse) -> Option<f64> {
        match sample_use {
            SampleUse::Tokens => self.tokens,
            SampleUse::Latency => self.latency_ms,
            SampleUse::Cost => self.cost_usd,
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
