//! Plans an approval by label, from the event, the pull request and the result.

mod pushers;
mod words;

use std::collections::BTreeSet;
use std::fmt;

use super::ConfigKey;
use crate::model::{
    Approval, Baseline, ByAuthor, CommitStatus, LabelChange, LabelEvent, Permission,
    PullRequestDetails, PullState, StatusState,
};
use crate::text::short_commit;

pub use self::pushers::pushers;
pub use self::words::{ApprovalRefusal, ApprovalSkip, NoResult};

/// An event on a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestEvent<'a> {
    /// A label was added.
    Labeled(&'a str),
    /// A label was removed.
    Unlabeled(&'a str),
    /// Commits were pushed.
    Pushed,
    /// It was opened, again or for the first time.
    Opened,
    /// Something that is not about an approval.
    Other,
}

/// The input of the plan. An approval is checked against the present state on GitHub, never against the event alone: GitHub may drop
/// a run from its queue, and the sender of an event proves nothing.
#[derive(Debug, Clone)]
pub struct ApprovalInput<'a> {
    /// What happened.
    pub event: PullRequestEvent<'a>,
    /// Whether the label is there.
    pub presence: LabelPresence,
    /// Who added the label last, from the timeline.
    pub giver: Option<&'a str>,
    /// What happened to it since the approval, from the timeline.
    pub since: LabelSince<'a>,
    /// Who pushed the head, and who pushed what a bot's head is on; empty if that is unknown.
    pub pushers: &'a [String],
    /// The head commit at the time of the event.
    pub head: &'a str,
    /// The label that approves.
    pub label: &'a str,
    /// The permission that an approval needs.
    pub required: Permission,
    /// The permission of whoever added it, from the API.
    pub permission: Permission,
    /// Whether the author and the last pusher may approve.
    pub by_author: ByAuthor,
    /// The pull request now.
    pub pull: &'a PullRequestDetails,
    /// The approval of the present head; `None` if there is none.
    pub standing: Option<&'a Approval>,
    /// The digest of the result on the head, which must be older than the label and shown in the comment.
    pub result: Result<&'a str, NoResult>,
}

impl ApprovalInput<'_> {
    /// Whether the label of this event is not in the timeline, while nothing is approved.
    fn is_unlisted(&self, label: &str) -> bool {
        self.giver.is_none() && is_label(label, self.label) && self.standing.is_none()
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalPlan {
    /// Store the approval as a status of the head.
    Grant {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
        /// Who approved.
        by: String,
    },
    /// Remove the label, and give the reason in the comment.
    Refuse {
        /// The reason.
        why: ApprovalRefusal,
        /// The status' description, if an older approval is withdrawn as well.
        withdrawn: Option<String>,
    },
    /// Keep a label that does not approve yet, and say why: the commit has no result, or GitHub does not list who added the label.
    Wait(ApprovalRefusal),
    /// Withdraw the approval by a new status.
    Withdraw {
        /// The commit.
        head: String,
        /// The status' description.
        description: String,
    },
    /// Nothing.
    Nothing(ApprovalSkip),
}

impl fmt::Display for ApprovalPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant {
                head,
                description,
                by: _,
            } => write!(out, "approve {}: {description}", short_commit(head)),
            Self::Refuse {
                why,
                withdrawn: None,
            } => write!(out, "do not approve: {why}"),
            Self::Refuse {
                why,
                withdrawn: Some(withdrawn),
            } => write!(out, "do not approve: {why}; {withdrawn}"),
            Self::Wait(why) => write!(out, "keep the label: {why}"),
            Self::Withdraw { head, description } => {
                write!(
                    out,
                    "withdraw the approval of {}: {description}",
                    short_commit(head)
                )
            }
            Self::Nothing(why) => write!(out, "nothing to do: {why}"),
        }
    }
}

/// Whether two names are the same label: GitHub ignores letter case.
pub fn is_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether a label is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPresence {
    /// It is.
    Set,
    /// Somebody added it, and goldgate removed it again in a step for another config.
    RemovedInOtherStep,
    /// It is not.
    Missing,
}

/// The status that says that goldgate itself removes a label now. Other workflows may have the same account, and so may a person.
pub const REMOVAL: &str = "goldgate/label";

/// The description of that status. `run` is the run that removes the label.
pub fn removal_mark(pull_request: u64, label: &str, run: &str) -> String {
    format!("{}{run}", mark_of_any_run(pull_request, label))
}

fn mark_of_any_run(pull_request: u64, label: &str) -> String {
    let label: String = label.chars().take(50).collect();
    format!("goldgate removes the label {label} of pull request {pull_request} in run ")
}

/// Marks the removals of a label that are goldgate's own: those of its account right after its own status said so. `identity` is
/// goldgate's own login, `run` this run, and `statuses` are those of the head.
pub fn mark_own_removals(
    events: &mut [LabelEvent],
    (number, label): (u64, &str),
    (identity, run): (Option<&str>, &str),
    statuses: &[CommitStatus],
) {
    let Some(identity) = identity else { return };
    let mark = mark_of_any_run(number, label).to_lowercase();
    let run_of = |status: &CommitStatus| {
        status
            .description
            .to_lowercase()
            .strip_prefix(&mark)
            .map(str::to_owned)
    };
    let own = statuses
        .iter()
        .filter(|status| status.context == REMOVAL && status.creator == identity);
    let marks: Vec<(&str, String)> = own
        .filter_map(|status| Some((status.at.as_str(), run_of(status)?)))
        .collect();
    let mut before = String::new();
    for event in events
        .iter_mut()
        .filter(|event| is_label(&event.label, label))
    {
        // GitHub writes every time in one format in UTC, so times compare as texts.
        let said = marks
            .iter()
            .find(|(at, _)| before.as_str() <= *at && *at <= event.at.as_str());
        if let Some((_, of_run)) =
            said.filter(|_| event.change == LabelChange::Removed && event.by == identity)
        {
            event.change = if of_run == run {
                LabelChange::RemovedInThisRun
            } else {
                LabelChange::RemovedByGoldgate
            };
        }
        before.clone_from(&event.at);
    }
}

/// Returns whether a label is there, and how it was added last.
pub fn label_presence<'a>(
    events: &'a [LabelEvent],
    label: &str,
    pull: &PullRequestDetails,
) -> (LabelPresence, Option<&'a LabelEvent>) {
    let mut own = events
        .iter()
        .rev()
        .filter(|event| is_label(&event.label, label));
    let is_set = pull.labels.iter().any(|one| is_label(one, label));
    match (own.next(), is_set) {
        (Some(last), true) => (
            LabelPresence::Set,
            Some(last).filter(|last| last.change == LabelChange::Added),
        ),
        (None, true) => (LabelPresence::Set, None),
        (Some(last), false) if last.change == LabelChange::RemovedInThisRun => {
            let added = own
                .next()
                .filter(|event| event.change == LabelChange::Added);
            let presence = if added.is_some() {
                LabelPresence::RemovedInOtherStep
            } else {
                LabelPresence::Missing
            };
            (presence, added)
        }
        (Some(_) | None, false) => (LabelPresence::Missing, None),
    }
}

/// What happened to the label since the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSince<'a> {
    /// Nobody removed it.
    Kept,
    /// This pull request never had it: the approval of its head was given on another one with the same head.
    NeverSet,
    /// A user removed it; the login.
    RemovedBy(&'a str),
    /// goldgate removed it, because it did not approve the result of another config.
    RemovedByGoldgate,
}

/// Returns what happened to the label since the approval.
pub fn label_since<'a>(
    events: &'a [LabelEvent],
    label: &str,
    standing: Option<&Approval>,
) -> LabelSince<'a> {
    let own: Vec<&LabelEvent> = events
        .iter()
        .filter(|event| is_label(&event.label, label))
        .collect();
    if own.is_empty() {
        return LabelSince::NeverSet;
    }
    let by_approver = |event: &&LabelEvent| {
        event.change == LabelChange::Added
            && standing.is_some_and(|approval| event.by.eq_ignore_ascii_case(&approval.by))
    };
    // Without the approver's own label in the timeline only the last change is known to be newer than the approval.
    let first = own
        .iter()
        .rposition(by_approver)
        .unwrap_or(own.len().saturating_sub(1));
    // The approver may have removed the label since, and added it again. GitHub writes every time in one format, so times compare as texts.
    let after = standing.and_then(|approval| own.iter().position(|event| event.at >= approval.at));
    let first = after.map_or(first, |after| first.min(after));
    let since = || own.iter().skip(first);
    match since().rfind(|event| event.change == LabelChange::Removed) {
        Some(removal) => LabelSince::RemovedBy(&removal.by),
        None if since().any(|event| is_of_goldgate(event.change)) => LabelSince::RemovedByGoldgate,
        None => LabelSince::Kept,
    }
}

fn is_of_goldgate(change: LabelChange) -> bool {
    matches!(
        change,
        LabelChange::RemovedByGoldgate | LabelChange::RemovedInThisRun
    )
}

/// The approval, unless somebody removed the label after it. The run on that event may have been dropped.
pub fn unwithdrawn<'a>(
    standing: Option<&'a Approval>,
    since: LabelSince<'_>,
) -> Option<&'a Approval> {
    match since {
        LabelSince::Kept | LabelSince::NeverSet | LabelSince::RemovedByGoldgate => standing,
        LabelSince::RemovedBy(_) => None,
    }
}

/// Whether an approval has to be checked: the label is set, and the head has no approval or the label was just added.
pub fn asks(
    event: PullRequestEvent<'_>,
    label: &str,
    presence: LabelPresence,
    pull: &PullRequestDetails,
    standing: Option<&Approval>,
) -> bool {
    let is_new = matches!(event, PullRequestEvent::Labeled(one) if is_label(one, label));
    let is_asked = match presence {
        LabelPresence::Set => is_new || standing.is_none(),
        // Of several configs, an earlier step of the job that this label started has refused its own one.
        LabelPresence::RemovedInOtherStep => is_new && standing.is_none(),
        LabelPresence::Missing => false,
    };
    pull.state == PullState::Open && is_asked
}

/// Plans the approval from the state of a pull request.
pub fn plan(asked: &ApprovalInput<'_>) -> ApprovalPlan {
    let pull = asked.pull;
    if pull.state == PullState::Closed {
        return ApprovalPlan::Nothing(ApprovalSkip::Closed);
    }
    if asks(
        asked.event,
        asked.label,
        asked.presence,
        pull,
        unwithdrawn(asked.standing, asked.since),
    ) {
        return judged(asked).unwrap_or_else(|why| refused(asked, why));
    }
    let is_own = |label: &str| is_label(label, asked.label);
    if pull.labels.iter().any(|label| is_own(label)) {
        return ApprovalPlan::Nothing(match asked.event {
            PullRequestEvent::Unlabeled(label) if is_own(label) => ApprovalSkip::Back,
            _ => ApprovalSkip::Already,
        });
    }
    match (asked.standing, asked.event) {
        (Some(_), _) => match asked.since {
            LabelSince::RemovedByGoldgate => ApprovalPlan::Nothing(ApprovalSkip::RemovedByGoldgate),
            LabelSince::NeverSet => ApprovalPlan::Nothing(ApprovalSkip::NeverLabeled),
            LabelSince::Kept | LabelSince::RemovedBy(_) => ApprovalPlan::Withdraw {
                head: pull.head.clone(),
                description: withdrawn(asked),
            },
        },
        (None, PullRequestEvent::Labeled(label)) if is_own(label) => {
            ApprovalPlan::Nothing(ApprovalSkip::Gone)
        }
        (None, PullRequestEvent::Unlabeled(label)) if is_own(label) => {
            ApprovalPlan::Nothing(ApprovalSkip::NothingToWithdraw)
        }
        (None, PullRequestEvent::Labeled(_) | PullRequestEvent::Unlabeled(_)) => {
            ApprovalPlan::Nothing(ApprovalSkip::OtherLabel)
        }
        (None, PullRequestEvent::Pushed | PullRequestEvent::Opened) => {
            ApprovalPlan::Nothing(ApprovalSkip::NoLabel)
        }
        (None, PullRequestEvent::Other) => ApprovalPlan::Nothing(ApprovalSkip::OtherEvent),
    }
}

/// The description of a status that withdraws the approval of a pull request. `by` is whoever removed the label, if that is known.
pub fn withdrawal(by: Option<&str>, pull: u64) -> String {
    match by {
        Some(by) => format!("{WITHDRAWN}{by} removed the label; #{pull}"),
        None => format!("{WITHDRAWN}the label was removed; #{pull}"),
    }
}

/// How the description of a withdrawal begins.
const WITHDRAWN: &str = "withdrawn: ";

/// Why an approval was withdrawn, from the description of a status; `None` for any other status.
pub fn reason_of_withdrawal(description: &str) -> Option<&str> {
    let why = description.strip_prefix(WITHDRAWN)?;
    Some(why.rsplit_once("; #").map_or(why, |(why, _)| why))
}

fn withdrawn(asked: &ApprovalInput<'_>) -> String {
    let by = match asked.since {
        LabelSince::RemovedBy(by) if !by.is_empty() => by,
        LabelSince::RemovedBy(_)
        | LabelSince::Kept
        | LabelSince::NeverSet
        | LabelSince::RemovedByGoldgate => "somebody",
    };
    withdrawal(Some(by), asked.pull.number)
}

/// What to do with a label that does not approve. A commit without any result keeps it; else the refusal is made more precise for a
/// label that is older than the result.
fn refused(asked: &ApprovalInput<'_>, why: ApprovalRefusal) -> ApprovalPlan {
    let now = asked.pull.head.clone();
    let missing = why == ApprovalRefusal::NoResult(NoResult::Missing);
    let is_early = missing || why == ApprovalRefusal::NoResult(NoResult::Younger);
    let why = match asked.event {
        // The event names the label, so GitHub's list is behind. The next event is planned from the list again.
        PullRequestEvent::Labeled(label)
            if asked.is_unlisted(label) && why == ApprovalRefusal::NoGiver =>
        {
            return ApprovalPlan::Wait(why);
        }
        _ if !is_early => why,
        _ if now != asked.head => ApprovalRefusal::Moved {
            seen: asked.head.to_owned(),
            now,
        },
        PullRequestEvent::Pushed => ApprovalRefusal::Pushed { head: now },
        _ if missing && asked.presence == LabelPresence::Set => return ApprovalPlan::Wait(why),
        PullRequestEvent::Opened => ApprovalRefusal::NeverJudged,
        PullRequestEvent::Labeled(_) | PullRequestEvent::Unlabeled(_) | PullRequestEvent::Other => {
            why
        }
    };
    let is_withdrawn =
        asked.standing.is_some() && unwithdrawn(asked.standing, asked.since).is_none();
    ApprovalPlan::Refuse {
        why,
        withdrawn: is_withdrawn.then(|| withdrawn(asked)),
    }
}

fn judged(asked: &ApprovalInput<'_>) -> Result<ApprovalPlan, ApprovalRefusal> {
    let pull = asked.pull;
    let actor = asked
        .giver
        .filter(|giver| !giver.is_empty())
        .ok_or(ApprovalRefusal::NoGiver)?
        .to_owned();
    if asked.permission < asked.required {
        return Err(ApprovalRefusal::NotAllowed {
            actor,
            has: asked.permission,
            needs: asked.required,
        });
    }
    if asked.by_author == ByAuthor::DoesNotCount {
        if actor.eq_ignore_ascii_case(&pull.author) {
            return Err(ApprovalRefusal::Author { actor });
        }
        if asked
            .pushers
            .iter()
            .any(|pusher| actor.eq_ignore_ascii_case(pusher))
        {
            return Err(ApprovalRefusal::Pusher { actor });
        }
    }
    let digest = asked.result.clone().map_err(ApprovalRefusal::NoResult)?;
    if asked.by_author == ByAuthor::DoesNotCount && asked.pushers.is_empty() {
        return Err(ApprovalRefusal::UnknownPusher);
    }
    if unwithdrawn(asked.standing, asked.since).is_some_and(|standing| standing.digest == digest) {
        return Ok(ApprovalPlan::Nothing(ApprovalSkip::Already));
    }
    Ok(ApprovalPlan::Grant {
        head: pull.head.clone(),
        description: description(&actor, digest, pull.number),
        by: actor,
    })
}

/// The description of the status: who approved which result of which pull request. GitHub allows 140 characters; a login has at most 39.
pub fn description(by: &str, digest: &str, pull: u64) -> String {
    format!("approved by {by}; result {digest}; #{pull}")
}

/// Whose approvals count.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalScope<'a> {
    /// The config.
    pub key: &'a ConfigKey,
    /// The account of this token. Anyone who may set statuses could write the same text.
    pub identity: &'a str,
    /// The pull request. Another one with the same head has another author, who may give what this one's author may not. `None` counts those
    /// of all, for a commit that was merged.
    pub pull: Option<u64>,
}

/// The newest approval among the statuses of a commit, which are sorted newest first.
pub fn standing(
    statuses: &[CommitStatus],
    scope: ApprovalScope<'_>,
    head: &str,
) -> Option<Approval> {
    all_standing(statuses, scope, head).into_iter().next()
}

/// The approvals since the last withdrawal of their pull request, newest first: one that got another base branch has a result for each.
pub fn all_standing(
    statuses: &[CommitStatus],
    scope: ApprovalScope<'_>,
    head: &str,
) -> Vec<Approval> {
    let context = scope.key.status();
    let own = statuses
        .iter()
        .filter(|status| status.context == context && status.creator == scope.identity);
    let (mut standing, mut withdrawn) = (Vec::new(), BTreeSet::new());
    for status in own {
        match (read_approval(status, head), pull_of(status)) {
            (Some((approval, of)), _)
                if !withdrawn.contains(&of) && scope.pull.is_none_or(|pull| pull == of) =>
            {
                standing.push(approval);
            }
            (Some(_), _) => {}
            (None, Some(of)) => drop(withdrawn.insert(of)),
            // Earlier versions name no pull request: it is about all of them.
            (None, None) => break,
        }
    }
    standing
}

/// The pull request that the description of a status names; `None` if it names none, as withdrawals of earlier versions.
fn pull_of(status: &CommitStatus) -> Option<u64> {
    let (_, number) = status.description.rsplit_once("; #")?;
    number.parse().ok()
}

/// Whether a status is about a pull request, or about all that have its commit.
pub fn is_about(status: &CommitStatus, pull: u64) -> bool {
    pull_of(status).is_none_or(|named| named == pull)
}

/// The approval that a status states, and its pull request.
fn read_approval(status: &CommitStatus, head: &str) -> Option<(Approval, u64)> {
    let (by, result) = status
        .description
        .strip_prefix("approved by ")?
        .split_once("; result ")?;
    let (digest, pull) = result.split_once("; #")?;
    let pull: u64 = pull.parse().ok()?;
    let whole = digest.len() == 64
        && digest
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (status.state == StatusState::Success && whole && !by.is_empty()).then(|| {
        let (by, at, head, digest) = (
            by.to_owned(),
            status.at.clone(),
            head.to_owned(),
            digest.to_owned(),
        );
        (
            Approval {
                by,
                at,
                head,
                digest,
                reason: None,
            },
            pull,
        )
    })
}

/// Whether a status of a config says that somebody approved, whoever set it.
pub fn is_claimed(statuses: &[CommitStatus], key: &ConfigKey) -> bool {
    let context = key.status();
    statuses
        .iter()
        .any(|status| status.context == context && status.state == StatusState::Success)
}

/// The baseline for the gates of an approved result: the one committed at the head if its numbers differ from the base's, else the
/// one that the result proposes, which is what was approved.
pub fn accepted<'a>(
    base: Option<&Baseline>,
    committed: Option<&'a Baseline>,
    proposed: &'a Baseline,
) -> &'a Baseline {
    let numbers = |baseline: Option<&Baseline>| {
        baseline
            .map(|baseline| baseline.suites.clone())
            .unwrap_or_default()
    };
    committed
        .filter(|committed| committed.suites != numbers(base))
        .unwrap_or(proposed)
}

#[cfg(test)]
mod tests;
