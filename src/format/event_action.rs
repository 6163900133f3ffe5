//! Reads the action, the label and the branch of an event payload.

use serde::Deserialize;

use super::json;
use crate::diag::Diagnostic;
use crate::files::SourceText;

/// The action of an event; its texts are unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventAction {
    /// The action, such as `labeled`.
    pub action: Option<String>,
    /// The label concerned.
    pub label: Option<String>,
    /// The head before a push to a pull request.
    pub before: Option<String>,
    /// The branch of the event, if any.
    pub branch: Option<String>,
}

#[derive(Deserialize)]
struct ActionPayload {
    action: Option<String>,
    label: Option<EventLabelForm>,
    before: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
}

#[derive(Deserialize)]
struct EventLabelForm {
    name: String,
}

/// Reads the payload of any event.
pub fn read_event_action(source: &SourceText) -> Result<EventAction, Diagnostic> {
    let payload: ActionPayload = json::whole(source)?;
    let branch = payload
        .reference
        .and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
    Ok(EventAction {
        action: payload.action,
        label: payload.label.map(|label| label.name),
        before: payload.before,
        branch,
    })
}
