//! Measured against limits and baseline: hard gates, bands, regressions, identity (grading.md 3, 13, 15).

pub mod calibration;
mod compare;
mod curtail;
pub mod judging;
mod limits;
mod rule;
pub mod statistics;

pub use compare::{Comparability, Judged, Judgement, Selection, agent};
pub use curtail::{SoFar, is_settled};
pub use limits::{GateProblem, Planned, planned, planned_in};
pub use rule::{BaseNumber, Subject, ruling};
