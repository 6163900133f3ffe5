//! `scoring:` of a suite of kind `revision`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigReader;
use crate::format::yaml::Step::{At, Key};
use crate::model::{EPSILON, PenaltyMode, Scoring};

/// How a revised contract is scored; omitted settings keep the defaults of seed 003.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScoringForm {
    /// The weights of the five criteria; they sum to 1.
    weights: Option<WeightsForm>,
    /// Penalties.
    penalties: Option<PenaltiesForm>,
    /// Where the penalty for a missing entity applies.
    penalty_mode: Option<PenaltyModeForm>,
    /// Lowest overall score that satisfies, 0 to 1.
    quality_gate: Option<f64>,
    /// Whether a critical failure alone makes a document unsatisfactory.
    critical_failures_block: Option<bool>,
    /// Most attempts in a loop; default 3.
    max_attempts: Option<u32>,
    /// Why the scoring differs.
    rationale: Option<String>,
}

/// Weights of the five criteria; they sum to 1.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WeightsForm {
    entity_substitution: f64,
    jurisdiction_transformation: f64,
    liability_reallocation: f64,
    clause_operations: f64,
    legal_coherence: f64,
}

/// Penalties on the overall score, each 0 to 1.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PenaltiesForm {
    /// Once, for broken cross-references.
    broken_reference: Option<f64>,
    /// For each old name that remains.
    missing_entity: Option<f64>,
    /// Once, for an indemnity in the wrong direction.
    liability_direction: Option<f64>,
    /// For each orphaned clause or definition.
    orphan: Option<f64>,
    /// Once, for damaged RTF.
    rtf_corruption: Option<f64>,
}

/// Where the penalty for a missing entity applies.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum PenaltyModeForm {
    /// To its criterion and to the overall score.
    Overall,
    /// Only to its criterion.
    Criterion,
}

impl ConfigReader<'_> {
    pub(super) fn scoring(&mut self, index: usize, form: ScoringForm) -> Scoring {
        let usual = Scoring::default();
        let mut scoring = Scoring { rationale: form.rationale, ..usual.clone() };
        if let Some(weights) = form.weights {
            let WeightsForm {
                entity_substitution,
                jurisdiction_transformation,
                liability_reallocation,
                clause_operations,
                legal_coherence,
            } = weights;
            scoring.weights = [
                entity_substitution,
                jurisdiction_transformation,
                liability_reallocation,
                clause_operations,
                legal_coherence,
            ];
        }
        if let Some(given) = form.penalties {
            let to = &mut scoring.penalties;
            to.broken_reference = given.broken_reference.unwrap_or(to.broken_reference);
            to.missing_entity = given.missing_entity.unwrap_or(to.missing_entity);
            to.liability_direction = given.liability_direction.unwrap_or(to.liability_direction);
            to.orphan = given.orphan.unwrap_or(to.orphan);
            to.rtf_corruption = given.rtf_corruption.unwrap_or(to.rtf_corruption);
        }
        if let Some(mode) = form.penalty_mode {
            scoring.penalty_mode = match mode {
                PenaltyModeForm::Overall => PenaltyMode::Overall,
                PenaltyModeForm::Criterion => PenaltyMode::Criterion,
            };
        }
        scoring.quality_gate = form.quality_gate.unwrap_or(scoring.quality_gate);
        scoring.critical_failures_block = form.critical_failures_block.unwrap_or(scoring.critical_failures_block);
        scoring.max_attempts = form.max_attempts.unwrap_or(scoring.max_attempts);
        self.check_scoring(index, &scoring, &usual);
        scoring
    }

    fn check_scoring(&mut self, index: usize, scoring: &Scoring, usual: &Scoring) {
        let at = |key| [Key("suites"), At(index), Key("scoring"), Key(key)];
        let fits = |number: f64| (0.0..=1.0).contains(&number);
        let sum: f64 = scoring.weights.iter().sum();
        let outside = scoring.weights.iter().find(|weight| !fits(**weight));
        if outside.is_some() || (sum - 1.0).abs() > EPSILON {
            let what = match outside {
                Some(weight) => format!("a weight is {weight}, not between 0 and 1"),
                // Rounded: 1.3, not 1.2999999999999998.
                None => format!("the weights sum to {}", (sum * 1e9).round() / 1e9),
            };
            self.refuse(&at("weights"), "bad-weights", what, "write five weights from 0 to 1 that sum to 1");
        }
        let amounts = &scoring.penalties;
        let all = [
            amounts.broken_reference,
            amounts.missing_entity,
            amounts.liability_direction,
            amounts.orphan,
            amounts.rtf_corruption,
        ];
        if !all.into_iter().all(fits) {
            self.refuse(
                &at("penalties"),
                "bad-penalty",
                "a penalty is not between 0 and 1",
                "write a number from 0 to 1",
            );
        }
        if !fits(scoring.quality_gate) {
            let what = format!("quality_gate is {}", scoring.quality_gate);
            self.refuse(&at("quality_gate"), "bad-threshold", what, "write a number from 0 to 1");
        }
        if scoring.max_attempts == 0 {
            self.refuse(&at("max_attempts"), "bad-attempts", "max_attempts is 0", "write 1 or more");
        }
        let as_usual = Scoring { rationale: scoring.rationale.clone(), ..usual.clone() } == *scoring;
        let reasoned = scoring.rationale.as_deref().is_some_and(|why| !why.trim().is_empty());
        if !as_usual && !reasoned {
            let help = "add rationale: the reason, for readers of the numbers";
            let path = [Key("suites"), At(index), Key("scoring")];
            self.refuse(&path, "no-rationale", "the scoring differs from the default without a rationale", help);
        }
    }
}
