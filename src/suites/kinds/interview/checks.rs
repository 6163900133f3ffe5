//! The checks of a scenario on one sample, with evidence and next action.

use std::collections::BTreeSet;
use std::fmt;

use super::scenario::{ExpectedAtom, InterviewScenario};
use crate::model::{Check, CheckKey, Difference, Failure, Shortfall, Shortfalls, reaches};
use crate::suites::shared::atoms::{Atom, AtomsOutput, Validator};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::rubric::{DIMENSIONS, MOST_POINTS, Scores};
use crate::text::{Keyword, line};

/// The expectation in one line.
impl fmt::Display for ExpectedAtom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.words.is_empty() {
            let words: Vec<String> = self
                .words
                .iter()
                .map(|word| format!("\"{}\"", word.as_str()))
                .collect();
            parts.push(format!("naming {}", words.join(" or ")));
        }
        if !self.categories.is_empty() {
            parts.push(format!("of category {}", self.categories.join(" or ")));
        }
        if self.outcomes > 0 {
            parts.push(format!("observable outcomes: at least {}", self.outcomes));
        }
        if self.evidence {
            parts.push("with evidence".to_owned());
        }
        write!(out, "an atom {}", parts.join(", "))
    }
}

/// One sample and its scenario.
pub struct InterviewChecker<'a> {
    pub scenario: &'a InterviewScenario,
    pub produced: &'a AtomsOutput,
    pub points: Scores,
    pub total: f64,
    pub classifier: FailureClassifier<'a>,
}

impl InterviewChecker<'_> {
    /// Every check, in the order of the golden file; every sample has the same checks.
    pub fn checks(&self, edges: &[Vec<usize>]) -> Vec<Check> {
        let form = "make the agent answer {\"atoms\": [{description, category, observableOutcomes, evidence, validators}], \"questions\": []}";
        let readable = || "JSON with the lists atoms and questions".to_owned();
        let mut checks = vec![Check::only(
            "schema",
            readable,
            self.classifier.schema(form),
        )];
        for (place, (expected, edges)) in (0_u32..).zip(self.scenario.expected.iter().zip(edges)) {
            let failure = edges.is_empty().then(|| self.missed(expected));
            checks.push(Check::of(
                "expected_atom",
                CheckKey::At(place),
                expected.line,
                || expected.to_string(),
                failure,
            ));
        }
        let low = (!reaches(self.total, self.scenario.least)).then(|| {
            let lost: Vec<String> = DIMENSIONS
                .iter()
                .zip(self.points)
                .filter(|(_, points)| *points < 2)
                .map(|(name, points)| format!("{name} {points} of 2"))
                .collect();
            let detail = format!("{} of 12 points: {}", self.total, lost.join(", "));
            let action =
                "start with the lowest dimension: each has its rule in the policy".to_owned();
            self.classifier
                .failure(CheckFailure::Content, None, detail, action)
        });
        let expected = || format!("at least {} of 12 points", self.scenario.least);
        checks.push(Check::only("rubric_total", expected, low));
        checks
    }

    /// Why no atom matches, explained with the nearest one.
    fn missed(&self, expected: &ExpectedAtom) -> Failure {
        let words: Vec<&str> = expected.words.iter().map(Keyword::as_str).collect();
        let words = format!("\"{}\"", words.join("\" or \""));
        let rule = expected.rule.as_deref();
        let named: Vec<&Atom> = self
            .produced
            .atoms
            .iter()
            .filter(|atom| expected.named(atom))
            .collect();
        let Some(near) = named
            .iter()
            .find(|atom| expected.sorted(atom))
            .or_else(|| named.first())
        else {
            let action = match rule {
                Some(rule) if self.classifier.had_rule(rule) => {
                    format!("the agent had rule {rule} and did not follow it: add an example")
                }
                Some(rule) => format!("write rule {rule} into the policy"),
                None => {
                    "make the prompt ask for it; only if an atom means this in other words, add the words to the case"
                        .to_owned()
                }
            };
            return self.classifier.failure(
                CheckFailure::Content,
                rule,
                format!("no atom names {words}"),
                action,
            );
        };
        let (detail, action) = if !expected.sorted(near) {
            let detail = format!(
                "\"{}\" has the category \"{}\", not {}",
                near.title,
                near.category,
                expected.categories.join(" or ")
            );
            (
                detail,
                "sharpen the category decision tree of the policy; only if the category is right, accept it in the case",
            )
        } else if near.outcomes < expected.outcomes {
            let detail = format!(
                "\"{}\" has observable outcomes: {}, needs {}",
                near.title, near.outcomes, expected.outcomes
            );
            (
                detail,
                "make the policy ask for outcomes that can be observed",
            )
        } else {
            (
                format!("\"{}\" has no evidence", near.title),
                "make the policy ask for the words of the client as evidence",
            )
        };
        self.classifier
            .failure(CheckFailure::Content, rule, detail, action.to_owned())
    }
}

/// Losses in metrics without a check; `edges` lists the atoms that match each expected one.
pub fn shortfalls(
    scenario: &InterviewScenario,
    produced: &AtomsOutput,
    edges: &[Vec<usize>],
    points: Scores,
) -> Vec<Shortfall> {
    let mut found = Shortfalls::default();
    let matching: BTreeSet<usize> = edges.iter().flatten().copied().collect();
    for (index, atom) in produced.atoms.iter().enumerate() {
        let title = || line(&atom.title, 120);
        if !matching.contains(&index) {
            found.add(&["atom_precision"], || Difference {
                line: 1,
                expected: "only atoms that the scenario expects".to_owned(),
                produced: format!("\"{}\" matches no expected atom", title()),
            });
        }
        if atom.outcomes == 0 || scenario.measure.vague.are_in(&atom.description) {
            let lacks = if atom.outcomes == 0 {
                "no observable outcome"
            } else {
                "a vague term"
            };
            found.add(&["atom_clarity"], || Difference {
                line: 1,
                expected: "atoms with an observable outcome and without a vague term".to_owned(),
                produced: format!("\"{}\" has {lacks}", title()),
            });
        }
        if atom.validator != Validator::Executable {
            found.add(&["validator_testability"], || Difference {
                line: 1,
                expected: "atoms with an executable validator".to_owned(),
                produced: format!("\"{}\" has none", title()),
            });
        }
    }
    if produced.atoms.is_empty() && !scenario.expected.is_empty() {
        found.add(&["atom_precision"], || Difference {
            line: 1,
            expected: format!("atoms: {} in the scenario", scenario.expected.len()),
            produced: "no atom".to_owned(),
        });
    }
    for (name, scored) in DIMENSIONS
        .iter()
        .zip(points)
        .filter(|(_, scored)| *scored < MOST_POINTS)
    {
        found.add(&["rubric_total"], || Difference {
            line: 1,
            expected: format!("{MOST_POINTS} points of {name}"),
            produced: format!("{scored} of {MOST_POINTS} points"),
        });
    }
    found.into()
}
