//! Plans whether a pull request is recorded, from its state: the label, who added it, and the head.

use std::fmt;

use super::approval::{is_bot, is_label};
use crate::model::{Permission, PullRequestDetails, PullState};
use crate::text::short_commit;

/// The input of the plan.
#[derive(Debug, Clone, Copy)]
pub struct RecordInput<'a> {
    /// The label that was added, if that is what happened.
    pub added: Option<&'a str>,
    /// Whether the label counts still: it is there, or an earlier step of this job has taken it off.
    pub standing: LabelStanding,
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

/// Whether a label that was added counts still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStanding {
    /// It does.
    Counts,
    /// Somebody took it away.
    Gone,
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
    /// Commits were pushed after it.
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
    /// The event is not that the label was added.
    OtherEvent,
    /// Somebody took the label away.
    NoLabel,
}

/// Plans a recording from the state of a pull request.
pub fn plan(asked: &RecordInput<'_>) -> RecordPlan {
    let pull = asked.pull;
    if pull.state == PullState::Closed {
        return RecordPlan::Nothing(RecordSkip::Closed);
    }
    if !asked
        .added
        .is_some_and(|label| is_label(label, asked.label))
    {
        return RecordPlan::Nothing(RecordSkip::OtherEvent);
    }
    if asked.standing == LabelStanding::Gone {
        return RecordPlan::Nothing(RecordSkip::NoLabel);
    }
    let Some(by) = asked.giver.filter(|giver| !giver.is_empty()) else {
        return RecordPlan::Refuse(RecordRefusal::NoGiver);
    };
    if asked.permission < asked.required || is_bot(by) {
        let actor = by.to_owned();
        return RecordPlan::Refuse(RecordRefusal::NotAllowed {
            actor,
            has: asked.permission,
            needs: asked.required,
        });
    }
    if asked.head != pull.head {
        return RecordPlan::Refuse(RecordRefusal::Pushed {
            head: pull.head.clone(),
        });
    }
    RecordPlan::Record { by: by.to_owned() }
}

impl fmt::Display for RecordPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { by } => write!(out, "record the head, as {by} asked"),
            Self::Refuse(why) => write!(out, "do not record: {why}"),
            Self::Nothing(RecordSkip::Closed) => {
                out.write_str("nothing to do: the pull request is closed")
            }
            Self::Nothing(RecordSkip::OtherEvent) => {
                out.write_str("nothing to do: only adding the label starts a recording")
            }
            Self::Nothing(RecordSkip::NoLabel) => {
                out.write_str("nothing to do: somebody took the label away")
            }
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
                "commits were pushed after it; look at the texts on {} and add it again",
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
    use super::{LabelStanding, RecordInput, RecordPlan, RecordRefusal, RecordSkip, plan};
    use crate::model::{Permission, PullRequestDetails, PullState};
    use crate::publish::samples;

    const LABEL: &str = "goldgate:record";

    #[test]
    fn only_the_label_of_somebody_who_may_starts_a_recording_of_the_head_that_it_was_added_for() {
        let pull = samples::pull();
        let head = pull.head.clone();
        let asked = RecordInput {
            added: Some("Goldgate:RECORD"),
            standing: LabelStanding::Counts,
            giver: Some("alice"),
            permission: Permission::Write,
            required: Permission::Write,
            label: LABEL,
            head: &head,
            pull: &pull,
        };
        let by = "alice".to_owned();
        assert_eq!(plan(&asked), RecordPlan::Record { by });
        let closed = PullRequestDetails {
            state: PullState::Closed,
            ..samples::pull()
        };
        let pushed = PullRequestDetails {
            head: "c".repeat(40),
            ..samples::pull()
        };
        let not_allowed = |actor: &str, has| {
            RecordPlan::Refuse(RecordRefusal::NotAllowed {
                actor: actor.to_owned(),
                has,
                needs: Permission::Write,
            })
        };
        let bot = "github-actions[bot]";
        for (other, expected) in [
            (
                RecordInput {
                    pull: &closed,
                    ..asked
                },
                RecordPlan::Nothing(RecordSkip::Closed),
            ),
            (
                RecordInput {
                    added: None,
                    ..asked
                },
                RecordPlan::Nothing(RecordSkip::OtherEvent),
            ),
            (
                RecordInput {
                    added: Some("bug"),
                    ..asked
                },
                RecordPlan::Nothing(RecordSkip::OtherEvent),
            ),
            (
                RecordInput {
                    standing: LabelStanding::Gone,
                    ..asked
                },
                RecordPlan::Nothing(RecordSkip::NoLabel),
            ),
            (
                RecordInput {
                    giver: None,
                    ..asked
                },
                RecordPlan::Refuse(RecordRefusal::NoGiver),
            ),
            (
                RecordInput {
                    permission: Permission::Triage,
                    ..asked
                },
                not_allowed("alice", Permission::Triage),
            ),
            (
                RecordInput {
                    giver: Some(bot),
                    ..asked
                },
                not_allowed(bot, Permission::Write),
            ),
            (
                RecordInput {
                    pull: &pushed,
                    ..asked
                },
                RecordPlan::Refuse(RecordRefusal::Pushed {
                    head: "c".repeat(40),
                }),
            ),
        ] {
            assert_eq!(plan(&other), expected, "{other:?}");
        }
    }
}
