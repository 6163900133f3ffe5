//! What the recordings of an agent are used for.

use crate::model::{AgentName, RunSource, SuiteId, Tier};

/// What recordings are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordingUse {
    /// They are graded.
    Graded,
    /// They answer the model calls of the agent's code, which runs again.
    AnswersCalls,
}

impl RecordingUse {
    /// The use by a source of runs.
    pub fn of(source: &RunSource) -> Self {
        match source {
            RunSource::Replay(_) => Self::Graded,
            RunSource::Live(_) => Self::AnswersCalls,
        }
    }
}

/// The agent and tier whose added samples are searched.
pub struct RunsOf<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The tier.
    pub tier: Tier,
}
