//! The rubric of interviews: six dimensions of 0 to 2 points, scored automatically.

use super::atoms::{Atom, AtomsOutput, Validator};
use super::terms::TermList;
use crate::model::reaches;
use crate::text::{Keyword, norm};

/// The dimensions, in the order in which answers are scored.
pub const DIMENSIONS: [&str; 6] = [
    "atom_clarity",
    "validator_testability",
    "edge_case_coverage",
    "ambiguity_discipline",
    "invariant_alignment",
    "compression",
];

/// Maximum points of a dimension.
pub const MOST_POINTS: u8 = 2;

/// Points of each dimension, 0 to 2.
pub type Scores = [u8; 6];

/// The parts of a scenario that the rubric uses.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Vague words, which cannot be tested.
    pub vague: TermList,
    pub edge_case: TermList,
    /// The expected number of clarifying questions.
    pub clarifications: usize,
    pub invariants: Vec<Vec<Keyword>>,
}

/// The words of an invariant that one atom must contain: runs of at least four letters or digits.
pub fn invariant(text: &str) -> Vec<Keyword> {
    let normal = norm(text);
    let words = normal
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4);
    words.filter_map(Keyword::new).collect()
}

/// Scores one run.
pub fn scores(measure: &Measure, produced: &AtomsOutput) -> Scores {
    let AtomsOutput {
        atoms,
        questions,
        rounds,
        ..
    } = produced;
    let share = |test: &dyn Fn(&Atom) -> bool| match atoms.len() {
        0 => 0.0,
        all => atoms.iter().filter(|atom| test(atom)).count() as f64 / all as f64,
    };
    let clear = share(&|atom| atom.outcomes > 0 && !measure.vague.are_in(&atom.description));
    let edge = questions
        .iter()
        .filter(|question| measure.edge_case.are_in(question))
        .count();
    // Languages and people end a question in many ways: every non-empty text counts.
    let asked = questions
        .iter()
        .filter(|question| !question.is_empty())
        .count();
    [
        stepped(clear, 0.8, 0.5),
        if reaches(share(&|atom| atom.validator == Validator::Executable), 0.8) {
            2
        } else {
            u8::from(reaches(
                share(&|atom| atom.validator != Validator::None),
                0.5,
            ))
        },
        match edge {
            0 => 0,
            1 | 2 => 1,
            _ => 2,
        },
        match asked {
            all if all >= measure.clarifications => 2,
            0 => 0,
            _ => 1,
        },
        aligned(&measure.invariants, atoms),
        compression(atoms.len() as u64, *rounds),
    ]
}

fn stepped(share: f64, two: f64, one: f64) -> u8 {
    match share {
        share if reaches(share, two) => 2,
        share if reaches(share, one) => 1,
        _ => 0,
    }
}

fn aligned(invariants: &[Vec<Keyword>], atoms: &[Atom]) -> u8 {
    if invariants.is_empty() {
        return 2;
    }
    let kept = |words: &&Vec<Keyword>| {
        atoms
            .iter()
            .any(|atom| words.iter().all(|word| word.is_in(&atom.text)))
    };
    let kept = invariants.iter().filter(kept).count();
    match kept as f64 / invariants.len() as f64 {
        share if reaches(share, 0.7) => 2,
        share if share > 0.0 => 1,
        _ => 0,
    }
}

fn compression(atoms: u64, rounds: u64) -> u8 {
    let threshold = rounds.saturating_mul(3).saturating_add(5);
    match atoms {
        0..3 => 0,
        few if few <= threshold => 2,
        many if many <= threshold.saturating_mul(2) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{aligned, compression, invariant, stepped};
    use crate::suites::shared::atoms::Atom;

    #[test]
    fn compression_grows_with_the_rounds() {
        for (atoms, rounds, expected) in [
            (2, 9, 0),
            (3, 0, 2),
            (5, 0, 2),
            (6, 0, 1),
            (10, 0, 1),
            (11, 0, 0),
            (11, 2, 2),
            (12, 2, 1),
            (23, 2, 0),
        ] {
            assert_eq!(
                compression(atoms, rounds),
                expected,
                "{atoms} atoms in {rounds} rounds"
            );
        }
        assert_eq!(compression(9, u64::MAX), 2);
    }

    #[test]
    fn a_share_on_its_step_reaches_it() {
        assert_eq!(
            [
                stepped(0.8, 0.8, 0.5),
                stepped(0.79, 0.8, 0.5),
                stepped(0.5, 0.8, 0.5),
                stepped(0.4, 0.8, 0.5)
            ],
            [2, 1, 1, 0]
        );
    }

    #[test]
    fn one_atom_has_all_words_of_an_invariant() {
        let words = invariant("Two factors for the transfers");
        assert_eq!(
            words.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            ["factors", "transfers"]
        );
        let atom = |text: &str| Atom {
            text: text.to_owned(),
            ..Atom::default()
        };
        let all = [
            words.clone(),
            invariant("cost limits"),
            invariant("audit trail"),
        ];
        assert_eq!(
            aligned(&all, &[atom("transfers need two factors"), atom("cost")]),
            1
        );
        assert_eq!(
            aligned(&all[..1], &[atom("transfers"), atom("factors")]),
            0,
            "one word is not enough"
        );
        assert_eq!(aligned(&[], &[]), 2);
    }
}
