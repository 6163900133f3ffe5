//! The audit artifact of a loop: every attempt with its verification, and why the last one does not pass.

use serde_json::{Value, json};

use super::checks::next_step;
use super::fault::{Criterion, FaultKind, RevisionFault};
use super::produced::{RevisionOutput, VerifiedAttempt};
use super::score::Verification;
use super::scoring::Scoring;
use crate::model::UngradedReason;

/// The artifact of a loop; `None` for a single document or evaluation. A loop that broke off states why, and is never satisfied.
pub fn loop_artifact(
    produced: &RevisionOutput,
    scoring: &Scoring,
    broken: Option<&UngradedReason>,
) -> Option<Box<str>> {
    let made = produced.rounds?;
    let last = produced
        .attempts
        .last()
        .map(|attempt| attempt.verification.as_ref());
    let satisfied =
        last.is_some_and(|last| last.satisfied) && produced.flaws.is_empty() && broken.is_none();
    let kept = json!({
        "schema": "goldgate.attempts/1",
        "attempts": produced.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "attempts_made": made,
        "flaws": produced.flaws,
        "max_attempts": scoring.max_attempts,
        "quality_gate": scoring.quality_gate,
        "satisfied": satisfied,
        "failure": if satisfied { Value::Null } else { failure(last, broken) },
    });
    Some(format!("{kept:#}\n").into())
}

fn attempt(attempt: &VerifiedAttempt) -> Value {
    let Verification {
        scores,
        penalties,
        overall,
        satisfied,
        faults,
    } = attempt.verification.as_ref();
    let scores = Criterion::ALL
        .into_iter()
        .map(|criterion| (criterion.as_str(), scores[criterion.index()]));
    let penalties = penalties.iter().map(
        |penalty| json!({"why": penalty.why, "times": penalty.times, "amount": penalty.amount}),
    );

    json!({
        "criteria_scores": scores.map(|(word, score)| (word.to_owned(), score.into())).collect::<serde_json::Map<_, _>>(),
        "document": attempt.source,
        "evaluation": attempt.critic_answer,
        "faults": faults.iter().map(fault_json).collect::<Vec<_>>(),
        "overall_score": overall,
        "penalties": penalties.collect::<Vec<_>>(),
        "satisfied": satisfied,
    })
}

fn fault_json(fault: &RevisionFault) -> Value {
    // Format damage belongs to no criterion; it counts only by its penalty.
    let criterion = fault.kind.criterion().map_or("format", Criterion::as_str);
    json!({"criterion": criterion, "detail": fault.detail})
}

/// The failure of a loop without a passing document: the unmet criteria and the next steps.
fn failure(last: Option<&Verification>, broken: Option<&UngradedReason>) -> Value {
    let broken = broken.map(|why| format!("the loop broke off: {}", why.text()));
    let Some(last) = last else {
        return json!({"unmet": [], "why": broken.as_deref().unwrap_or("the document is missing")});
    };
    let mut unmet = Vec::new();
    for criterion in Criterion::ALL {
        let faults: Vec<&str> = last
            .against(criterion)
            .map(|fault| fault.detail.as_str())
            .collect();
        if !faults.is_empty() {
            let next = next_step(criterion);
            unmet.push(json!({"criterion": criterion.as_str(), "faults": faults, "next": next}));
        }
    }
    let damage: Vec<&str> = last
        .of(FaultKind::Corrupt)
        .map(|fault| fault.detail.as_str())
        .collect();
    let why = match (broken.as_deref(), last.satisfied) {
        (Some(broken), _) => broken,
        (None, true) => "the loop does not have the expected form",
        (None, false) => {
            "the last document does not reach the quality gate, or has a critical failure"
        }
    };
    json!({"format": damage, "unmet": unmet, "why": why})
}
