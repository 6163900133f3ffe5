//! The commit that writes an approved baseline: the approval, the result and the pull request become a plan.

use std::fmt;

use super::approval::NoResult;
use super::moves::{BaselineMove, MoveDirection};
use super::reason::writes_reason;
use crate::model::{Acceptance, Approval, Baseline, BranchOrigin, PullRequestDetails, PullState};

/// What the plan is made from.
#[derive(Debug, Clone)]
pub struct BumpInput<'a> {
    /// The pull request now.
    pub pull: &'a PullRequestDetails,
    /// The commit at its head when the event happened.
    pub head: &'a str,
    /// The approval that stands on the head now.
    pub standing: Option<&'a Approval>,
    /// The result of a run on that head.
    pub result: Result<MeasuredBaseline<'a>, NoResult>,
    /// The baseline of the base commit.
    pub before: Option<&'a Baseline>,
    /// The digest of its bytes.
    pub before_sha256: Option<String>,
    /// The baseline that is committed at the head.
    pub committed: Option<&'a Baseline>,
    /// The reason that the description gives.
    pub reason: Option<String>,
}

/// The result of a run, as its artifact has it.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredBaseline<'a> {
    /// Its digest, computed here.
    pub digest: &'a str,
    /// The base commit's baseline with the numbers of its report, computed here.
    pub proposed: &'a Baseline,
    /// The proposed baseline that the run wrote.
    pub written: &'a Baseline,
    /// What moves.
    pub moves: &'a [BaselineMove],
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum BumpPlan {
    /// The baseline is committed.
    Commit {
        /// The branch.
        branch: String,
        /// The commit that has to be its head.
        head: String,
        /// The file's content, with who accepted it.
        baseline: Box<Baseline>,
        /// The approval, which goes on with the commit.
        by: String,
        /// The digest of the result.
        digest: String,
    },
    /// Nothing is committed, and the comment says why.
    Refuse(BumpRefusal),
    /// Nothing is to be done.
    Nothing(BumpSkip),
}

/// Why nothing is committed though there is an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BumpRefusal {
    /// The head moved since the event.
    Moved,
    /// There is no result of a run on the head.
    NoResult(NoResult),
    /// The approval is of another result.
    OtherResult,
    /// The proposed file does not have the numbers of its own report.
    NotAsMeasured,
    /// Numbers get worse, and nobody says why: `suite/agent metric`.
    NoReason(Vec<String>),
    /// The branch is in a fork, where this token cannot push.
    Fork,
}

/// Why nothing is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BumpSkip {
    /// The pull request is closed.
    Closed,
    /// There is no approval on the head.
    NotApproved,
    /// The head has the approved numbers already.
    Committed,
    /// The pull request changes the baseline itself, so the approval is all it takes.
    Carried,
    /// No number moved.
    Same,
}

/// Plans the commit.
pub fn plan(asked: &BumpInput<'_>) -> BumpPlan {
    decided(asked).unwrap_or_else(|stopped| stopped)
}

fn decided(asked: &BumpInput<'_>) -> Result<BumpPlan, BumpPlan> {
    let pull = asked.pull;
    let nothing = |why| Err(BumpPlan::Nothing(why));
    let refuse = |why| Err(BumpPlan::Refuse(why));
    if pull.state == PullState::Closed {
        return nothing(BumpSkip::Closed);
    }
    let Some(approval) = asked.standing else {
        return if pull.head == asked.head { nothing(BumpSkip::NotApproved) } else { refuse(BumpRefusal::Moved) };
    };
    let numbers = |baseline: Option<&Baseline>| baseline.map(|baseline| baseline.suites.clone()).unwrap_or_default();
    let carried = numbers(asked.committed) != numbers(asked.before);
    let result = match (&asked.result, carried) {
        (Ok(result), _) => result,
        // The commit that this mode wrote has no result of its own before a run on it has finished.
        (Err(_), true) => return nothing(BumpSkip::Carried),
        (Err(why), false) => return refuse(BumpRefusal::NoResult(why.clone())),
    };
    if result.digest != approval.digest {
        return refuse(BumpRefusal::OtherResult);
    }
    if !is_same(result.proposed, result.written) {
        return refuse(BumpRefusal::NotAsMeasured);
    }
    if asked.committed.is_some_and(|committed| is_same(committed, result.proposed)) {
        return nothing(if carried { BumpSkip::Committed } else { BumpSkip::Same });
    }
    if carried {
        return nothing(BumpSkip::Carried);
    }
    if pull.origin == BranchOrigin::Fork {
        return refuse(BumpRefusal::Fork);
    }
    let worse: Vec<String> = result.moves.iter().filter(|one| one.turn == MoveDirection::Worse).map(named).collect();
    if !worse.is_empty() && asked.reason.is_none() {
        return refuse(BumpRefusal::NoReason(worse));
    }
    let mut baseline = result.proposed.clone();
    baseline.accepted.push(Acceptance {
        by: approval.by.clone(),
        at: approval.at.clone(),
        pull_request: Some(pull.number),
        reason: asked.reason.clone(),
        previous_sha256: asked.before_sha256.clone(),
    });
    Ok(BumpPlan::Commit {
        branch: pull.branch.clone(),
        head: pull.head.clone(),
        baseline: Box::new(baseline),
        by: approval.by.clone(),
        digest: approval.digest.clone(),
    })
}

fn named(one: &BaselineMove) -> String {
    format!("{} of {}/{}", one.metric, one.suite, one.agent)
}

/// Whether two baselines say the same, to the places that the file keeps: when and by what it was written is no difference.
pub fn is_same(one: &Baseline, other: &Baseline) -> bool {
    let rounded = |baseline: &Baseline| {
        let mut suites = baseline.suites.clone();
        let places = |value: f64| (value * 1e6).round() / 1e6 + 0.0;
        for entry in suites.values_mut().flat_map(|agents| agents.values_mut()) {
            entry.metrics.values_mut().for_each(|value| *value = places(*value));
            for values in entry.cases.values_mut().flat_map(|case| case.values_mut()) {
                values.iter_mut().flatten().for_each(|value| *value = places(*value));
            }
            entry.taxonomy.retain(|_, count| *count > 0);
        }
        suites
    };
    rounded(one) == rounded(other)
}

impl fmt::Display for BumpRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved => out.write_str("the branch moved since the approval; look at the new result and add the label again"),
            Self::NoResult(why) => why.fmt(out),
            Self::OtherResult => {
                out.write_str("the newest run on this commit came to another result than the approved one; add the label again")
            }
            Self::NotAsMeasured => {
                out.write_str("the proposed baseline in the run's artifact does not have the numbers of the run's own report")
            }
            Self::NoReason(worse) => {
                let shown = worse.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if worse.len() > 5 { format!(" and {} more", worse.len() - 5) } else { String::new() };
                write!(
                    out,
                    "a worse number needs a reason ({shown}{more}): write a line `{}` into the description of this pull request",
                    writes_reason()
                )
            }
            Self::Fork => out.write_str(
                "the branch is in a fork, where this job cannot push; the approval counts as it is, and after the merge \
                 `mode: baseline-pr` writes the numbers; or run `goldgate run --update-baseline` on the branch, commit the \
                 baseline and have it approved again",
            ),
        }
    }
}

impl fmt::Display for BumpSkip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Closed => "the pull request is closed",
            Self::NotApproved => "there is no approval of this commit",
            Self::Committed => "the head has the approved numbers already",
            Self::Carried => "the pull request carries its own baseline, so the approval is all it takes",
            Self::Same => "no number moved",
        })
    }
}

#[cfg(test)]
mod tests;
