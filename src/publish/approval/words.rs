//! Why an approval does not count, each in one sentence.

use std::fmt;

use crate::model::Permission;

/// Why there is no result to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// No finished run on this commit left one behind.
    Missing,
    /// What was left behind is not used; the text says why.
    Unusable(String),
    /// It came after the label.
    Younger,
    /// The comment does not show it.
    NotShown,
    /// The comment does not show this many kinds of the golden changes.
    Hidden(usize),
    /// The report is about another commit.
    OtherCommit,
    /// The report is of another config; `None` where it does not say of which.
    OtherConfig(Option<String>),
}

/// Why the label is taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalRefusal {
    /// The label was given for a commit that is not the head any more.
    Moved {
        /// The commit then.
        seen: String,
        /// The head now.
        now: String,
    },
    /// Its giver may not approve here.
    NotAllowed {
        /// The giver.
        actor: String,
        /// What they are allowed.
        has: Permission,
        /// What it takes.
        needs: Permission,
    },
    /// Its giver wrote the pull request.
    Author {
        /// The giver.
        actor: String,
    },
    /// Its giver pushed what it would approve.
    Pusher {
        /// The giver.
        actor: String,
    },
    /// GitHub does not say who gave it.
    NoGiver,
    /// There is nothing to approve yet.
    NoResult(NoResult),
    /// Commits came after it.
    Pushed {
        /// The head now.
        head: String,
    },
    /// It was there when the pull request was opened; nobody's right to give it was looked at.
    NeverJudged,
}

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalSkip {
    /// The pull request is closed.
    Closed,
    /// The event is not about an approval.
    OtherEvent,
    /// Another label.
    OtherLabel,
    /// The label is gone again.
    Gone,
    /// The label is back again.
    Back,
    /// There was no approval to withdraw.
    NothingStands,
    /// There is no label.
    NoLabel,
    /// The approval stands already.
    Already,
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

impl fmt::Display for NoResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str(
                "no finished run on this commit has uploaded an artifact `goldgate-report`; wait for it and add the label again",
            ),
            Self::Unusable(why) => write!(out, "the artifact `goldgate-report` of the run on this commit cannot be used: {why}"),
            Self::Younger => out.write_str(
                "the result on this commit came after it, so its giver cannot have seen it; look at the result and add it again",
            ),
            Self::NotShown => out.write_str(
                "the comment does not show the result on this commit, so nobody can have seen it; run the gate again, look at the comment and add the label again",
            ),
            Self::Hidden(count) => write!(
                out,
                "the comment has no room for {count} kinds of the golden changes, and an approval would cover them; split the pull request"
            ),
            Self::OtherCommit => {
                out.write_str("the artifact `goldgate-report` of the run on this commit reports on another commit")
            }
            Self::OtherConfig(Some(config)) => {
                write!(out, "the report of the run on this commit is of another config, {config}")
            }
            Self::OtherConfig(None) => {
                out.write_str("the report of the run on this commit does not say which config it is of; run the gate again")
            }
        }
    }
}

impl fmt::Display for ApprovalRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { seen, now } => write!(
                out,
                "it was given for {}, and the head is {} now; look at the new result and add it again",
                short(seen),
                short(now)
            ),
            Self::NotAllowed { actor, has, needs } => {
                write!(
                    out,
                    "{actor} has the permission {} here, and an approval takes {}",
                    has.as_str(),
                    needs.as_str()
                )
            }
            Self::Author { actor } => {
                write!(out, "{actor} opened this pull request, and somebody else has to approve it")
            }
            Self::Pusher { actor } => {
                write!(out, "{actor} pushed the newest commit here, and somebody else has to approve it")
            }
            Self::NoGiver => out.write_str("the pull request's timeline does not say who added it; add it again"),
            Self::NoResult(why) => why.fmt(out),
            Self::Pushed { head } => write!(
                out,
                "commits were pushed after it, and an approval is for one commit; look at the result on {} and add it again",
                short(head)
            ),
            Self::NeverJudged => {
                out.write_str("it was there before the pull request was opened, which approves nothing; add it again")
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
            Self::Gone => "the label is gone again",
            Self::Back => "the label is back again",
            Self::NothingStands => "there was no approval of this commit",
            Self::NoLabel => "there is no label that approves",
            Self::Already => "the approval of this commit stands already",
        })
    }
}
