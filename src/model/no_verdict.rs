//! Why no verdict is possible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason why no verdict is possible. No approval lifts it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotGateable(
    /// One line for people.
    pub String,
);

impl NotGateable {
    /// A reason in these words.
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// The same with other words before it.
    pub fn prefixed(&self, prefix: &str) -> Self {
        Self(format!("{prefix}{}", self.0))
    }
}
