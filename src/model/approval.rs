//! Golden changes and their approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path::RepoPath;
use super::words::words;

/// A change since the base commit in what agents are measured with: the baseline, a gate, a golden file, a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoldenChange {
    /// Description for people: `recall floor of legal 0.80 -> 0.70`.
    #[serde(rename = "what")]
    pub words: String,
    /// Whether it needs an approval.
    #[serde(rename = "needs_approval")]
    pub weight: Weight,
    /// The file that changed, if it is a file.
    #[serde(default)]
    pub file: Option<RepoPath>,
    /// The kind of change, most dangerous first.
    #[serde(default = "unclassified")]
    pub class: ChangeClass,
    /// All files that the description is about.
    #[serde(skip)]
    pub files: Vec<RepoPath>,
    /// The digest of what differs, else of these files, on both commits, so that an approval of other content in the same words is not one
    /// of this.
    #[serde(skip)]
    pub content: String,
}

/// The class of a change in a report that names no classes.
fn unclassified() -> ChangeClass {
    ChangeClass::Config
}

words! {
    /// The kind of a golden change, in report order, most dangerous first.
    #[derive(PartialOrd, Ord)]
    pub enum ChangeClass {
        /// The run fails under the rules of the base commit.
        BaseRules = "base_rules",
        /// The config, its gates, or the baseline.
        Config = "config",
        /// Cases, agents or suites that stopped being graded.
        Removed = "removed",
        /// The expectation of a case.
        Expectation = "expectation",
        /// Lists, rules, labels, documents or fixture repositories.
        Material = "material",
        /// Recorded runs.
        Recording = "recording",
        /// Cases, agents or suites that are newly graded.
        Added = "added",
    }
}

/// Whether a golden change needs an approval.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "bool", into = "bool")]
pub enum Weight {
    /// It needs an approval: it may hide a regression of an agent.
    NeedsApproval,
    /// It is only listed: it makes the measurement stricter or larger.
    Listed,
}

impl From<bool> for Weight {
    fn from(needs_approval: bool) -> Self {
        if needs_approval {
            Self::NeedsApproval
        } else {
            Self::Listed
        }
    }
}

impl From<Weight> for bool {
    fn from(weight: Weight) -> Self {
        weight == Weight::NeedsApproval
    }
}

/// The approval of one result's golden changes and moved numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The login of the approver.
    pub by: String,
    /// Time of the approval in UTC.
    pub at: String,
    /// The head commit whose result was shown when it was given.
    pub head: String,
    /// The reason in the description of the pull request, if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPush {
    /// The tip of the branch before it; zeros if it created the branch, empty if that is unknown.
    pub before: String,
    /// The tip after it.
    pub after: String,
    /// The login of whoever pushed; `None` for a deleted account.
    pub by: Option<String>,
    /// Time in UTC.
    pub at: String,
}
