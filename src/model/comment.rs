//! Comments on a pull request.

/// An existing comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its id.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// Its text.
    pub body: String,
    /// Its URL.
    pub url: String,
}

/// A pull request as described by an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    pub head: String,
    pub base: String,
    /// Whether its branch is in a fork.
    pub origin: BranchOrigin,
}

/// The repository of a pull request's branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchOrigin {
    /// In the same repository.
    Same,
    /// Another repository, or a deleted one.
    Fork,
}

/// A workflow run; a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RunNumber {
    /// The run id.
    pub run: u64,
    /// The attempt.
    pub attempt: u64,
}
