//! Starts the run that made a result again, after an approval or its withdrawal: the same commit, the same check.

use std::time::Duration;
use std::{fmt, thread};

use super::links::can_be_approved;
use super::measured_run::{MeasuredRun, SiblingResult, next_to_trusted, siblings};
use super::pull_request_context::{PullRequestContext, log, needs};
use crate::app::cli_error::CliError;
use crate::model::{Approval, BranchOrigin, Report, StatusState};
use crate::publish::approval::ApprovalScope;
use crate::publish::{ConfigKey, approval};
use crate::render::inline;
use crate::world::{GitHubError, GitHubRefusal, RerunScope, WorkflowRun};

/// How often to look at a run that is still in progress.
const LOOKS: u32 = 10;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(3);
/// The permission that starting a run again needs.
const PERMISSION: &str = "actions: write";

/// The run that made a result.
pub struct GateRun {
    run: WorkflowRun,
    /// The name of the result's artifact.
    artifact: String,
    need: RerunNeed,
}

/// Whether an approval changes the check of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RerunNeed {
    /// It failed, so the run has to start again.
    Failed,
    /// It passes.
    Passes,
}

/// What became of the request to start the run again.
pub enum RerunOutcome {
    /// It starts again.
    Started,
    /// It starts again once the result of this config is decided too.
    Deferred(ConfigKey),
    /// It is still in progress, and GitHub starts only finished runs again.
    InProgress,
    /// It has no failed job.
    NothingFailed,
    /// The result of this config passes already; those of others start it again.
    Passes,
    /// It is too old: GitHub starts no run again after 30 days.
    TooOld,
    /// The token may not start it; the reason.
    Denied(String),
    /// The request failed; the reason, which may have text of others.
    Failed(String),
}

impl GateRun {
    /// The run of a result.
    pub fn of(measured: &MeasuredRun) -> Self {
        let need = if measured.report.exit_code() == 0 {
            RerunNeed::Passes
        } else {
            RerunNeed::Failed
        };
        Self {
            run: measured.run.clone(),
            artifact: measured.artifact.clone(),
            need,
        }
    }

    /// Starts the failed jobs again after an approval, and returns a text for the comment. With results of several configs in the
    /// run, the last decision starts them, so that all statuses are set before.
    pub fn after_approval(&self, context: &PullRequestContext<'_>) -> String {
        // Without the label nothing waits: an earlier step has refused the result of another config.
        let other = match context.set_label(&context.inputs.approving.label) {
            Some(_) => self.undecided(context),
            None => Ok(None),
        };
        let outcome = match other {
            Ok(None) if self.need == RerunNeed::Passes => RerunOutcome::Passes,
            Ok(None) => self.start(context, RerunScope::FailedJobs),
            Ok(Some(other)) => RerunOutcome::Deferred(other),
            Err(error) => RerunOutcome::Failed(error.messages().join("\n")),
        };
        let own = self.reported(context, &outcome, RerunScope::FailedJobs);
        own + &self.other_gate(context, RerunScope::FailedJobs)
    }

    /// Starts the run of the other gate again, where the repository has both kinds, and returns a text for the comment. A fork's own run
    /// decides nothing.
    fn other_gate(&self, context: &PullRequestContext<'_>, scope: RerunScope) -> String {
        if context.pull.origin == BranchOrigin::Fork {
            return String::new();
        }
        let query = context.query(&context.pull.head);
        match next_to_trusted(&context.github, &query, &self.run) {
            Ok(Some(other)) => {
                let other = Self::of(&other);
                let is_started = scope == RerunScope::AllJobs || other.need == RerunNeed::Failed;
                let text = |outcome| format!(" {}", other.reported(context, &outcome, scope));
                if is_started {
                    text(other.start(context, scope))
                } else {
                    String::new()
                }
            }
            Ok(None) => String::new(),
            Err(error) => {
                log(
                    context.world,
                    &format!(
                        "the other gate is not started again: {}",
                        error.reason(PERMISSION)
                    ),
                );
                String::new()
            }
        }
    }

    /// Starts the failed jobs again if the result of another config was approved meanwhile, and this decision was the last one.
    ///
    /// # Errors
    /// A failed request.
    pub fn after_refusal(&self, context: &PullRequestContext<'_>) -> Result<(), CliError> {
        let approvals = self.approved_siblings(context)?;
        if approvals
            .iter()
            .any(|(_, approval)| self.is_older_than(approval))
        {
            self.reported(
                context,
                &self.start(context, RerunScope::FailedJobs),
                RerunScope::FailedJobs,
            );
        }
        Ok(())
    }

    /// Withdraws the approvals of the other configs in the run as well, because they share the label, starts all jobs again, and
    /// returns a text for the comment.
    ///
    /// # Errors
    /// A failed request.
    pub fn after_withdrawal(
        &self,
        context: &PullRequestContext<'_>,
        description: &str,
    ) -> Result<String, CliError> {
        for (key, approval) in self.approved_siblings(context)? {
            context.record_for(&key, &approval.head, StatusState::Failure, description)?;
        }
        // A green run has no failed jobs.
        let outcome = self.start(context, RerunScope::AllJobs);
        let own = self.reported(context, &outcome, RerunScope::AllJobs);
        Ok(own + &self.other_gate(context, RerunScope::AllJobs))
    }

    /// Whether the run failed before an approval, so that its check does not know of it.
    pub fn is_older_than(&self, approval: &Approval) -> bool {
        let failed = self
            .run
            .conclusion
            .as_deref()
            .is_some_and(|conclusion| conclusion != "success");
        // GitHub writes every time in one format in UTC, so times compare as texts.
        failed
            && self
                .run
                .started_at
                .as_ref()
                .is_some_and(|started| *started < approval.at)
    }

    /// Whether the run passed, and started before a time.
    pub fn has_passed_before(&self, at: &str) -> bool {
        let passed = self.run.conclusion.as_deref() == Some("success");
        passed
            && self
                .run
                .started_at
                .as_deref()
                .is_some_and(|started| started < at)
    }

    /// Returns another config whose result in this run waits for an approval.
    fn undecided(&self, context: &PullRequestContext<'_>) -> Result<Option<ConfigKey>, CliError> {
        let approved = self.approved_siblings(context)?;
        for other in self.siblings(context)? {
            if approved.iter().any(|(key, _)| *key == other.key) {
                continue;
            }
            let report = other.report(&context.github, &context.pull.head);
            let report =
                report.map_err(needs("the run's artifact cannot be read", "actions: read"))?;
            if report.as_ref().is_some_and(waits_for_approval) {
                return Ok(Some(other.key));
            }
        }
        Ok(None)
    }

    /// Returns the other configs of this run that have an approval.
    fn approved_siblings(
        &self,
        context: &PullRequestContext<'_>,
    ) -> Result<Vec<(ConfigKey, Approval)>, CliError> {
        let siblings = self.siblings(context)?;
        if siblings.is_empty() {
            return Ok(Vec::new());
        }
        let (head, statuses) = (&context.pull.head, context.statuses(&context.pull.head)?);
        let identity = context.github.identity().unwrap_or_default();
        let pull = Some(context.pull.number);
        let standing = |key: &ConfigKey| {
            approval::standing(
                &statuses,
                ApprovalScope {
                    key,
                    identity,
                    pull,
                },
                head,
            )
        };
        Ok(siblings
            .into_iter()
            .filter_map(|other| standing(&other.key).map(|approval| (other.key, approval)))
            .collect())
    }

    fn siblings(&self, context: &PullRequestContext<'_>) -> Result<Vec<SiblingResult>, CliError> {
        let own = [context.key.as_str(), self.artifact.as_str()];
        let found = siblings(&context.github, self.run.id, own, &context.pull.head);
        found.map_err(needs(
            "the run's artifacts cannot be listed",
            "actions: read",
        ))
    }

    /// Whether the run was started again since its result was found.
    fn has_newer_attempt(&self, context: &PullRequestContext<'_>) -> bool {
        context
            .github
            .workflow_run(self.run.id)
            .is_ok_and(|run| run.attempt > self.run.attempt)
    }

    /// Starts the run again. A run in progress is waited for, but not for long: its other jobs may take an hour.
    fn start(&self, context: &PullRequestContext<'_>, scope: RerunScope) -> RerunOutcome {
        let mut looks = 0;
        loop {
            match context.github.rerun(self.run.id, scope) {
                Ok(()) => return RerunOutcome::Started,
                // GitHub may have started it and failed to answer.
                Err(GitHubError::Refused(GitHubRefusal::RunInProgress))
                    if self.has_newer_attempt(context) =>
                {
                    return RerunOutcome::Started;
                }
                Err(GitHubError::Refused(GitHubRefusal::RunInProgress)) => {}
                Err(GitHubError::Refused(GitHubRefusal::NothingFailed)) => {
                    return RerunOutcome::NothingFailed;
                }
                Err(GitHubError::Refused(GitHubRefusal::TooOld)) => return RerunOutcome::TooOld,
                Err(error @ GitHubError::Refused(GitHubRefusal::Other(_))) => {
                    return RerunOutcome::Failed(error.reason(PERMISSION));
                }
                Err(error) if error.is_denied() => {
                    return RerunOutcome::Denied(error.reason(PERMISSION));
                }
                Err(error) => return RerunOutcome::Failed(error.reason(PERMISSION)),
            }
            // This job's own run cannot finish before it.
            let is_own =
                context.world.env.get("GITHUB_RUN_ID") == Some(self.run.id.to_string().as_str());
            let finished = |looks: &mut u32| {
                while *looks < LOOKS {
                    *looks += 1;
                    thread::sleep(PAUSE);
                    if context
                        .github
                        .workflow_run(self.run.id)
                        .is_ok_and(|run| run.conclusion.is_some())
                    {
                        return true;
                    }
                }
                false
            };
            if is_own || !finished(&mut looks) {
                return RerunOutcome::InProgress;
            }
        }
    }

    /// Logs an outcome and returns the text for the comment.
    fn reported(
        &self,
        context: &PullRequestContext<'_>,
        outcome: &RerunOutcome,
        scope: RerunScope,
    ) -> String {
        let id = self.run.id;
        log(context.world, &format!("run {id}: {outcome}"));
        let run = context
            .run_url(id)
            .map_or(format!("run {id}"), |url| format!("[run {id}]({url})"));
        let (jobs, button) = match scope {
            RerunScope::FailedJobs => ("The failed jobs", "**Re-run failed jobs**"),
            RerunScope::AllJobs => ("All jobs", "**Re-run all jobs**"),
        };
        match outcome {
            RerunOutcome::Started => {
                format!("{jobs} of {run} start again, so the same check shows the new result.")
            }
            RerunOutcome::Deferred(other) => format!(
                "{jobs} of {run} start again once the result of `{}` is decided too; or press {button} there.",
                other.as_str()
            ),
            RerunOutcome::InProgress => format!(
                "The check does not change yet: {run} is still in progress. When it has finished, press {button} there."
            ),
            RerunOutcome::NothingFailed => {
                format!(
                    "No job of {run} failed, so none starts again. If a check is red, press **Re-run all jobs** there."
                )
            }
            RerunOutcome::Passes => {
                format!("Nothing starts again: the result in {run} passes already.")
            }
            RerunOutcome::TooOld => format!(
                "The check does not change: GitHub starts no run again that is older than 30 days, and {run} is. Push a commit, look at its \
                 result, and decide about that one."
            ),
            RerunOutcome::Denied(why) => {
                format!(
                    "The check does not change yet: press {button} in {run}, because goldgate cannot ({why})."
                )
            }
            RerunOutcome::Failed(why) => format!(
                "The check does not change yet: press {button} in {run}, because it could not be started again ({}).",
                inline(why, 200)
            ),
        }
    }
}

/// Whether an approval would make this result pass.
fn waits_for_approval(report: &Report) -> bool {
    report.exit_code() != 0 && can_be_approved(report)
}

impl fmt::Display for RerunOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => out.write_str("started again"),
            Self::Deferred(other) => {
                write!(
                    out,
                    "not started again before the result of {} is decided",
                    other.as_str()
                )
            }
            Self::InProgress => out.write_str("still in progress, so not started again"),
            Self::Passes => out.write_str("its result passes already, so not started again"),
            Self::NothingFailed => out.write_str("no job failed, so none is started again"),
            Self::TooOld => {
                out.write_str("older than 30 days, so not started again; push a commit")
            }
            Self::Denied(why) | Self::Failed(why) => write!(out, "not started again: {why}"),
        }
    }
}
