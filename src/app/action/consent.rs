//! Whether an approval counts for a run's result, and what the result is with it.

use crate::app::run::Done;
use crate::app::trouble::Trouble;
use crate::model::{Approval, Baseline, Ruling};
use crate::publish::{ConfigKey, approval};
use crate::report;
use crate::world::{GitHub, Refusal};

/// On what an approval is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of<'a> {
    /// The commit that was graded.
    Commit(&'a str),
    /// The head of a pull request whose merge was graded: a merge group's commit is new, so nobody can have approved it.
    Queued(u64),
}

/// The approval that stands there and is of this result. Without the permission to read it there is none, and a note says so.
///
/// # Errors
/// Why GitHub did not answer.
pub fn consent(github: &GitHub, key: &ConfigKey, of: Of<'_>, done: &mut Done) -> Result<Option<Approval>, Trouble> {
    let (commit, whose) = match of {
        Of::Commit(commit) => (commit.to_owned(), "this commit".to_owned()),
        Of::Queued(number) => match github.pull(number) {
            Ok(pull) => (pull.head, format!("pull request {number}")),
            Err(Refusal::Forbidden | Refusal::Missing) => {
                let note = "an approval would not be seen: the job needs the permission `pull-requests: read`";
                done.report.notes.push(note.to_owned());
                return Ok(None);
            }
            Err(Refusal::Failed(error)) => return Err(error.context("while looking for an approval").into()),
        },
    };
    let commit = commit.as_str();
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
    let standing = approval::standing(&statuses, key, &identity, commit);
    if standing.as_ref().is_some_and(|approval| approval.digest != digest) {
        done.report.notes.push(match of {
            Of::Commit(_) => format!("the approval of {whose} is of another result, so it does not count: add the label again"),
            Of::Queued(_) => format!("the approval of {whose} is of another result than this merge group's, so it does not count: bring its branch up to date, and add the label again"),
        });
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
    let mut report = report::approved(done.report.clone(), ruled.report, approval);
    if let Some(model) = &done.model_tier {
        report.verdict = Ruling::of_all([&report.verdict, &model.verdict]);
        report::refuse(&mut report, model.not_gateable.clone());
    }
    Ok(Done { report, ..done })
}

/// The result of the model tier alone with its approval: its models are not asked again, so its gates stay judged against the base
/// commit's baseline, and the approval is of the golden changes.
pub fn approved_as_measured(done: Done, approval: Approval) -> Done {
    let mut report = done.report.clone();
    if let Some(model) = &done.model_tier {
        report.verdict = model.verdict.clone();
        report.not_gateable.clear();
        report::refuse(&mut report, model.not_gateable.clone());
    }
    report.notes.push(format!("{} approved the golden changes of this result", approval.by));
    report.approval = Some(approval);
    Done { report, ..done }
}
