//! Evaluates gates: hard limits, bands, regressions, comparability with the baseline (grading.md 3, 13, 15).

pub mod calibration;
mod compare;
mod early_stop;
pub mod judge_trust;
mod kept_samples;
mod limits;
pub mod operating;
mod policy;
mod reference;
mod rule;
pub mod statistics;

pub use compare::{
    BaseRuns, CaseSelection, Comparability, ComparedPair, GateInput, GateOutcome, OpenMetric,
    agent, needs_base_runs,
};
pub use early_stop::{SoFar, is_settled};
pub use kept_samples::{SamplesMove, samples_move};
pub use limits::{GatedMetric, PlannedGate, planned_in};
pub use policy::{
    CachedSide, Collapse, Drop, Moved, PolicyInput, PolicyOutcome, Repeats, TestReference,
    are_cached, policy_outcome,
};
pub use reference::case_values;
pub use rule::{BaseNumber, Subject, ruling};
