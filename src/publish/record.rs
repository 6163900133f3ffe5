//! Plans whether a pull request is recorded, from its state: the label, who added it, and the head.

use std::fmt;

use super::approval::{LabelPresence, PullRequestEvent, is_label};
use crate::model::{BranchOrigin, Permission, PullRequestDetails, PullState};
use crate::text::short_commit;

/// The input of the plan.
#[derive(Debug, Clone, Copy)]
pub struct RecordInput<'a> {
    /// What happened.
    pub event: PullRequestEvent<'a>,
    /// Whether the label is there.
    pub presence: LabelPresence,
    /// Who added the label last, from the timeline.
    pub giver: Option<&'a str>,
    /// The permission of whoever added it, from the API.
    pub permission: Permission,
    /// The permission that recording needs.
    pub required: Permission,
    /// The label that starts a recording.
    pub label: &'a str,
    /// The head commit at the time of the event.
    pub head: &'a str,
    /// The pull request now.
    pub pull: &'a PullRequestDetails,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordPlan {
    /// Record the head.
    Record {
        /// Who asked for it.
        by: String,
    },
    /// Remove the label, and give the reason in the comment.
    Refuse(RecordRefusal),
    /// Nothing.
    Nothing(RecordSkip),
}

/// Why the label is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordRefusal {
    /// GitHub does not report who added it.
    NoGiver,
    /// Whoever added it may not record here.
    NotAllowed {
        /// The login of whoever added the label.
        actor: String,
        /// Their permission.
        has: Permission,
        /// The permission that recording needs.
        needs: Permission,
    },
    /// The head of a fork's pull request is not known to be the one that the label was added for.
    Pushed {
        /// The head now.
        head: String,
    },
    /// Whoever may push can write the config of the base branch, and with it the hosts that get the keys.
    OpenBase {
        /// The base branch.
        branch: String,
    },
}

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordSkip {
    /// The pull request is closed.
    Closed,
    /// The pull request does not have the label.
    NoLabel,
}

/// Plans a recording from the state of a pull request.
pub fn plan(asked: &RecordInput<'_>) -> RecordPlan {
    let pull = asked.pull;
    if pull.state == PullState::Closed {
        return RecordPlan::Nothing(RecordSkip::Closed);
    }
    let is_own =
        matches!(asked.event, PullRequestEvent::Labeled(label) if is_label(label, asked.label));
    match asked.presence {
        LabelPresence::Set => {}
        // Of several configs, the first step of the job that this label started has removed it.
        LabelPresence::RemovedInOtherStep if is_own => {}
        LabelPresence::RemovedInOtherStep | LabelPresence::Missing => {
            return RecordPlan::Nothing(RecordSkip::NoLabel);
        }
    }
    let Some(by) = asked.giver.filter(|giver| !giver.is_empty()) else {
        return RecordPlan::Refuse(RecordRefusal::NoGiver);
    };
    if asked.permission < asked.required {
        let actor = by.to_owned();
        return RecordPlan::Refuse(RecordRefusal::NotAllowed {
            actor,
            has: asked.permission,
            needs: asked.required,
        });
    }
    // Who pushes to a branch of this repository has the write permission; anybody pushes to a fork.
    let is_seen = is_own && asked.head == pull.head;
    match pull.origin {
        BranchOrigin::Fork if !is_seen => RecordPlan::Refuse(RecordRefusal::Pushed {
            head: pull.head.clone(),
        }),
        BranchOrigin::Fork | BranchOrigin::Same => RecordPlan::Record { by: by.to_owned() },
    }
}

impl fmt::Display for RecordPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { by } => write!(out, "record the head, as {by} asked"),
            Self::Refuse(why) => write!(out, "do not record: {why}"),
            Self::Nothing(RecordSkip::Closed) => {
                out.write_str("nothing to do: the pull request is closed")
            }
            Self::Nothing(RecordSkip::NoLabel) => out.write_str(
                "nothing to do: the pull request does not have the label that starts a recording",
            ),
        }
    }
}

impl fmt::Display for RecordRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGiver => out
                .write_str("the pull request's timeline does not show who added it; add it again"),
            Self::NotAllowed { actor, has, needs } => {
                write!(
                    out,
                    "{actor} has the permission {} here, but recording needs {}",
                    has.as_str(),
                    needs.as_str()
                )
            }
            Self::Pushed { head } => write!(
                out,
                "commits may have been pushed after it; look at the texts on {} and add it again",
                short_commit(head)
            ),
            Self::OpenBase { branch } => write!(
                out,
                "the config of the base branch {branch} would decide where the keys are sent: it counts only if the branch requires what the \
                 default branch requires, and the config of the default branch has the same addresses; add the label again then"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RecordInput, RecordPlan, RecordRefusal, RecordSkip, plan};
    use crate::model::{BranchOrigin, Permission, PullRequestDetails, PullState};
    use crate::publish::approval::{LabelPresence, PullRequestEvent};
    use crate::publish::samples;

    const LABEL: &str = "goldgate:record";

    fn pull(origin: BranchOrigin) -> PullRequestDetails {
        PullRequestDetails {
            author: "mallory".to_owned(),
            head: "bbbbbbb1".to_owned(),
            head_repository: None,
            label: None,
            origin,
            base: String::new(),
            labels: vec!["Goldgate:RECORD".to_owned()],
            ..samples::pull()
        }
    }

    fn asked<'a>(pull: &'a PullRequestDetails, event: PullRequestEvent<'a>) -> RecordInput<'a> {
        let (permission, required) = (Permission::Write, Permission::Write);
        let presence = LabelPresence::Set;
        RecordInput {
            event,
            presence,
            giver: Some("alice"),
            permission,
            required,
            label: LABEL,
            head: "bbbbbbb1",
            pull,
        }
    }

    #[test]
    fn the_state_decides_and_a_fork_must_not_have_moved() {
        let (own, fork) = (pull(BranchOrigin::Same), pull(BranchOrigin::Fork));
        let record = RecordPlan::Record {
            by: "alice".to_owned(),
        };
        let pushed = RecordPlan::Refuse(RecordRefusal::Pushed {
            head: "bbbbbbb1".to_owned(),
        });
        let labeled = PullRequestEvent::Labeled("goldgate:Record");
        for (event, of_fork) in [
            (labeled, &record),
            (PullRequestEvent::Labeled("bug"), &pushed),
            (PullRequestEvent::Unlabeled(LABEL), &pushed),
            (PullRequestEvent::Pushed, &pushed),
            (PullRequestEvent::Opened, &pushed),
            (PullRequestEvent::Other, &pushed),
        ] {
            assert_eq!(plan(&asked(&own, event)), record, "{event:?}");
            assert_eq!(plan(&asked(&fork, event)), *of_fork, "{event:?}");
        }
        assert_eq!(
            plan(&RecordInput {
                head: "aaaaaaa1",
                ..asked(&fork, labeled)
            }),
            pushed,
            "an older run"
        );
        assert_eq!(
            plan(&RecordInput {
                head: "aaaaaaa1",
                ..asked(&own, labeled)
            }),
            record
        );
    }

    #[test]
    fn the_giver_needs_the_permission_and_the_label_has_to_be_set() {
        let own = pull(BranchOrigin::Same);
        let all = asked(&own, PullRequestEvent::Labeled(LABEL));
        for permission in [Permission::None, Permission::Read, Permission::Triage] {
            let plan = plan(&RecordInput { permission, ..all });
            assert!(
                matches!(plan, RecordPlan::Refuse(RecordRefusal::NotAllowed { .. })),
                "{plan:?}"
            );
        }
        for giver in [None, Some("")] {
            assert_eq!(
                plan(&RecordInput { giver, ..all }),
                RecordPlan::Refuse(RecordRefusal::NoGiver)
            );
        }
        let closed = PullRequestDetails {
            state: PullState::Closed,
            ..own.clone()
        };
        assert_eq!(
            plan(&RecordInput {
                pull: &closed,
                ..all
            }),
            RecordPlan::Nothing(RecordSkip::Closed)
        );
        let nothing = RecordPlan::Nothing(RecordSkip::NoLabel);
        assert_eq!(
            plan(&RecordInput {
                presence: LabelPresence::Missing,
                ..all
            }),
            nothing
        );
        // Another config of the same job goes on; another event does not bring the label back.
        let served = RecordInput {
            presence: LabelPresence::RemovedInOtherStep,
            ..all
        };
        assert!(matches!(plan(&served), RecordPlan::Record { .. }));
        assert_eq!(
            plan(&RecordInput {
                event: PullRequestEvent::Pushed,
                ..served
            }),
            nothing
        );
        assert_eq!(
            plan(&RecordInput {
                event: PullRequestEvent::Labeled("bug"),
                ..served
            }),
            nothing
        );
    }
}
