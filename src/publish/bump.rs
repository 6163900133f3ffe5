//! Plans the commit of an approved baseline, from the approval, the result and the pull request.

use std::collections::BTreeMap;
use std::fmt;

use super::approval::NoResult;
use super::moves::{BaselineMove, is_worse};
use super::reason::reason_example;
use crate::model::{
    Acceptance, AgentName, Approval, Baseline, BaselineEntry, BranchOrigin, PullRequestDetails,
    PullState, SuiteId, six_places,
};

/// The input of the plan.
#[derive(Debug, Clone)]
pub struct BumpInput<'a> {
    /// The pull request now.
    pub pull: &'a PullRequestDetails,
    /// The commit at its head when the event happened.
    pub head: &'a str,
    /// The approval of the present head; `None` if there is none.
    pub standing: Option<&'a Approval>,
    /// The result of a run on that head.
    pub result: Result<MeasuredBaseline, NoResult>,
    /// The baseline of the base commit.
    pub before: Option<&'a Baseline>,
    /// The SHA-256 of its bytes.
    pub before_sha256: Option<String>,
    /// The baseline that is committed at the head.
    pub committed: Option<&'a Baseline>,
    /// The reason that the description gives.
    pub reason: Option<String>,
}

/// The result of a run from its artifact.
#[derive(Debug, Clone)]
pub struct MeasuredBaseline {
    /// Its digest, computed from the report.
    pub digest: String,
    /// The base commit's baseline with the report's numbers, computed from the report.
    pub proposed: Baseline,
    /// The proposed baseline in the artifact.
    pub written: Baseline,
    /// The numbers that moved.
    pub moves: Vec<BaselineMove>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum BumpPlan {
    /// Commit the baseline.
    Commit {
        /// The branch.
        branch: String,
        /// The commit that the branch must still have as its head.
        head: String,
        /// The baseline, with who accepted it.
        baseline: Box<Baseline>,
        /// Who approved; the approval moves on to the new commit.
        by: String,
        /// The digest of the result.
        digest: String,
    },
    /// Commit nothing, and give the reason in the comment.
    Refuse(BumpRefusal),
    /// Nothing to do.
    Nothing(BumpSkip),
}

/// Why an approved baseline is not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BumpRefusal {
    /// The head moved since the event.
    Moved,
    /// The head has no result of a run.
    NoResult(NoResult),
    /// The approval is for another result.
    OtherResult,
    /// The proposed file does not have the numbers of its own report.
    NotAsMeasured,
    /// Numbers get worse without a reason: `metric of suite/agent`.
    NoReason(Vec<String>),
    /// The branch is in a fork, where this token cannot push.
    Fork,
}

/// Why there is nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BumpSkip {
    /// The pull request is closed.
    Closed,
    /// The head has no approval.
    NotApproved,
    /// The head already has the approved numbers.
    Committed,
    /// The pull request changes the baseline itself, so the approval is enough.
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
        return if pull.head == asked.head {
            nothing(BumpSkip::NotApproved)
        } else {
            refuse(BumpRefusal::Moved)
        };
    };
    let numbers = |baseline: Option<&Baseline>| {
        baseline
            .map(|baseline| baseline.suites.clone())
            .unwrap_or_default()
    };
    let carried = numbers(asked.committed) != numbers(asked.before);
    let result = match (&asked.result, carried) {
        (Ok(result), _) => result,
        // The commit of this mode has no result until a run on it has finished.
        (Err(_), true) => return nothing(BumpSkip::Carried),
        (Err(why), false) => return refuse(BumpRefusal::NoResult(why.clone())),
    };
    if result.digest != approval.digest {
        return refuse(BumpRefusal::OtherResult);
    }
    if !is_same(&result.proposed, &result.written) {
        return refuse(BumpRefusal::NotAsMeasured);
    }
    if asked
        .committed
        .is_some_and(|committed| is_same(committed, &result.proposed))
    {
        return nothing(if carried {
            BumpSkip::Committed
        } else {
            BumpSkip::Same
        });
    }
    if carried {
        return nothing(BumpSkip::Carried);
    }
    if pull.origin == BranchOrigin::Fork {
        return refuse(BumpRefusal::Fork);
    }
    let worse: Vec<String> = result
        .moves
        .iter()
        .filter(|one| is_worse(one))
        .map(named)
        .collect();
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

/// Whether two baselines have the same numbers, rounded as in the file. Their time, commit and version do not count.
pub fn is_same(one: &Baseline, other: &Baseline) -> bool {
    rounded(one) == rounded(other)
}

/// The entries of a baseline with their numbers rounded as in the file.
pub fn rounded(baseline: &Baseline) -> BTreeMap<SuiteId, BTreeMap<AgentName, BaselineEntry>> {
    let mut suites = baseline.suites.clone();
    for entry in suites.values_mut().flat_map(|agents| agents.values_mut()) {
        entry
            .metrics
            .values_mut()
            .for_each(|value| *value = six_places(*value));
        for values in entry.cases.values_mut().flat_map(|case| case.values_mut()) {
            values
                .iter_mut()
                .flatten()
                .for_each(|value| *value = six_places(*value));
        }
        entry.taxonomy.retain(|_, count| *count > 0);
    }
    suites
}

impl fmt::Display for BumpRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved => out.write_str("the branch moved since the approval; look at the new result and add the label again"),
            Self::NoResult(why) => why.fmt(out),
            Self::OtherResult => {
                out.write_str("the newest run on this commit has another result than the approved one; add the label again")
            }
            Self::NotAsMeasured => {
                out.write_str("the proposed baseline in the run's artifact does not have the numbers of the run's own report")
            }
            Self::NoReason(worse) => {
                let first = worse.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if worse.len() > 5 { format!(" and {} more", worse.len() - 5) } else { String::new() };
                write!(
                    out,
                    "a worse number needs a reason ({first}{more}): add a line `{}` to the description of this pull request",
                    reason_example()
                )
            }
            Self::Fork => out.write_str(
                "the branch is in a fork, where this job cannot push; the approval still counts, and after the merge \
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
            Self::NotApproved => "this commit is not approved",
            Self::Committed => "the head already has the approved numbers",
            Self::Carried => {
                "the pull request changes the baseline itself, so the approval is enough"
            }
            Self::Same => "no number moved",
        })
    }
}

#[cfg(test)]
mod tests;
