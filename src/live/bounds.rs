//! Spending limits of a run.

use super::LiveOptions;
use super::session_outcome::SessionOutcome;
use crate::evaluation::plan::Plan;
use crate::live::engine::{Spending, SpendingLimits, UnreportedUsage};
use crate::model::{RunUsage, TokenUsage, grouped};
use crate::render::plural;

pub fn limits(plan: &Plan, options: &LiveOptions) -> SpendingLimits {
    let budget = plan.config.budget;
    SpendingLimits {
        cost_usd: options.max_cost_usd.or(budget.max_cost_usd),
        tokens: budget.max_tokens,
    }
}

/// Returns the limits minus what was used, including what was estimated.
pub fn left(
    limits: SpendingLimits,
    usage: &RunUsage,
    unreported: UnreportedUsage,
) -> SpendingLimits {
    let UnreportedUsage {
        tokens:
            TokenUsage {
                input,
                output,
                cached_input: _,
            },
        cost_usd,
        ..
    } = unreported;
    let reported = usage.input_tokens.saturating_add(usage.output_tokens);
    let tokens = reported.saturating_add(input).saturating_add(output);
    let cost = usage.cost_usd.unwrap_or(0.0) + cost_usd;
    SpendingLimits {
        cost_usd: limits.cost_usd.map(|most| (most - cost).max(0.0)),
        tokens: limits.tokens.map(|most| most.saturating_sub(tokens)),
    }
}

pub fn usage_of(ended: &SessionOutcome, cached: usize) -> RunUsage {
    let Spending {
        calls,
        retries,
        spent,
        cost_usd,
        unreported: _,
    } = ended.spending;
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

/// Returns the notes about calls whose usage was not reported; none without a limit.
pub fn unreported_notes(limits: SpendingLimits, unreported: UnreportedUsage) -> Vec<String> {
    let UnreportedUsage {
        calls,
        tokens:
            TokenUsage {
                input,
                output,
                cached_input: _,
            },
        cost_usd: _,
        unpriced,
    } = unreported;
    let tokens = grouped(&input.saturating_add(output).to_string());
    let mut notes = Vec::new();
    if calls > 0 && limits != SpendingLimits::default() {
        notes.push(format!(
            "{} reported no tokens; the budget counts about {tokens} tokens for them, estimated from the bytes that were sent \
             and received",
            plural_calls(calls)
        ));
    }
    if unpriced > 0 && limits.cost_usd.is_some() {
        notes.push(format!(
            "{} of a program reported no cost (metrics.cost_usd), so the budget in US dollars does not count them",
            plural_calls(unpriced)
        ));
    }
    notes
}

fn plural_calls(count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    plural(count, "call", "calls")
}
