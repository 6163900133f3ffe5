//! The approval of a merged pull request.

use super::Deciding;
use super::snapshot::PullSnapshot;
use crate::model::{Approval, Report};
use crate::publish::approval::{ApprovalRefusal, has_label};
use crate::render::CliError;

/// A merged pull request with an approval.
pub struct ApprovedMerge {
    /// Who approved what.
    pub approval: Approval,
    /// Its number.
    pub number: u64,
    /// The approved result.
    pub result: Report,
}

/// One approval by all who approved, as of the first; `None` without any.
pub fn joined(merges: &[ApprovedMerge]) -> Option<Approval> {
    let by: Vec<&str> = merges
        .iter()
        .map(|merge| merge.approval.by.as_str())
        .collect();
    Some(Approval {
        by: by.join(", "),
        ..merges.first()?.approval.clone()
    })
}

impl Deciding<'_> {
    /// The approval by the label of a merged pull request, or why it does not count; `None` without the label.
    pub(super) fn approved_merge(
        &self,
        number: u64,
    ) -> Result<Option<Result<ApprovedMerge, ApprovalRefusal>>, CliError> {
        let pull = self.pull(number)?;
        if !has_label(&pull.labels, &self.policy.label) {
            return Ok(None);
        }
        let snapshot = PullSnapshot::read(self.github, self.world, &pull, &self.policy)?;
        let given = match snapshot.given(&self.policy) {
            Ok(given) => given,
            Err(why) => return Ok(Some(Err(why))),
        };
        let shown = self.shown_result(&given, &pull)?;
        Ok(Some(shown.map(|result| ApprovedMerge {
            approval: Approval {
                by: format!("{} on pull request {number}", given.by),
                ..self.approval(&given, &pull)
            },
            number,
            result,
        })))
    }
}
