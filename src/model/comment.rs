//! A comment on a pull request, as far as publishing needs it.

/// One comment that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its number.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// Its text.
    pub body: String,
    /// Its address.
    pub url: String,
}

/// A pull request, as an event names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// The commit at its head.
    pub head: String,
    /// The commit that it would be merged into.
    pub base: String,
    /// Whether its branch is in another repository.
    pub origin: BranchOrigin,
}

/// Where a pull request's branch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchOrigin {
    /// In the same repository.
    Same,
    /// In another one, or in one that is gone.
    Fork,
}

/// A run of a workflow; a later one has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RunNumber {
    /// The run.
    pub run: u64,
    /// The attempt at it.
    pub attempt: u64,
}
