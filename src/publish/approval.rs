//! Approval by label: the event, the pull request and the result become a plan.

mod words;

use crate::model::Approval;
use crate::model::Baseline;
use crate::model::ByAuthor;
use crate::model::CommitStatus;
use crate::model::Permission;
use crate::model::Pull;
use crate::model::PullState;
use crate::model::StatusState;

pub use self::words::NoResult;
pub use self::words::Refusal;
pub use self::words::Why;

/// The status that keeps an approval.
pub const CONTEXT: &str = "goldgate/baseline";

/// What happened to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened<'a> {
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

/// What the plan is made from.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// What happened.
    pub happened: Happened<'a>,
    /// Who did it, as the event says.
    pub actor: &'a str,
    /// The commit at the head when it happened.
    pub head: &'a str,
    /// The label that approves.
    pub label: &'a str,
    /// What its giver has to be allowed at least.
    pub floor: Permission,
    /// What the actor is allowed, as the API says.
    pub allowed: Permission,
    /// Whether the author may approve.
    pub by_author: ByAuthor,
    /// The pull request now.
    pub pull: &'a Pull,
    /// The approval that stands on the head now.
    pub standing: Option<&'a Approval>,
    /// The digest of the result on the event's commit.
    pub result: Result<&'a str, NoResult>,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// The approval is kept as a status of the head.
    Grant {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
    },
    /// The label is taken away, and the comment says why.
    Refuse(Refusal),
    /// The approval does not count any more; the status says so.
    Withdraw {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
    },
    /// Nothing.
    Nothing(Why),
}

/// Plans what an event about a label or a push leads to.
pub fn plan(asked: &Asked<'_>) -> Plan {
    let pull = asked.pull;
    let has_label = pull.labels.iter().any(|label| label == asked.label);
    if pull.state == PullState::Closed {
        return Plan::Nothing(Why::Closed);
    }
    match asked.happened {
        Happened::Other => Plan::Nothing(Why::OtherEvent),
        Happened::Labeled(label) | Happened::Unlabeled(label) if label != asked.label => Plan::Nothing(Why::OtherLabel),
        Happened::Labeled(_) if !has_label => Plan::Nothing(Why::Gone),
        Happened::Labeled(_) => judged(asked).unwrap_or_else(Plan::Refuse),
        Happened::Unlabeled(_) if has_label => Plan::Nothing(Why::Back),
        Happened::Unlabeled(_) => match asked.standing {
            None => Plan::Nothing(Why::NothingStands),
            Some(_) => {
                let description = format!("withdrawn: {} removed the label", asked.actor);
                Plan::Withdraw { head: pull.head.clone(), description }
            }
        },
        Happened::Pushed | Happened::Opened if !has_label => Plan::Nothing(Why::NoLabel),
        Happened::Pushed | Happened::Opened if asked.standing.is_some() => Plan::Nothing(Why::Already),
        Happened::Pushed => Plan::Refuse(Refusal::Pushed { head: pull.head.clone() }),
        Happened::Opened => Plan::Refuse(Refusal::NeverJudged),
    }
}

fn judged(asked: &Asked<'_>) -> Result<Plan, Refusal> {
    let pull = asked.pull;
    if pull.head != asked.head {
        return Err(Refusal::Moved { seen: asked.head.to_owned(), now: pull.head.clone() });
    }
    let actor = asked.actor.to_owned();
    if asked.allowed < asked.floor {
        return Err(Refusal::NotAllowed { actor, has: asked.allowed, needs: asked.floor });
    }
    if actor.eq_ignore_ascii_case(&pull.author) && asked.by_author == ByAuthor::DoesNotCount {
        return Err(Refusal::Author { actor });
    }
    let digest = asked.result.clone().map_err(Refusal::NoResult)?;
    if asked.standing.is_some_and(|standing| standing.digest == digest) {
        return Ok(Plan::Nothing(Why::Already));
    }
    Ok(Plan::Grant { head: pull.head.clone(), description: description(&actor, digest) })
}

/// The line of the status: who approved, and which result. A login has at most 39 letters, GitHub takes 140.
pub fn description(by: &str, digest: &str) -> String {
    format!("approved by {by}; result {digest}")
}

/// The approval that stands on a commit, of all of its statuses, the newest first. Only the newest one that this token's own
/// identity set counts: whoever may set statuses could write the same line.
pub fn standing(statuses: &[CommitStatus], identity: &str, head: &str) -> Option<Approval> {
    let own = statuses.iter().find(|status| status.context == CONTEXT && status.creator == identity)?;
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
