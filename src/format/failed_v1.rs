//! Reads and writes `goldgate.failed/1`: the cases that failed in the last run of a working tree.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::json;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{AgentName, CaseId, SuiteId, Tier};

const SCHEMA: &str = "goldgate.failed/1";

/// A case that failed in a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedCase {
    /// The tier.
    pub tier: Tier,
    /// The suite.
    pub suite: SuiteId,
    /// The agent.
    pub agent: AgentName,
    /// The case.
    pub case: CaseId,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct FailedCases {
    schema: String,
    failed: BTreeSet<FailedCase>,
}

/// Reads the file.
pub fn read_failed(source: &SourceText) -> Result<BTreeSet<FailedCase>, Diagnostic> {
    let failed: FailedCases = json::whole(source)?;
    if failed.schema != SCHEMA {
        let description = format!("unknown schema {:?}", failed.schema);
        let help =
            format!("this version reads \"{SCHEMA}\"; remove the file, and run all cases again");
        return Err(source.problem(0, Code::UNKNOWN_SCHEMA, description, help));
    }
    Ok(failed.failed)
}

/// The file as indented JSON with a trailing newline.
pub fn written(failed: &BTreeSet<FailedCase>) -> String {
    let file = FailedCases {
        schema: SCHEMA.to_owned(),
        failed: failed.clone(),
    };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}
