//! The report and the pull request's state become a plan: a plain value that says what would be written.

mod comment;

pub use comment::Plan;
pub use comment::Request;
pub use comment::Stale;
pub use comment::is_written;
pub use comment::plan;
pub use comment::regressions;
pub use comment::summary;
