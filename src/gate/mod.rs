//! Evaluates gates: hard limits, bands, regressions, comparability with the baseline (grading.md 3, 13, 15).

mod branch_cases;
pub mod calibration;
mod compare;
mod early_stop;
mod excuse;
pub mod judge_trust;
mod limits;
pub mod operating;
mod rule;
pub mod statistics;

pub use branch_cases::{case_values, completed_entry, lacks_values, reduced_entry};
pub use compare::{
    CaseSelection, Comparability, ComparedPair, GateInput, GateOutcome, MetricGaps, PartlyLost,
    QuarantineHistory, agent,
};
pub use early_stop::{SoFar, is_settled};
pub use excuse::{BaseMeasurement, excuse};
pub use limits::{GatedMetric, PlannedGate, planned_in};
pub use rule::{BaseNumber, Subject, ruling};
