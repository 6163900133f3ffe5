//! How many cases pass, with confidence intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_form::is_zero;

/// How many of the counted cases passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passing {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that were counted.
    pub of: u32,
    /// A 95 % interval of the share, if the cases are independent.
    pub ci95: Option<(f64, f64)>,
}

impl Reliability {
    /// Whether fewer cases pass in every sample than in the baseline.
    pub fn has_fallen(&self) -> bool {
        let every = self.every.zip(self.every_before);
        every.is_some_and(|(current, baseline)| current.passed < baseline)
    }
}

impl Passing {
    /// The share that passed; `None` without counted cases.
    pub fn share(&self) -> Option<f64> {
        super::share(self.passed as usize, self.of as usize)
    }
}

/// How many of an agent's cases pass, by majority and in every sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reliability {
    /// Cases that pass in more than half of their completed samples.
    pub majority: Passing,
    /// Cases that pass in every sample (pass^N); absent if no case has more than one sample.
    #[serde(rename = "every_sample")]
    pub every: Option<Passing>,
    /// The cases of `every_sample` that passed in every sample of the baseline; absent if it does not have all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_before: Option<u32>,
    /// pass^k for k = 1, 2, … N: how often k samples of a case all pass, on average over the cases; empty with one sample, and for fewer than
    /// five cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_hat: Vec<f64>,
    /// Cases with an unknown result: every completed sample passed, and at least one was lost or not needed.
    pub untold: u32,
    /// Of these, the cases that lost no sample: sampling stopped early, because no further sample could change a verdict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_early: u32,
}
