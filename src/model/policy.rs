//! What decides whether an agent passes: the policy of a suite.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_form::is_zero;
use super::ids::CaseId;
use super::words::words;

words! {
    /// What decides whether an agent passes.
    #[derive(Default)]
    pub enum Policy {
        /// The four rules whose error is known.
        #[default]
        Regression = "regression",
        /// The gates that the documents of the kind state, and the suite's own.
        Seed = "seed",
    }
}

/// The chance that a run of unchanged agents is red by the test of the policy `regression`: more than 0, less than 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Alpha(f64);

impl Alpha {
    /// What a config may state.
    pub const RANGE: std::ops::RangeInclusive<f64> = 0.001..=0.2;

    /// The chance; `None` outside of the range.
    pub fn new(share: f64) -> Option<Self> {
        Self::RANGE.contains(&share).then_some(Self(share))
    }

    /// The chance as a share.
    pub fn share(self) -> f64 {
        self.0
    }
}

impl Default for Alpha {
    fn default() -> Self {
        Self(0.05)
    }
}

words! {
    /// What an agent never does, as a class of checks.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum NeverClass {
        /// A finding or a trigger that a guard of the golden set excludes.
        MustNotFind = "must_not_find",
        /// A call of a forbidden tool, or any call where none is expected.
        ForbiddenTool = "forbidden_tool",
        /// A violation of a policy, a forbidden text, an invalid call.
        Safety = "safety",
        /// A critic that is satisfied with a document that fails.
        FalseSatisfied = "false_satisfied",
        /// A call of a tool that the case does not expect.
        UnexpectedTool = "unexpected_tool",
        /// A paragraph that was changed without a request.
        UnintendedChange = "unintended_change",
    }
}

/// A completed sample as the policy `regression` sees it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoredSample {
    /// How much of the case it gets right, 0 to 1.
    pub score: f64,
    /// Whether all of its checks pass.
    pub passes: bool,
}

/// A class that samples of a case break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenClass {
    /// The class.
    pub class: NeverClass,
    /// The number of samples that fail the check that most of them fail.
    pub samples: u32,
}

/// A case of which more samples are needed to say whether it is lost, or whether a class is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskedCase {
    /// The case.
    pub case: CaseId,
    /// Its samples in the reference, all right.
    pub before: usize,
    /// Its samples in the run, all wrong.
    pub now: usize,
    /// The number of samples to add.
    pub more: usize,
    /// The command that adds them; absent if the agent has no recordings of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The class that its only sample breaks; absent if it may be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<NeverClass>,
}

/// A class that a case breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenRule {
    /// The class.
    pub class: NeverClass,
    /// The case.
    pub case: CaseId,
}

/// What the policy of a suite says of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PolicyReport {
    /// The policy.
    pub name: Policy,
    /// How often a result this bad or worse would come, had nothing changed; absent if there is nothing to test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The chance of a false alarm of all agents together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Where the sums of the run's scores would lie, had nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<UnchangedSums>,
    /// What p is held against: the chance of a false alarm, or this agent's share of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The number of agents that share the chance of a false alarm.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tested: u32,
    /// The cases that were right in every sample of the reference, and are wrong in every sample of the run.
    #[serde(default)]
    pub lost: Vec<CaseId>,
    /// The cases of which samples are missing to say that.
    #[serde(default)]
    pub asked: Vec<AskedCase>,
    /// What the agent never does, and does in these cases.
    #[serde(default)]
    pub never: Vec<BrokenRule>,
    /// The cases that were graded by other rules than the reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<CaseId>,
    /// The least pass rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The share of samples that pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<f64>,
    /// The reference's share of samples that pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_before: Option<f64>,
    /// The number of cases that are compared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cases: u32,
    /// The number of samples of a case that count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u32,
}

/// How the sum of a run's scores is distributed if nothing changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnchangedSums {
    /// The sum of this run.
    pub observed: f64,
    /// The least sum of the first bar.
    pub first: f64,
    /// The width of a bar.
    pub width: f64,
    /// The probability of each bar, to six places.
    pub shares: Vec<f64>,
}

/// The names of the numbers that the policy `regression` adds to an agent, in this order.
pub const POLICY_METRICS: [&str; 4] = ["regression_p", "lost_cases", "never_broken", "pass_rate"];
