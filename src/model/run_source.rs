//! Where the runs of an agent come from: recordings or a live target.

use serde::Serialize;

use super::path::RepoPath;
use super::recording_place::RecordingPlace;

/// A source of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum RunSource {
    /// Recordings.
    Replay(RecordingPlace),
    /// Live calls.
    Live(LiveSource),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveSource {
    /// The target's name under `targets:`.
    pub target: String,
    /// The target that judges each attempt; with it, runs are loops of an actor and a critic with a limited length.
    pub critic: Option<String>,
    /// Whether its runs are written as the recordings of the deterministic tier.
    pub record: bool,
    /// The folder of recordings whose exchanges answer the agent's calls; with it, no model is called.
    pub exchanges: Option<RepoPath>,
}

impl RunSource {
    /// The live calls; `None` for recordings.
    pub fn live(&self) -> Option<&LiveSource> {
        match self {
            Self::Replay(_) => None,
            Self::Live(live) => Some(live),
        }
    }

    /// The place of the recordings that are graded; `None` for live calls.
    pub fn replay(&self) -> Option<&RecordingPlace> {
        match self {
            Self::Replay(place) => Some(place),
            Self::Live(_) => None,
        }
    }

    /// The place of the recordings that decide what a run answers: the recordings themselves, or those with its exchanges.
    pub fn place(&self) -> Option<RecordingPlace> {
        match self {
            Self::Replay(place) => Some(place.clone()),
            Self::Live(live) => live.exchanges.clone().map(RecordingPlace::Folder),
        }
    }

    /// The folder of the recordings that decide what a run answers: the recordings themselves, or those with its exchanges. `None` where a
    /// pattern says where they are: nothing is written there.
    pub fn recordings(&self) -> Option<&RepoPath> {
        match self {
            Self::Replay(place) => place.folder(),
            Self::Live(live) => live.exchanges.as_ref(),
        }
    }
}

impl LiveSource {
    /// The targets that are called: the actor, then the critic.
    pub fn targets(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.target).chain(&self.critic)
    }
}
