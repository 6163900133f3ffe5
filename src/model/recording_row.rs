//! What the table of recordings decides: the rows and their effects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// A row of the table of recordings, in its order.
    #[derive(PartialOrd, Ord)]
    pub enum Row {
        /// A digest that it states differs from today's.
        Stale = "stale",
        /// It lacks a digest, and it is new or changed, or what it was made with moved.
        Unproven = "unproven",
        /// It lacks a digest, and nothing of it moved.
        UnprovenAsBefore = "unproven_as_before",
        /// What it was made with moved, and recordings of it were made again.
        RecordedForChange = "recorded_for_change",
        /// What it was made with moved, and it has the content of before, as all others.
        StampedNotRecorded = "stamped_not_recorded",
        /// It is the base commit's.
        Unchanged = "unchanged",
        /// It has the base commit's content, and states the digests that were missing or not current there.
        StampedAsBefore = "stamped_as_before",
        /// Its case is new, or it replaces one that was not current.
        New = "new",
        /// All current ones were recorded again without a change.
        RecordedAgain = "recorded_again",
        /// Some of the current ones have other content, without a change.
        PartChanged = "part_changed",
        /// A further sample of a case.
        MoreSamples = "more_samples",
        /// It is gone, and its case keeps others.
        Gone = "gone",
    }
}

words! {
    /// What a row does with an agent, from good to bad.
    #[derive(PartialOrd, Ord)]
    pub enum Effect {
        /// The recordings count.
        Counts = "counts",
        /// They count, and the report lists them.
        Listed = "listed",
        /// Another person approves them.
        Approval = "approval",
        /// There is no verdict.
        NoVerdict = "no_verdict",
    }
}

/// The recordings of an agent in one row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingRow {
    /// The row.
    pub row: Row,
    /// What it does with the agent.
    pub effect: Effect,
    /// How many recordings are in it.
    pub count: u32,
}
