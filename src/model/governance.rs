//! Permissions, pull requests and commit statuses on GitHub, as far as approvals need them.

use super::comment::BranchOrigin;
use super::words::words;

words! {
    /// A user's permission in a repository; ordered.
    #[derive(PartialOrd, Ord)]
    pub enum Permission {
        /// No access.
        None = "none",
        Read = "read",
        /// Triage: label and close.
        Triage = "triage",
        /// Write: push.
        Write = "write",
        /// Maintain: push and change some settings.
        Maintain = "maintain",
        /// Admin: everything.
        Admin = "admin",
    }
}

/// Whether the approval of the pull request's author counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByAuthor {
    Counts,
    /// Another person must approve.
    DoesNotCount,
}

/// A commit's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStatus {
    /// Its name on GitHub.
    pub context: String,
    pub state: StatusState,
    /// The description line.
    pub description: String,
    /// Who set it.
    pub creator: String,
    /// Time in UTC.
    pub at: String,
}

words! {
    pub enum StatusState {
        Success = "success",
        Failure = "failure",
        /// Anything else, such as pending.
        Other = "pending",
    }
}

/// The current state of a pull request from the API; an event may be older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestDetails {
    pub number: u64,
    pub state: PullState,
    /// Its author; empty if the user was deleted.
    pub author: String,
    /// The head commit.
    pub head: String,
    /// The head branch.
    pub branch: String,
    /// Whether that branch is in this repository.
    pub origin: BranchOrigin,
    /// Its head as `owner:branch`; `None` if the head's repository was deleted.
    pub label: Option<String>,
    /// The head's repository as `owner/name`; `None` if it was deleted.
    pub head_repository: Option<String>,
    /// The base commit according to GitHub, which lags behind the base branch.
    pub base: String,
    /// The base branch.
    pub into: String,
    pub labels: Vec<String>,
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullState {
    Open,
    /// Merged or closed.
    Closed,
}

/// A label that was added or removed, from the timeline of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelEvent {
    pub label: String,
    /// Whether it was added or removed.
    pub change: LabelChange,
    /// The user; empty if deleted.
    pub by: String,
    /// Time in UTC.
    pub at: String,
}

/// Whether a label was added or removed, and which account did it. The timeline names only the account, which may be a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelChange {
    Added,
    /// Removed by a user.
    Removed,
    /// Removed by goldgate itself, in another run.
    RemovedByGoldgate,
    /// Removed by goldgate itself, in this run.
    RemovedInThisRun,
}
