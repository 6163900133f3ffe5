//! Reads the payload of `workflow_run`: the run that finished.

use serde::Deserialize;

use super::json;
use crate::diag::Diagnostic;
use crate::files::SourceText;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedRun {
    pub id: u64,
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

/// Reads a payload; `None` if the event is not about a run.
pub fn read_finished_run(source: &SourceText) -> Result<Option<FinishedRun>, Diagnostic> {
    let payload: FinishedRunPayload = json::whole(source)?;
    Ok(payload
        .workflow_run
        .map(|FinishedRunForm { id, head_sha }| FinishedRun { id, head: head_sha }))
}
