//! Where the runs of an agent come from: recordings or a live target.

use serde::Serialize;

use super::path::RepoPath;

/// A source of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum RunSource {
    /// Recordings in this folder.
    Replay(RepoPath),
    /// Live calls.
    Live(LiveSource),
}

/// Live calls of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveSource {
    /// The target's name under `targets:`.
    pub target: String,
    /// The target that judges each attempt; with it, runs are loops of an actor and a critic with a limited length.
    pub critic: Option<String>,
    /// Whether its runs are written as the recordings of the deterministic tier.
    pub record: bool,
}

impl LiveSource {
    /// The targets that are called: the actor, then the critic.
    pub fn targets(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.target).chain(&self.critic)
    }
}
