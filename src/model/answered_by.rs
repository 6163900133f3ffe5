//! Who answered a case, and whether its recordings are up to date.

use super::words::words;

/// The model and the prompt package: part of a measurement's identity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredBy {
    /// The model, if recorded.
    pub model: Option<String>,
    /// The prompt package's SHA-256, if recorded.
    pub prompt_sha256: Option<String>,
    /// Whether the agent and the input are unchanged since the recordings.
    pub freshness: Freshness,
}

/// Whether the agent and the input are unchanged since the recordings: the worst of all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The agent's files against their recorded digest.
    pub agent: RecordingAge,
    /// The case's input against its recorded digest.
    pub input: RecordingAge,
}

words! {
    /// Whether a recording is up to date, from good to bad.
    #[derive(PartialOrd, Ord, Default)]
    pub enum RecordingAge {
        /// Unchanged, or just recorded.
        #[default]
        Fresh = "fresh",
        /// The recording has no digest.
        Unknown = "unknown",
        /// Changed, and the config only wants a warning.
        StaleNoted = "stale_noted",
        /// Changed.
        Stale = "stale",
    }
}

impl Freshness {
    /// The worse of both, field by field.
    pub fn and(self, other: Self) -> Self {
        Self {
            agent: self.agent.max(other.agent),
            input: self.input.max(other.input),
        }
    }

    /// The worse age of both parts.
    pub fn worst(self) -> RecordingAge {
        self.agent.max(self.input)
    }
}
