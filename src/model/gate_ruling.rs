//! The result of one gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gate::GateKind;
use super::verdict::Ruling;

/// One gate with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRuling {
    /// The kind of limit.
    pub gate: GateKind,
    /// The threshold, or the tolerance of a change; absent if it comes from a missing baseline.
    pub threshold: Option<f64>,
    /// Whether the threshold comes from the baseline.
    pub from_baseline: bool,
    /// The width of the inconclusive band.
    pub zone: f64,
    /// How much worse than the baseline a value in the band may be; absent if the band is inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_zone: Option<f64>,
    /// Whether the gate has no inconclusive band.
    pub hard: bool,
    /// The result.
    #[serde(flatten)]
    pub ruling: Ruling,
    /// The base commit's own value, if it fails this gate as well: the gate then only requires that this change is not worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<BaseCommitValue>,
}

/// The value that the base commit's own recordings give by its own rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaseCommitValue {
    /// The base branch, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The value, on the cases that are compared with the baseline.
    pub value: f64,
}

impl GateRuling {
    /// Whether the config disables it.
    pub fn is_off(&self) -> bool {
        matches!(self.ruling, Ruling::Off(_))
    }
}
