//! Golden changes and their approval.

use super::path::RepoPath;

/// A change since the base commit in what agents are measured with: the baseline, a gate, a golden file, a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenChange {
    /// Description for people: `recall floor of legal 0.80 -> 0.70`.
    pub words: String,
    /// Whether it needs an approval.
    pub weight: Weight,
    /// The file that changed, if it is a file.
    pub file: Option<RepoPath>,
    /// The kind of change.
    pub class: ChangeClass,
}

/// The kind of a golden change, in report order, most dangerous first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeClass {
    /// The run fails under the rules of the base commit.
    BaseRules,
    /// The config, its gates, or the baseline.
    Config,
    /// Cases, agents or suites that stopped being graded.
    Removed,
    /// The expectation of a case.
    Expectation,
    /// Lists, rules, labels, documents or fixture repositories.
    Material,
    /// Recorded runs.
    Recording,
    /// Cases, agents or suites that are newly graded.
    Added,
}

impl ChangeClass {
    /// All classes, most dangerous first.
    pub const ALL: [Self; 7] =
        [Self::BaseRules, Self::Config, Self::Removed, Self::Expectation, Self::Material, Self::Recording, Self::Added];

    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BaseRules => "base_rules",
            Self::Config => "config",
            Self::Removed => "removed",
            Self::Expectation => "expectation",
            Self::Material => "material",
            Self::Recording => "recording",
            Self::Added => "added",
        }
    }
}

/// Whether a golden change needs an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It needs an approval: it may hide a regression of an agent.
    NeedsApproval,
    /// It is only listed: it makes the measurement stricter or larger.
    Listed,
}

/// The approval of one result's golden changes and moved numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The login of the approver.
    pub by: String,
    /// Time of the approval in UTC.
    pub at: String,
    /// The approved commit; the approval is valid for no other commit.
    pub head: String,
    /// The digest of the approved result.
    pub digest: String,
}
