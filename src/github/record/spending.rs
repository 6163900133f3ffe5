//! The limits of a recording. They come from the base commit's config or from the workflow, and there must be one: whoever may add the
//! label asks for as many calls as the pull request has cases.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::Plan;
use crate::files::Files;
use crate::live;
use crate::model::{Budget, RunKey, Tier, Transport};

/// The most bytes that a token usually has, for a lower limit of the tokens of a request.
const BYTES_OF_TOKEN: u64 = 8;

/// Refuses a recording without a limit, and one that is certainly beyond it, before any call.
///
/// # Errors
/// No limit, a limit that cannot be checked, or requests that exceed it; requests that cannot be built.
pub fn check_budget(
    plan: &Plan,
    max_cost_usd: Option<f64>,
    samples: &BTreeMap<RunKey, u32>,
    head: &dyn Files,
) -> Result<(), Diagnostics> {
    let Budget {
        max_cost_usd: stated,
        max_tokens,
        ..
    } = plan.config.budget;
    let max_cost_usd = max_cost_usd.or(stated);
    let file = &plan.config.file;
    if max_cost_usd.is_none() && max_tokens.is_none() {
        let help = "add budget: { max_cost_usd: … } or { max_tokens: … } on the base branch, or set the input max-cost-usd";
        let message = "no budget is set, so the pull request is not recorded";
        return Err(Diagnostic::of_file(file, Code::NO_BUDGET, message, help).into());
    }
    let (mut tokens, mut cost) = (0_u64, 0.0);
    for (target, bytes) in live::requested_bytes(plan, Tier::Model, head, samples)? {
        let least = bytes / BYTES_OF_TOKEN;
        tokens = tokens.saturating_add(least);
        let Some(Transport::Model(provider)) = plan
            .config
            .targets
            .get(&target)
            .map(|target| &target.transport)
        else {
            continue;
        };
        match plan.config.prices.get(&provider.model) {
            Some(price) => {
                cost +=
                    least as f64 * price.input.min(price.cached_input.unwrap_or(price.input)) / 1e6
            }
            None if max_tokens.is_none() => {
                let message = format!(
                    "the budget in US dollars cannot be kept, because {} has no price",
                    provider.model
                );
                let help = "add it under prices, or budget: { max_tokens: … }, on the base branch";
                return Err(Diagnostic::of_file(file, Code::NO_PRICE, message, help).into());
            }
            None => {}
        }
    }
    let help = "change fewer or smaller cases, or raise the budget on the base branch";
    if let Some(limit) = max_tokens.filter(|limit| tokens > *limit) {
        let message =
            format!("the requests have at least {tokens} tokens, but the budget is {limit}");
        return Err(Diagnostic::of_file(file, Code::OVER_BUDGET, message, help).into());
    }
    if let Some(limit) = max_cost_usd.filter(|limit| cost > *limit) {
        let message = format!(
            "the requests cost at least {cost:.2} US dollars, but the budget is {limit:.2}"
        );
        return Err(Diagnostic::of_file(file, Code::OVER_BUDGET, message, help).into());
    }
    Ok(())
}
