//! How a revised contract is scored.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::fault::Criterion;
use super::instructions::Acceptance;

/// Weights, penalties and the quality gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scoring {
    /// Weights of the five criteria, in the order of [`Criterion::ALL`]; they sum to 1.
    #[serde(serialize_with = "by_criterion")]
    pub weights: [f64; 5],
    /// Penalties.
    pub penalties: Penalties,
    /// Where the penalty for a missing entity applies.
    pub penalty_mode: PenaltyMode,
    /// Lowest overall score that satisfies, 0 to 1.
    pub quality_gate: f64,
    /// Whether a critical failure alone makes a document unsatisfactory.
    pub critical_failures_block: bool,
    /// Most attempts in a loop.
    pub max_attempts: u32,
    /// Why the scoring differs from the seed, if it does.
    pub rationale: Option<String>,
}

/// Penalties on the overall score, each 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Penalties {
    /// Once, for broken cross-references.
    pub broken_reference: f64,
    /// For each old name that remains.
    pub missing_entity: f64,
    /// Once, for an indemnity in the wrong direction.
    pub liability_direction: f64,
    /// For each orphaned clause or definition.
    pub orphan: f64,
    /// Once, for damaged RTF.
    pub rtf_corruption: f64,
}

/// Where the penalty for a missing entity applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PenaltyModeForm")]
pub enum PenaltyMode {
    // As in the seed's text.
    /// To its criterion and to the overall score.
    Overall,
    // As in the seed's worked example.
    /// Only to its criterion.
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

impl Scoring {
    /// The scoring of a case that states weights or a quality gate of its own.
    pub fn of_case(&self, stated: Option<&Acceptance>) -> Self {
        let mut scoring = self.clone();
        let Some(stated) = stated else {
            return scoring;
        };
        if let Some(thresholds) = &stated.thresholds {
            scoring.quality_gate = thresholds.overall_score_min;
        }
        if !stated.criteria.is_empty() {
            scoring.weights = [0.0; 5];
        }
        for (name, criterion) in &stated.criteria {
            if let Some(known) = Criterion::in_name(name) {
                scoring.weights[known.index()] += criterion.weight;
            }
        }
        scoring
    }
}

fn by_criterion<S: Serializer>(weights: &[f64; 5], writer: S) -> Result<S::Ok, S::Error> {
    let mut map = writer.serialize_map(Some(weights.len()))?;
    for (criterion, weight) in Criterion::ALL.into_iter().zip(weights) {
        map.serialize_entry(criterion.as_str(), weight)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::Scoring;
    use crate::suites::kinds::revision::instructions::Acceptance;

    #[test]
    fn a_case_may_state_weights_and_gate() {
        let stated = r#"{"thresholds": {"overall_score_min": 0.9}, "criteria": {
            "entity_names_complete": {"weight": 0.5}, "clause_deletion": {"weight": 0.2}, "clause_addition": {"weight": 0.3}}}"#;
        let stated: Acceptance = serde_json::from_str(stated).unwrap();
        let scoring = Scoring::default().of_case(Some(&stated));
        assert_eq!(scoring.weights, [0.5, 0.0, 0.0, 0.5, 0.0]);
        assert!((scoring.quality_gate - 0.9).abs() < f64::EPSILON);
        assert_eq!(Scoring::default().of_case(None), Scoring::default());
    }
}
