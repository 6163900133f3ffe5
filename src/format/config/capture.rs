//! Reads `capture:` of a target: a process whose model calls are recorded.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::CaptureSource;

/// What the run record of a captured process is made from.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum CaptureForm {
    /// Its calls in OpenAI's wire format.
    Openai,
    /// Its calls in Anthropic's wire format.
    Anthropic,
    /// The spans that it exports over OTLP.
    Otlp,
}

impl From<CaptureForm> for CaptureSource {
    fn from(form: CaptureForm) -> Self {
        match form {
            CaptureForm::Openai => Self::OpenAi,
            CaptureForm::Anthropic => Self::Anthropic,
            CaptureForm::Otlp => Self::Otlp,
        }
    }
}
