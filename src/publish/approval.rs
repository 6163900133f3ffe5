//! The approval of a pull request: a function of one snapshot of it. Nothing is stored.
//!
//! The label, its setter and its time are in GitHub's events, who pushed is in the branch's activity, and what was shown before the label
//! is in the list of runs. Whether the result that was shown then is the one of now, the caller computes from the commits.

use std::fmt;

use crate::model::{
    ApprovalPolicy, BranchPush, ByAuthor, LabelChange, LabelEvent, Permission, PullRequestDetails,
};
use crate::text::{first_of, short_commit};

/// What GitHub says about a pull request at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    /// The pull request.
    pub pull: &'a PullRequestDetails,
    /// The changes of its labels, oldest first.
    pub labels: &'a [LabelEvent],
    /// The permission of whoever set the label.
    pub permission: Permission,
    /// The pushes to its branch, newest first; empty if they cannot be read.
    pub pushes: &'a [BranchPush],
    /// The runs of this workflow on the pull request, newest first.
    pub runs: &'a [GateRun],
    /// The heads that are git's own merge of the base branch, each with the head before it.
    pub updates: &'a [BranchUpdate],
}

/// A run of the gate's workflow on a pull request, with what its first attempt says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRun {
    /// Its id: later runs have higher ones.
    pub id: u64,
    /// The head commit that it is about.
    pub head: String,
    /// The commits in its name: the merge, or the head and the base commit.
    pub named: Vec<String>,
    /// When it was created, in UTC.
    pub created_at: String,
    /// When the gate's job ended in the first attempt; `None` if it did not, or nobody asked.
    pub ended_at: Option<String>,
    /// Whether it is completed and not green.
    pub is_red: bool,
    /// Who caused it.
    pub by: Option<String>,
}

/// A head that git's own merge of the base branch made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchUpdate {
    /// The merge.
    pub head: String,
    /// The head before.
    pub before: String,
}

/// What an approval is about, if the result that was shown is the one of now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenLabel {
    /// Who set the label.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The run whose result was shown before.
    pub shown: GateRun,
}

/// Why a label does not approve the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalRefusal {
    /// GitHub does not list yet who set it.
    NoGiver,
    /// Whoever set it may not approve here.
    NotAllowed {
        /// The login.
        actor: String,
        /// Their permission.
        has: Permission,
        /// The permission that an approval needs.
        needs: Permission,
    },
    /// Whoever set it opened the pull request.
    Author(String),
    /// Whoever set it pushed the newest commits.
    Pusher(String),
    /// It is unknown who pushed the newest commits, or which head the branch had.
    UnknownPusher,
    /// No run had shown a result of the head that the branch had then.
    NotShown {
        /// That head.
        head: String,
    },
    /// The result has parts that the shown one does not have.
    OtherResult(Vec<String>),
    /// The commits of the shown result cannot be read any more, or their result cannot be computed again.
    Unreadable,
    /// The shown result is of a merge into another branch than this one.
    OtherBase(String),
    /// The comment does not show this many kinds of golden changes.
    Hidden(usize),
    /// The head or the label changed, or another run began while this one worked.
    Changed,
}

impl ApprovalRefusal {
    /// Whether the label is taken away: it can never count.
    pub fn takes_label_away(&self) -> bool {
        !matches!(self, Self::NoGiver | Self::Changed)
    }
}

impl fmt::Display for ApprovalRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGiver => out.write_str("GitHub does not list yet who set it; run this job again"),
            Self::NotAllowed { actor, has, needs } => write!(
                out,
                "{actor} has the permission {} here, but an approval needs {}",
                has.as_str(),
                needs.as_str()
            ),
            Self::Author(actor) => {
                write!(out, "{actor} opened this pull request, so somebody else has to approve it")
            }
            Self::Pusher(actor) => {
                write!(out, "{actor} pushed the newest commits, so somebody else has to approve it")
            }
            Self::UnknownPusher => out.write_str(
                "GitHub does not show who pushed the newest commits, so it could be whoever set the label; push to a branch of this repository",
            ),
            Self::NotShown { head } => write!(
                out,
                "no run had shown a result of {} when it was set; look at this result and set the label again",
                short_commit(head)
            ),
            Self::OtherResult(parts) => {
                let named: Vec<&str> = parts.iter().map(String::as_str).collect();
                write!(
                    out,
                    "it was set for another result, without this: {}; look at this result and set the label again",
                    first_of(&named)
                )
            }
            Self::Hidden(count) => write!(
                out,
                "the comment has no room for {count} kinds of golden changes that it would cover; split the pull request"
            ),
            Self::Changed => out.write_str(
                "another run of this workflow began while this one worked, or somebody pushed or changed the label; the newest run decides",
            ),
            Self::OtherBase(into) => write!(
                out,
                "the result that was shown when it was set is not of a merge into {into}; look at this result and set the label again \
                 (on pull_request_target it counts only on pull requests into the default branch)"
            ),
            Self::Unreadable => out.write_str(
                "the result that was shown when it was set cannot be computed again: its commits are gone, or the runs of this workflow do not name them \
                 (`run-name`); look at this result and set the label again",
            ),
        }
    }
}

/// Whether two names are the same label: GitHub ignores letter case.
pub fn is_label(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

/// Whether a label is among those of a pull request.
pub fn has_label(labels: &[String], label: &str) -> bool {
    labels.iter().any(|candidate| is_label(candidate, label))
}

/// The event that set a label which the pull request has now; `None` if GitHub does not list it yet.
pub fn set_by<'a>(labels: &'a [LabelEvent], label: &str) -> Option<&'a LabelEvent> {
    let newest = labels.iter().rfind(|event| is_label(&event.label, label))?;
    (newest.change == LabelChange::Added && !newest.by.is_empty()).then_some(newest)
}

/// Whether a login is an app's. Its permission is not documented, and a workflow's token may set labels.
pub fn is_bot(login: &str) -> bool {
    login.ends_with("[bot]")
}

impl Snapshot<'_> {
    /// What the label approves, or why it approves nothing.
    ///
    /// # Errors
    /// The label does not count.
    pub fn given(&self, policy: &ApprovalPolicy) -> Result<GivenLabel, ApprovalRefusal> {
        let label = set_by(self.labels, &policy.label).ok_or(ApprovalRefusal::NoGiver)?;
        let actor = label.by.clone();
        if self.permission < policy.approvers || is_bot(&actor) {
            return Err(ApprovalRefusal::NotAllowed {
                actor,
                has: self.permission,
                needs: policy.approvers,
            });
        }
        if policy.by_author == ByAuthor::DoesNotCount {
            if actor.eq_ignore_ascii_case(&self.pull.author) {
                return Err(ApprovalRefusal::Author(actor));
            }
            let pusher = self.pusher().ok_or(ApprovalRefusal::UnknownPusher)?;
            if actor.eq_ignore_ascii_case(pusher) {
                return Err(ApprovalRefusal::Pusher(actor));
            }
        }
        let head = self
            .head_at(&label.at)
            .ok_or(ApprovalRefusal::UnknownPusher)?;
        // All these times are in one format in UTC, so they compare as texts.
        let earlier = self
            .runs
            .iter()
            .filter(|run| run.ended_at.as_ref().is_some_and(|at| *at < label.at));
        let shown = earlier.max_by_key(|run| run.id);
        let shown =
            shown
                .filter(|run| run.head == head)
                .ok_or_else(|| ApprovalRefusal::NotShown {
                    head: head.to_owned(),
                })?;
        Ok(GivenLabel {
            by: actor,
            at: label.at.clone(),
            shown: shown.clone(),
        })
    }

    /// Who made the newest push that is not git's own merge of the base branch: the actor of the push that ended in that head, else of
    /// the first run on it.
    fn pusher(&self) -> Option<&str> {
        let mut head = self.pull.head.as_str();
        while let Some(update) = self.updates.iter().find(|update| update.head == head) {
            head = &update.before;
        }
        match self.pushes.iter().find(|push| push.after == head) {
            Some(push) => push.by.as_deref(),
            None => {
                let runs = self.runs.iter().filter(|run| run.head == head);
                runs.min_by_key(|run| run.id)?.by.as_deref()
            }
        }
    }

    /// The head that the branch had at a time.
    fn head_at(&self, at: &str) -> Option<&str> {
        if self.pushes.is_empty() {
            let older = self.runs.iter().filter(|run| run.created_at.as_str() < at);
            return older.max_by_key(|run| run.id).map(|run| run.head.as_str());
        }
        let mut older = self.pushes.iter().filter(|push| push.at.as_str() < at);
        older.next().map(|push| push.after.as_str())
    }
}

#[cfg(test)]
mod tests;
