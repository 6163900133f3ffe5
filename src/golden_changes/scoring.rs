//! Weights and penalties of suites of kind `revision`.

use super::found::{ChangeCollector, LimitMove};
use super::gates::plain;
use crate::model::{Penalties, PenaltyMode, RepoPath, Scoring, SuiteConfig};

/// The five criteria, in the order of their weights.
const CRITERIA: [&str; 5] = [
    "entity_substitution",
    "jurisdiction_transformation",
    "liability_reallocation",
    "clause_operations",
    "legal_coherence",
];

/// Compares how a suite is scored, setting by setting.
pub fn compare(before: &SuiteConfig, after: &SuiteConfig, found: &mut ChangeCollector) {
    let (old, new) = (before.scoring.clone().unwrap_or_default(), after.scoring.clone().unwrap_or_default());
    let Scoring { weights, penalties, penalty_mode, quality_gate, critical_failures_block, max_attempts, rationale } =
        new;
    let why = rationale.map_or(String::new(), |why| format!(" ({why})"));
    let none: Option<&RepoPath> = None;
    let mut add = |how: LimitMove, what: String, old: String, new: String| {
        found.moved(how, format!("{what} of `{}` {old} -> {new}{why}", after.id), none);
    };
    let rising = |loose: bool| if loose { LimitMove::Looser } else { LimitMove::Tighter };
    for ((name, old), new) in CRITERIA.iter().zip(old.weights).zip(weights).filter(|((_, old), new)| old != new) {
        add(LimitMove::Looser, format!("weight of {name}"), plain(old), plain(new));
    }
    for ((name, old), (_, new)) in named(&old.penalties).into_iter().zip(named(&penalties)) {
        if old != new {
            add(rising(new < old), format!("penalty {name}"), plain(old), plain(new));
        }
    }
    if old.penalty_mode != penalty_mode {
        let word = |mode| match mode {
            PenaltyMode::Overall => "overall".to_owned(),
            PenaltyMode::Criterion => "criterion".to_owned(),
        };
        add(LimitMove::Looser, "penalty mode".to_owned(), word(old.penalty_mode), word(penalty_mode));
    }
    if old.quality_gate != quality_gate {
        let how = rising(quality_gate < old.quality_gate);
        add(how, "quality gate".to_owned(), plain(old.quality_gate), plain(quality_gate));
    }
    if old.critical_failures_block != critical_failures_block {
        let word = |blocks: bool| if blocks { "yes" } else { "no" }.to_owned();
        let what = "critical failures block".to_owned();
        add(rising(!critical_failures_block), what, word(old.critical_failures_block), word(critical_failures_block));
    }
    if old.max_attempts != max_attempts {
        let how = rising(max_attempts > old.max_attempts);
        add(how, "largest number of attempts".to_owned(), old.max_attempts.to_string(), max_attempts.to_string());
    }
}

fn named(penalties: &Penalties) -> [(&'static str, f64); 5] {
    let Penalties { broken_reference, missing_entity, liability_direction, orphan, rtf_corruption } = penalties;
    [
        ("broken_reference", *broken_reference),
        ("missing_entity", *missing_entity),
        ("liability_direction", *liability_direction),
        ("orphan", *orphan),
        ("rtf_corruption", *rtf_corruption),
    ]
}
