//! Whether an approval counts for a run's result, and what the result is with it.

use crate::app::run::Done;
use crate::app::trouble::Trouble;
use crate::model::Approval;
use crate::model::Baseline;
use crate::publish::approval;
use crate::report;
use crate::world::GitHub;
use crate::world::Refusal;

/// The approval that stands on a commit and is of this result. Without the permission to read statuses there is none, and a note
/// says so.
///
/// # Errors
/// Why GitHub did not answer.
pub fn consent(github: &GitHub, commit: &str, done: &mut Done) -> Result<Option<Approval>, Trouble> {
    let read = github.author().and_then(|identity| Ok((identity, github.statuses(commit)?)));
    let (identity, statuses) = match read {
        Ok(read) => read,
        Err(Refusal::Forbidden | Refusal::Missing) => {
            let note = "an approval would not be seen: the job needs the permission `statuses: read`";
            done.report.notes.push(note.to_owned());
            return Ok(None);
        }
        Err(Refusal::Failed(error)) => return Err(error.context("while looking for an approval").into()),
    };
    let digest = report::result_digest(&done.report, done.config.baseline.as_ref());
    let standing = approval::standing(&statuses, &identity, commit);
    if standing.as_ref().is_some_and(|approval| approval.digest != digest) {
        let note = "the approval of this commit is of another result, so it does not count: add the label again";
        done.report.notes.push(note.to_owned());
    }
    Ok(approval::counts(standing, commit, &digest))
}

/// The result with its approval: judged again, against the approved baseline.
///
/// # Errors
/// Bad input, or an outside that failed.
pub fn approved(
    done: Done,
    approval: Approval,
    committed: Option<&Baseline>,
    again: impl FnOnce(Baseline) -> Result<Done, Trouble>,
) -> Result<Done, Trouble> {
    let proposed = done.proposed();
    let accepted = approval::accepted(done.against.as_ref(), committed, &proposed).clone();
    let ruled = again(accepted)?;
    let report = report::approved(done.report.clone(), ruled.report, approval);
    Ok(Done { report, ..done })
}
