//! What blocks: limits, bands, regressions, and the rules of the policy.
//!
//! `compare` puts values next to those of the baseline, `limits` and `rule` decide one gate, `policy` the four rules of
//! `policy: regression`. Values are judged as measured: nothing is rounded, clamped or guessed. Statistics that only inform are in
//! `estimate`.

mod compare;
mod early_stop;
pub mod judge_trust;
mod kept_samples;
mod limits;
mod policy;
mod reference;
mod rule;

pub use compare::{
    BaseRuns, CaseSelection, Comparability, ComparedPair, GateInput, GateOutcome, OpenMetric,
    agent, needs_base_runs,
};
pub use early_stop::{SoFar, is_settled};
pub use kept_samples::{SamplesMove, samples_move};
pub use limits::{GatedMetric, PlannedGate, planned_in};
pub use policy::{
    CachedSide, Collapse, Drop, Moved, PolicyInput, PolicyOutcome, Repeats, RightSamples,
    TestReference, are_cached, policy_outcome, usual_samples,
};
pub use reference::case_values;
pub use rule::{BaseNumber, Subject, ruling};
