//! The spending limits of a run, model prices, and what was spent so far.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::model::{Interruption, Price, TokenUsage};

/// Spending limits of a run; `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpendingLimits {
    pub cost_usd: Option<f64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub struct Prices(BTreeMap<String, Price>);

const MILLION: f64 = 1_000_000.0;

impl Prices {
    /// Prices by the model names of the config.
    pub fn new(prices: BTreeMap<String, Price>) -> Self {
        Self(prices)
    }

    /// The cost of `spent` tokens in US dollars; `None` if the config has no price for the model.
    pub fn cost(&self, model: &str, spent: &TokenUsage) -> Option<f64> {
        let price = self.0.get(model)?;
        let cached = spent.cached_input.min(spent.input);
        let fresh = spent.input - cached;
        let cached_price = price.cached_input.unwrap_or(price.input);
        let sum = fresh as f64 * price.input
            + cached as f64 * cached_price
            + spent.output as f64 * price.output;
        Some(sum / MILLION)
    }
}

/// The most that a call is expected to take, before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CallEstimate {
    /// Tokens, read and written.
    pub tokens: u64,
    /// US dollars; 0 without a price.
    pub cost_usd: f64,
}

/// Why no call can be opened now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetRefusal {
    Reached(Interruption),
    /// The open calls may reach a limit, and no answer shows yet what a call costs.
    UntilAnswer,
}

/// What was spent so far. An open call counts as the mean of the answered calls, and before the first answer as its own
/// estimate, so that the calls in flight together cannot exceed a limit.
#[derive(Debug, Default)]
pub struct BudgetState {
    limits: SpendingLimits,
    cost: Cell<f64>,
    tokens: Cell<u64>,
    answered: Cell<u64>,
    open: Cell<u64>,
    reserved: Cell<CallEstimate>,
}

impl BudgetState {
    /// Nothing spent, no open call.
    pub fn new(limits: SpendingLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Reserves one call, or returns the limit that the call would exceed. Dropping the reservation closes the call, also
    /// when the call was cancelled. A first call is made alone, unless the estimates of several fit into the limits.
    pub fn open(&self, estimate: CallEstimate) -> Result<Reservation<'_>, BudgetRefusal> {
        // The new call and the open calls.
        let ahead = match self.answered.get() {
            0 => 0.0,
            answered => (self.open.get() + 1) as f64 / answered as f64,
        };
        if self
            .limits
            .cost_usd
            .is_some_and(|limit| is_reached(self.cost.get(), ahead, limit))
        {
            return Err(BudgetRefusal::Reached(Interruption::Cost));
        }
        if self
            .limits
            .tokens
            .is_some_and(|limit| is_reached(self.tokens.get() as f64, ahead, limit as f64))
        {
            return Err(BudgetRefusal::Reached(Interruption::Tokens));
        }
        let CallEstimate { tokens, cost_usd } = self.reserved.get();
        let all = CallEstimate {
            tokens: tokens.saturating_add(estimate.tokens),
            cost_usd: cost_usd + estimate.cost_usd,
        };
        let fits = self
            .limits
            .cost_usd
            .is_none_or(|limit| self.cost.get() + all.cost_usd <= limit)
            && self
                .limits
                .tokens
                .is_none_or(|limit| self.tokens.get().saturating_add(all.tokens) <= limit);
        if self.answered.get() == 0 && self.open.get() > 0 && !fits {
            return Err(BudgetRefusal::UntilAnswer);
        }
        self.open.set(self.open.get() + 1);
        self.reserved.set(all);
        Ok(Reservation {
            budget: self,
            estimate,
        })
    }

    /// Adds the usage of an answer.
    pub fn pay(&self, spent: &TokenUsage, cost: Option<f64>) {
        self.cost.set(self.cost.get() + cost.unwrap_or(0.0));
        self.tokens.set(
            self.tokens
                .get()
                .saturating_add(spent.input)
                .saturating_add(spent.output),
        );
    }
}

/// Whether the answered calls have spent the limit, or would with the calls ahead, which are a share of the answered ones.
fn is_reached(spent: f64, ahead: f64, limit: f64) -> bool {
    spent >= limit || spent + spent * ahead > limit
}

/// An open call.
pub struct Reservation<'a> {
    budget: &'a BudgetState,
    estimate: CallEstimate,
}

impl Reservation<'_> {
    /// Closes the call and counts it as answered.
    pub fn answered(self) {
        self.budget.answered.set(self.budget.answered.get() + 1);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget
            .open
            .set(self.budget.open.get().saturating_sub(1));
        let CallEstimate { tokens, cost_usd } = self.budget.reserved.get();
        self.budget.reserved.set(CallEstimate {
            tokens: tokens.saturating_sub(self.estimate.tokens),
            cost_usd: (cost_usd - self.estimate.cost_usd).max(0.0),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{BudgetRefusal, BudgetState, CallEstimate, Prices, Reservation, SpendingLimits};
    use crate::model::{Interruption, Price, TokenUsage};

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let price = Price {
            input: 3.0,
            output: 15.0,
            cached_input: Some(0.3),
        };
        let prices = Prices::new(BTreeMap::from([("m".to_owned(), price)]));
        let spent = TokenUsage {
            input: 2_000_000,
            cached_input: 1_000_000,
            output: 100_000,
        };
        assert_eq!(prices.cost("m", &spent), Some(3.0 + 0.3 + 1.5));
        assert_eq!(prices.cost("n", &spent), None);
        let all_cached = TokenUsage {
            input: 5,
            cached_input: 9,
            output: 0,
        };
        assert_eq!(prices.cost("m", &all_cached), Some(5.0 * 0.3 / 1e6));
    }

    #[test]
    fn open_calls_count_towards_a_limit() {
        let budget = BudgetState::new(SpendingLimits {
            cost_usd: None,
            tokens: Some(100),
        });
        let spent = TokenUsage {
            input: 20,
            cached_input: 0,
            output: 10,
        };
        let none = CallEstimate::default();
        budget
            .open(none)
            .map(Reservation::answered)
            .expect("nothing is spent");
        budget.pay(&spent, None);
        // 30 spent; each further call is expected to take 30: two more fit, a third does not.
        let (first, second) = (budget.open(none).ok(), budget.open(none).ok());
        assert!(first.is_some() && second.is_some());
        assert_eq!(
            budget.open(none).err(),
            Some(BudgetRefusal::Reached(Interruption::Tokens))
        );
        drop(second);
        assert!(budget.open(none).is_ok());
    }

    #[test]
    fn before_the_first_answer_calls_are_open_together_only_if_their_estimates_fit() {
        for limits in [
            SpendingLimits {
                cost_usd: None,
                tokens: Some(100),
            },
            SpendingLimits {
                cost_usd: Some(1.0),
                tokens: None,
            },
        ] {
            let budget = BudgetState::new(limits);
            let half = CallEstimate {
                tokens: 50,
                cost_usd: 0.5,
            };
            let large = CallEstimate {
                tokens: 500,
                cost_usd: 5.0,
            };
            let both = (budget.open(half).ok(), budget.open(half).ok());
            assert!(both.0.is_some() && both.1.is_some());
            assert_eq!(budget.open(half).err(), Some(BudgetRefusal::UntilAnswer));
            drop(both);
            // Nothing is open, so a call whose estimate is too large is tried: it may need less.
            let alone = budget.open(large).expect("nothing is open");
            assert_eq!(budget.open(half).err(), Some(BudgetRefusal::UntilAnswer));
            alone.answered();
            budget.pay(
                &TokenUsage {
                    input: 20,
                    cached_input: 0,
                    output: 10,
                },
                Some(0.3),
            );
            assert!(
                budget.open(large).is_ok(),
                "the answers tell what a call costs"
            );
        }
    }

    #[test]
    fn a_limit_of_zero_allows_no_call() {
        let budget = BudgetState::new(SpendingLimits {
            cost_usd: Some(0.0),
            tokens: None,
        });
        let refused = Some(BudgetRefusal::Reached(Interruption::Cost));
        assert_eq!(budget.open(CallEstimate::default()).err(), refused);
    }
}
