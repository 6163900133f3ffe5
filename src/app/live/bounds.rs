//! What a run may spend, and what must not be kept of it.

use super::LiveOptions;
use super::session::SessionOutcome;
use crate::app::plan::Plan;
use crate::diag::Diagnostic;
use crate::engine::{Spending, SpendingLimits};
use crate::format::redact::Redactor;
use crate::model::{RunUsage, Transport};
use crate::world::World;

/// What a run may spend.
pub fn limits(plan: &Plan, options: &LiveOptions) -> SpendingLimits {
    let budget = plan.config.budget;
    SpendingLimits { cost_usd: options.max_cost_usd.or(budget.max_cost_usd), tokens: budget.max_tokens }
}

/// What is left of it.
pub fn left(limits: SpendingLimits, usage: &RunUsage) -> SpendingLimits {
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    SpendingLimits {
        cost_usd: limits.cost_usd.map(|most| (most - usage.cost_usd.unwrap_or(0.0)).max(0.0)),
        tokens: limits.tokens.map(|most| most.saturating_sub(tokens)),
    }
}

/// What a run of the engine took.
pub fn usage_of(ended: &SessionOutcome, cached: usize) -> RunUsage {
    let Spending { calls, retries, spent, cost_usd } = ended.spending;
    RunUsage {
        calls,
        retries,
        cached: cached as u64,
        saved: ended.spared,
        input_tokens: spent.input,
        output_tokens: spent.output,
        cost_usd,
        wall_ms: 0,
    }
}

/// What must not be kept in recordings.
///
/// # Errors
/// A pattern of the config that is none.
pub fn redactor(plan: &Plan, world: &World) -> Result<Redactor, Diagnostic> {
    let secrets = secrets(plan, world);
    Redactor::new(&plan.config.redact, secrets.iter().map(String::as_str)).map_err(|(_, why)| {
        Diagnostic::of_file(&plan.config.file, "bad-pattern", format!("redact: {why}"), "write a regular expression")
    })
}

/// Values of the environment that must not be kept: the keys of targets, and whatever is named like one.
fn secrets(plan: &Plan, world: &World) -> Vec<String> {
    let named = plan.config.targets.values().filter_map(|target| match &target.transport {
        Transport::Model(provider) => provider.api_key_env.clone(),
        Transport::Command { .. } | Transport::Http(_) => None,
    });
    let values = named.filter_map(|name| world.env.get(&name).map(str::to_owned));
    values.chain(world.env.secrets()).collect()
}
