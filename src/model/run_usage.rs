//! Calls, tokens and cost of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calls, tokens and cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunUsage {
    /// Calls made.
    pub calls: u64,
    /// Of these, the retries.
    pub retries: u64,
    /// Answers taken from a cache.
    pub cached: u64,
    /// Calls that were skipped, because no answer could change a verdict.
    #[serde(default)]
    pub saved: u64,
    /// Input tokens, as recorded.
    pub input_tokens: u64,
    /// Output tokens, as recorded.
    pub output_tokens: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// Wall time of this program, in milliseconds.
    pub wall_ms: u64,
}

impl RunUsage {
    /// The sum of both; an unknown cost makes the sum unknown.
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            retries: self.retries + other.retries,
            cached: self.cached + other.cached,
            saved: self.saved + other.saved,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cost_usd: match (self.calls, other.calls) {
                (_, 0) => self.cost_usd,
                (0, _) => other.cost_usd,
                _ => self
                    .cost_usd
                    .zip(other.cost_usd)
                    .map(|(left, right)| left + right),
            },
            wall_ms: self.wall_ms.max(other.wall_ms),
        }
    }
}
