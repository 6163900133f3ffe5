//! Whether a label approves the result of a job. Everything is read from GitHub now; nothing is stored.

mod merges;
mod snapshot;
mod steps;
mod updates;
mod worse_numbers;

use std::thread;

use self::snapshot::PullSnapshot;
pub use self::snapshot::{own_run, runs_of_workflow};
pub use self::worse_numbers::approvals_of_worse_numbers;
use super::graded_data::{gradable, grade_as_data, grade_merge_of};
use super::inputs::ActionInputs;
use super::job_output::warn;
use super::requests::{LOOKS, PAUSE, needs};
use super::resolve::TestMerge;
use crate::evaluation::graded_run::GradedRun;
use crate::format::event::Event;
use crate::github::client::{GitHub, GitHubError, if_found};
use crate::model::{Approval, ApprovalPolicy, PullRequestDetails, Report, Tier};
use crate::publish::approval::{ApprovalRefusal, GateRun, GivenLabel, has_label, is_label};
use crate::publish::{hidden_classes, reason};
use crate::render::CliError;
use crate::report;
use crate::world::World;

/// What was decided about the label.
#[derive(Default)]
pub struct Decision {
    /// The label, if it does not count; it is taken away where the token may write.
    pub refused: Option<RefusedLabel>,
    /// The runs of this workflow on the pull request, newest first, if they were read for the decision.
    pub runs: Option<Vec<GateRun>>,
}

/// A label that does not approve the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLabel {
    /// The label.
    pub label: String,
    /// Why it does not count.
    pub why: ApprovalRefusal,
}

/// What deciding needs.
struct Deciding<'a> {
    world: &'a World,
    inputs: &'a ActionInputs,
    github: &'a GitHub,
    event: &'a Event,
    policy: ApprovalPolicy,
}

/// Approves the result if the label of its pull request does, or those of the pull requests that it contains.
///
/// # Errors
/// A failed request.
pub fn decide(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    (event, pull): (&Event, Option<&PullRequestDetails>),
    done: &mut GradedRun,
) -> Result<Decision, CliError> {
    if !report::asks_for_approval(&done.report) {
        return Ok(Decision::default());
    }
    let deciding = Deciding {
        world,
        inputs,
        github,
        event,
        policy: done.policy.clone(),
    };
    let number = event
        .pull_request
        .as_ref()
        .map(|pull| pull.number)
        .or(event.queued);
    if deciding.is_of_baseline_alone(done) && deciding.of_approved_numbers(done)? {
        return Ok(Decision::default());
    }
    match (pull, number) {
        (Some(pull), _) => deciding.of_open_pull(pull, done),
        (None, Some(number)) => {
            let pull = deciding.pull(number)?;
            deciding.of_open_pull(&pull, done)
        }
        (None, None) => deciding.of_merged_pulls(done).map(|()| Decision::default()),
    }
}

/// An approval, and the snapshot that it was computed from.
struct GrantedApproval<'a> {
    approval: Approval,
    snapshot: PullSnapshot<'a>,
}

/// What GitHub answers about a commit that may be gone.
fn if_there<T>(answer: Result<T, GitHubError>) -> Result<Option<T>, CliError> {
    if_found(answer).map_err(needs(
        "the commits of the shown result cannot be read",
        "contents: read",
    ))
}

impl Deciding<'_> {
    fn of_open_pull(
        &self,
        pull: &PullRequestDetails,
        done: &mut GradedRun,
    ) -> Result<Decision, CliError> {
        if !has_label(&pull.labels, &self.policy.label) {
            return Ok(Decision::default());
        }
        let mut outcome = self.approval_of(pull, &done.report)?;
        // GitHub may list a label a moment after it has started this run for it.
        for _ in 1..LOOKS {
            if !matches!(outcome, Err(ApprovalRefusal::NoGiver)) {
                break;
            }
            thread::sleep(PAUSE);
            outcome = self.approval_of(pull, &done.report)?;
        }
        let confirmed = match outcome {
            Ok(granted) => self.confirmed(granted, pull)?,
            Err(why) => Err(why),
        };
        match confirmed {
            Ok((approval, runs)) => {
                report::approve(&mut done.report, approval);
                Ok(Decision {
                    refused: None,
                    runs: Some(runs),
                })
            }
            Err(why) => {
                let refused = RefusedLabel {
                    label: self.policy.label.clone(),
                    why,
                };
                self.take_away(&refused, pull);
                let RefusedLabel { label, why } = &refused;
                let note = format!("the label `{label}` does not count: {why}");
                done.report.notes.push(note);
                Ok(Decision {
                    refused: Some(refused),
                    runs: None,
                })
            }
        }
    }

    fn pull(&self, number: u64) -> Result<PullRequestDetails, CliError> {
        let pull = self.github.pull(number);
        pull.map_err(needs(
            "the pull request cannot be read",
            "pull-requests: read",
        ))
    }

    /// The approval of a result by the label that the pull request has.
    fn approval_of<'b>(
        &self,
        pull: &'b PullRequestDetails,
        report: &Report,
    ) -> Result<Result<GrantedApproval<'b>, ApprovalRefusal>, CliError> {
        let hidden = hidden_classes(report, self.inputs.configs);
        if hidden > 0 {
            return Ok(Err(ApprovalRefusal::Hidden(hidden)));
        }
        let snapshot = PullSnapshot::read(self.github, self.world, pull, &self.policy)?;
        let given = match snapshot.given(&self.policy) {
            Ok(given) => given,
            Err(why) => return Ok(Err(why)),
        };
        if !self.is_same(&given) {
            let shown = match self.shown_result(&given, pull)? {
                Ok(shown) => shown,
                Err(why) => return Ok(Err(why)),
            };
            let left = report::uncovered(report, Some(&shown));
            if !left.is_empty() {
                return Ok(Err(ApprovalRefusal::OtherResult(left)));
            }
        }
        Ok(Ok(GrantedApproval {
            approval: self.approval(&given, pull),
            snapshot,
        }))
    }

    fn approval(&self, given: &GivenLabel, pull: &PullRequestDetails) -> Approval {
        let by = match self.event.pull_request {
            Some(_) => given.by.clone(),
            None => format!("{} on pull request {}", given.by, pull.number),
        };
        Approval {
            by,
            at: given.at.clone(),
            head: given.shown.head.clone(),
            reason: reason(&pull.description),
        }
    }

    /// Whether the commits of the shown result are those that are judged now: then it is the same result.
    fn is_same(&self, given: &GivenLabel) -> bool {
        let Event {
            base, head, judged, ..
        } = self.event;
        match given.shown.named.as_slice() {
            [merge] => Some(merge) == judged.as_ref(),
            [shown_head, shown_base] => {
                Some(shown_head) == head.as_ref() && Some(shown_base) == base.as_ref()
            }
            _ => false,
        }
    }

    /// The result that was shown before the label, computed again from its commits. Refused if they cannot be read any more, are not a merge
    /// of that head into the base branch, or a command made the runs.
    fn shown_result(
        &self,
        given: &GivenLabel,
        pull: &PullRequestDetails,
    ) -> Result<Result<Report, ApprovalRefusal>, CliError> {
        let unreadable = Ok(Err(ApprovalRefusal::Unreadable));
        if self.inputs.tiers != [Tier::Deterministic] {
            return unreadable;
        }
        // The name of a run says the merge, or the head and the commit that it was merged into. Either may be gone.
        let (named, merge) = match given.shown.named.as_slice() {
            [merge] => (merge, Some(merge)),
            [head, _] => (head, None),
            _ => return unreadable,
        };
        let Some(parents) = if_there(self.github.parents(named))? else {
            return unreadable;
        };
        let commits = match merge {
            Some(_) => parents,
            None => given.shown.named.iter().rev().cloned().collect(),
        };
        let [base, head] = commits.as_slice() else {
            return unreadable;
        };
        // A merge into another base branch was judged by other rules.
        let is_of_base = pull.base == *base
            || if_there(self.github.branch_has(&pull.into, base))?.unwrap_or(false);
        if !is_of_base {
            return Ok(Err(ApprovalRefusal::OtherBase(pull.into.clone())));
        }
        if *head != given.shown.head {
            return unreadable;
        }
        let event = Event {
            base: Some(base.clone()),
            head: Some(head.clone()),
            into: Some(pull.into.clone()),
            queued: Some(pull.number),
            ..Event::NONE
        };
        let (world, inputs, github) = (self.world, self.inputs, self.github);
        let graded = match merge {
            Some(merge) => {
                let merged = TestMerge {
                    base: base.clone(),
                    merge: merge.clone(),
                };
                grade_as_data(world, inputs, github, &event, &merged).map(|(_, done)| done)
            }
            None => grade_merge_of(world, inputs, github, &event, [base, head]),
        };
        let shown = gradable(graded)?.map(|done| done.report);
        Ok(shown.ok_or(ApprovalRefusal::Unreadable))
    }

    /// Reads label, head and runs once more: somebody may have pushed, or changed the label, while this run worked. Each of these starts
    /// a run.
    fn confirmed(
        &self,
        granted: GrantedApproval<'_>,
        pull: &PullRequestDetails,
    ) -> Result<Result<(Approval, Vec<GateRun>), ApprovalRefusal>, CliError> {
        let current = self.pull(pull.number)?;
        let is_same = has_label(&current.labels, &self.policy.label) && current.head == pull.head;
        let runs = granted.snapshot.same_runs(self.github, self.world)?;
        Ok(runs
            .filter(|_| is_same)
            .map(|runs| (granted.approval, runs))
            .ok_or(ApprovalRefusal::Changed))
    }

    /// Takes the label away where the token may write: the decision does not depend on it.
    fn take_away(&self, refused: &RefusedLabel, pull: &PullRequestDetails) {
        if !refused.why.takes_label_away() || self.event.pull_request.is_none() {
            return;
        }
        let name = pull
            .labels
            .iter()
            .find(|label| is_label(label, &refused.label));
        if let Err(error) = self
            .github
            .remove_label(pull.number, name.unwrap_or(&refused.label))
            && !error.is_denied()
        {
            warn(
                self.world,
                &needs("the label cannot be removed", "pull-requests: write")(error),
            );
        }
    }
}
