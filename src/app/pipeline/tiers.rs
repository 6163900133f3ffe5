//! The tiers of a run: which ones decide the verdict, and which ones did not run.

use super::live_runs::NotRun;
use crate::model::{NoVerdict, Ruling, SuiteReport, Tier};

#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "github"),
    expect(dead_code, reason = "only an approved result is judged again")
)]
pub struct TierOutcome {
    /// The worst verdict of its suites.
    pub verdict: Ruling,
    /// The reasons why no verdict is possible, if any.
    pub not_gateable: Vec<NoVerdict>,
}

/// Returns the reasons why a requested tier did not run for all agents: targets that cannot be called, or no suite in the tier.
pub fn not_run(
    tier: Tier,
    asked: &[Tier],
    agents: &[NotRun],
    suites: &[SuiteReport],
) -> Vec<NoVerdict> {
    if asked.len() > 1 && agents.is_empty() && suites.is_empty() {
        return vec![NoVerdict::liftable(format!(
            "the {} tier did not run: no selected suite has this tier",
            tier.as_str()
        ))];
    }
    agents
        .iter()
        .map(|one| NoVerdict::liftable(one.message.clone()))
        .collect()
}
