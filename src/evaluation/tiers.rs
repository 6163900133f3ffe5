//! The tiers of a run: which ones decide the verdict, and which ones did not run.

use super::live_runs::NotRun;
use crate::model::{NotGateable, SuiteReport, Tier};

/// Returns the reasons why a requested tier did not run for all agents: targets that cannot be called, or no suite in the tier.
pub fn not_run(
    tier: Tier,
    asked: &[Tier],
    agents: &[NotRun],
    suites: &[SuiteReport],
) -> Vec<NotGateable> {
    if asked.len() > 1 && agents.is_empty() && suites.is_empty() {
        return vec![NotGateable::new(format!(
            "the {} tier did not run: no selected suite has this tier",
            tier.as_str()
        ))];
    }
    agents
        .iter()
        .map(|agent| NotGateable::new(agent.message.clone()))
        .collect()
}
