//! The payload of `workflow_run`: which run has ended.

use serde::Deserialize;

use super::json;
use super::source::SourceText;
use crate::diag::Diagnostic;

/// A run that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedRun {
    /// Its number.
    pub id: u64,
    /// The commit that it ran on.
    pub head: String,
}

#[derive(Deserialize)]
struct FinishedRunPayload {
    workflow_run: Option<FinishedRunForm>,
}

#[derive(Deserialize)]
struct FinishedRunForm {
    id: u64,
    head_sha: String,
}

/// Reads a payload; `None` where the event is not about a run.
///
/// # Errors
/// What in it cannot be.
pub fn read_finished_run(source: &SourceText) -> Result<Option<FinishedRun>, Diagnostic> {
    let payload: FinishedRunPayload = json::whole(source)?;
    Ok(payload.workflow_run.map(|FinishedRunForm { id, head_sha }| FinishedRun { id, head: head_sha }))
}
