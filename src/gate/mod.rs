//! Measured against limits and baseline: hard gates, bands, regressions, identity (grading.md 3, 13, 15).

pub mod calibration;
mod compare;
mod curtail;
pub mod judging;
mod limits;
mod rule;
pub mod statistics;

pub use compare::Comparability;
pub use compare::Judged;
pub use compare::Judgement;
pub use compare::Selection;
pub use compare::agent;
pub use curtail::SoFar;
pub use curtail::is_settled;
pub use limits::GateProblem;
pub use limits::Planned;
pub use limits::planned;
pub use limits::planned_in;
pub use rule::BaseNumber;
pub use rule::Subject;
pub use rule::ruling;
