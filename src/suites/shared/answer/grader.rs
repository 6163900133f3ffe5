//! Grades a sample: the kind's own grade, with the checks of the case's `answer`, the suite's own checks and metrics, and what the runs
//! used.

use std::collections::BTreeMap;

use super::before_removal::before_removal;
use super::checks::{AnswerChecks, AnswerEntry, AnswerRequirement, EntryListing, TurnAnswer};
use super::condition::{
    ANSWER_EXPRESSION, AnswerCondition, AnswerMiss, MIN_SCORE, OWN_CHECK, OWN_METRIC,
};
use super::expression::{
    ExpressionCase, ExpressionMiss, GradedRunValues, MetricOutcome, ParsedExpressions,
    StatedExpression,
};
use super::metrics::{ANSWER_PASS_RATE, ANSWER_SCORE};
use super::phrase::LetterCase;
use super::text::AnswerText;
use crate::diag::Diagnostic;
use crate::model::{
    Aggregate, Better, Check, CheckKey, CheckName, CheckOutcome, ExplainedBy, Failure, Grade,
    MetricSpec, REDACTED, Run, Tag, all_hold, indicator, reaches,
};
use crate::suites::GradeContext;
use crate::suites::kind::{Pair, Suite, SuiteKind};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::turns::{answer_of_turn, turn_name};
use crate::suites::shared::use_metrics::used;

/// Grades one completed sample of a pair. `specs` are the metrics of the suite: those of the kind, then the others.
pub fn graded(
    suite: &GradedSuite<'_>,
    specs: &[MetricSpec],
    pair: &Pair,
    runs: &[Run],
    context: &GradeContext<'_>,
) -> Result<Grade, Diagnostic> {
    let kind = suite.kind;
    let mut grade = suite.golden.grade(pair, runs, context)?;
    let kind_metrics = kind.metrics.len();
    if specs.len() == kind_metrics {
        return Ok(grade);
    }
    grade.values.resize(kind_metrics, None);
    let mut values = BTreeMap::new();
    if let Some(run) = runs.first()
        && states_checks(pair, suite.expressions)
    {
        let sample = SampleAnswers {
            kind,
            pair,
            run,
            context,
            reading: AnswerReading::Recorded,
        };
        let grader = sample.grader(AnswerText::of(run, kind.answer), NO_ANSWER.to_owned());
        let line = pair.answer.as_ref().map_or(1, |checks| checks.line);
        let originals = before_removal(run);
        let mut entries = sample.entries(&grader, suite.expressions, line, &originals);
        // What holds for the first run holds for the others of the pair: the variants of a property.
        for (key, run) in pair.runs.iter().zip(runs).skip(1) {
            let sample = SampleAnswers { run, ..sample };
            let grader = sample.grader(AnswerText::of(run, kind.answer), NO_ANSWER.to_owned());
            let of_run = sample.entries(&grader, suite.expressions, line, &before_removal(run));
            entries.add(&format!("in the run {}", key.case), of_run);
        }
        let (mut checks, score) = entries.with_score();
        let original_values: Vec<GradedRunValues<'_>> = originals
            .iter()
            .map(|run| SampleAnswers { run, ..sample }.values())
            .collect();
        for spec in &specs[kind_metrics..] {
            match worst_value(&grader.values, &original_values, suite.expressions, spec) {
                None => {}
                Some(outcome) => {
                    checks.push(grader.metric_check(spec, line, outcome.as_ref().err()));
                    values.insert(spec.name, outcome.unwrap_or(None));
                }
            }
        }
        let passed = all_hold(&checks);
        if !passed {
            fail_all_checks(kind.metrics, &mut grade.values);
        }
        grade.checks.extend(checks);
        values.insert(ANSWER_PASS_RATE, Some(indicator(passed)));
        values.insert(ANSWER_SCORE, score);
    }
    for spec in &specs[kind_metrics..] {
        let value = match values.get(spec.name) {
            Some(Some(value)) => Some(*value),
            Some(None) | None => suite
                .golden
                .family_value(pair, spec.name, &grade.checks)
                .or_else(|| used(spec.name, runs)),
        };
        grade.values.push(value);
    }
    Ok(grade)
}

/// The value of a metric of the suite: where keys were removed, the worst one of what the run may have been before.
fn worst_value(
    recorded: &GradedRunValues<'_>,
    originals: &[GradedRunValues<'_>],
    expressions: &ParsedExpressions,
    spec: &MetricSpec,
) -> Option<MetricOutcome> {
    let outcome = recorded.metric(expressions, spec.name)?;
    let Ok(Some(value)) = outcome else {
        return Some(outcome);
    };
    let values = originals
        .iter()
        .filter_map(|run| run.metric(expressions, spec.name)?.ok().flatten());
    let worst = values.fold(value, |worst, value| match spec.better {
        Better::Higher => worst.min(value),
        Better::Lower => worst.max(value),
        Better::Neither => worst,
    });
    Some(Ok(Some(worst)))
}

/// What to say of a run without an answer.
const NO_ANSWER: &str = "the outputs have no answer";

pub struct GradedSuite<'a> {
    pub kind: &'a SuiteKind,
    pub golden: &'a dyn Suite,
    /// The checks and metrics that it states itself.
    pub expressions: &'a ParsedExpressions,
}

/// Whether the case, or the suite for all its cases, states checks or metrics in addition to those of the kind.
fn states_checks(pair: &Pair, expressions: &ParsedExpressions) -> bool {
    pair.answer
        .as_ref()
        .is_some_and(|checks| !checks.is_empty())
        || !expressions.is_empty()
}

/// Sets the shares of cases that pass all checks to 0.
fn fail_all_checks(specs: &[MetricSpec], values: &mut [Option<f64>]) {
    for (spec, value) in specs.iter().zip(values) {
        let counts_all = spec.aggregate == Aggregate::Rate
            && spec.explained_by == ExplainedBy::AllChecks
            && spec.better == Better::Higher;
        if counts_all && value.is_some() {
            *value = Some(0.0);
        }
    }
}

#[derive(Clone, Copy)]
struct SampleAnswers<'a> {
    kind: &'a SuiteKind,
    pair: &'a Pair,
    run: &'a Run,
    context: &'a GradeContext<'a>,
    reading: AnswerReading,
}

/// Which text of an answer is graded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerReading {
    /// The recorded one.
    Recorded,
    /// One that it may have been before its keys were removed. Only what forbids a text is checked.
    BeforeRemoval,
}

impl<'a> SampleAnswers<'a> {
    /// The grader of one answer; `missing` says what fails without it.
    fn grader(&self, answer: Option<AnswerText>, missing: String) -> AnswerGrader<'a> {
        AnswerGrader {
            answer,
            missing,
            classifier: FailureClassifier::new(self.pair, self.run, self.context, &[]),
            values: self.values(),
            reading: self.reading,
        }
    }

    /// What expressions are about.
    fn values(&self) -> GradedRunValues<'a> {
        let json = self.pair.answer.as_ref().map_or("", |checks| &checks.case);
        let case = ExpressionCase {
            json,
            description: self.kind.description,
        };
        GradedRunValues::new(self.run, self.kind.answer, case)
    }

    /// Every check of the run, which also has to hold for its `originals`: what it may have been before keys were removed. The checks of
    /// the suite have this line.
    fn entries(
        &self,
        grader: &AnswerGrader<'_>,
        expressions: &ParsedExpressions,
        line: u32,
        originals: &[Run],
    ) -> GradedEntries {
        let mut entries = GradedEntries::default();
        grader.grade(self.pair.answer.as_deref(), expressions, line, &mut entries);
        self.grade_turns(&mut entries);
        for run in originals {
            let sample = SampleAnswers {
                run,
                reading: AnswerReading::BeforeRemoval,
                ..*self
            };
            let grader = sample.grader(AnswerText::of(run, self.kind.answer), NO_ANSWER.to_owned());
            entries.add(
                &format!("with a typical key in place of {REDACTED}"),
                sample.entries(&grader, expressions, line, &[]),
            );
        }
        entries
    }

    /// Adds the checks of the answers of single turns.
    fn grade_turns(&self, graded: &mut GradedEntries) {
        let Some(stated) = &self.pair.answer else {
            return;
        };
        for TurnAnswer {
            turn,
            entries,
            listing,
        } in &stated.turns
        {
            let name = turn_name(*turn);
            let text = answer_of_turn(self.run, *turn, stated.length);
            let text = text.map(|text| AnswerText::of_text(text, self.run.tokens));
            let mut of_turn = GradedEntries::default();
            self.grader(text, format!("{name} has no answer"))
                .grade_entries(entries, *listing, &mut of_turn);
            for check in of_turn.checks {
                let name = CheckName {
                    key: check.name.key.inside(&name),
                    ..check.name
                };
                graded.checks.push(Check { name, ..check });
            }
            graded.scores.extend(of_turn.scores);
        }
    }
}

/// The checks of entries, and the weight of each entry with the share of it that holds.
#[derive(Default)]
struct GradedEntries {
    checks: Vec<Check>,
    scores: Vec<(f64, f64)>,
}

impl GradedEntries {
    /// Adds the same checks of another run: a check holds if it holds for all runs, and an entry counts with its lowest score. `which` says
    /// which run failed.
    fn add(&mut self, which: &str, other: Self) {
        for (check, other_check) in self.checks.iter_mut().zip(other.checks) {
            if let (CheckOutcome::Passed, CheckOutcome::Failed(failure)) =
                (&check.outcome, other_check.outcome)
            {
                let detail = format!("{which}: {}", failure.detail);
                let outcome = CheckOutcome::Failed(Box::new(Failure { detail, ..*failure }));
                *check = Check {
                    outcome,
                    expected: other_check.expected,
                    ..check.clone()
                };
            }
        }
        for (score, other_score) in self.scores.iter_mut().zip(other.scores) {
            score.1 = score.1.min(other_score.1);
        }
    }

    /// The checks, with the weighted share of entries that hold.
    fn with_score(self) -> (Vec<Check>, Option<f64>) {
        let score = (!self.scores.is_empty()).then(|| weighted(&self.scores));
        (self.checks, score)
    }
}

/// One answer of a run, and what classifies the failures of its checks.
struct AnswerGrader<'a> {
    /// `None` if the answer is missing.
    answer: Option<AnswerText>,
    /// What to say if it is missing.
    missing: String,
    classifier: FailureClassifier<'a>,
    /// What expressions are about.
    values: GradedRunValues<'a>,
    reading: AnswerReading,
}

impl AnswerGrader<'_> {
    /// Adds the checks, in the same order for all samples; the checks of the suite follow those of the case, at this line.
    fn grade(
        &self,
        stated: Option<&AnswerChecks>,
        expressions: &ParsedExpressions,
        line: u32,
        graded: &mut GradedEntries,
    ) {
        if let Some(stated) = stated {
            self.grade_entries(&stated.entries, stated.listing, graded);
        }
        for (stated, rule) in &expressions.checks {
            let key = stated.name.clone().map_or(CheckKey::Only, CheckKey::Named);
            let failure = self.expression_failure(stated, rule.as_deref());
            let check = Check::of(OWN_CHECK, key, line, || stated.expectation(), failure);
            graded
                .scores
                .push((1.0, share_held(std::slice::from_ref(&check))));
            graded.checks.push(check);
        }
    }

    fn grade_entries(
        &self,
        entries: &[AnswerEntry],
        listing: EntryListing,
        graded: &mut GradedEntries,
    ) {
        for (index, entry) in (0_u32..).zip(entries) {
            let key = match listing {
                EntryListing::Single => CheckKey::Only,
                EntryListing::Listed => CheckKey::At(index),
            };
            let added = self.checks(entry, &key);
            let held = match &entry.requires {
                AnswerRequirement::All { .. } => share_held(&added),
                AnswerRequirement::Share { entries, .. } => self.score(entries),
            };
            graded.scores.push((entry.weight, held));
            graded.checks.extend(added);
        }
    }

    fn checks(&self, entry: &AnswerEntry, key: &CheckKey) -> Vec<Check> {
        match &entry.requires {
            AnswerRequirement::All {
                conditions,
                letter_case,
                expression,
            } => {
                let rule = entry.rule.as_deref();
                let mut checks = Vec::new();
                for condition in conditions {
                    checks.push(Check::of(
                        condition.word(),
                        key.clone(),
                        entry.line,
                        || condition.expectation(),
                        self.failure(condition, *letter_case, rule),
                    ));
                }
                if let Some(parsed) = expression {
                    let (word, key) = match &parsed.name {
                        Some(name) => (OWN_CHECK, CheckKey::Named(name.clone())),
                        None => (ANSWER_EXPRESSION, key.clone()),
                    };
                    checks.push(Check::of(
                        word,
                        key,
                        entry.line,
                        || parsed.expectation(),
                        self.expression_failure(parsed, rule),
                    ));
                }
                checks
            }
            AnswerRequirement::Share { entries, min_score } => {
                let score = self.score(entries);
                let failure = (!reaches(score, *min_score)).then(|| {
                    let failing: Vec<String> = entries
                        .iter()
                        .filter_map(|entry| self.shortcoming(entry))
                        .collect();
                    let detail = format!(
                        "score {score:.2}, needs {min_score}; failing: {}",
                        failing.join("; ")
                    );
                    let action =
                        "fix the failing checks of the score, the heaviest first".to_owned();
                    self.classifier
                        .failure(CheckFailure::Content, None, detail, action)
                });
                vec![Check::of(
                    MIN_SCORE,
                    key.clone(),
                    entry.line,
                    || format!("a score of at least {min_score}"),
                    failure,
                )]
            }
        }
    }

    /// Why an expression does not hold, in one line.
    fn expression_miss(&self, stated: &StatedExpression) -> Option<ExpressionMiss> {
        let is_of_recorded =
            stated.expression.as_str().contains(REDACTED) || self.values.expects(REDACTED);
        match (self.reading, self.is_without_answer(stated)) {
            (AnswerReading::BeforeRemoval, _) if is_of_recorded => None,
            (_, true) => Some(ExpressionMiss::NoValue(self.missing.clone())),
            (_, false) => stated.miss(&self.values),
        }
    }

    /// Whether an expression of `answer` has no answer to be about.
    fn is_without_answer(&self, stated: &StatedExpression) -> bool {
        stated.name.is_none() && self.answer.is_none()
    }

    fn expression_failure(&self, stated: &StatedExpression, rule: Option<&str>) -> Option<Failure> {
        let miss = self.expression_miss(stated)?;
        if self.is_without_answer(stated) {
            return Some(no_answer(miss.detail()));
        }
        let fault = match miss {
            ExpressionMiss::False(_) => CheckFailure::Content,
            ExpressionMiss::NoValue(_) => CheckFailure::Unmapped,
        };
        let action = "compare the output with the expression; only if the output is right, correct the expression";
        Some(
            self.classifier
                .failure(fault, rule, miss.detail(), action.to_owned()),
        )
    }

    /// The check that a metric of the suite has a value.
    fn metric_check(&self, spec: &MetricSpec, line: u32, problem: Option<&String>) -> Check {
        let failure = problem.map(|problem| {
            let action = "compare the output with the expression of the metric; where nothing is to be measured, let it give null";
            let detail = format!("the metric has no value: {problem}");
            Failure { tag: Tag::Schema, detail, next_action: action.to_owned() }
        });
        Check::of(
            OWN_METRIC,
            CheckKey::named(spec.name),
            line,
            || format!("a number: {}", spec.meaning),
            failure,
        )
    }

    /// The weighted share of the entries that hold.
    fn score(&self, entries: &[AnswerEntry]) -> f64 {
        let mut scores = Vec::new();
        for entry in entries {
            scores.push((entry.weight, indicator(self.holds(entry))));
        }
        weighted(&scores)
    }

    fn holds(&self, entry: &AnswerEntry) -> bool {
        match &entry.requires {
            AnswerRequirement::All {
                conditions,
                letter_case,
                expression,
            } => {
                conditions
                    .iter()
                    .all(|condition| self.miss(condition, *letter_case).is_none())
                    && expression
                        .iter()
                        .all(|stated| self.expression_miss(stated).is_none())
            }
            AnswerRequirement::Share { entries, min_score } => {
                reaches(self.score(entries), *min_score)
            }
        }
    }

    /// Why an entry does not hold, in one line.
    fn shortcoming(&self, entry: &AnswerEntry) -> Option<String> {
        let weight = format!("(weight {})", entry.weight);
        match &entry.requires {
            AnswerRequirement::All {
                conditions,
                letter_case,
                expression,
            } => {
                for condition in conditions {
                    if let Some(AnswerMiss::Content(detail) | AnswerMiss::Format(detail)) =
                        self.miss(condition, *letter_case)
                    {
                        return Some(format!(
                            "{} {weight}, expected {}: {detail}",
                            condition.word(),
                            condition.expectation()
                        ));
                    }
                }
                let stated = expression.as_ref()?;
                let detail = self.expression_miss(stated)?.detail();
                Some(format!(
                    "{ANSWER_EXPRESSION} {weight}, expected {}: {detail}",
                    stated.expectation()
                ))
            }
            AnswerRequirement::Share { .. } => {
                (!self.holds(entry)).then(|| format!("{MIN_SCORE} {weight}"))
            }
        }
    }

    fn miss(&self, condition: &AnswerCondition, letter_case: LetterCase) -> Option<AnswerMiss> {
        match &self.answer {
            Some(_) if self.reading == AnswerReading::BeforeRemoval && !condition.forbids() => None,
            Some(answer) => condition.miss(answer, letter_case),
            None => Some(AnswerMiss::Format(self.missing.clone())),
        }
    }

    fn failure(
        &self,
        condition: &AnswerCondition,
        letter_case: LetterCase,
        rule: Option<&str>,
    ) -> Option<Failure> {
        Some(match self.miss(condition, letter_case)? {
            AnswerMiss::Content(detail) => self.classifier.failure(
                failure_of(condition),
                rule,
                detail,
                condition.next_action().to_owned(),
            ),
            AnswerMiss::Format(detail) => {
                if self.answer.is_none() {
                    return Some(no_answer(detail));
                }
                Failure {
                    tag: Tag::Schema,
                    detail,
                    next_action: condition.next_action().to_owned(),
                }
            }
        })
    }
}

/// The failure of a condition on an answer that is missing.
fn no_answer(detail: String) -> Failure {
    Failure {
        tag: Tag::Schema,
        detail,
        next_action: "make the agent answer with a text".to_owned(),
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

fn share_held(checks: &[Check]) -> f64 {
    let held = checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Passed)
        .count();
    held as f64 / checks.len().max(1) as f64
}

/// The weighted mean of scores; the weights are not all 0.
fn weighted(scores: &[(f64, f64)]) -> f64 {
    let whole: f64 = scores.iter().map(|(weight, _)| weight).sum();
    let held: f64 = scores.iter().map(|(weight, score)| weight * score).sum();
    if whole > 0.0 { held / whole } else { 0.0 }
}
