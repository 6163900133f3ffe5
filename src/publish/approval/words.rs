//! The reasons why an approval does not count, one sentence each.

use std::fmt;

use crate::model::Permission;
use crate::text::short_commit;

/// Why there is no result to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// No run on this commit uploaded one.
    Missing,
    /// GitHub has deleted the only ones, as it does after the time that is set for artifacts.
    Expired,
    /// The artifact cannot be used; the reason.
    Unusable(String),
    /// The result is newer than the label.
    Younger,
    /// The comment does not show the result.
    NotShown,
    /// The comment is one of another account, which this job does not trust; both accounts.
    OtherAccount {
        /// Who wrote the comment.
        comment: String,
        /// Whose token this job has.
        job: String,
    },
    /// Somebody edited the comment since the run that measured the result; who.
    Edited(String),
    /// It was edited more often than GitHub lists, so the editors are unknown.
    EditedOften,
    /// The comment shows the result only since the label was added.
    ShownLater,
    /// The result has a reason for a missing verdict that no approval lifts.
    Lasting(String),
    /// The comment does not show this many kinds of the golden changes.
    Hidden(usize),
    /// The report is for another commit.
    OtherCommit,
    /// The report is for another config; `None` if it names no config.
    OtherConfig(Option<String>),
}

/// Why the label is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalRefusal {
    /// The label was added for a commit that is no longer the head.
    Moved {
        /// The commit at that time.
        seen: String,
        /// The head now.
        now: String,
    },
    /// Whoever added it may not approve here.
    NotAllowed {
        /// The login of whoever added the label.
        actor: String,
        /// Their permission.
        has: Permission,
        /// The permission that an approval needs.
        needs: Permission,
    },
    /// Whoever added it opened the pull request.
    Author {
        /// The login of whoever added the label.
        actor: String,
    },
    /// Whoever added it pushed the head commit.
    Pusher {
        /// The login of whoever added the label.
        actor: String,
    },
    /// GitHub does not report who pushed the head commit.
    UnknownPusher,
    /// GitHub does not report who added it.
    NoGiver,
    /// There is nothing to approve yet.
    NoResult(NoResult),
    /// Commits were pushed after it.
    Pushed {
        /// The head now.
        head: String,
    },
    /// It was already there when the pull request was opened, so the permission for it was never checked.
    NeverJudged,
}

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalSkip {
    /// The pull request is closed.
    Closed,
    /// The event is not about an approval.
    OtherEvent,
    /// The event is about another label.
    OtherLabel,
    /// The label was removed meanwhile.
    Gone,
    /// The label was added again meanwhile.
    Back,
    /// There was no approval to withdraw.
    NothingToWithdraw,
    /// The pull request does not have the label.
    NoLabel,
    /// The commit is already approved.
    Already,
    /// goldgate removed the label itself; the approval stays.
    RemovedByGoldgate,
    /// The pull request never had the label.
    NeverLabeled,
}

impl fmt::Display for NoResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str(
                "no run on this commit has uploaded an artifact `goldgate-report` yet; wait for it, look at the result, and set the label again",
            ),
            Self::Expired => out.write_str(
                "the artifact `goldgate-report` of the run on this commit has expired; run the gate again, look at the result, and add the label again",
            ),
            Self::Unusable(why) => write!(out, "the artifact `goldgate-report` of the run on this commit cannot be used: {why}"),
            Self::Younger => out.write_str(
                "the result on this commit is newer than the label; look at the result and add the label again",
            ),
            Self::NotShown => out.write_str(
                "the comment does not show the result on this commit, so nobody can have seen it; run the gate again, look at the comment, and add the label again",
            ),
            Self::OtherAccount { comment, job } => write!(
                out,
                "the comment was written by the account {comment}, but this job writes as {job}; give the gate and the approval the same token, run the gate again, and add the label again"
            ),
            Self::Edited(who) => write!(
                out,
                "{who} edited the comment before the label was added, so it may have shown something else than the result; run the gate again, look at the comment, and add the label again"
            ),
            Self::EditedOften => out.write_str(
                "the comment was edited so often that GitHub does not list all editors, so it may have shown something else than the result; run the gate again, look at the comment, and add the label again",
            ),
            Self::ShownLater => out.write_str(
                "the comment did not show the result on this commit yet when the label was added; look at the comment and add the label again",
            ),
            Self::Lasting(why) => write!(
                out,
                "the result on this commit has no verdict ({why}), and an approval cannot change that; add the label again when there is a verdict"
            ),
            Self::Hidden(count) => write!(
                out,
                "the comment does not show {count} kinds of golden changes that an approval would cover; split the pull request"
            ),
            Self::OtherCommit => {
                out.write_str("the artifact `goldgate-report` of the run on this commit is for another commit")
            }
            Self::OtherConfig(Some(config)) => {
                write!(out, "the report of the run on this commit is for another config, {config}")
            }
            Self::OtherConfig(None) => {
                out.write_str("the report of the run on this commit does not name its config; run the gate again")
            }
        }
    }
}

impl fmt::Display for ApprovalRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { seen, now } => write!(
                out,
                "it was added for {}, but the head is now {}; look at the new result and add it again",
                short_commit(seen),
                short_commit(now)
            ),
            Self::NotAllowed { actor, has, needs } => {
                write!(
                    out,
                    "{actor} has the permission {} here, but an approval needs {}",
                    has.as_str(),
                    needs.as_str()
                )
            }
            Self::Author { actor } => {
                write!(out, "{actor} opened this pull request, so somebody else has to approve it")
            }
            Self::Pusher { actor } => {
                write!(out, "{actor} pushed the newest commit, so somebody else has to approve it")
            }
            Self::UnknownPusher => out.write_str(
                "GitHub does not show who pushed the newest commit, so it could be the user who added it; push the commit to a branch of this \
                 repository, or run the gate on `pull_request` as well",
            ),
            Self::NoGiver => out.write_str("the pull request's timeline does not show who added it; add it again"),
            Self::NoResult(why) => why.fmt(out),
            Self::Pushed { head } => write!(
                out,
                "commits were pushed after it, but an approval is for one commit only; look at the result on {} and add it again",
                short_commit(head)
            ),
            Self::NeverJudged => {
                out.write_str("it was added before the pull request was opened, so it approves nothing; add it again")
            }
        }
    }
}

impl fmt::Display for ApprovalSkip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Closed => "the pull request is closed",
            Self::OtherEvent => "this event is not about an approval",
            Self::OtherLabel => "this label is not the one that approves",
            Self::Gone => "the label was removed meanwhile",
            Self::Back => "the label was added again meanwhile",
            Self::NothingToWithdraw => "this commit was not approved",
            Self::NoLabel => "the pull request does not have the approval label",
            Self::Already => "this commit is already approved",
            Self::RemovedByGoldgate => {
                "goldgate removed the label because of another config, so the approval stays"
            }
            Self::NeverLabeled => "the pull request never had the label, so the approval stays",
        })
    }
}
