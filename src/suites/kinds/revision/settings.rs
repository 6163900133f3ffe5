//! The settings of kind `revision`: how a revision is scored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fault::Criterion;
use super::instructions::ReplacedValues;
use super::scoring::{Penalties, PenaltyMode, Scoring};
use crate::diag::Code;
use crate::format::Step::Key;
use crate::format::config::{FromKeys, SuiteKeyReader};
use crate::model::{
    EPSILON, SettingChange, SettingFile, SettingRule, SettingWeight, SuiteId, Treatment,
    at_least_two_places,
};
fn is_share(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

fn looser_if(is_looser: bool) -> SettingWeight {
    if is_looser {
        SettingWeight::Looser
    } else {
        SettingWeight::Tighter
    }
}

fn penalty_mode_word(mode: PenaltyMode) -> String {
    match mode {
        PenaltyMode::Overall => "overall".to_owned(),
        PenaltyMode::Criterion => "criterion".to_owned(),
    }
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::OwnSettings;

#[derive(Debug, Clone, Default, Serialize)]
pub struct RevisionSettings {
    pub scoring: Scoring,
    pub replaced: ReplacedValues,
}

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct RevisionKeys {
    /// Weights and penalties that replace the defaults, with a rationale (kind `revision`).
    scoring: Option<ScoringForm>,
    /// What the values of counterparty_update and domicile_shift replace, by their key; null where the originals have none (kind `revision`).
    #[serde(default)]
    replaced: ReplacedValues,
}

/// How a revised contract is scored; omitted settings keep their defaults.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScoringForm {
    /// The weights of the five criteria; they sum to 1.
    weights: Option<WeightsForm>,
    /// Penalties.
    penalties: Option<PenaltiesForm>,
    /// Where the penalty for a missing entity applies.
    penalty_mode: Option<PenaltyMode>,
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

impl FromKeys for RevisionSettings {
    type Form = RevisionKeys;

    fn check(form: RevisionKeys, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        Self {
            scoring: form
                .scoring
                .map_or_else(Scoring::default, |form| form.checked(reader)),
            replaced: form.replaced,
        }
    }
}

impl ScoringForm {
    fn checked(self, reader: &mut SuiteKeyReader<'_, '_>) -> Scoring {
        let (form, usual) = (self, Scoring::default());
        let mut scoring = Scoring {
            rationale: form.rationale,
            ..usual.clone()
        };
        if let Some(weights) = form.weights {
            scoring.weights = [
                weights.entity_substitution,
                weights.jurisdiction_transformation,
                weights.liability_reallocation,
                weights.clause_operations,
                weights.legal_coherence,
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
        scoring.penalty_mode = form.penalty_mode.unwrap_or(scoring.penalty_mode);
        scoring.quality_gate = form.quality_gate.unwrap_or(scoring.quality_gate);
        scoring.critical_failures_block = form
            .critical_failures_block
            .unwrap_or(scoring.critical_failures_block);
        scoring.max_attempts = form.max_attempts.unwrap_or(scoring.max_attempts);
        scoring.check(&usual, reader);
        scoring
    }
}

impl Scoring {
    fn check(&self, usual: &Self, reader: &mut SuiteKeyReader<'_, '_>) {
        let scoring = self;
        let sum: f64 = scoring.weights.iter().sum();
        let outside = scoring.weights.iter().find(|weight| !is_share(**weight));
        if outside.is_some() || (sum - 1.0).abs() > EPSILON {
            let message = match outside {
                Some(weight) => format!("a weight is {weight}, not between 0 and 1"),
                // Rounded: 1.3, not 1.2999999999999998.
                None => format!("the weights sum to {}", (sum * 1e9).round() / 1e9),
            };
            reader.refuse(
                &[Key("scoring"), Key("weights")],
                Code::BAD_WEIGHTS,
                message,
                "write five weights from 0 to 1 that sum to 1",
            );
        }
        if !scoring
            .penalties
            .named()
            .into_iter()
            .all(|(_, amount)| is_share(amount))
        {
            reader.refuse(
                &[Key("scoring"), Key("penalties")],
                Code::BAD_PENALTY,
                "a penalty is not between 0 and 1",
                "write a number from 0 to 1",
            );
        }
        if !is_share(scoring.quality_gate) {
            let message = format!("quality_gate is {}", scoring.quality_gate);
            reader.refuse(
                &[Key("scoring"), Key("quality_gate")],
                Code::BAD_THRESHOLD,
                message,
                "write a number from 0 to 1",
            );
        }
        if scoring.max_attempts == 0 {
            reader.refuse(
                &[Key("scoring"), Key("max_attempts")],
                Code::BAD_ATTEMPTS,
                "max_attempts is 0",
                "write 1 or more",
            );
        }
        let as_usual = Scoring {
            rationale: scoring.rationale.clone(),
            ..usual.clone()
        } == *scoring;
        let reasoned = scoring
            .rationale
            .as_deref()
            .is_some_and(|why| !why.trim().is_empty());
        if !as_usual && !reasoned {
            let help = "add rationale: the reason, for readers of the numbers";
            reader.refuse(
                &[Key("scoring")],
                Code::NO_RATIONALE,
                "the scoring differs from the default without a rationale",
                help,
            );
        }
    }
}

impl OwnSettings for RevisionSettings {
    const RULES: &'static [SettingRule] = &[
        SettingRule::of(
            "scoring",
            Treatment::Depends("a looser score needs an approval, a stricter one is listed"),
        ),
        SettingRule {
            path: "scoring.rationale",
            treatment: Treatment::Harmless,
            why: "a text for readers",
        },
    ];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: tests::SUITE,
        edits: tests::EDITS,
    };

    fn changes(old: &Self, new: &Self, suite: &SuiteId) -> Vec<SettingChange> {
        let Scoring {
            weights,
            penalties,
            penalty_mode,
            quality_gate,
            critical_failures_block,
            max_attempts,
            rationale,
        } = &new.scoring;
        let (old, plain) = (&old.scoring, at_least_two_places);
        let why = rationale
            .as_ref()
            .map_or(String::new(), |why| format!(" ({why})"));
        let mut changes = Vec::new();
        let mut add = |path: &str, weight, description: &str, old: String, new: String| {
            let path = format!("scoring.{path}");
            if old != new {
                let words = format!("{description} of `{suite}` {old} -> {new}{why}");
                changes.push(SettingChange {
                    path,
                    weight,
                    words,
                });
            }
        };
        for ((criterion, old), new) in Criterion::ALL.into_iter().zip(old.weights).zip(*weights) {
            let name = criterion.as_str();
            add(
                &format!("weights.{name}"),
                SettingWeight::Looser,
                &format!("weight of {name}"),
                plain(old),
                plain(new),
            );
        }
        for ((name, old), (_, new)) in old.penalties.named().into_iter().zip(penalties.named()) {
            add(
                &format!("penalties.{name}"),
                looser_if(new < old),
                &format!("penalty {name}"),
                plain(old),
                plain(new),
            );
        }
        add(
            "penalty_mode",
            SettingWeight::Looser,
            "penalty mode",
            penalty_mode_word(old.penalty_mode),
            penalty_mode_word(*penalty_mode),
        );
        add(
            "quality_gate",
            looser_if(*quality_gate < old.quality_gate),
            "quality gate",
            plain(old.quality_gate),
            plain(*quality_gate),
        );
        add(
            "critical_failures_block",
            looser_if(!critical_failures_block),
            "critical failures block",
            yes_or_no(old.critical_failures_block),
            yes_or_no(*critical_failures_block),
        );
        add(
            "max_attempts",
            looser_if(*max_attempts > old.max_attempts),
            "largest number of attempts",
            old.max_attempts.to_string(),
            max_attempts.to_string(),
        );
        changes
    }

    fn files(&self) -> Vec<SettingFile> {
        Vec::new()
    }
}

impl Penalties {
    fn named(&self) -> [(&'static str, f64); 5] {
        let Self {
            broken_reference,
            missing_entity,
            liability_direction,
            orphan,
            rtf_corruption,
        } = self;
        [
            ("broken_reference", *broken_reference),
            ("missing_entity", *missing_entity),
            ("liability_direction", *liability_direction),
            ("orphan", *orphan),
            ("rtf_corruption", *rtf_corruption),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Weight::NeedsApproval;
    use crate::suites::SettingEdit;

    pub const SUITE: &str = "    scoring:
      weights: { entity_substitution: 0.25, jurisdiction_transformation: 0.2, liability_reallocation: 0.2, clause_operations: 0.2, legal_coherence: 0.15 }
      penalties: { broken_reference: 0.2, missing_entity: 0.15, liability_direction: 0.2, orphan: 0.1, rtf_corruption: 0.1 }
      penalty_mode: overall
      quality_gate: 0.85
      critical_failures_block: true
      max_attempts: 3
      rationale: seed
    replaced: { name: Acme Ltd }
";

    pub const EDITS: &[SettingEdit] = &[
        (
            "SuiteForm.scoring",
            "quality_gate: 0.85",
            "quality_gate: 0.80",
            Some(NeedsApproval),
        ),
        (
            "SuiteForm.replaced",
            "Acme Ltd",
            "Northwind Ltd",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.weights",
            "entity_substitution: 0.25, jurisdiction_transformation: 0.2",
            "entity_substitution: 0.2, jurisdiction_transformation: 0.25",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.penalties",
            "orphan: 0.1",
            "orphan: 0.05",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.penalty_mode",
            "penalty_mode: overall",
            "penalty_mode: criterion",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.quality_gate",
            "quality_gate: 0.85",
            "quality_gate: 0.80",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.critical_failures_block",
            "block: true",
            "block: false",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.max_attempts",
            "max_attempts: 3",
            "max_attempts: 4",
            Some(NeedsApproval),
        ),
        (
            "ScoringForm.rationale",
            "rationale: seed",
            "rationale: other",
            None,
        ),
        (
            "WeightsForm.entity_substitution",
            "entity_substitution: 0.25, jurisdiction_transformation: 0.2",
            "entity_substitution: 0.2, jurisdiction_transformation: 0.25",
            Some(NeedsApproval),
        ),
        (
            "WeightsForm.jurisdiction_transformation",
            "jurisdiction_transformation: 0.2, liability_reallocation: 0.2",
            "jurisdiction_transformation: 0.25, liability_reallocation: 0.15",
            Some(NeedsApproval),
        ),
        (
            "WeightsForm.liability_reallocation",
            "liability_reallocation: 0.2, clause_operations: 0.2",
            "liability_reallocation: 0.25, clause_operations: 0.15",
            Some(NeedsApproval),
        ),
        (
            "WeightsForm.clause_operations",
            "clause_operations: 0.2, legal_coherence: 0.15",
            "clause_operations: 0.15, legal_coherence: 0.2",
            Some(NeedsApproval),
        ),
        (
            "WeightsForm.legal_coherence",
            "clause_operations: 0.2, legal_coherence: 0.15",
            "clause_operations: 0.25, legal_coherence: 0.1",
            Some(NeedsApproval),
        ),
        (
            "PenaltiesForm.broken_reference",
            "broken_reference: 0.2",
            "broken_reference: 0.1",
            Some(NeedsApproval),
        ),
        (
            "PenaltiesForm.missing_entity",
            "missing_entity: 0.15",
            "missing_entity: 0.1",
            Some(NeedsApproval),
        ),
        (
            "PenaltiesForm.liability_direction",
            "liability_direction: 0.2",
            "liability_direction: 0.1",
            Some(NeedsApproval),
        ),
        (
            "PenaltiesForm.orphan",
            "orphan: 0.1",
            "orphan: 0.05",
            Some(NeedsApproval),
        ),
        (
            "PenaltiesForm.rtf_corruption",
            "rtf_corruption: 0.1",
            "rtf_corruption: 0.05",
            Some(NeedsApproval),
        ),
    ];
}
