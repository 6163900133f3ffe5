//! How a contract's revision is scored (grading.md 9).

use serde::Serialize;

/// Weights, deductions and the gate of kind `revision`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scoring {
    /// The weights of the five criteria, in their order; their sum is 1.
    pub weights: [f64; 5],
    /// What is deducted.
    pub penalties: Penalties,
    /// Where a missing entity is deducted.
    pub penalty_mode: PenaltyMode,
    /// The least overall score that satisfies, 0 to 1.
    pub quality_gate: f64,
    /// Whether a critical failure alone keeps a document from satisfying.
    pub critical_failures_block: bool,
    /// The most attempts of a loop.
    pub max_attempts: u32,
    /// Why it is scored so, where it differs from the seed.
    pub rationale: Option<String>,
}

/// What is deducted from the overall score, each 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Penalties {
    /// Once, for any broken cross-reference.
    pub broken_reference: f64,
    /// For each old name that is left.
    pub missing_entity: f64,
    /// Once, for an indemnity that goes the wrong way.
    pub liability_direction: f64,
    /// For each orphaned clause or definition.
    pub orphan: f64,
    /// Once, for a damaged format.
    pub rtf_corruption: f64,
}

/// Where a missing entity is deducted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum PenaltyMode {
    /// Within its criterion, and from the overall score, too: the seed's text.
    Overall,
    /// Within its criterion alone: the seed's worked example.
    Criterion,
}

impl Default for Scoring {
    fn default() -> Self {
        Self {
            weights: [0.25, 0.20, 0.20, 0.20, 0.15],
            penalties: Penalties {
                broken_reference: 0.20,
                missing_entity: 0.15,
                liability_direction: 0.20,
                orphan: 0.10,
                rtf_corruption: 0.10,
            },
            penalty_mode: PenaltyMode::Overall,
            quality_gate: 0.85,
            critical_failures_block: true,
            max_attempts: 3,
            rationale: None,
        }
    }
}
