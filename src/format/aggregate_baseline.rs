//! Baselines of other systems: the numbers of each agent, without its cases.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::json;
use crate::diag::Diagnostic;
use crate::files::SourceText;

/// `{"timestamp": TIME, "commit": COMMIT, "samples": 3, "metrics": {AGENT: {METRIC: NUMBER}}}`; other keys are ignored.
#[derive(Debug, Deserialize)]
pub struct AggregateBaseline {
    /// When it was measured.
    pub timestamp: Option<String>,
    /// The commit that was measured.
    pub commit: Option<String>,
    /// Samples of each case.
    pub samples: Option<u32>,
    /// By agent and metric.
    pub metrics: BTreeMap<String, BTreeMap<String, Value>>,
}

impl AggregateBaseline {
    /// Reads such a file.
    ///
    /// # Errors
    /// Invalid content with its position.
    pub fn read(source: &SourceText) -> Result<Self, Diagnostic> {
        json::whole(source)
    }
}
