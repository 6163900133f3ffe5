//! The result of a run.

use super::live_runs::{LiveRuns, NotRun};
use super::plan::LoadedSuite;
use crate::model::{ApprovalPolicy, Baseline, Config, Report};

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
    /// Who may approve, by the base commit's config.
    #[cfg_attr(
        not(feature = "github"),
        expect(dead_code, reason = "nothing is approved outside of GitHub")
    )]
    pub policy: ApprovalPolicy,
    /// Whether the committed baseline has the numbers of this run.
    #[cfg_attr(
        not(feature = "github"),
        expect(dead_code, reason = "nothing is approved outside of GitHub")
    )]
    pub committed: CommittedBaseline,
    /// Selected agents that were not run.
    pub not_run: Vec<NotRun>,
}

/// Whether a committed baseline has the numbers that a change measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommittedBaseline {
    /// It has.
    Measured,
    /// It has others, or there is none to compare with.
    Other,
}
