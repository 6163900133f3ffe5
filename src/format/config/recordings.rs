//! Which recordings of a pull request count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigReader;
use crate::diag::Code;
use crate::format::yaml::Step::Key;
use crate::model::{DEFAULT_RECORDER, RecordingTrust};

/// Which recordings of a pull request count.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingsForm {
    /// `ci`: only those that a run of `mode: record` left with its status. Default: all.
    pub(super) trust: Option<RecordingTrustForm>,
    /// The account that sets the status, such as `acme-recorder[bot]`; default `github-actions[bot]`.
    pub(super) recorder: Option<String>,
}

/// Whose recordings count.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordingTrustForm {
    Ci,
}

impl ConfigReader<'_> {
    /// Checks which recordings count.
    pub(super) fn recordings(&mut self, form: RecordingsForm) -> RecordingTrust {
        let RecordingsForm { trust, recorder } = form;
        match (trust, recorder) {
            (None, None) => RecordingTrust::Any,
            (None, Some(_)) => {
                let path = [Key("recordings"), Key("recorder")];
                self.refuse(
                    &path,
                    Code::NO_EFFECT,
                    "recorder has no effect without trust: ci",
                    "add trust: ci, or remove it",
                );
                RecordingTrust::Any
            }
            (Some(RecordingTrustForm::Ci), recorder) => {
                RecordingTrust::Ci(recorder.unwrap_or_else(|| DEFAULT_RECORDER.to_owned()))
            }
        }
    }
}
