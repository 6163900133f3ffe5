//! What became of a recording.

use super::delivery::Delivery;
use super::new_recordings::NewRecordings;
use crate::model::Interruption;

/// What became of a recording.
pub(super) enum RecordOutcome {
    /// Every recording is up to date.
    Current,
    /// Nothing was recorded.
    Nothing(Unrecorded),
    /// The recordings were delivered.
    Delivered {
        delivery: Delivery,
        files: NewRecordings,
    },
}

/// Why nothing was recorded.
pub(super) enum Unrecorded {
    /// The run ended early.
    CalledOff(Interruption),
    /// No run completed, or no target could be asked.
    NoAnswer,
}

/// What became of a recording, and what the comment says of it besides.
pub(super) struct Recording {
    /// The outcome.
    pub outcome: RecordOutcome,
    /// What could not be recorded, and why.
    pub left_out: Vec<String>,
}

impl Recording {
    /// Where the recordings are; `None` if nothing was recorded.
    pub fn delivery(&self) -> Option<&Delivery> {
        match &self.outcome {
            RecordOutcome::Current | RecordOutcome::Nothing(_) => None,
            RecordOutcome::Delivered { delivery, .. } => Some(delivery),
        }
    }
}
