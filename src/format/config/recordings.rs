//! Which recordings of a pull request count.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::RecordingTrust;

/// Which recordings of a pull request count.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingsForm {
    /// Who may write recordings; default `author`. The base commit's config decides.
    pub(super) trust: Option<RecordingTrustForm>,
}

/// Who may write recordings.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordingTrustForm {
    /// The author of the change: new recordings are listed.
    Author,
    /// The author, with the approval of another person.
    Approval,
    /// Only the recording workflow of the base branch.
    Ci,
}

impl From<RecordingsForm> for RecordingTrust {
    fn from(form: RecordingsForm) -> Self {
        match form.trust {
            None | Some(RecordingTrustForm::Author) => Self::Author,
            Some(RecordingTrustForm::Approval) => Self::Approval,
            Some(RecordingTrustForm::Ci) => Self::Ci,
        }
    }
}
