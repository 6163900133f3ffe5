//! Turns the report and the state of the pull request into a plan: a plain value that describes what to write.
//!
//! Comments, labels, approvals and the pull request of the baseline, each as a pure function that tests call with tables. The plan is
//! carried out by `github`.

pub mod approval;
pub mod baseline_pr;
mod comment;
mod config_key;
mod moves;
mod reason;
pub mod record;
#[cfg(test)]
mod samples;

pub use comment::{
    CommentPlan, CommentRequest, ConfigResult, Note, NoteSubject, StaleComment, hidden_classes,
    is_note_written, is_settled, is_written, may_exist, plan, plan_note, regressions, summary,
    summary_within,
};
pub use config_key::ConfigKey;
pub use moves::{
    BaselineMove, MoveDirection, has_same_entries, has_same_numbers, is_worse, moves, rounded,
};
pub use reason::{reason, reason_example};
