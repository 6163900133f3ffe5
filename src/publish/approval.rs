//! Approval by label: the event, the pull request and the result become a plan.

mod words;

use super::ConfigKey;
use crate::model::{
    Approval, Baseline, ByAuthor, CommitStatus, Permission, PullRequestDetails, PullState, StatusState,
};

pub use self::words::{ApprovalRefusal, ApprovalSkip, NoResult};

/// What happened to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestEvent<'a> {
    /// A label was added.
    Labeled(&'a str),
    /// A label was taken away.
    Unlabeled(&'a str),
    /// Commits were pushed.
    Pushed,
    /// It was opened, again or for the first time.
    Opened,
    /// Something that is not about an approval.
    Other,
}

/// What the plan is made from. An approval is judged from what stands on GitHub, never from the event alone: a run that GitHub drops
/// from a queue loses nothing, and an event's sender proves nothing.
#[derive(Debug, Clone)]
pub struct ApprovalInput<'a> {
    /// What happened.
    pub happened: PullRequestEvent<'a>,
    /// Who added the label last, as the timeline says.
    pub giver: Option<&'a str>,
    /// Who took it away last, as the timeline says.
    pub remover: Option<&'a str>,
    /// Who pushed the head, where that is known.
    pub pusher: Option<&'a str>,
    /// The commit at the head when it happened.
    pub head: &'a str,
    /// The label that approves.
    pub label: &'a str,
    /// What its giver has to be allowed at least.
    pub floor: Permission,
    /// What the giver is allowed, as the API says.
    pub allowed: Permission,
    /// Whether the author and the last pusher may approve.
    pub by_author: ByAuthor,
    /// The pull request now.
    pub pull: &'a PullRequestDetails,
    /// The approval that stands on the head now.
    pub standing: Option<&'a Approval>,
    /// The digest of the result on the head, which is older than the label and shown.
    pub result: Result<&'a str, NoResult>,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalPlan {
    /// The approval is kept as a status of the head.
    Grant {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
        /// Who approved.
        by: String,
    },
    /// The label is taken away, and the comment says why.
    Refuse(ApprovalRefusal),
    /// The approval does not count any more; the status says so.
    Withdraw {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
    },
    /// Nothing.
    Nothing(ApprovalSkip),
}

/// Whether two names are one label's: GitHub tells them apart without regard to letter case.
pub fn is_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether somebody has to be judged: the label is there, and the head has no decision, or the label has come just now.
pub fn asks(
    happened: PullRequestEvent<'_>,
    label: &str,
    pull: &PullRequestDetails,
    standing: Option<&Approval>,
) -> bool {
    let has_label = pull.labels.iter().any(|one| is_label(one, label));
    let is_new = matches!(happened, PullRequestEvent::Labeled(one) if is_label(one, label));
    pull.state == PullState::Open && has_label && (is_new || standing.is_none())
}

/// Plans what the state of a pull request leads to.
pub fn plan(asked: &ApprovalInput<'_>) -> ApprovalPlan {
    let pull = asked.pull;
    if pull.state == PullState::Closed {
        return ApprovalPlan::Nothing(ApprovalSkip::Closed);
    }
    if asks(asked.happened, asked.label, pull, asked.standing) {
        return judged(asked).unwrap_or_else(|why| ApprovalPlan::Refuse(explain_refusal(asked, why)));
    }
    let is_own = |label: &str| is_label(label, asked.label);
    if pull.labels.iter().any(|label| is_own(label)) {
        return ApprovalPlan::Nothing(match asked.happened {
            PullRequestEvent::Unlabeled(label) if is_own(label) => ApprovalSkip::Back,
            _ => ApprovalSkip::Already,
        });
    }
    match (asked.standing, asked.happened) {
        (Some(_), _) => {
            let description = format!("withdrawn: {} removed the label", asked.remover.unwrap_or("somebody"));
            ApprovalPlan::Withdraw { head: pull.head.clone(), description }
        }
        (None, PullRequestEvent::Labeled(label)) if is_own(label) => ApprovalPlan::Nothing(ApprovalSkip::Gone),
        (None, PullRequestEvent::Unlabeled(label)) if is_own(label) => {
            ApprovalPlan::Nothing(ApprovalSkip::NothingStands)
        }
        (None, PullRequestEvent::Labeled(_) | PullRequestEvent::Unlabeled(_)) => {
            ApprovalPlan::Nothing(ApprovalSkip::OtherLabel)
        }
        (None, PullRequestEvent::Pushed | PullRequestEvent::Opened) => ApprovalPlan::Nothing(ApprovalSkip::NoLabel),
        (None, PullRequestEvent::Other) => ApprovalPlan::Nothing(ApprovalSkip::OtherEvent),
    }
}

/// A label that is older than the result says so by what came between.
fn explain_refusal(asked: &ApprovalInput<'_>, why: ApprovalRefusal) -> ApprovalRefusal {
    if !matches!(why, ApprovalRefusal::NoResult(NoResult::Missing | NoResult::Younger)) {
        return why;
    }
    let now = asked.pull.head.clone();
    match asked.happened {
        _ if now != asked.head => ApprovalRefusal::Moved { seen: asked.head.to_owned(), now },
        PullRequestEvent::Pushed => ApprovalRefusal::Pushed { head: now },
        PullRequestEvent::Opened => ApprovalRefusal::NeverJudged,
        PullRequestEvent::Labeled(_) | PullRequestEvent::Unlabeled(_) | PullRequestEvent::Other => why,
    }
}

fn judged(asked: &ApprovalInput<'_>) -> Result<ApprovalPlan, ApprovalRefusal> {
    let pull = asked.pull;
    let actor = asked.giver.filter(|giver| !giver.is_empty()).ok_or(ApprovalRefusal::NoGiver)?.to_owned();
    if asked.allowed < asked.floor {
        return Err(ApprovalRefusal::NotAllowed { actor, has: asked.allowed, needs: asked.floor });
    }
    if asked.by_author == ByAuthor::DoesNotCount {
        if actor.eq_ignore_ascii_case(&pull.author) {
            return Err(ApprovalRefusal::Author { actor });
        }
        if asked.pusher.is_some_and(|pusher| actor.eq_ignore_ascii_case(pusher)) {
            return Err(ApprovalRefusal::Pusher { actor });
        }
    }
    let digest = asked.result.clone().map_err(ApprovalRefusal::NoResult)?;
    if asked.standing.is_some_and(|standing| standing.digest == digest) {
        return Ok(ApprovalPlan::Nothing(ApprovalSkip::Already));
    }
    Ok(ApprovalPlan::Grant { head: pull.head.clone(), description: description(&actor, digest), by: actor })
}

/// The line of the status: who approved, and which result. A login has at most 39 letters, GitHub takes 140.
pub fn description(by: &str, digest: &str) -> String {
    format!("approved by {by}; result {digest}")
}

/// The approval of a config that stands on a commit, of all of its statuses, the newest first. Only the newest one that this token's own
/// identity set counts: whoever may set statuses could write the same line.
pub fn standing(statuses: &[CommitStatus], key: &ConfigKey, identity: &str, head: &str) -> Option<Approval> {
    let context = key.status();
    let own = statuses.iter().find(|status| status.context == context && status.creator == identity)?;
    let (by, digest) = own.description.strip_prefix("approved by ")?.split_once("; result ")?;
    let whole = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (own.state == StatusState::Success && whole && !by.is_empty()).then(|| Approval {
        by: by.to_owned(),
        at: own.at.clone(),
        head: head.to_owned(),
        digest: digest.to_owned(),
    })
}

/// The approval, if it is of this result on this commit.
pub fn counts(standing: Option<Approval>, head: &str, digest: &str) -> Option<Approval> {
    standing.filter(|approval| approval.head == head && approval.digest == digest)
}

/// The baseline that an approved result is judged against: the one that is committed at the head, where it says other numbers than
/// the base's; else the one that the result itself proposes, which is what was approved.
pub fn accepted<'a>(base: Option<&Baseline>, committed: Option<&'a Baseline>, proposed: &'a Baseline) -> &'a Baseline {
    let numbers = |baseline: Option<&Baseline>| baseline.map(|baseline| baseline.suites.clone()).unwrap_or_default();
    committed.filter(|committed| committed.suites != numbers(base)).unwrap_or(proposed)
}

#[cfg(test)]
mod tests;
