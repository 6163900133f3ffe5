//! Who may approve, and how GitHub keeps an approval.

use super::comment::BranchOrigin;

/// What somebody may do in a repository; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Label and close.
    Triage,
    /// Push.
    Write,
    /// Push, and change some settings.
    Maintain,
    /// Everything.
    Admin,
}

impl Permission {
    /// The word that GitHub uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }
}

/// Whether the approval of a pull request's author counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByAuthor {
    /// It does.
    Counts,
    /// Somebody else has to approve.
    DoesNotCount,
}

/// A commit's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStatus {
    /// What it is about.
    pub context: String,
    /// What it says.
    pub state: StatusState,
    /// The line beside it.
    pub description: String,
    /// Who set it.
    pub creator: String,
    /// When, in UTC.
    pub at: String,
}

/// What a commit's status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusState {
    /// It holds.
    Success,
    /// It does not.
    Failure,
    /// Something else: it is pending, or could not be told.
    Other,
}

impl StatusState {
    /// The word that GitHub uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Other => "pending",
        }
    }
}

/// A pull request as the API tells it now; an event may be older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestDetails {
    /// Its number.
    pub number: u64,
    /// Whether it is open.
    pub state: PullState,
    /// Who opened it; empty where that user is gone.
    pub author: String,
    /// The commit at its head.
    pub head: String,
    /// The branch of its head.
    pub branch: String,
    /// Whether that branch is in this repository.
    pub origin: BranchOrigin,
    /// Its head as `owner:branch`; `None` where the head's repository is gone.
    pub label: Option<String>,
    /// The repository of its head, as `owner/name`; `None` where that is gone.
    pub head_repository: Option<String>,
    /// The commit that it would be merged into, as GitHub keeps it: that lags behind the base branch.
    pub base: String,
    /// The branch that it is for.
    pub into: String,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Its description.
    pub description: String,
}

/// Whether a pull request is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullState {
    /// It is.
    Open,
    /// It was merged or closed.
    Closed,
}

/// A label that was added or taken away, as the timeline of a pull request keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelEvent {
    /// The label.
    pub label: String,
    /// Whether it came or went.
    pub change: LabelChange,
    /// Who did it; empty where that user is gone.
    pub by: String,
    /// When, in UTC.
    pub at: String,
}

/// Whether a label came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelChange {
    /// It was added.
    Added,
    /// It was taken away.
    Removed,
}
