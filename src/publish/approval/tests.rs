//! Every event in every relevant state.

use std::sync::OnceLock;

use super::{
    ApprovalInput, ApprovalPlan, ApprovalRefusal, ApprovalScope, ApprovalSkip, LabelPresence,
    LabelSince, NoResult, PullRequestEvent, REMOVAL, description, label_presence, label_since,
    mark_own_removals, plan, reason_of_withdrawal, removal_mark, standing, withdrawal,
};
use crate::model::{
    Approval, ByAuthor, CommitStatus, LabelChange, LabelEvent, Permission, PullRequestDetails,
    PullState, RepoPath, StatusState,
};
use crate::publish::{ConfigKey, samples};

const LABEL: &str = "goldgate:accept-baseline";
static PUSHERS: OnceLock<Vec<String>> = OnceLock::new();
const BOT: &str = "github-actions[bot]";

fn head() -> String {
    "a".repeat(40)
}

fn digest() -> String {
    "d".repeat(64)
}

fn pull(labels: &[&str]) -> PullRequestDetails {
    PullRequestDetails {
        author: "Author".to_owned(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        ..samples::pull()
    }
}

fn key() -> ConfigKey {
    ConfigKey::new("", &RepoPath::root().child("goldgate.yaml"))
}

fn approval() -> Approval {
    Approval {
        by: "alice".to_owned(),
        at: "t".to_owned(),
        head: head(),
        digest: digest(),
        reason: None,
    }
}

fn asked<'a>(
    event: PullRequestEvent<'a>,
    pull: &'a PullRequestDetails,
    head: &'a str,
    digest: &'a str,
) -> ApprovalInput<'a> {
    let presence = if pull.labels.iter().any(|label| label == LABEL) {
        LabelPresence::Set
    } else {
        LabelPresence::Missing
    };
    ApprovalInput {
        event,
        presence,
        giver: Some("alice"),
        since: LabelSince::Kept,
        pushers: PUSHERS.get_or_init(|| vec!["author".to_owned()]),
        head,
        label: LABEL,
        required: Permission::Write,
        permission: Permission::Write,
        by_author: ByAuthor::DoesNotCount,
        pull,
        standing: None,
        result: Ok(digest),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of rows")]
fn a_label_counts_for_its_giver_its_head_and_its_result_alone() {
    let (pull, head, digest, other) = (pull(&["bug", LABEL]), head(), digest(), "e".repeat(40));
    let base = asked(PullRequestEvent::Labeled(LABEL), &pull, &head, &digest);
    let description = description("alice", &digest, 2);
    assert!(description.len() < 140);
    assert_eq!(
        plan(&base),
        ApprovalPlan::Grant {
            head: head.clone(),
            description,
            by: "alice".to_owned()
        }
    );

    let refused = |asked: ApprovalInput<'_>| match plan(&asked) {
        ApprovalPlan::Refuse {
            why,
            withdrawn: None,
        } => why,
        other => unreachable!("{other:?}"),
    };
    let younger = ApprovalInput {
        head: &other,
        result: Err(NoResult::Younger),
        ..base.clone()
    };
    let moved = refused(younger);
    assert_eq!(
        moved,
        ApprovalRefusal::Moved {
            seen: other.clone(),
            now: head.clone()
        }
    );
    for has in [Permission::None, Permission::Read, Permission::Triage] {
        let actor = "alice".to_owned();
        assert_eq!(
            refused(ApprovalInput {
                permission: has,
                ..base.clone()
            }),
            ApprovalRefusal::NotAllowed {
                actor,
                has,
                needs: Permission::Write
            }
        );
    }
    let required = Permission::Admin;
    assert!(matches!(
        refused(ApprovalInput {
            required,
            ..base.clone()
        }),
        ApprovalRefusal::NotAllowed { .. }
    ));
    assert!(matches!(
        refused(ApprovalInput {
            giver: Some("author"),
            ..base.clone()
        }),
        ApprovalRefusal::Author { .. }
    ));
    let own = ApprovalInput {
        giver: Some("Author"),
        by_author: ByAuthor::Counts,
        ..base.clone()
    };
    assert!(matches!(plan(&own), ApprovalPlan::Grant { .. }));
    let of_bot = ["acme-recorder[bot]".to_owned(), "Alice".to_owned()];
    assert!(matches!(
        refused(ApprovalInput {
            pushers: &of_bot,
            ..base.clone()
        }),
        ApprovalRefusal::Pusher { .. }
    ));
    let own = ApprovalInput {
        pushers: &of_bot,
        by_author: ByAuthor::Counts,
        ..base.clone()
    };
    assert!(matches!(plan(&own), ApprovalPlan::Grant { .. }));
    assert_eq!(
        refused(ApprovalInput {
            pushers: &[],
            ..base.clone()
        }),
        ApprovalRefusal::UnknownPusher
    );
    let own = ApprovalInput {
        pushers: &[],
        by_author: ByAuthor::Counts,
        ..base.clone()
    };
    assert!(matches!(plan(&own), ApprovalPlan::Grant { .. }));
    let unlisted = ApprovalInput {
        giver: None,
        ..base.clone()
    };
    assert_eq!(
        plan(&unlisted),
        ApprovalPlan::Wait(ApprovalRefusal::NoGiver)
    );
    let later = ApprovalInput {
        event: PullRequestEvent::Other,
        ..unlisted
    };
    assert_eq!(refused(later), ApprovalRefusal::NoGiver);
    let deleted = ApprovalInput {
        giver: Some(""),
        ..base.clone()
    };
    assert_eq!(refused(deleted), ApprovalRefusal::NoGiver);
    let other_case = ApprovalInput {
        label: "Goldgate:Accept-Baseline",
        ..base.clone()
    };
    assert!(
        matches!(plan(&other_case), ApprovalPlan::Grant { .. }),
        "GitHub compares labels without letter case"
    );
    let why = ApprovalRefusal::NoResult(NoResult::Missing);
    assert_eq!(
        plan(&ApprovalInput {
            result: Err(NoResult::Missing),
            ..base.clone()
        }),
        ApprovalPlan::Wait(why)
    );
    for why in [
        NoResult::Expired,
        NoResult::Younger,
        NoResult::NotShown,
        NoResult::Edited("mallory".to_owned()),
        NoResult::ShownLater,
        NoResult::Hidden(2),
        NoResult::OtherCommit,
        NoResult::Unusable("broken".to_owned()),
    ] {
        assert_eq!(
            refused(ApprovalInput {
                result: Err(why.clone()),
                ..base.clone()
            }),
            ApprovalRefusal::NoResult(why)
        );
    }
    let (same, stale) = (
        approval(),
        Approval {
            digest: "e".repeat(64),
            ..approval()
        },
    );
    assert_eq!(
        plan(&ApprovalInput {
            standing: Some(&same),
            ..base.clone()
        }),
        ApprovalPlan::Nothing(ApprovalSkip::Already)
    );
    assert!(matches!(
        plan(&ApprovalInput {
            standing: Some(&stale),
            ..base
        }),
        ApprovalPlan::Grant { .. }
    ));
}

/// A run on an event may be dropped from its queue, so the next event, of any kind, catches up.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of rows")]
fn every_event_checks_the_present_state() {
    let (with, without, head, digest, current) =
        (pull(&[LABEL]), pull(&["bug"]), head(), digest(), approval());
    let closed = PullRequestDetails {
        state: PullState::Closed,
        ..with.clone()
    };
    let withdrawn = || ApprovalPlan::Withdraw {
        head: head.clone(),
        description: "withdrawn: alice removed the label; #2".to_owned(),
    };
    let by = || "alice".to_owned();
    let granted = || ApprovalPlan::Grant {
        head: head.clone(),
        description: description("alice", &digest, 2),
        by: by(),
    };
    for (event, pull, standing, expected) in [
        (PullRequestEvent::Labeled("bug"), &with, None, granted()),
        (
            PullRequestEvent::Labeled("bug"),
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::OtherLabel),
        ),
        (
            PullRequestEvent::Labeled(LABEL),
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::Gone),
        ),
        (
            PullRequestEvent::Labeled(LABEL),
            &closed,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::Closed),
        ),
        (
            PullRequestEvent::Unlabeled("bug"),
            &with,
            Some(&current),
            ApprovalPlan::Nothing(ApprovalSkip::Already),
        ),
        (
            PullRequestEvent::Unlabeled(LABEL),
            &with,
            Some(&current),
            ApprovalPlan::Nothing(ApprovalSkip::Back),
        ),
        (
            PullRequestEvent::Unlabeled(LABEL),
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::NothingToWithdraw),
        ),
        (
            PullRequestEvent::Unlabeled(LABEL),
            &without,
            Some(&current),
            withdrawn(),
        ),
        (
            PullRequestEvent::Labeled("bug"),
            &without,
            Some(&current),
            withdrawn(),
        ),
        (
            PullRequestEvent::Other,
            &without,
            Some(&current),
            withdrawn(),
        ),
        (
            PullRequestEvent::Pushed,
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::NoLabel),
        ),
        (PullRequestEvent::Pushed, &with, None, granted()),
        (
            PullRequestEvent::Pushed,
            &with,
            Some(&current),
            ApprovalPlan::Nothing(ApprovalSkip::Already),
        ),
        (
            PullRequestEvent::Opened,
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::NoLabel),
        ),
        (PullRequestEvent::Other, &with, None, granted()),
        (
            PullRequestEvent::Other,
            &without,
            None,
            ApprovalPlan::Nothing(ApprovalSkip::OtherEvent),
        ),
    ] {
        let since = if pull == &without {
            LabelSince::RemovedBy("alice")
        } else {
            LabelSince::Kept
        };
        let asked = ApprovalInput {
            standing,
            since,
            ..asked(event, pull, &head, &digest)
        };
        assert_eq!(plan(&asked), expected, "{event:?}");
    }
    for (event, expected) in [
        (
            PullRequestEvent::Pushed,
            ApprovalRefusal::Pushed { head: head.clone() },
        ),
        (PullRequestEvent::Opened, ApprovalRefusal::NeverJudged),
    ] {
        let asked = ApprovalInput {
            result: Err(NoResult::Younger),
            ..asked(event, &with, &head, &digest)
        };
        assert_eq!(
            plan(&asked),
            ApprovalPlan::Refuse {
                why: expected,
                withdrawn: None
            },
            "{event:?}"
        );
    }
}

fn changed(change: LabelChange, by: &str) -> LabelEvent {
    LabelEvent {
        label: LABEL.to_owned(),
        change,
        by: by.to_owned(),
        at: String::new(),
    }
}

fn marked(
    mut events: Vec<LabelEvent>,
    identity: Option<&str>,
    statuses: &[CommitStatus],
) -> Vec<LabelEvent> {
    mark_own_removals(&mut events, (7, LABEL), (identity, "70"), statuses);
    events
}

/// The status before a removal of the label.
fn mark(creator: &str, time: &str) -> CommitStatus {
    CommitStatus {
        context: REMOVAL.to_owned(),
        state: StatusState::Success,
        description: removal_mark(7, LABEL, "69"),
        creator: creator.to_owned(),
        at: time.to_owned(),
    }
}

/// Another workflow removes labels as the same account, and the owner of a personal token by hand.
#[test]
fn a_removal_is_goldgates_own_only_right_after_its_status() {
    let at = |change, time: &str| LabelEvent {
        at: time.to_owned(),
        ..changed(change, "alice")
    };
    let status = mark;
    let of_run = |run: &str| CommitStatus {
        description: removal_mark(7, LABEL, run),
        ..mark("alice", "t3")
    };
    let events = || vec![at(LabelChange::Added, "t2"), at(LabelChange::Removed, "t4")];
    for (statuses, expected) in [
        (vec![], LabelChange::Removed),
        (vec![status("alice", "t3")], LabelChange::RemovedByGoldgate),
        (vec![status("alice", "t4")], LabelChange::RemovedByGoldgate),
        (
            vec![
                status("alice", "t1"),
                status("alice", "t5"),
                status("mallory", "t3"),
            ],
            LabelChange::Removed,
        ),
        (
            vec![CommitStatus {
                description: removal_mark(8, LABEL, "69"),
                ..status("alice", "t3")
            }],
            LabelChange::Removed,
        ),
        (vec![of_run("70")], LabelChange::RemovedInThisRun),
        (vec![of_run("7")], LabelChange::RemovedByGoldgate),
    ] {
        assert_eq!(
            marked(events(), Some("alice"), &statuses)[1].change,
            expected,
            "{statuses:?}"
        );
    }
}

/// The run on the event that removed the label may be dropped, and the label may be back before the next one.
#[test]
fn a_removal_after_the_approval_withdraws_it_unless_goldgate_removed_the_label() {
    let (added, removed) = (
        |by| changed(LabelChange::Added, by),
        |by| changed(LabelChange::Removed, by),
    );
    let current = approval();
    for (events, expected) in [
        (vec![added("alice")], LabelSince::Kept),
        (
            vec![added("alice"), removed("trudy")],
            LabelSince::RemovedBy("trudy"),
        ),
        (
            vec![added("alice"), removed(BOT)],
            LabelSince::RemovedByGoldgate,
        ),
        (
            vec![
                added("alice"),
                removed("trudy"),
                added("mallory"),
                removed(BOT),
            ],
            LabelSince::RemovedBy("trudy"),
        ),
        (
            vec![added("alice"), removed("trudy"), added("Alice")],
            LabelSince::Kept,
        ),
        (vec![removed("trudy"), added("mallory")], LabelSince::Kept),
        (
            vec![added("mallory"), removed("")],
            LabelSince::RemovedBy(""),
        ),
        (vec![], LabelSince::NeverSet),
    ] {
        let marked = marked(events, Some(BOT), &[mark(BOT, "")]);
        assert_eq!(
            label_since(&marked, LABEL, Some(&current)),
            expected,
            "{marked:?}"
        );
    }
    let events = marked(vec![added("alice"), removed(BOT)], None, &[]);
    assert_eq!(
        label_since(&events, LABEL, Some(&current)),
        LabelSince::RemovedBy(BOT)
    );
    let (with, without, head, digest) = (pull(&[LABEL]), pull(&[]), head(), digest());
    let since = LabelSince::RemovedByGoldgate;
    let kept = ApprovalInput {
        standing: Some(&current),
        since,
        ..asked(PullRequestEvent::Other, &without, &head, &digest)
    };
    assert_eq!(
        plan(&kept),
        ApprovalPlan::Nothing(ApprovalSkip::RemovedByGoldgate)
    );
    // The label is back, given by somebody else: their label is judged, and the old approval counts no more.
    let since = LabelSince::RemovedBy("trudy");
    let back = ApprovalInput {
        standing: Some(&current),
        since,
        ..asked(PullRequestEvent::Other, &with, &head, &digest)
    };
    assert!(matches!(plan(&back), ApprovalPlan::Grant { .. }));
    let refused = plan(&ApprovalInput {
        permission: Permission::Read,
        ..back
    });
    let ApprovalPlan::Refuse {
        why: ApprovalRefusal::NotAllowed { .. },
        withdrawn: Some(text),
    } = refused
    else {
        unreachable!("{refused:?}")
    };
    assert_eq!(text, "withdrawn: trudy removed the label; #2");
}

#[test]
fn a_label_that_goldgate_removed_is_served_and_one_that_a_user_removed_is_gone() {
    let (added, removed) = (
        |by| changed(LabelChange::Added, by),
        |by| changed(LabelChange::Removed, by),
    );
    let (set, bare) = (pull(&[LABEL]), pull(&[]));
    for (events, pull, expected) in [
        (
            vec![added("alice")],
            &set,
            (LabelPresence::Set, Some("alice")),
        ),
        (vec![], &set, (LabelPresence::Set, None)),
        (
            vec![added("alice"), removed(BOT)],
            &bare,
            (LabelPresence::RemovedInOtherStep, Some("alice")),
        ),
        (
            vec![added("alice"), removed("trudy")],
            &bare,
            (LabelPresence::Missing, None),
        ),
        (
            vec![added("alice"), removed("trudy"), removed(BOT)],
            &bare,
            (LabelPresence::Missing, None),
        ),
        (vec![removed(BOT)], &bare, (LabelPresence::Missing, None)),
        (vec![], &bare, (LabelPresence::Missing, None)),
    ] {
        let in_this_run = CommitStatus {
            description: removal_mark(7, LABEL, "70"),
            ..mark(BOT, "")
        };
        let own = marked(events.clone(), Some(BOT), &[in_this_run]);
        let in_another = marked(events.clone(), Some(BOT), &[mark(BOT, "")]);
        assert_ne!(
            label_presence(&in_another, LABEL, pull).0,
            LabelPresence::RemovedInOtherStep,
            "{events:?}"
        );
        let (presence, event) = label_presence(&own, "Goldgate:Accept-Baseline", pull);
        assert_eq!(
            (presence, event.map(|event| event.by.as_str())),
            expected,
            "{events:?}"
        );
        assert_ne!(
            label_presence(&events, LABEL, pull).0,
            LabelPresence::RemovedInOtherStep,
            "{events:?}"
        );
    }
}

/// Another config of the same job goes on; another event does not bring the label back.
#[test]
fn a_served_label_is_judged_in_the_job_that_it_started() {
    let (without, head, digest, current) = (pull(&[]), head(), digest(), approval());
    let (presence, since) = (
        LabelPresence::RemovedInOtherStep,
        LabelSince::RemovedByGoldgate,
    );
    let served = ApprovalInput {
        presence,
        since,
        ..asked(PullRequestEvent::Labeled(LABEL), &without, &head, &digest)
    };
    assert!(matches!(plan(&served), ApprovalPlan::Grant { .. }));
    assert!(matches!(
        plan(&ApprovalInput {
            permission: Permission::Read,
            ..served.clone()
        }),
        ApprovalPlan::Refuse { .. }
    ));
    let early = plan(&ApprovalInput {
        result: Err(NoResult::Missing),
        ..served.clone()
    });
    assert!(
        matches!(early, ApprovalPlan::Refuse { .. }),
        "the label is gone, so nothing waits: {early:?}"
    );
    let decided = ApprovalInput {
        standing: Some(&current),
        ..served.clone()
    };
    assert_eq!(
        plan(&decided),
        ApprovalPlan::Nothing(ApprovalSkip::RemovedByGoldgate)
    );
    for event in [
        PullRequestEvent::Pushed,
        PullRequestEvent::Labeled("bug"),
        PullRequestEvent::Other,
    ] {
        assert!(
            matches!(
                plan(&ApprovalInput {
                    event,
                    ..served.clone()
                }),
                ApprovalPlan::Nothing(_)
            ),
            "{event:?}"
        );
    }
}

#[test]
fn only_the_newest_own_status_with_a_whole_digest_is_an_approval() {
    let (head, digest) = (head(), digest());
    let line = description("alice", &digest, 2);
    let key = key();
    let scope = |pull| ApprovalScope {
        key: &key,
        identity: BOT,
        pull: Some(pull),
    };
    let status = |context: &str, state, creator: &str, description: &str| CommitStatus {
        context: context.to_owned(),
        state,
        description: description.to_owned(),
        creator: creator.to_owned(),
        at: "t".to_owned(),
    };
    let good = status("goldgate/baseline", StatusState::Success, BOT, &line);
    assert_eq!(
        standing(std::slice::from_ref(&good), scope(2), &head),
        Some(approval())
    );
    for forged in [
        status("goldgate/baseline", StatusState::Success, "mallory", &line),
        status(
            "goldgate/baseline",
            StatusState::Success,
            "github-actions",
            &line,
        ),
        status("goldgate/other", StatusState::Success, BOT, &line),
        status("goldgate/baseline/other", StatusState::Success, BOT, &line),
        status("goldgate/baseline", StatusState::Other, BOT, &line),
        status(
            "goldgate/baseline",
            StatusState::Success,
            BOT,
            "approved by alice; result dd",
        ),
        status(
            "goldgate/baseline",
            StatusState::Success,
            BOT,
            &line.replace('d', "D"),
        ),
        status(
            "goldgate/baseline",
            StatusState::Success,
            BOT,
            &line.replace("by alice", "by "),
        ),
        status("goldgate/baseline", StatusState::Success, BOT, ""),
    ] {
        assert_eq!(
            standing(std::slice::from_ref(&forged), scope(2), &head),
            None,
            "{forged:?}"
        );
    }
    assert_eq!(standing(std::slice::from_ref(&good), scope(8), &head), None);
    let of_any = ApprovalScope {
        pull: None,
        ..scope(8)
    };
    assert_eq!(
        standing(std::slice::from_ref(&good), of_any, &head),
        Some(approval())
    );
    // A forged one after it changes nothing, an own withdrawal does.
    let forged = status("goldgate/baseline", StatusState::Failure, "mallory", "no");
    assert!(standing(&[forged, good.clone()], scope(2), &head).is_some());
    let withdrawn = status(
        "goldgate/baseline",
        StatusState::Failure,
        BOT,
        "withdrawn: alice removed the label",
    );
    assert!(standing(&[withdrawn, good.clone()], scope(2), &head).is_none());
    // That of another pull request with the same head is not about this one.
    for (number, is_standing) in [(2, false), (8, true)] {
        let text = withdrawal(Some("alice"), number);
        assert_eq!(reason_of_withdrawal(&text), Some("alice removed the label"));
        let withdrawn = status("goldgate/baseline", StatusState::Failure, BOT, &text);
        let statuses = [withdrawn, good.clone()];
        assert_eq!(
            standing(&statuses, scope(2), &head).is_some(),
            is_standing,
            "{text}"
        );
        assert_eq!(
            standing(&statuses, of_any, &head).is_some(),
            is_standing,
            "{text}"
        );
    }
}
