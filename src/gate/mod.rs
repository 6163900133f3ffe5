//! Evaluates gates: hard limits, bands, regressions, comparability with the baseline (grading.md 3, 13, 15).

pub mod calibration;
mod compare;
mod early_stop;
pub mod judge_trust;
mod limits;
pub mod operating;
mod reference;
mod rule;
pub mod statistics;

pub use compare::{
    BaseRuns, CaseSelection, Comparability, ComparedPair, GateInput, GateOutcome, OpenMetric,
    agent, needs_base_runs,
};
pub use early_stop::{SoFar, is_settled};
pub use limits::{GatedMetric, PlannedGate, planned_in};
pub use reference::case_values;
pub use rule::{BaseNumber, Subject, ruling};
