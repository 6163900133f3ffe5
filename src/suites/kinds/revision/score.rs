//! The score of a revised document.

use super::alignment::{Alignment, Fate};
use super::clauses::Clauses;
use super::draft::Draft;
use super::fault::{Criterion, FaultKind, RevisionFault, count_of};
use super::instructions::Instructions;
use super::liability::{IndemnityDirection, Parties};
use super::scoring::{PenaltyMode, Scoring};
use super::terms::terms;
use super::{alignment, broken_references, coherence, replaced, structure, terms};
use crate::model::{reaches, share};

/// Deduction from the criterion for each remaining old name.
pub const ENTITY_DEDUCTION: f64 = 0.15;

/// Deduction from coherence for each kind of problem.
const PROBLEM_DEDUCTION: f64 = 0.2;

/// A deduction from the overall score.
#[derive(Debug, Clone, PartialEq)]
pub struct Penalty {
    pub why: &'static str,
    pub times: usize,
    /// Total deduction, 0 or more.
    pub amount: f64,
}

/// The verifier's result for a revised document.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The five criteria, 0 to 1, in the order of [`Criterion::ALL`].
    pub scores: [f64; 5],
    pub penalties: Vec<Penalty>,
    /// The overall score, 0 to 1.
    pub overall: f64,
    /// Whether the document passes.
    pub satisfied: bool,
    /// All faults, grouped by criterion.
    pub faults: Vec<RevisionFault>,
}

impl Verification {
    pub fn score(&self, criterion: Criterion) -> f64 {
        self.scores[criterion.index()]
    }
    pub fn of(&self, kind: FaultKind) -> impl Iterator<Item = &RevisionFault> {
        self.faults.iter().filter(move |fault| fault.kind == kind)
    }

    /// The faults that count against one criterion.
    pub fn against(&self, criterion: Criterion) -> impl Iterator<Item = &RevisionFault> {
        self.faults
            .iter()
            .filter(move |fault| fault.kind.criterion() == Some(criterion))
    }
}

/// Verifies a revised document against its original and the instructions.
pub fn verify(
    original: &Draft,
    revised: &Draft,
    asked: &Instructions,
    scoring: &Scoring,
) -> Verification {
    if structure::is_nothing(revised) {
        // Every criterion fails with a reason.
        let kinds = Criterion::ALL
            .into_iter()
            .map(FaultKind::Unverifiable)
            .chain([FaultKind::Corrupt]);
        let mut faults = Vec::new();
        for kind in kinds {
            let message = "the document is not readable, so the revision cannot be verified";
            faults.push(RevisionFault::new(kind, message.to_owned()));
        }
        let penalties = penalties(&faults, scoring);
        return Verification {
            scores: [0.0; 5],
            penalties,
            overall: 0.0,
            satisfied: false,
            faults,
        };
    }
    let alignment = Alignment::of(original, revised, asked);
    let clauses = Clauses {
        original,
        revised,
        alignment: &alignment,
    };
    let mut faults = replaced::entities(&asked.entities, original, revised);
    let entities = (1.0 - ENTITY_DEDUCTION * faults.len() as f64).max(0.0);
    let deleted = alignment::deleted(original, asked);
    let law = asked
        .jurisdiction
        .as_ref()
        .map(|law| replaced::jurisdiction(law, original, revised, &deleted));
    let (jurisdiction, missed) = law.unwrap_or((1.0, Vec::new()));
    faults.extend(missed);
    let (liability, wrong) = directions(original, revised, asked, &alignment.fates);
    faults.extend(wrong);
    let (old_terms, new_terms) = (terms(original), terms(revised));
    let (unintended, omitted) = coherence::unintended(&clauses, asked, &old_terms, &new_terms);
    let undone = clauses.undone(&asked.clauses);
    let done = undone.iter().filter(|fault| fault.is_none()).count();
    // A removed paragraph that no instruction requested counts as a failed operation.
    let operations = share(done, asked.clauses.len() + omitted).unwrap_or(1.0);
    faults.extend(undone.into_iter().flatten());
    let origins = broken_references::origins(&alignment, revised.lines.len());
    faults.extend(broken_references::broken(&clauses, &origins));
    faults.extend(terms::definitions(&old_terms, &new_terms, revised, asked));
    faults.extend(coherence::numbering(&clauses));
    faults.extend(unintended);
    faults.extend(structure::damage(original, revised, &alignment));
    let scores = [
        entities,
        jurisdiction,
        liability,
        operations,
        coherent(&faults),
    ];
    let penalties = penalties(&faults, scoring);
    let overall = overall(&scores, &penalties, scoring);
    let satisfied = reaches(overall, scoring.quality_gate)
        && !(scoring.critical_failures_block && faults.iter().any(is_critical));
    Verification {
        scores,
        penalties,
        overall,
        satisfied,
        faults,
    }
}

/// The share (0 to 1) of indemnity sentences in the requested direction, and the faults of the others.
fn directions(
    original: &Draft,
    revised: &Draft,
    asked: &Instructions,
    fates: &[Fate],
) -> (f64, Vec<RevisionFault>) {
    let Some(liability) = &asked.liability else {
        return (1.0, Vec::new());
    };
    let parties = Parties::of(liability);
    let sentences = parties.sentences(revised);
    let mut faults = Vec::new();
    for sentence in &sentences {
        if let IndemnityDirection::Wrong(why) = &sentence.direction {
            let message = format!("{why}: {}", revised.quote(sentence.line, &sentence.at));
            faults.push(RevisionFault::new(FaultKind::WrongDirection, message));
        }
    }
    let negated = negated(&parties, original, revised, fates);
    let right = share(
        sentences.len() - faults.len(),
        sentences.len() + negated.len(),
    );
    faults.extend(negated);
    match right {
        Some(right) => (right, faults),
        None if parties.sentences(original).is_empty() => (1.0, faults),
        None => {
            let why = "no sentence makes one party indemnify the other any more".to_owned();
            (
                0.0,
                vec![RevisionFault::new(FaultKind::WrongDirection, why)],
            )
        }
    }
}

/// The indemnities of the original that are negated in the revised document: "shall not indemnify".
fn negated(
    parties: &Parties<'_>,
    original: &Draft,
    revised: &Draft,
    fates: &[Fate],
) -> Vec<RevisionFault> {
    let (old_counts, new_counts) = (parties.counted(original), parties.counted(revised));
    let mut faults = Vec::new();
    for (line, fate) in fates.iter().enumerate() {
        let (Fate::Kept(to) | Fate::Changed(to)) = fate else {
            continue;
        };
        let (was, is) = (
            old_counts.get(&line).copied().unwrap_or_default(),
            new_counts.get(to).copied().unwrap_or_default(),
        );
        if is.given < was.given && is.denied > was.denied {
            let message = format!("an indemnity is negated: {}", revised.excerpt(*to));
            faults.push(RevisionFault::new(FaultKind::WrongDirection, message));
        }
    }
    faults
}

/// The coherence score, 0 to 1. Orphaned definitions and clauses are one kind of problem.
fn coherent(faults: &[RevisionFault]) -> f64 {
    let problems: [&[FaultKind]; 5] = [
        &[FaultKind::BrokenReference],
        &[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause],
        &[FaultKind::Undefined],
        &[FaultKind::Numbering],
        &[FaultKind::Unintended],
    ];
    let problem_count = problems
        .into_iter()
        .filter(|kinds| count_of(faults, kinds) > 0)
        .count();
    (1.0 - PROBLEM_DEDUCTION * problem_count as f64).max(0.0)
}

/// Whether a single fault of this kind fails the document: every kind that has a penalty.
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
    let amounts = &scoring.penalties;
    let orphans = count_of(
        faults,
        &[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause],
    );
    let entities = match scoring.penalty_mode {
        PenaltyMode::Overall => count_of(faults, &[FaultKind::MissedEntity]),
        PenaltyMode::Criterion => 0,
    };
    let all = [
        (
            "broken cross-reference",
            count_of(faults, &[FaultKind::BrokenReference]).min(1),
            amounts.broken_reference,
        ),
        ("missing entity update", entities, amounts.missing_entity),
        (
            "incorrect liability direction",
            count_of(faults, &[FaultKind::WrongDirection]).min(1),
            amounts.liability_direction,
        ),
        ("orphaned clause or definition", orphans, amounts.orphan),
        (
            "RTF corruption",
            count_of(faults, &[FaultKind::Corrupt]).min(1),
            amounts.rtf_corruption,
        ),
    ];
    let mut penalties = Vec::new();
    for (why, times, each) in all {
        if times > 0 {
            penalties.push(Penalty {
                why,
                times,
                amount: each * times as f64,
            });
        }
    }
    penalties
}

/// `clamp01(sum(weight * score) - penalties)`.
pub fn overall(scores: &[f64; 5], penalties: &[Penalty], scoring: &Scoring) -> f64 {
    let weighted: f64 = scores
        .iter()
        .zip(scoring.weights)
        .map(|(score, weight)| score * weight)
        .sum();
    let deducted: f64 = penalties.iter().map(|penalty| penalty.amount).sum();
    (weighted - deducted).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Penalty, overall};
    use crate::suites::kinds::revision::scoring::Scoring;

    /// A worked example.
    const SCORES: [f64; 5] = [0.85, 0.80, 0.95, 0.92, 0.90];

    #[test]
    fn the_example_of_the_seed_is_computed_both_ways() {
        let scoring = Scoring::default();
        // With the entity's penalty within its criterion, as in the example: "about 0.88".
        let inside = overall(&SCORES, &[], &scoring);
        assert!((inside - 0.8815).abs() < 1e-12, "{inside}");
        assert!(inside >= scoring.quality_gate);
        // With the penalty in addition, as in the text before the example: not satisfied.
        let missed = Penalty {
            why: "missing entity update",
            times: 1,
            amount: 0.15,
        };
        let outside = overall(&SCORES, &[missed], &scoring);
        assert!((outside - 0.7315).abs() < 1e-12, "{outside}");
        assert!(outside < scoring.quality_gate);
    }

    #[test]
    fn the_overall_score_stays_between_0_and_1() {
        let many = Penalty {
            why: "missing entity update",
            times: 9,
            amount: 1.35,
        };
        assert_eq!(overall(&[1.0; 5], &[many], &Scoring::default()), 0.0);
        assert_eq!(overall(&[1.0; 5], &[], &Scoring::default()), 1.0);
    }
}
