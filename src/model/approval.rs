//! Changes of what is measured with, and who approved them.

use super::path::RepoPath;

/// A change between the base commit and the head in what an agent is measured with: the baseline, a gate, a golden file, a
/// recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenChange {
    /// What changed, for people: `recall floor of legal 0.80 -> 0.70`.
    pub words: String,
    /// What it asks for.
    pub weight: Weight,
    /// The file that changed, where it is one.
    pub file: Option<RepoPath>,
    /// What kind of change it is.
    pub class: ChangeClass,
}

/// What kind of change a golden change is; in the order in which they are reported, the most dangerous first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeClass {
    /// The runs fail by the rules of the base commit.
    BaseRules,
    /// The config and its gates, and the baseline.
    Config,
    /// Cases, agents or suites that are not graded any more.
    Removed,
    /// What a case expects.
    Expectation,
    /// Lists, rules, labels, documents and fixture repositories.
    Material,
    /// Recorded runs.
    Recording,
    /// Cases, agents or suites that are graded from now on.
    Added,
}

impl ChangeClass {
    /// All of them, the most dangerous first.
    pub const ALL: [Self; 7] =
        [Self::BaseRules, Self::Config, Self::Removed, Self::Expectation, Self::Material, Self::Recording, Self::Added];

    /// The word used in reports.
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

/// What a golden change asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Somebody's approval: it may hide that an agent got worse.
    NeedsApproval,
    /// Nothing: it makes the measurement stricter, or larger. It is listed.
    Listed,
}

/// Somebody's consent to the golden changes and the moved numbers of one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The person.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The commit that was approved; it counts for no other.
    pub head: String,
    /// The digest of the result that was approved.
    pub digest: String,
}
