//! The checks of a scenario on one sample, with evidence and next action.

use std::collections::BTreeSet;
use std::fmt;

use super::scenario::{ExpectedAtom, InterviewScenario};
use crate::model::{Check, CheckKey, Difference, Failure, Shortfall, Shortfalls, reaches};
use crate::suites::shared::atoms::{Atom, AtomsOutput, Validator};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::rubric::{MOST_POINTS, Scores, scaled, unmeasured};
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
        if let Some(least) = self.confidence {
            parts.push(format!("confidence at least {least}"));
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
    pub classifier: FailureClassifier<'a>,
}

impl InterviewChecker<'_> {
    /// Every check, in the order of the golden file; every sample has the same checks.
    pub fn checks(&self, edges: &[Vec<usize>]) -> Vec<Check> {
        let form = "make the agent answer {\"atoms\": [{description, category, observableOutcomes, evidence, validators}], \"questions\": []}";
        let mut checks = vec![Check::only(
            "schema",
            || "JSON with the lists atoms and questions".to_owned(),
            self.classifier.schema(form),
        )];
        for (index, (expected, edges)) in (0_u32..).zip(self.scenario.expected.iter().zip(edges)) {
            let failure = edges.is_empty().then(|| self.missed(expected));
            checks.push(Check::of(
                "expected_atom",
                CheckKey::At(index),
                expected.line,
                || expected.to_string(),
                failure,
            ));
        }
        for (index, non_goal) in (0_u32..).zip(&self.scenario.non_goals) {
            checks.push(Check::of(
                "non_goal",
                CheckKey::At(index),
                1,
                || format!("no atom with \"{}\"", non_goal.as_str()),
                self.wanted_non_goal(non_goal),
            ));
        }
        checks.push(Check::only(
            "no_vacuous_atom",
            || "every atom has an observable outcome".to_owned(),
            self.vacuous(),
        ));
        checks.push(Check::only(
            "rubric_total",
            || self.expected_points(),
            self.too_few_points(),
        ));
        checks
    }

    /// The points that the scenario needs, of the dimensions that are measured.
    fn least(&self) -> f64 {
        scaled(self.scenario.least, self.points.most())
    }

    fn expected_points(&self) -> String {
        let (least, most) = (self.least(), self.points.most());
        let expected = format!("at least {least} of {most} points");
        match unmeasured(|name| self.points.is_measured(name)) {
            Some(unmeasured) => format!("{expected}; {unmeasured}"),
            None => expected,
        }
    }

    fn too_few_points(&self) -> Option<Failure> {
        let (total, most) = (self.points.total(), self.points.most());
        if reaches(total, self.least()) {
            return None;
        }
        let lost: Vec<String> = self
            .points
            .lost()
            .map(|(name, points)| format!("{name} {points} of {MOST_POINTS}"))
            .collect();
        let detail = format!("{total} of {most} points: {}", lost.join(", "));
        let action = "start with the lowest dimension: each has its rule in the policy".to_owned();
        Some(
            self.classifier
                .failure(CheckFailure::Content, None, detail, action),
        )
    }

    fn wanted_non_goal(&self, non_goal: &Keyword) -> Option<Failure> {
        let mut atoms = self.produced.atoms.iter();
        let atom = atoms.find(|atom| non_goal.is_in(&atom.description))?;
        let detail = format!(
            "\"{}\" is a non-goal of the scenario",
            line(&atom.title, 120)
        );
        let action = "make the policy leave out what the client does not want".to_owned();
        Some(
            self.classifier
                .failure(CheckFailure::Content, None, detail, action),
        )
    }

    fn vacuous(&self) -> Option<Failure> {
        let vacuous = self.produced.atoms.iter().filter(|atom| atom.outcomes == 0);
        let titles: Vec<String> = vacuous
            .map(|atom| format!("\"{}\"", line(&atom.title, 120)))
            .collect();
        let first = titles.first()?;
        let more = match titles.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        let detail = format!("{first}{more} has no observable outcome");
        let action = "make the policy ask for outcomes that can be observed".to_owned();
        Some(
            self.classifier
                .failure(CheckFailure::Content, None, detail, action),
        )
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
        } else if !expected.trusted(near) {
            let stated = near.confidence.map_or_else(
                || "states no confidence".to_owned(),
                |stated| format!("has the confidence {stated}"),
            );
            let least = expected.confidence.unwrap_or_default();
            (
                format!("\"{}\" {stated}, needs {least}", near.title),
                "make the policy say when the agent is sure; only if it need not be, lower minConfidence",
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
    let mut shortfalls = Shortfalls::default();
    let matching: BTreeSet<usize> = edges.iter().flatten().copied().collect();
    for (index, atom) in produced.atoms.iter().enumerate() {
        if !matching.contains(&index) {
            shortfalls.add(&["atom_precision"], || Difference {
                line: 1,
                expected: "only atoms that the scenario expects".to_owned(),
                produced: format!("\"{}\" matches no expected atom", short_title(atom)),
            });
        }
        if atom.outcomes == 0 || scenario.measure.vague.are_in(&atom.description) {
            let lacks = if atom.outcomes == 0 {
                "no observable outcome"
            } else {
                "a vague term"
            };
            shortfalls.add(&["atom_clarity"], || Difference {
                line: 1,
                expected: "atoms with an observable outcome and without a vague term".to_owned(),
                produced: format!("\"{}\" has {lacks}", short_title(atom)),
            });
        }
        if points.is_measured("validator_testability") && atom.validator != Validator::Executable {
            shortfalls.add(&["validator_testability"], || Difference {
                line: 1,
                expected: "atoms with an executable validator".to_owned(),
                produced: format!("\"{}\" has none", short_title(atom)),
            });
        }
    }
    if produced.atoms.is_empty() && !scenario.expected.is_empty() {
        shortfalls.add(&["atom_precision"], || Difference {
            line: 1,
            expected: format!("atoms: {} in the scenario", scenario.expected.len()),
            produced: "no atom".to_owned(),
        });
    }
    for (name, scored) in points.lost() {
        shortfalls.add(&["rubric_total"], || Difference {
            line: 1,
            expected: format!("{MOST_POINTS} points of {name}"),
            produced: format!("{scored} of {MOST_POINTS} points"),
        });
    }
    shortfalls.into()
}

fn short_title(atom: &Atom) -> String {
    line(&atom.title, 120)
}
