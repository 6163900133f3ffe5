//! What a case says about itself besides its expectations: whether it is a draft, and its tags.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::CaseTag;

/// Whether a case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "bool", into = "bool")]
pub enum CaseStage {
    /// It counts.
    #[default]
    Accepted,
    /// It is proposed: it runs and is shown, and no metric, gate or baseline knows it.
    Draft,
}

impl From<bool> for CaseStage {
    fn from(is_draft: bool) -> Self {
        if is_draft {
            Self::Draft
        } else {
            Self::Accepted
        }
    }
}

impl From<CaseStage> for bool {
    fn from(stage: CaseStage) -> Self {
        stage == CaseStage::Draft
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseMarks {
    pub stage: CaseStage,
    /// The words that select it.
    pub tags: BTreeSet<CaseTag>,
}

impl CaseMarks {
    /// The marks of the case at `cursor`, as stated under `draft` and `tags`.
    ///
    /// # Errors
    /// An invalid tag, or one that is stated twice.
    pub fn read(
        stage: CaseStage,
        stated: &[String],
        cursor: &JsonCursor<'_>,
    ) -> Result<Self, Diagnostic> {
        let mut tags = BTreeSet::new();
        for (at, text) in stated.iter().enumerate() {
            let path = [Key("tags"), At(at)];
            let tag = CaseTag::new(text)
                .map_err(|bad| cursor.problem(&path, Code::BAD_ID, bad.to_string(), bad.help()))?;
            if !tags.insert(tag) {
                let description = format!("duplicate tag \"{text}\"");
                return Err(cursor.problem(&path, Code::DUPLICATE_ID, description, "remove it"));
            }
        }
        Ok(Self { stage, tags })
    }
}
