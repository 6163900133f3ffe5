//! Every state that decides whether a baseline is committed.

use super::{BumpInput, BumpPlan, BumpRefusal, BumpSkip, MeasuredBaseline, is_same, plan};
use crate::model::{Approval, Baseline, BranchOrigin, PullRequestDetails, PullState};
use crate::publish::approval::NoResult;
use crate::publish::moves::MoveDirection;
use crate::publish::samples::{baseline, moved, pull};

#[test]
#[allow(clippy::too_many_lines, reason = "one scenario, in its order")]
fn a_baseline_is_committed_for_an_approved_result_alone() {
    let (pull, before, after, moves) = (
        pull(),
        baseline(0.9),
        baseline(0.8),
        moved(MoveDirection::Worse),
    );
    let digest = "d".repeat(64);
    let approval = Approval {
        by: "alice".to_owned(),
        at: "t".to_owned(),
        head: pull.head.clone(),
        digest: digest.clone(),
        reason: None,
    };
    let measured = MeasuredBaseline {
        digest: digest.clone(),
        proposed: after.clone(),
        written: after.clone(),
        moves,
    };
    let base = BumpInput {
        pull: &pull,
        head: &pull.head,
        standing: Some(&approval),
        result: Ok(measured.clone()),
        before: Some(&before),
        before_sha256: Some("p".to_owned()),
        committed: Some(&before),
        reason: Some("stricter cases".to_owned()),
    };
    let BumpPlan::Commit {
        branch,
        head,
        baseline: written,
        by,
        digest: of,
    } = plan(&base)
    else {
        unreachable!("no commit")
    };
    assert_eq!(
        (branch.as_str(), &head, by.as_str(), &of),
        ("changes", &pull.head, "alice", &digest)
    );
    let accepted = written.accepted.last().unwrap();
    assert_eq!(
        (
            accepted.by.as_str(),
            accepted.at.as_str(),
            accepted.pull_request
        ),
        ("alice", "t", Some(2))
    );
    assert_eq!(accepted.reason.as_deref(), Some("stricter cases"));
    assert_eq!(accepted.previous_sha256.as_deref(), Some("p"));

    let closed = PullRequestDetails {
        state: PullState::Closed,
        ..pull.clone()
    };
    let fork = PullRequestDetails {
        origin: BranchOrigin::Fork,
        ..pull.clone()
    };
    let (other, own) = ("e".repeat(64), baseline(0.5));
    let better = moved(MoveDirection::NoWorse);
    for (asked, wanted) in [
        (
            BumpInput {
                pull: &closed,
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::Closed),
        ),
        (
            BumpInput {
                standing: None,
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::NotApproved),
        ),
        (
            BumpInput {
                standing: None,
                head: "old",
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::Moved),
        ),
        (
            BumpInput {
                result: Err(NoResult::Missing),
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::NoResult(NoResult::Missing)),
        ),
        (
            BumpInput {
                result: Err(NoResult::Missing),
                committed: Some(&after),
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::Carried),
        ),
        (
            BumpInput {
                result: Ok(MeasuredBaseline {
                    digest: other,
                    ..measured.clone()
                }),
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::OtherResult),
        ),
        (
            BumpInput {
                result: Ok(MeasuredBaseline {
                    written: own.clone(),
                    ..measured.clone()
                }),
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::NotAsMeasured),
        ),
        (
            BumpInput {
                committed: Some(&after),
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::Committed),
        ),
        (
            BumpInput {
                committed: Some(&own),
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::Carried),
        ),
        (
            BumpInput {
                before: Some(&after),
                committed: Some(&after),
                ..base.clone()
            },
            BumpPlan::Nothing(BumpSkip::Same),
        ),
        (
            BumpInput {
                pull: &fork,
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::Fork),
        ),
        (
            BumpInput {
                reason: None,
                ..base.clone()
            },
            BumpPlan::Refuse(BumpRefusal::NoReason(vec![
                "recall of contracts/legal".to_owned(),
            ])),
        ),
    ] {
        assert_eq!(plan(&asked), wanted);
    }
    let result = Ok(MeasuredBaseline {
        moves: better,
        ..measured
    });
    assert!(matches!(
        plan(&BumpInput {
            reason: None,
            result,
            ..base
        }),
        BumpPlan::Commit { .. }
    ));
}

#[test]
fn two_baselines_are_the_same_to_six_places() {
    assert!(is_same(&baseline(1.0 / 3.0), &baseline(0.333_333)));
    assert!(!is_same(&baseline(0.333_333), &baseline(0.333_334)));
    let elsewhere = Baseline {
        commit: Some("c".to_owned()),
        ..baseline(0.5)
    };
    assert!(is_same(&elsewhere, &baseline(0.5)));
}
