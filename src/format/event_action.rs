//! What an event's payload says was done, and by whom.

use serde::Deserialize;

use super::json;
use super::source::SourceText;
use crate::diag::Diagnostic;

/// An act: words of the event that nobody has checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventAction {
    /// What was done, such as `labeled`.
    pub action: Option<String>,
    /// The label that it is about.
    pub label: Option<String>,
    /// Who did it.
    pub sender: Option<String>,
    /// The branch that the event is on, where it is on one.
    pub branch: Option<String>,
    /// The repository's default branch.
    pub default_branch: Option<String>,
}

#[derive(Deserialize)]
struct ActionPayload {
    action: Option<String>,
    label: Option<EventLabelForm>,
    sender: Option<SenderForm>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    repository: Option<ActionRepositoryForm>,
}

#[derive(Deserialize)]
struct EventLabelForm {
    name: String,
}

#[derive(Deserialize)]
struct SenderForm {
    login: String,
}

#[derive(Deserialize)]
struct ActionRepositoryForm {
    default_branch: Option<String>,
}

/// Reads a payload of any event.
///
/// # Errors
/// What in it cannot be.
pub fn read_event_action(source: &SourceText) -> Result<EventAction, Diagnostic> {
    let payload: ActionPayload = json::whole(source)?;
    let branch = payload.reference.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
    Ok(EventAction {
        action: payload.action,
        label: payload.label.map(|label| label.name),
        sender: payload.sender.map(|sender| sender.login),
        branch,
        default_branch: payload.repository.and_then(|repository| repository.default_branch),
    })
}
