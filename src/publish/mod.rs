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

pub use comment::About;
pub use comment::Note;
pub use comment::Plan;
pub use comment::Request;
pub use comment::Shown;
pub use comment::Stale;
pub use comment::Witness;
pub use comment::is_note_written;
pub use comment::is_settled;
pub use comment::is_written;
pub use comment::plan;
pub use comment::plan_note;
pub use comment::regressions;
pub use comment::shown;
pub use comment::shown_digest;
pub use comment::summary;
pub use comment::summary_within;
pub use config_key::ConfigKey;
pub use moves::Move;
pub use moves::moves;
pub use reason::reason;
pub use reason::writes_reason;
pub use stranger::Unfit;
pub use stranger::admitted;
