//! Every state in which a label does not count, and those in which it does.

use super::ApprovalRefusal::{Author, NoGiver, NotAllowed, NotShown, Pusher, UnknownPusher};
use super::{ApprovalRefusal, BranchUpdate, GateRun, Snapshot};
use crate::model::{
    ApprovalPolicy, BranchPush, ByAuthor, LabelChange, LabelEvent, Permission, PullRequestDetails,
};
use crate::publish::samples;

const LABEL: &str = "goldgate:accept-baseline";

fn commit(letter: char) -> String {
    letter.to_string().repeat(40)
}

fn pull() -> PullRequestDetails {
    PullRequestDetails {
        author: "Author".to_owned(),
        labels: vec![LABEL.to_owned()],
        ..samples::pull()
    }
}

fn labeled(by: &str, at: &str) -> LabelEvent {
    LabelEvent {
        label: LABEL.to_uppercase(),
        change: LabelChange::Added,
        by: by.to_owned(),
        at: at.to_owned(),
    }
}

fn push(by: Option<&str>, after: char, at: &str) -> BranchPush {
    BranchPush {
        before: String::new(),
        after: commit(after),
        by: by.map(str::to_owned),
        at: at.to_owned(),
    }
}

fn run(id: u64, head: char, created: &str, ended: Option<&str>) -> GateRun {
    GateRun {
        id,
        head: commit(head),
        named: vec![commit('5')],
        created_at: created.to_owned(),
        ended_at: ended.map(str::to_owned),
        is_red: true,
        by: Some("bob".to_owned()),
    }
}

/// Who gave the label, and the run that was shown before.
type Given = Result<(String, u64), ApprovalRefusal>;

/// What GitHub says, as a test changes it.
struct State {
    labels: Vec<LabelEvent>,
    permission: Permission,
    pushes: Vec<BranchPush>,
    runs: Vec<GateRun>,
    updates: Vec<BranchUpdate>,
    policy: ApprovalPolicy,
}

impl State {
    /// bob pushed the head `a` at 1, a run of it worked from 2 to 3, and alice set the label at 4.
    fn new() -> Self {
        Self {
            labels: vec![labeled("alice", "4")],
            permission: Permission::Write,
            pushes: vec![push(Some("bob"), 'a', "1")],
            runs: vec![run(7, 'a', "2", Some("3"))],
            updates: Vec::new(),
            policy: ApprovalPolicy::default(),
        }
    }

    fn given(&self) -> Given {
        let pull = pull();
        let snapshot = Snapshot {
            pull: &pull,
            labels: &self.labels,
            permission: self.permission,
            pushes: &self.pushes,
            runs: &self.runs,
            updates: &self.updates,
        };
        let given = snapshot.given(&self.policy)?;
        Ok((given.by, given.shown.id))
    }
}

fn with(change: impl FnOnce(&mut State)) -> Given {
    let mut state = State::new();
    change(&mut state);
    state.given()
}

#[test]
fn a_label_counts_for_the_newest_run_that_had_ended_before_it() {
    let alice = |run| Ok(("alice".to_owned(), run));
    assert_eq!(with(|_| ()), alice(7));
    assert_eq!(
        with(|state| state.runs.push(run(6, 'a', "1", Some("2")))),
        alice(7)
    );
    let working = with(|state| state.runs.insert(0, run(8, 'a', "3", Some("5"))));
    assert_eq!(
        working,
        alice(7),
        "a run that worked when the label was set"
    );
    let again = with(|state| {
        state.labels = vec![
            labeled("mallory", "2"),
            LabelEvent {
                change: LabelChange::Removed,
                ..labeled("mallory", "3")
            },
            labeled("alice", "4"),
        ];
    });
    assert_eq!(again, alice(7), "the newest label counts");
    let pushed = with(|state| state.pushes.insert(0, push(Some("bob"), 'c', "5")));
    assert_eq!(
        pushed,
        alice(7),
        "what was pushed since is compared by the caller"
    );
}

#[test]
fn a_label_that_does_not_count_is_refused_with_its_reason() {
    let not_shown = || Err(NotShown { head: commit('a') });
    let table: [(&str, Given, Given); 11] = [
        ("no event", with(|state| state.labels.clear()), Err(NoGiver)),
        (
            "removed since",
            with(|state| {
                state.labels.push(LabelEvent {
                    change: LabelChange::Removed,
                    ..labeled("alice", "5")
                });
            }),
            Err(NoGiver),
        ),
        (
            "no permission",
            with(|state| state.permission = Permission::Triage),
            Err(NotAllowed {
                actor: "alice".to_owned(),
                has: Permission::Triage,
                needs: Permission::Write,
            }),
        ),
        (
            "a bot",
            with(|state| state.labels = vec![labeled("github-actions[bot]", "4")]),
            Err(NotAllowed {
                actor: "github-actions[bot]".to_owned(),
                has: Permission::Write,
                needs: Permission::Write,
            }),
        ),
        (
            "the author",
            with(|state| state.labels = vec![labeled("aUTHOR", "4")]),
            Err(Author("aUTHOR".to_owned())),
        ),
        (
            "the pusher",
            with(|state| state.labels = vec![labeled("Bob", "4")]),
            Err(Pusher("Bob".to_owned())),
        ),
        (
            "a deleted pusher",
            with(|state| state.pushes[0].by = None),
            Err(UnknownPusher),
        ),
        ("no run", with(|state| state.runs.clear()), not_shown()),
        (
            "a run that had not ended",
            with(|state| state.runs[0].ended_at = Some("4".to_owned())),
            not_shown(),
        ),
        (
            "the newest run was of another head",
            with(|state| state.runs.insert(0, run(8, 'c', "2", Some("3")))),
            not_shown(),
        ),
        (
            "pushed before the label, not shown yet",
            with(|state| state.pushes.insert(0, push(Some("bob"), 'c', "3"))),
            Err(NotShown { head: commit('c') }),
        ),
    ];
    for (what, found, expected) in table {
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn whoever_updates_the_branch_is_not_its_pusher() {
    let update = |state: &mut State| {
        state.pushes = vec![push(Some("alice"), 'a', "5"), push(Some("bob"), 'e', "1")];
        state.runs = vec![run(7, 'e', "2", Some("3"))];
    };
    assert_eq!(
        with(update),
        Err(ApprovalRefusal::Pusher("alice".to_owned())),
        "a merge with other content"
    );
    let own = with(|state| {
        update(state);
        state.updates = vec![BranchUpdate {
            head: commit('a'),
            before: commit('e'),
        }];
    });
    assert_eq!(own, Ok(("alice".to_owned(), 7)));
    let hidden = with(|state| {
        update(state);
        state.pushes[1].by = Some("alice".to_owned());
        state.updates = vec![BranchUpdate {
            head: commit('a'),
            before: commit('e'),
        }];
    });
    assert_eq!(
        hidden,
        Err(ApprovalRefusal::Pusher("alice".to_owned())),
        "an update hides no push"
    );
}

#[test]
fn without_the_activity_of_the_branch_its_runs_tell() {
    let without = |change: &dyn Fn(&mut State)| {
        with(|state| {
            state.pushes.clear();
            change(state);
        })
    };
    assert_eq!(without(&|_| ()), Ok(("alice".to_owned(), 7)));
    assert_eq!(
        without(&|state| state.runs[0].by = Some("alice".to_owned())),
        Err(ApprovalRefusal::Pusher("alice".to_owned()))
    );
    assert_eq!(
        without(&|state| state.runs[0].by = None),
        Err(ApprovalRefusal::UnknownPusher)
    );
}

#[test]
fn a_policy_can_allow_the_author_and_ask_for_more() {
    let own = with(|state| {
        state.labels = vec![labeled("author", "4")];
        state.policy.by_author = ByAuthor::Counts;
    });
    assert_eq!(own, Ok(("author".to_owned(), 7)));
    let floor = with(|state| state.policy.approvers = Permission::Admin);
    assert!(matches!(floor, Err(ApprovalRefusal::NotAllowed { .. })));
}
