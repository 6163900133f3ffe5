//! Every event against every state that decides about it.

use super::Asked;
use super::Happened;
use super::NoResult;
use super::Plan;
use super::Refusal;
use super::Why;
use super::counts;
use super::description;
use super::plan;
use super::standing;
use crate::model::Approval;
use crate::model::ByAuthor;
use crate::model::CommitStatus;
use crate::model::Origin;
use crate::model::Permission;
use crate::model::Pull;
use crate::model::PullState;
use crate::model::StatusState;

const LABEL: &str = "goldgate:accept-baseline";
const BOT: &str = "github-actions[bot]";

fn head() -> String {
    "a".repeat(40)
}

fn digest() -> String {
    "d".repeat(64)
}

fn pull(labels: &[&str]) -> Pull {
    Pull {
        number: 2,
        state: PullState::Open,
        author: "Author".to_owned(),
        head: head(),
        branch: "changes".to_owned(),
        origin: Origin::Same,
        base: "b".repeat(40),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        description: String::new(),
    }
}

fn approval() -> Approval {
    Approval { by: "alice".to_owned(), at: "t".to_owned(), head: head(), digest: digest() }
}

fn asked<'a>(happened: Happened<'a>, pull: &'a Pull, head: &'a str, digest: &'a str) -> Asked<'a> {
    Asked {
        happened,
        actor: "alice",
        head,
        label: LABEL,
        floor: Permission::Write,
        allowed: Permission::Write,
        by_author: ByAuthor::DoesNotCount,
        pull,
        standing: None,
        result: Ok(digest),
    }
}

#[test]
fn a_label_counts_for_its_giver_its_head_and_its_result_alone() {
    let (pull, head, digest, other) = (pull(&["bug", LABEL]), head(), digest(), "e".repeat(40));
    let base = asked(Happened::Labeled(LABEL), &pull, &head, &digest);
    let description = description("alice", &digest);
    assert!(description.len() < 140);
    assert_eq!(plan(&base), Plan::Grant { head: head.clone(), description });

    let refused = |asked: Asked<'_>| match plan(&asked) {
        Plan::Refuse(why) => why,
        other => unreachable!("{other:?}"),
    };
    let moved = refused(Asked { head: &other, ..base.clone() });
    assert_eq!(moved, Refusal::Moved { seen: other.clone(), now: head.clone() });
    for has in [Permission::None, Permission::Read, Permission::Triage] {
        let actor = "alice".to_owned();
        assert_eq!(
            refused(Asked { allowed: has, ..base.clone() }),
            Refusal::NotAllowed { actor, has, needs: Permission::Write }
        );
    }
    let floor = Permission::Admin;
    assert!(matches!(refused(Asked { floor, ..base.clone() }), Refusal::NotAllowed { .. }));
    assert!(matches!(refused(Asked { actor: "author", ..base.clone() }), Refusal::Author { .. }));
    let own = Asked { actor: "Author", by_author: ByAuthor::Counts, ..base.clone() };
    assert!(matches!(plan(&own), Plan::Grant { .. }));
    for why in [NoResult::Missing, NoResult::OtherCommit, NoResult::Unusable("broken".to_owned())] {
        assert_eq!(refused(Asked { result: Err(why.clone()), ..base.clone() }), Refusal::NoResult(why));
    }
    let (same, stale) = (approval(), Approval { digest: "e".repeat(64), ..approval() });
    assert_eq!(plan(&Asked { standing: Some(&same), ..base.clone() }), Plan::Nothing(Why::Already));
    assert!(matches!(plan(&Asked { standing: Some(&stale), ..base }), Plan::Grant { .. }));
}

#[test]
fn every_other_event_only_takes_away() {
    let (with, without, head, digest, stands) = (pull(&[LABEL]), pull(&["bug"]), head(), digest(), approval());
    let closed = Pull { state: PullState::Closed, ..with.clone() };
    for (happened, pull, standing, wanted) in [
        (Happened::Labeled("bug"), &with, None, Plan::Nothing(Why::OtherLabel)),
        (Happened::Labeled(LABEL), &without, None, Plan::Nothing(Why::Gone)),
        (Happened::Labeled(LABEL), &closed, None, Plan::Nothing(Why::Closed)),
        (Happened::Unlabeled("bug"), &with, Some(&stands), Plan::Nothing(Why::OtherLabel)),
        (Happened::Unlabeled(LABEL), &with, Some(&stands), Plan::Nothing(Why::Back)),
        (Happened::Unlabeled(LABEL), &without, None, Plan::Nothing(Why::NothingStands)),
        (
            Happened::Unlabeled(LABEL),
            &without,
            Some(&stands),
            Plan::Withdraw { head: head.clone(), description: "withdrawn: alice removed the label".to_owned() },
        ),
        (Happened::Pushed, &without, None, Plan::Nothing(Why::NoLabel)),
        (Happened::Pushed, &with, None, Plan::Refuse(Refusal::Pushed { head: head.clone() })),
        (Happened::Pushed, &with, Some(&stands), Plan::Nothing(Why::Already)),
        (Happened::Opened, &with, None, Plan::Refuse(Refusal::NeverJudged)),
        (Happened::Opened, &without, None, Plan::Nothing(Why::NoLabel)),
        (Happened::Other, &with, None, Plan::Nothing(Why::OtherEvent)),
    ] {
        let asked = Asked { standing, ..asked(happened, pull, &head, &digest) };
        assert_eq!(plan(&asked), wanted, "{happened:?}");
    }
}

#[test]
fn only_the_newest_own_status_with_a_whole_digest_is_an_approval() {
    let (head, digest) = (head(), digest());
    let line = description("alice", &digest);
    let status = |context: &str, state, creator: &str, description: &str| CommitStatus {
        context: context.to_owned(),
        state,
        description: description.to_owned(),
        creator: creator.to_owned(),
        at: "t".to_owned(),
    };
    let good = status(super::CONTEXT, StatusState::Success, BOT, &line);
    assert_eq!(standing(std::slice::from_ref(&good), BOT, &head), Some(approval()));
    for forged in [
        status(super::CONTEXT, StatusState::Success, "mallory", &line),
        status(super::CONTEXT, StatusState::Success, "github-actions", &line),
        status("goldgate/other", StatusState::Success, BOT, &line),
        status(super::CONTEXT, StatusState::Other, BOT, &line),
        status(super::CONTEXT, StatusState::Success, BOT, "approved by alice; result dd"),
        status(super::CONTEXT, StatusState::Success, BOT, &line.replace('d', "D")),
        status(super::CONTEXT, StatusState::Success, BOT, &line.replace("by alice", "by ")),
        status(super::CONTEXT, StatusState::Success, BOT, ""),
    ] {
        assert_eq!(standing(std::slice::from_ref(&forged), BOT, &head), None, "{forged:?}");
    }
    // A forged one after it changes nothing, an own withdrawal does.
    let forged = status(super::CONTEXT, StatusState::Failure, "mallory", "no");
    assert!(standing(&[forged, good.clone()], BOT, &head).is_some());
    let withdrawn = status(super::CONTEXT, StatusState::Failure, BOT, "withdrawn: alice removed the label");
    assert!(standing(&[withdrawn, good], BOT, &head).is_none());
    assert!(counts(Some(approval()), &head, &digest).is_some());
    assert!(counts(Some(approval()), &"b".repeat(40), &digest).is_none());
    assert!(counts(Some(approval()), &head, &"e".repeat(64)).is_none());
}
