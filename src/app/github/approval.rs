//! Whether a label approves the result of a job. Everything is read from GitHub now; nothing is stored.

mod snapshot;
mod updates;

use std::thread;

use self::snapshot::PullSnapshot;
pub use self::snapshot::runs_of_workflow;
use super::graded_data::{gradable, grade_as_data, grade_merge_of};
use super::inputs::ActionInputs;
use super::job_output::warn;
use super::merged_pulls::merged_pulls;
use super::requests::{LOOKS, PAUSE, needs};
use super::resolve::TestMerge;
use crate::app::cli_error::CliError;
use crate::app::pipeline::baseline;
use crate::app::pipeline::graded_run::{CommittedBaseline, GradedRun};
use crate::format::event::Event;
use crate::model::{
    AgentName, Approval, ApprovalPolicy, Baseline, BaselineEntry, BaselineRule, PullRequestDetails,
    Report, SuiteId, Tier,
};
use crate::publish::approval::{ApprovalRefusal, GateRun, GivenLabel, has_label, is_label};
use crate::publish::{hidden_classes, is_worse, moves, reason, rounded};
use crate::report;
use crate::text::first_of;
use crate::world::{GitHub, GitHubError, MergedPull, World, if_found};

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

/// Maximum number of merged pull requests whose approvals are looked at.
const MERGES: usize = 20;

/// A merged pull request with an approval.
pub struct ApprovedMerge {
    /// Who approved what.
    pub approval: Approval,
    /// Its number.
    pub number: u64,
    /// The approved result.
    result: Report,
}

/// The approvals behind worse numbers of the default branch, newest first.
///
/// # Errors
/// A failed request.
pub fn approvals_of_worse_numbers(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    policy: &ApprovalPolicy,
    into: &str,
    (against, now): (Option<&Baseline>, &Report),
) -> Result<Vec<ApprovedMerge>, CliError> {
    let deciding = Deciding {
        world,
        inputs,
        github,
        event: &Event::NONE,
        policy: policy.clone(),
    };
    let (merges, _) = deciding.approved_merges(into, against, now)?;
    Ok(merges)
}

/// An agent with a number that is worse than in the baseline, and what a baseline with the measured numbers has of it.
struct WorseAgent {
    suite: SuiteId,
    agent: AgentName,
    entry: Option<BaselineEntry>,
}

impl WorseAgent {
    fn all(against: Option<&Baseline>, now: &Report) -> Vec<Self> {
        let own = measured(against, now);
        let worse = moves(against, now).into_iter().filter(is_worse);
        let mut named: Vec<_> = worse.map(|one| (one.suite, one.agent)).collect();
        named.dedup();
        let entry = |(suite, agent)| Self {
            entry: own.entry(&suite, &agent).cloned(),
            suite,
            agent,
        };
        named.into_iter().map(entry).collect()
    }

    /// Whether these numbers failed a gate in an approved result. A label on a result that only has the same numbers is about something
    /// else.
    fn is_approved_by(&self, against: Option<&Baseline>, merge: &ApprovedMerge) -> bool {
        let then = measured(against, &merge.result);
        then.entry(&self.suite, &self.agent) == self.entry.as_ref()
            && report::fails_for(&merge.result, &self.suite, &self.agent)
    }
}

/// The baseline with the numbers of a report, rounded as in the file.
fn measured(against: Option<&Baseline>, report: &Report) -> Baseline {
    Baseline {
        suites: rounded(&baseline::proposed(against, report)),
        ..Baseline::default()
    }
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

    /// The result of a push is approved if the approvals of the pull requests that were merged with it cover it.
    fn of_merged_pulls(&self, done: &mut GradedRun) -> Result<(), CliError> {
        let mut approvals: Vec<Approval> = Vec::new();
        let mut results: Vec<Report> = Vec::new();
        let pulls = merged_pulls(self.github, self.event).map_err(needs(
            "the merged pull requests cannot be read",
            "pull-requests: read",
        ))?;
        for number in pulls {
            let pull = self.pull(number)?;
            if !has_label(&pull.labels, &self.policy.label) {
                continue;
            }
            let given = PullSnapshot::read(self.github, self.world, &pull, &self.policy)?
                .given(&self.policy);
            match given {
                Ok(given) => {
                    if let Ok(shown) = self.shown_result(&given, &pull)? {
                        results.push(shown);
                        approvals.push(self.approval(&given, &pull));
                    }
                }
                Err(why) => done.report.notes.push(format!(
                    "the label of pull request {number} does not count: {why}"
                )),
            }
        }
        let left = report::uncovered(&done.report, &results);
        match approvals.first() {
            Some(newest) if left.is_empty() => {
                let by: Vec<String> = approvals
                    .iter()
                    .map(|approval| approval.by.clone())
                    .collect();
                let approval = Approval {
                    by: by.join(", "),
                    ..newest.clone()
                };
                report::approve(&mut done.report, approval);
            }
            Some(_) => done.report.notes.push(format!(
                "the approvals of the pull requests merged with this commit do not cover this: {}",
                first_of(&left)
            )),
            None if self.event.push.is_some() => done.report.notes.push(format!(
                "no pull request merged with this commit was approved for this: {}",
                first_of(&left)
            )),
            None => {}
        }
        Ok(())
    }

    /// Whether all that asks for an approval is a committed baseline that has the measured numbers, and the policy lets these pass.
    fn is_of_baseline_alone(&self, done: &GradedRun) -> bool {
        let file = done.config.baseline.as_ref();
        self.policy.baseline == BaselineRule::Worse
            && done.committed == CommittedBaseline::Measured
            && done
                .report
                .unapproved()
                .all(|change| change.file.is_some() && change.file.as_ref() == file)
            && done
                .report
                .metrics()
                .flat_map(|metric| &metric.gates)
                .all(|gate| !gate.ruling.fails())
    }

    /// A committed baseline with the measured numbers is approved if each that is worse was approved on a pull request that was merged since
    /// the commit of the present baseline.
    fn of_approved_numbers(&self, done: &mut GradedRun) -> Result<bool, CliError> {
        let Some(into) = &self.event.into else {
            return Ok(false);
        };
        let (merges, unapproved) =
            self.approved_merges(into, done.against.as_ref(), &done.report)?;
        let Some(newest) = merges.first().map(|merge| merge.approval.clone()) else {
            return Ok(false);
        };
        if !unapproved.is_empty() {
            return Ok(false);
        }
        let by: Vec<String> = merges.into_iter().map(|merge| merge.approval.by).collect();
        let approval = Approval {
            by: by.join(", "),
            ..newest
        };
        report::approve(&mut done.report, approval);
        Ok(true)
    }

    /// The approvals of the pull requests that were merged into a branch since the commit of the baseline, newest first, as far as they are
    /// about worse numbers of a result; and the agents whose worse numbers none of them approved.
    fn approved_merges(
        &self,
        into: &str,
        against: Option<&Baseline>,
        now: &Report,
    ) -> Result<(Vec<ApprovedMerge>, Vec<WorseAgent>), CliError> {
        let unread = || {
            needs(
                "the merged pull requests cannot be read",
                "pull-requests: read",
            )
        };
        let mut merged = self.github.merged_pulls(into).map_err(unread())?;
        merged.retain(|one| has_label(&one.labels, &self.policy.label));
        // All these times are in one format in UTC, so they compare as texts.
        merged.sort_by(|one, other| other.at.cmp(&one.at));
        let mut found: Vec<ApprovedMerge> = Vec::new();
        let mut left = WorseAgent::all(against, now);
        for one in merged.iter().take(MERGES) {
            if left.is_empty() || self.is_in_baseline(against, one)? {
                break;
            }
            let pull = self.pull(one.number)?;
            let snapshot = PullSnapshot::read(self.github, self.world, &pull, &self.policy)?;
            let Ok(given) = snapshot.given(&self.policy) else {
                continue;
            };
            let Ok(result) = self.shown_result(&given, &pull)? else {
                continue;
            };
            let merge = ApprovedMerge {
                approval: Approval {
                    by: format!("{} on pull request {}", given.by, pull.number),
                    ..self.approval(&given, &pull)
                },
                number: pull.number,
                result,
            };
            let before = left.len();
            left.retain(|agent| !agent.is_approved_by(against, &merge));
            if left.len() < before {
                found.push(merge);
            }
        }
        Ok((found, left))
    }

    /// Whether the commit that the baseline was measured on has a merge. One that is gone may have it.
    fn is_in_baseline(
        &self,
        against: Option<&Baseline>,
        merged: &MergedPull,
    ) -> Result<bool, CliError> {
        let measured = against.and_then(|against| against.commit.as_deref());
        let (Some(measured), Some(merge)) = (measured, &merged.commit) else {
            return Ok(false);
        };
        let known = if_found(self.github.has_commit(measured, merge));
        let unread = needs(
            "the commit of the baseline cannot be read",
            "contents: read",
        );
        Ok(known.map_err(unread)?.unwrap_or(true))
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
        now: &Report,
    ) -> Result<Result<GrantedApproval<'b>, ApprovalRefusal>, CliError> {
        let hidden = hidden_classes(now, self.inputs.configs);
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
            let left = report::uncovered(now, &[shown]);
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
        before: &PullRequestDetails,
    ) -> Result<Result<(Approval, Vec<GateRun>), ApprovalRefusal>, CliError> {
        let now = self.pull(before.number)?;
        let is_same = has_label(&now.labels, &self.policy.label) && now.head == before.head;
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
