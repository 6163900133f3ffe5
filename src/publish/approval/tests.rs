//! Every event against every state that decides about it.

use super::{Asked, Happened, NoResult, Plan, Refusal, Why, counts, description, plan, standing};
use crate::model::{Approval, ByAuthor, CommitStatus, Origin, Permission, Pull, PullState, RepoPath, StatusState};
use crate::publish::ConfigKey;

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
        label: Some("acme:changes".to_owned()),
        head_repository: Some("acme/agents".to_owned()),
        into: "main".to_owned(),
        origin: Origin::Same,
        base: "b".repeat(40),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        description: String::new(),
    }
}

fn key() -> ConfigKey {
    ConfigKey::new("", &RepoPath::root().child("goldgate.yaml"))
}

fn approval() -> Approval {
    Approval { by: "alice".to_owned(), at: "t".to_owned(), head: head(), digest: digest() }
}

fn asked<'a>(happened: Happened<'a>, pull: &'a Pull, head: &'a str, digest: &'a str) -> Asked<'a> {
    Asked {
        happened,
        giver: Some("alice"),
        remover: Some("alice"),
        pusher: Some("author"),
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
    assert_eq!(plan(&base), Plan::Grant { head: head.clone(), description, by: "alice".to_owned() });

    let refused = |asked: Asked<'_>| match plan(&asked) {
        Plan::Refuse(why) => why,
        other => unreachable!("{other:?}"),
    };
    let younger = Asked { head: &other, result: Err(NoResult::Younger), ..base.clone() };
    let moved = refused(younger);
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
    assert!(matches!(refused(Asked { giver: Some("author"), ..base.clone() }), Refusal::Author { .. }));
    let own = Asked { giver: Some("Author"), by_author: ByAuthor::Counts, ..base.clone() };
    assert!(matches!(plan(&own), Plan::Grant { .. }));
    assert!(matches!(refused(Asked { pusher: Some("Alice"), ..base.clone() }), Refusal::Pusher { .. }));
    let own = Asked { pusher: Some("alice"), by_author: ByAuthor::Counts, ..base.clone() };
    assert!(matches!(plan(&own), Plan::Grant { .. }));
    for nobody in [None, Some("")] {
        assert_eq!(refused(Asked { giver: nobody, ..base.clone() }), Refusal::NoGiver);
    }
    let other_case = Asked { label: "Goldgate:Accept-Baseline", ..base.clone() };
    assert!(matches!(plan(&other_case), Plan::Grant { .. }), "GitHub tells labels apart without letter case");
    for why in [
        NoResult::Missing,
        NoResult::Younger,
        NoResult::NotShown,
        NoResult::Hidden(2),
        NoResult::OtherCommit,
        NoResult::Unusable("broken".to_owned()),
    ] {
        assert_eq!(refused(Asked { result: Err(why.clone()), ..base.clone() }), Refusal::NoResult(why));
    }
    let (same, stale) = (approval(), Approval { digest: "e".repeat(64), ..approval() });
    assert_eq!(plan(&Asked { standing: Some(&same), ..base.clone() }), Plan::Nothing(Why::Already));
    assert!(matches!(plan(&Asked { standing: Some(&stale), ..base }), Plan::Grant { .. }));
}

/// A run on an event may be dropped from its queue, so the next event, whatever it is about, finds what it left undone.
#[test]
fn every_event_judges_what_stands_there() {
    let (with, without, head, digest, stands) = (pull(&[LABEL]), pull(&["bug"]), head(), digest(), approval());
    let closed = Pull { state: PullState::Closed, ..with.clone() };
    let withdrawn =
        || Plan::Withdraw { head: head.clone(), description: "withdrawn: alice removed the label".to_owned() };
    let by = || "alice".to_owned();
    let granted = || Plan::Grant { head: head.clone(), description: description("alice", &digest), by: by() };
    for (happened, pull, standing, wanted) in [
        (Happened::Labeled("bug"), &with, None, granted()),
        (Happened::Labeled("bug"), &without, None, Plan::Nothing(Why::OtherLabel)),
        (Happened::Labeled(LABEL), &without, None, Plan::Nothing(Why::Gone)),
        (Happened::Labeled(LABEL), &closed, None, Plan::Nothing(Why::Closed)),
        (Happened::Unlabeled("bug"), &with, Some(&stands), Plan::Nothing(Why::Already)),
        (Happened::Unlabeled(LABEL), &with, Some(&stands), Plan::Nothing(Why::Back)),
        (Happened::Unlabeled(LABEL), &without, None, Plan::Nothing(Why::NothingStands)),
        (Happened::Unlabeled(LABEL), &without, Some(&stands), withdrawn()),
        (Happened::Labeled("bug"), &without, Some(&stands), withdrawn()),
        (Happened::Other, &without, Some(&stands), withdrawn()),
        (Happened::Pushed, &without, None, Plan::Nothing(Why::NoLabel)),
        (Happened::Pushed, &with, None, granted()),
        (Happened::Pushed, &with, Some(&stands), Plan::Nothing(Why::Already)),
        (Happened::Opened, &without, None, Plan::Nothing(Why::NoLabel)),
        (Happened::Other, &with, None, granted()),
        (Happened::Other, &without, None, Plan::Nothing(Why::OtherEvent)),
    ] {
        let asked = Asked { standing, ..asked(happened, pull, &head, &digest) };
        assert_eq!(plan(&asked), wanted, "{happened:?}");
    }
    for (happened, wanted) in
        [(Happened::Pushed, Refusal::Pushed { head: head.clone() }), (Happened::Opened, Refusal::NeverJudged)]
    {
        let asked = Asked { result: Err(NoResult::Younger), ..asked(happened, &with, &head, &digest) };
        assert_eq!(plan(&asked), Plan::Refuse(wanted), "{happened:?}");
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
    let good = status("goldgate/baseline", StatusState::Success, BOT, &line);
    assert_eq!(standing(std::slice::from_ref(&good), &key(), BOT, &head), Some(approval()));
    for forged in [
        status("goldgate/baseline", StatusState::Success, "mallory", &line),
        status("goldgate/baseline", StatusState::Success, "github-actions", &line),
        status("goldgate/other", StatusState::Success, BOT, &line),
        status("goldgate/baseline/other", StatusState::Success, BOT, &line),
        status("goldgate/baseline", StatusState::Other, BOT, &line),
        status("goldgate/baseline", StatusState::Success, BOT, "approved by alice; result dd"),
        status("goldgate/baseline", StatusState::Success, BOT, &line.replace('d', "D")),
        status("goldgate/baseline", StatusState::Success, BOT, &line.replace("by alice", "by ")),
        status("goldgate/baseline", StatusState::Success, BOT, ""),
    ] {
        assert_eq!(standing(std::slice::from_ref(&forged), &key(), BOT, &head), None, "{forged:?}");
    }
    // A forged one after it changes nothing, an own withdrawal does.
    let forged = status("goldgate/baseline", StatusState::Failure, "mallory", "no");
    assert!(standing(&[forged, good.clone()], &key(), BOT, &head).is_some());
    let withdrawn = status("goldgate/baseline", StatusState::Failure, BOT, "withdrawn: alice removed the label");
    assert!(standing(&[withdrawn, good], &key(), BOT, &head).is_none());
    assert!(counts(Some(approval()), &head, &digest).is_some());
    assert!(counts(Some(approval()), &"b".repeat(40), &digest).is_none());
    assert!(counts(Some(approval()), &head, &"e".repeat(64)).is_none());
}
