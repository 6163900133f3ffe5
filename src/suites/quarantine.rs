//! A case in quarantine, as golden files state it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::Quarantine;

/// Why a case does not gate for a while.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineForm {
    /// Who mends it.
    owner: String,
    /// What is known of it.
    reason: String,
    /// The last day, as `YYYY-MM-DD`, at most 30 days ahead; from the next day on the case gates again.
    expires: String,
}

impl From<QuarantineForm> for Box<Quarantine> {
    fn from(form: QuarantineForm) -> Self {
        let QuarantineForm { owner, reason, expires } = form;
        Self::new(Quarantine { owner, reason, expires })
    }
}
