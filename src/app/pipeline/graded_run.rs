//! The result of a run.

use super::live_runs::{LiveRuns, NotRun};
use super::plan::LoadedSuite;
use super::tiers::TierOutcome;
use crate::model::{Baseline, Config, Report};

pub struct GradedRun {
    pub report: Report,
    /// The digest of the config's text.
    pub config_sha256: String,
    /// The baseline of the comparison.
    pub against: Option<Baseline>,
    pub config: Config,
    /// The suites. They are part of the result so that the caller decides when to free them.
    pub suites: Vec<LoadedSuite>,
    /// The live runs of the deterministic tier.
    pub live: LiveRuns,
    /// The model tier's result, if its verdict counts. It is kept when the rest is judged again.
    #[cfg_attr(
        not(feature = "github"),
        expect(dead_code, reason = "only an approved result is judged again")
    )]
    pub model_tier: Option<TierOutcome>,
    /// Selected agents that were not run.
    pub not_run: Vec<NotRun>,
}
