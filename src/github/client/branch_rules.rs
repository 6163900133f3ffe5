//! What a branch requires before a merge.

/// What a branch requires before a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchRules {
    pub required: Vec<RequiredCheck>,
    /// The paths of workflows that have to pass, as an organization's rulesets name them.
    pub workflows: Vec<String>,
    /// How the merge queue decides; `None` without a queue.
    pub queue: Option<QueueGrouping>,
    /// Whether a ruleset asks for a review by code owners.
    pub owners: OwnerReview,
}

/// Whether a change of a file needs a review by its code owners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OwnerReview {
    /// A ruleset requires it.
    Required,
    /// No ruleset requires it; classic branch protection shows it to administrators only.
    #[default]
    NotSeen,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequiredCheck {
    pub name: String,
    /// The app that has to report it; `None` if any may.
    pub app: Option<u64>,
}

/// Which entries of a merge queue's group have to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueGrouping {
    Every,
    /// Only the last one, so a failing entry can merge below a passing one.
    OnlyLast,
}

impl QueueGrouping {
    /// GitHub's name of it.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "ALLGREEN" => Self::Every,
            _ => Self::OnlyLast,
        }
    }
}
