//! Worse numbers in a committed baseline: who approved them before.

use super::Deciding;
use super::merges::{ApprovedMerge, joined};
use crate::evaluation::graded_run::{CommittedBaseline, GradedRun};
use crate::format::event::Event;
use crate::github::client::{GitHub, MergedPull, if_found};
use crate::github::inputs::ActionInputs;
use crate::github::requests::needs;
use crate::model::{AgentName, ApprovalPolicy, Baseline, BaselineRule, Report, SuiteId};
use crate::publish::approval::has_label;
use crate::publish::{is_worse, moves};
use crate::render::CliError;
use crate::report;
use crate::workspace::baseline;
use crate::world::World;

/// Maximum number of merged pull requests whose approvals are looked at.
const MERGES: usize = 20;

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
    (against, report): (Option<&Baseline>, &Report),
) -> Result<Vec<ApprovedMerge>, CliError> {
    let deciding = Deciding {
        world,
        inputs,
        github,
        event: &Event::NONE,
        policy: policy.clone(),
    };
    let (merges, _) = deciding.approved_merges(into, against, report)?;
    Ok(merges)
}

/// A number that is worse than in the baseline.
#[derive(PartialEq, Eq)]
struct WorseNumber {
    suite: SuiteId,
    agent: AgentName,
    metric: String,
}

impl WorseNumber {
    fn all(against: Option<&Baseline>, report: &Report) -> Vec<Self> {
        let worse = moves(against, report).into_iter().filter(is_worse);
        worse
            .map(|number| Self {
                suite: number.suite,
                agent: number.agent,
                metric: number.metric,
            })
            .collect()
    }

    /// Those that the result of an approved merge does not approve. It approves a number that is at least as good as its own, where a gate of
    /// the agent failed in it: a label on a result that only has the same number is about something else.
    fn not_approved_by(numbers: Vec<Self>, report: &Report, approved: &Report) -> Vec<Self> {
        let then = baseline::proposed(None, approved, baseline::Replaced::Everything);
        let worse = Self::all(Some(&then), report);
        let mut left = Vec::new();
        for number in numbers {
            let entry = then.entry(&number.suite, &number.agent);
            let is_approved = entry.is_some_and(|entry| entry.metrics.contains_key(&number.metric))
                && !worse.contains(&number)
                && report::fails_for(approved, &number.suite, &number.agent);
            if !is_approved {
                left.push(number);
            }
        }
        left
    }
}

impl Deciding<'_> {
    /// Whether all that asks for an approval is a committed baseline that has the measured numbers, and the policy lets these pass.
    pub(super) fn is_of_baseline_alone(&self, done: &GradedRun) -> bool {
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
    pub(super) fn of_approved_numbers(&self, done: &mut GradedRun) -> Result<bool, CliError> {
        let Some(into) = &self.event.into else {
            return Ok(false);
        };
        let (merges, unapproved) =
            self.approved_merges(into, done.against.as_ref(), &done.report)?;
        let Some(approval) = joined(&merges).filter(|_| unapproved.is_empty()) else {
            return Ok(false);
        };
        report::approve(&mut done.report, approval);
        Ok(true)
    }

    /// The approvals of the pull requests that were merged into a branch since the commit of the baseline, newest first, as far as they are
    /// about worse numbers of a result; and the worse numbers that none of them approved.
    fn approved_merges(
        &self,
        into: &str,
        against: Option<&Baseline>,
        report: &Report,
    ) -> Result<(Vec<ApprovedMerge>, Vec<WorseNumber>), CliError> {
        let merged = self.github.merged_pulls(into);
        let mut merged = merged.map_err(needs(
            "the merged pull requests cannot be read",
            "pull-requests: read",
        ))?;
        merged.retain(|pull| has_label(&pull.labels, &self.policy.label));
        // All these times are in one format in UTC, so they compare as texts.
        merged.sort_by(|left, right| right.at.cmp(&left.at));
        let mut approved: Vec<ApprovedMerge> = Vec::new();
        let mut left = WorseNumber::all(against, report);
        for pull in merged.iter().take(MERGES) {
            if left.is_empty() || self.is_in_baseline(against, pull)? {
                break;
            }
            let Some(Ok(merge)) = self.approved_merge(pull.number)? else {
                continue;
            };
            let count = left.len();
            left = WorseNumber::not_approved_by(left, report, &merge.result);
            if left.len() < count {
                approved.push(merge);
            }
        }
        Ok((approved, left))
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
}
