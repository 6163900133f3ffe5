//! Finds the approval of a run's result and applies it.

use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::model::{Approval, Baseline, Ruling};
use crate::publish::{ConfigKey, approval};
use crate::report;
use crate::world::{GitHub, GitHubError};

/// Where to look for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalQuery<'a> {
    /// On the graded commit.
    Commit(&'a str),
    /// On the head of a queued pull request: the commit of a merge group is new, so nobody can have approved it.
    Queued(u64),
}

/// Returns the approval recorded on this commit for this result digest, if any. Without the permission to read it, adds a note and
/// returns `None`.
///
/// # Errors
/// A failed request to GitHub.
pub fn find_approval(
    github: &GitHub,
    key: &ConfigKey,
    of: ApprovalQuery<'_>,
    done: &mut GradedRun,
) -> Result<Option<Approval>, CliError> {
    let (commit, whose) = match of {
        ApprovalQuery::Commit(commit) => (commit.to_owned(), "this commit".to_owned()),
        ApprovalQuery::Queued(number) => match github.pull(number) {
            Ok(pull) => (pull.head, format!("pull request {number}")),
            Err(error) => return unread(error, "pull-requests: read", done),
        },
    };
    let commit = commit.as_str();
    let statuses = match github.statuses(commit) {
        Ok(statuses) => statuses,
        Err(error) => return unread(error, "statuses: read", done),
    };
    let Some(identity) = github.identity() else {
        if approval::is_claimed(&statuses, key) {
            let note = "approvals cannot be checked, because GitHub does not say which account the token belongs to";
            done.report.notes.push(note.to_owned());
        }
        return Ok(None);
    };
    let digest = report::result_digest(&done.report, done.config.baseline.as_ref());
    let standing = approval::standing(&statuses, key, identity, commit);
    if standing.as_ref().is_some_and(|approval| approval.digest != digest) {
        done.report.notes.push(match of {
            ApprovalQuery::Commit(_) => format!("the approval of {whose} does not count, because it is for another result: add the label again"),
            ApprovalQuery::Queued(_) => format!("the approval of {whose} does not count, because it is for another result than this merge group's: update its branch and add the label again"),
        });
    }
    Ok(approval::counts(standing, commit, &digest))
}

/// Without the right to read approvals the result is judged without one, and the report says so.
fn unread(error: GitHubError, permission: &str, done: &mut GradedRun) -> Result<Option<Approval>, CliError> {
    let is_denied = error.is_denied();
    let error = error.explained("approvals cannot be read", permission);
    match is_denied {
        true => {
            done.report.notes.push(error.to_string());
            Ok(None)
        }
        false => Err(error.into()),
    }
}

/// Returns the approved result, judged again against the approved baseline.
///
/// # Errors
/// Bad input, or a failed request.
pub fn apply_approval(
    done: GradedRun,
    approval: Approval,
    committed: Option<&Baseline>,
    again: impl FnOnce(Baseline) -> Result<GradedRun, CliError>,
) -> Result<GradedRun, CliError> {
    let proposed = done.proposed();
    let accepted = approval::accepted(done.against.as_ref(), committed, &proposed).clone();
    let ruled = again(accepted)?;
    let mut report = report::approved(done.report.clone(), ruled.report, approval);
    if let Some(model) = &done.model_tier {
        report.verdict = Ruling::of_all([&report.verdict, &model.verdict]);
        report::refuse(&mut report, model.not_gateable.clone());
    }
    Ok(GradedRun { report, ..done })
}

/// Returns the approved result of a run with only the model tier. The models are not called again, so the gates are still judged
/// against the base commit's baseline, and the approval covers only the golden changes.
pub fn approved_as_measured(done: GradedRun, approval: Approval) -> GradedRun {
    let mut report = done.report.clone();
    if let Some(model) = &done.model_tier {
        report.verdict = model.verdict.clone();
        report.not_gateable.clear();
        report::refuse(&mut report, model.not_gateable.clone());
    }
    report.notes.push(format!("{} approved the golden changes of this result", approval.by));
    report.approval = Some(approval);
    GradedRun { report, ..done }
}
