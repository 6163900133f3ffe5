//! Grades a sample: the kind's own grade, with the checks of the case's `answer` and what the runs used.

use super::checks::{AnswerChecks, AnswerEntry, AnswerRequirement, EntryListing};
use super::condition::{AnswerCondition, AnswerMiss, MIN_SCORE};
use super::metrics::{ANSWER_PASS_RATE, ANSWER_SCORE};
use super::phrase::LetterCase;
use super::text::AnswerText;
use crate::diag::Diagnostic;
use crate::model::{
    Aggregate, Better, Check, CheckKey, CheckOutcome, ExplainedBy, Failure, Grade, MetricSpec, Run, Tag, all_hold,
    indicator, reaches,
};
use crate::suites::GradeContext;
use crate::suites::kind::{Pair, Suite, SuiteKind};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::use_metrics::used;

/// Grades one completed sample of a pair. `specs` are the metrics of the suite: those of the kind, then the others.
///
/// # Errors
/// A file of the suite cannot be read.
pub fn graded(
    kind: &SuiteKind,
    specs: &[MetricSpec],
    suite: &dyn Suite,
    pair: &Pair,
    runs: &[Run],
    context: &GradeContext<'_>,
) -> Result<Grade, Diagnostic> {
    let mut grade = suite.grade(pair, runs, context)?;
    let own = kind.metrics.len();
    if specs.len() == own {
        return Ok(grade);
    }
    grade.values.resize(own, None);
    let added = match (&pair.answer, runs.first()) {
        (Some(checks), Some(run)) => {
            let grader = AnswerGrader {
                answer: AnswerText::of(run, kind.answer),
                classifier: FailureClassifier::new(pair, run, context, &[]),
            };
            let (checks, score) = grader.grade(checks);
            let passed = all_hold(&checks);
            if !passed {
                fail_all_checks(kind.metrics, &mut grade.values);
            }
            grade.checks.extend(checks);
            Some((passed, score))
        }
        (Some(_) | None, _) => None,
    };
    grade.values.extend(specs[own..].iter().map(|spec| match spec.name {
        ANSWER_PASS_RATE => added.map(|(passed, _)| indicator(passed)),
        ANSWER_SCORE => added.map(|(_, score)| score),
        name => used(name, runs),
    }));
    Ok(grade)
}

/// Sets the shares of cases that pass all checks to 0.
fn fail_all_checks(specs: &[MetricSpec], values: &mut [Option<f64>]) {
    let counts_all = |spec: &MetricSpec| {
        spec.aggregate == Aggregate::Rate
            && spec.explained_by == ExplainedBy::AllChecks
            && spec.better == Better::Higher
    };
    let counting = specs.iter().zip(values).filter(|(spec, value)| counts_all(spec) && value.is_some());
    counting.for_each(|(_, value)| *value = Some(0.0));
}

/// The answer of one run, and what classifies the failures of its checks.
struct AnswerGrader<'a> {
    /// `None` if the answer is missing.
    answer: Option<AnswerText>,
    classifier: FailureClassifier<'a>,
}

impl AnswerGrader<'_> {
    /// The checks, in the same order for all samples, and the weighted share of entries that hold.
    fn grade(&self, stated: &AnswerChecks) -> (Vec<Check>, f64) {
        let mut checks = Vec::new();
        let mut scores = Vec::with_capacity(stated.entries.len());
        for (index, entry) in (0_u32..).zip(&stated.entries) {
            let key = match stated.listing {
                EntryListing::Single => CheckKey::Only,
                EntryListing::Listed => CheckKey::At(index),
            };
            let added = self.checks(entry, &key);
            let held = match &entry.requires {
                AnswerRequirement::All { .. } => {
                    let held = added.iter().filter(|check| check.outcome == CheckOutcome::Passed).count();
                    held as f64 / added.len().max(1) as f64
                }
                AnswerRequirement::Share { entries, .. } => self.score(entries),
            };
            scores.push((entry.weight, held));
            checks.extend(added);
        }
        (checks, weighted(&scores))
    }

    fn checks(&self, entry: &AnswerEntry, key: &CheckKey) -> Vec<Check> {
        match &entry.requires {
            AnswerRequirement::All { conditions, letter_case } => {
                let check = |condition: &AnswerCondition| {
                    let failure = self.failure(condition, *letter_case, entry.rule.as_deref());
                    Check::of(condition.word(), key.clone(), entry.line, || condition.expectation(), failure)
                };
                conditions.iter().map(check).collect()
            }
            AnswerRequirement::Share { entries, min_score } => {
                let score = self.score(entries);
                let failure = (!reaches(score, *min_score)).then(|| {
                    let failing: Vec<String> = entries.iter().filter_map(|entry| self.shortcoming(entry)).collect();
                    let detail = format!("score {score:.2}, needs {min_score}; failing: {}", failing.join("; "));
                    let action = "fix the failing checks of the score, the heaviest first".to_owned();
                    self.content_failure(None, detail, action)
                });
                let expected = || format!("a score of at least {min_score}");
                vec![Check::of(MIN_SCORE, key.clone(), entry.line, expected, failure)]
            }
        }
    }

    /// The weighted share of the entries that hold.
    fn score(&self, entries: &[AnswerEntry]) -> f64 {
        let held = |entry: &AnswerEntry| (entry.weight, indicator(self.holds(entry)));
        weighted(&entries.iter().map(held).collect::<Vec<_>>())
    }

    fn holds(&self, entry: &AnswerEntry) -> bool {
        match &entry.requires {
            AnswerRequirement::All { conditions, letter_case } => {
                conditions.iter().all(|condition| self.miss(condition, *letter_case).is_none())
            }
            AnswerRequirement::Share { entries, min_score } => reaches(self.score(entries), *min_score),
        }
    }

    /// Why an entry does not hold, in one line.
    fn shortcoming(&self, entry: &AnswerEntry) -> Option<String> {
        let weight = format!("(weight {})", entry.weight);
        match &entry.requires {
            AnswerRequirement::All { conditions, letter_case } => conditions.iter().find_map(|condition| {
                let detail = match self.miss(condition, *letter_case)? {
                    AnswerMiss::Content(detail) | AnswerMiss::Format(detail) => detail,
                };
                Some(format!("{} {weight}, expected {}: {detail}", condition.word(), condition.expectation()))
            }),
            AnswerRequirement::Share { .. } => (!self.holds(entry)).then(|| format!("{MIN_SCORE} {weight}")),
        }
    }

    fn miss(&self, condition: &AnswerCondition, letter_case: LetterCase) -> Option<AnswerMiss> {
        match &self.answer {
            Some(answer) => condition.miss(answer, letter_case),
            None => Some(AnswerMiss::Format("the outputs have no answer".to_owned())),
        }
    }

    fn failure(&self, condition: &AnswerCondition, letter_case: LetterCase, rule: Option<&str>) -> Option<Failure> {
        Some(match self.miss(condition, letter_case)? {
            AnswerMiss::Content(detail) => {
                self.classifier.failure(failure_of(condition), rule, detail, condition.next_action().to_owned())
            }
            AnswerMiss::Format(detail) => {
                let next_action = match self.answer {
                    Some(_) => condition.next_action(),
                    None => "make the agent answer with a text",
                };
                Failure { tag: Tag::Schema, detail, next_action: next_action.to_owned() }
            }
        })
    }

    fn content_failure(&self, rule: Option<&str>, detail: String, next_action: String) -> Failure {
        self.classifier.failure(CheckFailure::Content, rule, detail, next_action)
    }
}

/// The kind of failure if an answer's content does not hold.
fn failure_of(condition: &AnswerCondition) -> CheckFailure {
    match condition {
        AnswerCondition::Latency(_) | AnswerCondition::Cost(_) => CheckFailure::Cost,
        AnswerCondition::Equals(_)
        | AnswerCondition::OneOf(_)
        | AnswerCondition::AllOf(_)
        | AnswerCondition::AnyOf(_)
        | AnswerCondition::NoneOf(_)
        | AnswerCondition::StartsWith(_)
        | AnswerCondition::EndsWith(_)
        | AnswerCondition::Regex(_)
        | AnswerCondition::NotRegex(_)
        | AnswerCondition::JsonSchema(..)
        | AnswerCondition::Json(..)
        | AnswerCondition::Length(_)
        | AnswerCondition::Similar(_)
        | AnswerCondition::Refuses(_)
        | AnswerCondition::DoesNotRefuse(_)
        | AnswerCondition::Not(..) => CheckFailure::Content,
    }
}

/// The weighted mean of scores; the weights are not all 0.
fn weighted(scores: &[(f64, f64)]) -> f64 {
    let whole: f64 = scores.iter().map(|(weight, _)| weight).sum();
    let held: f64 = scores.iter().map(|(weight, score)| weight * score).sum();
    if whole > 0.0 { held / whole } else { 0.0 }
}
