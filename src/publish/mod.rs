//! The report and the pull request's state become a plan: a plain value that says what would be written.

pub mod approval;
pub mod baseline_pr;
pub mod bump;
mod comment;
mod config_key;
mod moves;
mod reason;
#[cfg(test)]
mod samples;
mod stranger;

pub use comment::{
    About, Note, Plan, Request, Shown, Stale, Witness, is_note_written, is_settled, is_written, plan, plan_note,
    regressions, shown, shown_digest, summary, summary_within,
};
pub use config_key::ConfigKey;
pub use moves::{Move, moves};
pub use reason::{reason, writes_reason};
pub use stranger::{Unfit, admitted};
