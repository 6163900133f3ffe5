//! Permissions, pull requests and labels on GitHub, as far as approvals need them, and who may approve.

use serde::Serialize;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ByAuthor {
    Counts,
    /// Another person must approve.
    DoesNotCount,
}

/// Which baselines of a pull request need the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BaselineRule {
    /// One with a worse number, or with others than were measured.
    Worse,
    /// Every one with other numbers.
    Any,
}

/// Who may approve a pull request, and with which labels: `approval:` of the base commit's config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalPolicy {
    /// The label that approves.
    pub label: String,
    /// The least permission of whoever sets a label.
    pub approvers: Permission,
    /// Whether the author of a pull request, and whoever pushed last to it, may approve it.
    pub by_author: ByAuthor,
    /// The label that starts a recording.
    pub record_label: String,
    /// Which baselines need the label.
    pub baseline: BaselineRule,
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self {
            label: "goldgate:accept-baseline".to_owned(),
            approvers: Permission::Write,
            by_author: ByAuthor::DoesNotCount,
            record_label: "goldgate:record".to_owned(),
            baseline: BaselineRule::Worse,
        }
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

/// Whether a label was added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelChange {
    Added,
    Removed,
}
