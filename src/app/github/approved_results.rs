//! The results that approvals are about, read from the artifacts of their runs, and whether they cover another result.

use super::measured_run::{ResultDigest, RunQuery, evidence};
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::model::{Approval, RepoPath, Report};
use crate::render::line;
use crate::world::{GitHub, GitHubError};

/// Number of uncovered parts that a note names.
const NAMED: usize = 5;
/// The longest name of an uncovered part, in characters.
const LONGEST: usize = 120;

/// Returns the result that somebody approved, or `None` if its artifact is gone. An artifact is untrusted, but the approval names the
/// digest of its result. `query` says whose result it is, and `baseline` is the baseline file of the config.
///
/// # Errors
/// A failed request.
pub fn approved_result(
    github: &GitHub,
    query: &RunQuery<'_>,
    approval: &Approval,
    baseline: Option<&RepoPath>,
) -> Result<Option<Report>, GitHubError> {
    let result = Some(ResultDigest {
        digest: &approval.digest,
        baseline,
    });
    Ok(evidence(github, &RunQuery { result, ..*query })?
        .ok()
        .map(|run| run.report))
}

/// The same for a run. A result for another base branch does not count: into another branch the same change may mean something else.
///
/// # Errors
/// A failed request.
pub fn approved_result_of(
    github: &GitHub,
    query: &RunQuery<'_>,
    approval: &Approval,
    done: &GradedRun,
) -> Result<Option<Report>, GitHubError> {
    let found = approved_result(github, query, approval, done.config.baseline.as_ref())?;
    Ok(found.filter(|report| report.base_branch == done.report.base_branch))
}

/// Without the right to read approvals the result is judged without one, and the report says so.
///
/// # Errors
/// Any other refusal.
pub fn unread(
    error: GitHubError,
    permission: &str,
    done: &mut GradedRun,
) -> Result<Option<Approval>, CliError> {
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

/// The first parts of a result that no approval covers, for a note.
pub fn named_parts(left: &[String]) -> String {
    let named: Vec<String> = left
        .iter()
        .take(NAMED)
        .map(|part| line(part, LONGEST))
        .collect();
    let more = match left.len() - named.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}
