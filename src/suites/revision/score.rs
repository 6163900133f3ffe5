//! What the faults of a revised document come to (grading.md 9).

use super::alignment::Alignment;
use super::clauses::Clauses;
use super::draft::Draft;
use super::fault::{Criterion, FaultKind, RevisionFault};
use super::instructions::Instructions;
use super::liability::{IndemnityDirection, Parties};
use super::terms::terms;
use super::{alignment, coherence, references, replaced, structure, terms};
use crate::model::{PenaltyMode, Scoring, reaches, share};

/// How much of a criterion one old name that is left costs.
pub const OF_AN_ENTITY: f64 = 0.15;

/// How much of its coherence a document loses for each kind of problem.
const OF_A_PROBLEM: f64 = 0.2;

/// A deduction from the overall score.
#[derive(Debug, Clone, PartialEq)]
pub struct Penalty {
    /// What for.
    pub why: &'static str,
    /// How often.
    pub times: usize,
    /// How much in all, 0 or more.
    pub amount: f64,
}

/// The verdict on a revised document.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The five criteria, 0 to 1, in the order of [`Criterion::ALL`].
    pub scores: [f64; 5],
    /// What was deducted.
    pub penalties: Vec<Penalty>,
    /// The overall score, 0 to 1.
    pub overall: f64,
    /// Whether the document may pass.
    pub satisfied: bool,
    /// Everything that is wrong, by criterion.
    pub faults: Vec<RevisionFault>,
}

impl Verification {
    /// What is wrong of one kind.
    pub fn of(&self, kind: FaultKind) -> impl Iterator<Item = &RevisionFault> {
        self.faults.iter().filter(move |fault| fault.kind == kind)
    }

    /// What counts against one criterion.
    pub fn against(&self, criterion: Criterion) -> impl Iterator<Item = &RevisionFault> {
        self.faults.iter().filter(move |fault| fault.kind.criterion() == Some(criterion))
    }
}

/// Looks at a revised document beside its original, with the instructions in hand.
pub fn verify(original: &Draft, revised: &Draft, asked: &Instructions, scoring: &Scoring) -> Verification {
    if structure::is_nothing(revised) {
        let told = |kind| {
            RevisionFault::new(
                kind,
                "there is no readable document, so nothing of what was asked can be told".to_owned(),
            )
        };
        // Each criterion is failed, and has its reason.
        let kinds = Criterion::ALL.into_iter().map(FaultKind::Untold).chain([FaultKind::Corrupt]);
        let faults: Vec<RevisionFault> = kinds.map(told).collect();
        let penalties = penalties(&faults, scoring);
        return Verification { scores: [0.0; 5], penalties, overall: 0.0, satisfied: false, faults };
    }
    let alignment = Alignment::of(original, revised, asked);
    let clauses = Clauses { original, revised, alignment: &alignment };
    let mut faults = replaced::entities(&asked.entities, original, revised);
    let entities = (1.0 - OF_AN_ENTITY * faults.len() as f64).max(0.0);
    let deleted = alignment::deleted(original, asked);
    let law = asked.jurisdiction.as_ref().map(|law| replaced::jurisdiction(law, original, revised, &deleted));
    let (jurisdiction, missed) = law.unwrap_or((1.0, Vec::new()));
    faults.extend(missed);
    let (liability, wrong) = directions(original, revised, asked);
    faults.extend(wrong);
    let (before, now) = (terms(original), terms(revised));
    let (unintended, omitted) = coherence::unintended(&clauses, asked, &before, &now);
    let undone = clauses.undone(&asked.clauses);
    let done = undone.iter().filter(|one| one.is_none()).count();
    // Running text that is gone without being asked for is an operation that should not have been.
    let operations = share(done, asked.clauses.len() + omitted).unwrap_or(1.0);
    faults.extend(undone.into_iter().flatten());
    let origins = references::origins(&alignment, revised.lines.len());
    faults.extend(references::broken(&clauses, &origins));
    faults.extend(terms::definitions(&before, &now, revised, asked));
    faults.extend(coherence::numbering(&clauses));
    faults.extend(unintended);
    faults.extend(structure::damage(original, revised, &alignment));
    let scores = [entities, jurisdiction, liability, operations, coherent(&faults)];
    let penalties = penalties(&faults, scoring);
    let overall = overall(&scores, &penalties, scoring);
    let satisfied =
        reaches(overall, scoring.quality_gate) && !(scoring.critical_failures_block && faults.iter().any(is_critical));
    Verification { scores, penalties, overall, satisfied, faults }
}

/// The share of indemnity sentences that go the way that was asked for, and those that do not.
fn directions(original: &Draft, revised: &Draft, asked: &Instructions) -> (f64, Vec<RevisionFault>) {
    let Some(liability) = &asked.liability else { return (1.0, Vec::new()) };
    let parties = Parties::of(liability);
    let sentences = parties.sentences(revised);
    let mut faults = Vec::new();
    for sentence in &sentences {
        if let IndemnityDirection::Wrong(why) = &sentence.direction {
            let what = format!("{why}: {}", revised.quote(sentence.line, &sentence.at));
            faults.push(RevisionFault::new(FaultKind::WrongDirection, what));
        }
    }
    match share(sentences.len() - faults.len(), sentences.len()) {
        Some(right) => (right, faults),
        None if parties.sentences(original).is_empty() => (1.0, faults),
        None => {
            let why = "no sentence says any more that one party indemnifies the other".to_owned();
            (0.0, vec![RevisionFault::new(FaultKind::WrongDirection, why)])
        }
    }
}

/// The kinds of problem that count against coherence; an orphan is one, whatever it is of.
fn coherent(faults: &[RevisionFault]) -> f64 {
    let has = |kinds: &[FaultKind]| faults.iter().any(|fault| kinds.contains(&fault.kind));
    let kinds = [
        has(&[FaultKind::BrokenReference]),
        has(&[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause]),
        has(&[FaultKind::Undefined]),
        has(&[FaultKind::Numbering]),
        has(&[FaultKind::Unintended]),
    ];
    let found = kinds.into_iter().filter(|found| *found).count();
    (1.0 - OF_A_PROBLEM * found as f64).max(0.0)
}

/// Whether a fault alone keeps a document from passing: each one that has a penalty.
fn is_critical(fault: &RevisionFault) -> bool {
    matches!(
        fault.kind,
        FaultKind::BrokenReference
            | FaultKind::MissedEntity
            | FaultKind::WrongDirection
            | FaultKind::OrphanedDefinition
            | FaultKind::OrphanedClause
            | FaultKind::Corrupt
    )
}

fn penalties(faults: &[RevisionFault], scoring: &Scoring) -> Vec<Penalty> {
    let count = |kinds: &[FaultKind]| faults.iter().filter(|fault| kinds.contains(&fault.kind)).count();
    let amounts = &scoring.penalties;
    let orphans = count(&[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause]);
    let entities = match scoring.penalty_mode {
        PenaltyMode::Overall => count(&[FaultKind::MissedEntity]),
        PenaltyMode::Criterion => 0,
    };
    let all = [
        ("broken cross-reference", count(&[FaultKind::BrokenReference]).min(1), amounts.broken_reference),
        ("missing entity update", entities, amounts.missing_entity),
        ("incorrect liability direction", count(&[FaultKind::WrongDirection]).min(1), amounts.liability_direction),
        ("orphaned clause or definition", orphans, amounts.orphan),
        ("RTF corruption", count(&[FaultKind::Corrupt]).min(1), amounts.rtf_corruption),
    ];
    let found = all.into_iter().filter(|(_, times, _)| *times > 0);
    found.map(|(why, times, each)| Penalty { why, times, amount: each * times as f64 }).collect()
}

/// `clamp01(sum(weight * score) - penalties)`.
pub fn overall(scores: &[f64; 5], penalties: &[Penalty], scoring: &Scoring) -> f64 {
    let weighted: f64 = scores.iter().zip(scoring.weights).map(|(score, weight)| score * weight).sum();
    let deducted: f64 = penalties.iter().map(|penalty| penalty.amount).sum();
    (weighted - deducted).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Penalty, overall};
    use crate::model::Scoring;

    /// The worked example of seed 003, "Illustrative Scoring Example".
    const SCORES: [f64; 5] = [0.85, 0.80, 0.95, 0.92, 0.90];

    #[test]
    fn the_seeds_example_is_worked_out_both_ways() {
        let scoring = Scoring::default();
        // The entity's penalty within its criterion, as the example has it: "about 0.88".
        let inside = overall(&SCORES, &[], &scoring);
        assert!((inside - 0.8815).abs() < 1e-12, "{inside}");
        assert!(inside >= scoring.quality_gate);
        // And in addition to it, as the text before the example says: not satisfied.
        let missed = Penalty { why: "missing entity update", times: 1, amount: 0.15 };
        let outside = overall(&SCORES, &[missed], &scoring);
        assert!((outside - 0.7315).abs() < 1e-12, "{outside}");
        assert!(outside < scoring.quality_gate);
    }

    #[test]
    fn the_overall_score_stays_between_0_and_1() {
        let many = Penalty { why: "missing entity update", times: 9, amount: 1.35 };
        assert_eq!(overall(&[1.0; 5], &[many], &Scoring::default()), 0.0);
        assert_eq!(overall(&[1.0; 5], &[], &Scoring::default()), 1.0);
    }
}
