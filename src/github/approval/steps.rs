//! A push: the approvals of the pull requests that were merged with it.

use super::Deciding;
use super::merges::{ApprovedMerge, joined};
use crate::evaluation::graded_run::GradedRun;
use crate::format::event::Event;
use crate::github::graded_data::{gradable, grade_as_data};
use crate::github::merged_pulls::{PushStep, push_steps};
use crate::github::requests::needs;
use crate::github::resolve::TestMerge;
use crate::model::Report;
use crate::render::CliError;
use crate::report;
use crate::text::{first_of, short_commit};

impl Deciding<'_> {
    /// The result of a push is approved if each of its steps is green or covered by the approval of its pull request.
    pub(super) fn of_merged_pulls(&self, done: &mut GradedRun) -> Result<(), CliError> {
        let steps = push_steps(self.github, self.event).map_err(needs(
            "the merged pull requests cannot be read",
            "pull-requests: read",
        ))?;
        let mut merges: Vec<ApprovedMerge> = Vec::new();
        let mut left: Vec<String> = Vec::new();
        for step in &steps {
            let approved = self.approved_step(step, &mut done.report.notes)?;
            let result = approved.as_ref().map(|merge| &merge.result);
            left.extend(match steps.as_slice() {
                [_] => report::uncovered(&done.report, result),
                _ => self.uncovered_step(step, result)?,
            });
            merges.extend(approved);
        }
        match joined(&merges) {
            Some(approval) if left.is_empty() => report::approve(&mut done.report, approval),
            Some(_) => done.report.notes.push(format!(
                "the approvals of the pull requests merged with this commit do not cover this: {}",
                first_of(&left)
            )),
            None if self.event.push.is_some() => done.report.notes.push(format!(
                "no pull request merged with this commit was approved for this: {}",
                first_of(&report::uncovered(&done.report, None))
            )),
            None => {}
        }
        Ok(())
    }

    /// The approval of the pull request of a step.
    fn approved_step(
        &self,
        step: &PushStep,
        notes: &mut Vec<String>,
    ) -> Result<Option<ApprovedMerge>, CliError> {
        let Some(number) = step.number else {
            return Ok(None);
        };
        let approved = self.approved_merge(number)?;
        if let Some(Err(why)) = &approved {
            notes.push(format!(
                "the label of pull request {number} does not count: {why}"
            ));
        }
        Ok(approved.and_then(Result::ok))
    }

    /// What of a step's own result is not approved.
    fn uncovered_step(
        &self,
        step: &PushStep,
        approved: Option<&Report>,
    ) -> Result<Vec<String>, CliError> {
        let event = Event {
            base: Some(step.base.clone()),
            head: Some(step.commit.clone()),
            into: self.event.into.clone(),
            ..Event::NONE
        };
        let merged = TestMerge {
            base: step.base.clone(),
            merge: step.commit.clone(),
        };
        let graded = grade_as_data(self.world, self.inputs, self.github, &event, &merged);
        Ok(match gradable(graded)? {
            Some((_, done)) if done.report.not_gateable.is_empty() => {
                report::uncovered(&done.report, approved)
            }
            _ => vec![format!(
                "the result of {}, which cannot be judged",
                short_commit(&step.commit)
            )],
        })
    }
}
