//! Why no verdict is possible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason why no verdict is possible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NotGateable(
    /// One line for people.
    pub String,
);

/// A reason why no verdict is possible, and whether an approval lifts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoVerdict {
    /// An approval lifts it: samples are missing, or the base commit cannot be compared.
    Liftable(NotGateable),
    /// No approval lifts it: the change itself has to be corrected, such as by new recordings.
    Lasting(NotGateable),
}

impl NoVerdict {
    /// A reason that an approval lifts.
    pub fn liftable(words: impl Into<String>) -> Self {
        Self::Liftable(NotGateable(words.into()))
    }

    /// A reason that no approval lifts.
    pub fn lasting(words: impl Into<String>) -> Self {
        Self::Lasting(NotGateable(words.into()))
    }

    pub fn why(&self) -> &NotGateable {
        match self {
            Self::Liftable(why) | Self::Lasting(why) => why,
        }
    }

    /// The same with other words before it.
    pub fn prefixed(&self, prefix: &str) -> Self {
        let words = format!("{prefix}{}", self.why().0);
        match self {
            Self::Liftable(_) => Self::liftable(words),
            Self::Lasting(_) => Self::lasting(words),
        }
    }
}
