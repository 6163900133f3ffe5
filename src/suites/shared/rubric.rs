//! The rubric of interviews: six dimensions of 0 to 2 points, scored automatically.

use serde_json::{Map, Value};

use super::atoms::{Atom, AtomsOutput, QUESTIONS, ROUNDS, VALIDATORS, Validator};
use super::golden::step;
use super::terms::{BuiltInTerms, TermList};
use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::{EPSILON, reaches};
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

/// Vague words, which cannot be tested.
pub const VAGUE: BuiltInTerms = BuiltInTerms {
    name: "vague",
    text: include_str!("terms/vague.txt"),
};

/// Words of questions about edge cases.
pub const EDGE_CASE: BuiltInTerms = BuiltInTerms {
    name: "edge_case",
    text: include_str!("terms/edge_case.txt"),
};

/// The number of clarifying questions that a scenario expects if it does not state it.
pub const USUAL_CLARIFICATIONS: usize = 2;

/// Maximum points of a dimension.
pub const MOST_POINTS: u8 = 2;

/// Maximum points of the rubric.
pub const WHOLE_RUBRIC: f64 = 12.0;

/// The optional part of an output that each dimension measures.
const MEASURED_PARTS: [Option<&str>; 6] = [
    None,
    Some(VALIDATORS),
    Some(QUESTIONS),
    Some(QUESTIONS),
    None,
    Some(ROUNDS),
];

/// Points of each dimension, 0 to 2; `None` if no run of the agent has the part that it measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores(pub [Option<u8>; 6]);

impl Scores {
    /// The points of all measured dimensions.
    pub fn total(self) -> f64 {
        self.0
            .iter()
            .flatten()
            .map(|points| f64::from(*points))
            .sum()
    }

    /// The most points that the measured dimensions can have.
    pub fn most(self) -> f64 {
        self.0
            .iter()
            .flatten()
            .map(|_| f64::from(MOST_POINTS))
            .sum()
    }

    pub fn is_measured(self, dimension: &str) -> bool {
        let mut dimensions = DIMENSIONS.iter().zip(self.0);
        dimensions.any(|(name, points)| *name == dimension && points.is_some())
    }

    /// The measured dimensions with less than all points.
    pub fn lost(self) -> impl Iterator<Item = (&'static str, u8)> {
        let measured = DIMENSIONS.into_iter().zip(self.0);
        measured.filter_map(|(name, points)| {
            Some((name, points.filter(|points| *points < MOST_POINTS)?))
        })
    }
}

/// The most points of the dimensions that can be measured.
pub fn most_points(has_part: impl Fn(&str) -> bool) -> f64 {
    let measured = MEASURED_PARTS
        .iter()
        .filter(|part| part.is_none_or(&has_part));
    measured.map(|_| f64::from(MOST_POINTS)).sum()
}

/// A minimum of the whole rubric as a minimum of dimensions with at most these points, rounded up.
pub fn scaled(minimum: f64, most: f64) -> f64 {
    if most == WHOLE_RUBRIC {
        return minimum;
    }
    (minimum * most / WHOLE_RUBRIC - EPSILON).ceil()
}

/// Why these dimensions have no points: `None` if each has.
pub fn unmeasured(is_measured: impl Fn(&str) -> bool) -> Option<String> {
    let dimensions = DIMENSIONS.into_iter().zip(MEASURED_PARTS);
    let missing: Vec<String> = dimensions
        .filter(|(name, _)| !is_measured(name))
        .filter_map(|(name, part)| Some(format!("{name} (no run has `{}`)", part?)))
        .collect();
    (!missing.is_empty()).then(|| format!("not measured: {}", missing.join(", ")))
}

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

/// The keywords of the invariants that a scenario states, else of those in its context, else of the constraints there.
///
/// # Errors
/// They are not a list of texts, or one has no word.
pub fn stated_invariants(
    stated: Option<&[String]>,
    context: &Map<String, Value>,
    cursor: &JsonCursor<'_>,
) -> Result<Vec<Vec<Keyword>>, Diagnostic> {
    let (texts, path) = match stated {
        Some(stated) => (stated.to_vec(), vec![Key("invariants")]),
        None => {
            let in_context = ["invariants", "constraints"]
                .iter()
                .find_map(|key| Some((*key, context.get(*key)?)));
            let Some((key, value)) = in_context else {
                return Ok(Vec::new());
            };
            let path = vec![Key("context"), Key(key)];
            let texts = serde_json::from_value::<Vec<String>>(value.clone()).map_err(|_| {
                let description = format!("the context's {key} are not a list of strings");
                let help =
                    "write a list: without `invariants` of the case, they are used in their place";
                cursor.problem_of_key(&path, Code::WRONG_TYPE, description, help)
            })?;
            (texts, path)
        }
    };
    let mut all = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let words = invariant(text);
        if words.is_empty() {
            let description = format!("the invariant {text:?} has no word of at least 4 letters");
            return Err(cursor.problem(
                &step(&path, At(at)),
                Code::EMPTY_KEYWORD,
                description,
                "name what must be true",
            ));
        }
        all.push(words);
    }
    Ok(all)
}

/// Scores one run; `has_part` is whether a run of the agent has an optional part of outputs.
pub fn scores(
    measure: &Measure,
    produced: &AtomsOutput,
    has_part: impl Fn(&str) -> bool,
) -> Scores {
    let AtomsOutput {
        atoms,
        questions,
        rounds,
        ..
    } = produced;
    let clear = share_of(atoms, |atom| {
        atom.outcomes > 0 && !measure.vague.are_in(&atom.description)
    });
    let executable = share_of(atoms, |atom| atom.validator == Validator::Executable);
    let validated = share_of(atoms, |atom| atom.validator != Validator::None);
    let edge = questions
        .iter()
        .filter(|question| measure.edge_case.are_in(question))
        .count();
    // Languages and people end a question in many ways: every non-empty text counts.
    let asked = questions
        .iter()
        .filter(|question| !question.is_empty())
        .count();
    let points = [
        stepped(clear, 0.8, 0.5),
        if reaches(executable, 0.8) {
            2
        } else {
            u8::from(reaches(validated, 0.5))
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
    ];
    let mut scores = points.map(Some);
    for (score, part) in scores.iter_mut().zip(MEASURED_PARTS) {
        if part.is_some_and(|part| !has_part(part)) {
            *score = None;
        }
    }
    Scores(scores)
}

/// The share of the atoms for which a test holds; 0 without atoms.
fn share_of(atoms: &[Atom], test: impl Fn(&Atom) -> bool) -> f64 {
    match atoms.len() {
        0 => 0.0,
        all => atoms.iter().filter(|atom| test(atom)).count() as f64 / all as f64,
    }
}

fn stepped(share: f64, for_two: f64, for_one: f64) -> u8 {
    match share {
        share if reaches(share, for_two) => 2,
        share if reaches(share, for_one) => 1,
        _ => 0,
    }
}

fn aligned(invariants: &[Vec<Keyword>], atoms: &[Atom]) -> u8 {
    if invariants.is_empty() {
        return 2;
    }
    let kept = invariants
        .iter()
        .filter(|words| {
            atoms
                .iter()
                .any(|atom| words.iter().all(|word| word.is_in(&atom.text)))
        })
        .count();
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
    use super::{QUESTIONS, aligned, compression, invariant, most_points, scaled, stepped};
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
    fn a_minimum_is_scaled_to_what_is_measured() {
        for (most, minimum, expected) in [
            (12.0, 8.0, 8.0),
            (12.0, 7.5, 7.5),
            (10.0, 8.0, 7.0),
            (8.0, 9.0, 6.0),
            (8.0, 8.0, 6.0),
            (4.0, 8.0, 3.0),
            (4.0, 0.0, 0.0),
            (4.0, 12.0, 4.0),
        ] {
            assert_eq!(
                scaled(minimum, most),
                expected,
                "{minimum} of {most} points"
            );
        }
    }

    #[test]
    fn what_no_run_has_is_not_measured() {
        assert_eq!(most_points(|_| true), 12.0);
        assert_eq!(most_points(|part| part == QUESTIONS), 8.0);
        assert_eq!(most_points(|_| false), 4.0);
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
