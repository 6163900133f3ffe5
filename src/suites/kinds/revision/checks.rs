//! The checks of one sample: what is wrong with a document or an evaluation, and what to do next.

use super::case::RevisionCase;
use super::critic::VerifiedEvaluation;
use super::fault::{Criterion, FaultKind, RevisionFault};
use super::produced::{RevisionOutput, VerifiedAttempt};
use super::score::Verification;
use super::scoring::Scoring;
use crate::model::{Check, Failure, Role};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};

/// Number of faults of one criterion that are listed.
const LISTED: usize = 3;

pub struct RevisionChecker<'a> {
    pub case: &'a RevisionCase,
    pub produced: &'a RevisionOutput,
    pub scoring: &'a Scoring,
    pub role: Role,
    pub classifier: FailureClassifier<'a>,
}

/// How well a critic evaluates, over all its evaluations of a sample; `None` without an evaluation.
pub struct CriticValues {
    /// The share of valid evaluations.
    pub valid: Option<f64>,
    /// The share of evaluations that are satisfied with a document that fails the verifier.
    pub falsely_satisfied: Option<f64>,
    /// The number of failures that the critic missed.
    pub missed: Option<f64>,
    /// The number of failures that only the critic sees.
    pub invented: Option<f64>,
}

impl RevisionChecker<'_> {
    /// All checks of the sample; the number and order are the same for all samples of a pair.
    pub fn checks(&self) -> Vec<Check> {
        let form = match self.role {
            Role::Actor => {
                "make the agent return the complete revised document as RTF in \"document\""
            }
            Role::Critic => {
                "make the critic return only the evaluation's JSON, with every field of the schema"
            }
        };
        let readable = match self.role {
            Role::Actor => "the complete revised document as RTF",
            Role::Critic => "an evaluation with every field of the schema",
        };
        let mut checks = vec![self.check("schema", readable, self.classifier.schema(form))];
        if self.role == Role::Actor {
            checks.extend(self.document_checks());
        }
        // A document without a critic gets no critic checks: none of them could pass.
        if self.role == Role::Critic || self.produced.rounds.is_some() {
            checks.extend(self.evaluation_checks());
        }
        checks
    }

    fn check(&self, word: &'static str, expected: &str, failure: Option<Failure>) -> Check {
        Check::only(word, || expected.to_owned(), failure)
    }

    fn failed(&self, detail: String, next: &str) -> Failure {
        self.classifier.failure(
            CheckFailure::Content,
            self.case.asked.rule.as_deref(),
            detail,
            next.to_owned(),
        )
    }

    fn document_checks(&self) -> Vec<Check> {
        let Some(last) = self.produced.attempts.last() else {
            let words = Criterion::ALL
                .map(Criterion::as_str)
                .into_iter()
                .chain(["format", "quality_gate"]);
            let mut checks = Vec::new();
            for word in words {
                let failure =
                    self.failed("the document is missing".to_owned(), "see the check schema");
                checks.push(self.check(word, "a revised document", Some(failure)));
            }
            return checks;
        };
        let verification = &last.verification;
        let mut checks = Vec::new();
        for criterion in Criterion::ALL {
            let faults: Vec<&RevisionFault> = verification.against(criterion).collect();
            checks.push(self.check(
                criterion.as_str(),
                expected(criterion),
                self.failure(&faults, next_step(criterion)),
            ));
        }
        let damage: Vec<&RevisionFault> = verification.of(FaultKind::Corrupt).collect();
        let next = "make the agent change only words and keep every control word, table and group";
        checks.push(self.check(
            "format",
            "the format of the original document",
            self.failure(&damage, next),
        ));
        let gate = format!(
            "an overall score of at least {} and no critical failure",
            self.scoring.quality_gate
        );
        checks.push(self.check("quality_gate", &gate, self.below_the_gate(verification)));
        checks
    }

    fn failure(&self, faults: &[&RevisionFault], next: &str) -> Option<Failure> {
        let mut messages = Vec::new();
        // Faults of the same rule share its name.
        for same in faults
            .get(..LISTED)
            .unwrap_or(faults)
            .chunk_by(|left, right| left.kind.rule() == right.kind.rule())
        {
            let details = same
                .iter()
                .map(|fault| fault.detail.as_str())
                .collect::<Vec<_>>()
                .join("; ");
            match same.first().and_then(|fault| fault.kind.rule()) {
                Some(rule) => messages.push(format!("{rule}: {details}")),
                None => messages.push(details),
            }
        }
        let more = faults.len().saturating_sub(LISTED);
        if more > 0 {
            messages.push(format!("and {more} more"));
        }
        (!messages.is_empty()).then(|| self.failed(messages.join("; "), next))
    }

    /// The failure of a document below the quality gate: each attempt with its score and penalties.
    fn below_the_gate(&self, last: &Verification) -> Option<Failure> {
        if last.satisfied {
            return None;
        }
        let mut attempts = Vec::new();
        for (index, attempt) in self.produced.attempts.iter().enumerate() {
            let summary = summary(&attempt.verification);
            if self.produced.rounds.is_some() {
                attempts.push(format!("attempt {}: {summary}", index + 1));
            } else {
                attempts.push(summary);
            }
        }
        Some(self.failed(
            attempts.join("; "),
            "fix the failing criteria above, those with a penalty first",
        ))
    }

    fn judged<'s>(
        &'s self,
    ) -> impl Iterator<Item = (&'s VerifiedAttempt, VerifiedEvaluation<'s>, &'s [String])> {
        self.produced.attempts.iter().filter_map(|attempt| {
            let (evaluation, flaws) = attempt.evaluation.as_ref()?;
            Some((
                attempt,
                VerifiedEvaluation {
                    evaluation,
                    verification: &attempt.verification,
                    scoring: self.scoring,
                },
                flaws.as_slice(),
            ))
        })
    }

    pub fn critic_values(&self) -> CriticValues {
        let nothing = CriticValues {
            valid: None,
            falsely_satisfied: None,
            missed: None,
            invented: None,
        };
        if self.role == Role::Critic
            && self
                .produced
                .attempts
                .iter()
                .all(|attempt| attempt.evaluation.is_none())
        {
            // An unreadable evaluation has the worst values.
            return CriticValues {
                valid: Some(0.0),
                falsely_satisfied: Some(1.0),
                ..nothing
            };
        }
        let judged: Vec<_> = self.judged().collect();
        let unread = self
            .produced
            .attempts
            .iter()
            .filter(|attempt| attempt.is_unread())
            .count();
        if judged.is_empty() {
            // As for a critic alone.
            return CriticValues {
                valid: (unread > 0).then_some(0.0),
                ..nothing
            };
        }
        let (mut valid, mut falsely_satisfied, mut missed, mut invented) = (0, 0, 0, 0);
        for (_, judged, flaws) in &judged {
            let is_valid = flaws.is_empty()
                && judged.arithmetic().is_none()
                && judged.contradiction().is_none();
            valid += usize::from(is_valid);
            falsely_satisfied += usize::from(judged.falsely_satisfied());
            missed += judged.missed().len();
            invented += judged.invented().len();
        }
        let all = judged.len() as f64;
        CriticValues {
            valid: Some(valid as f64 / (all + unread as f64)),
            falsely_satisfied: Some(falsely_satisfied as f64 / all),
            missed: Some(missed as f64),
            invented: Some(invented as f64),
        }
    }

    fn evaluation_flaws(&self) -> EvaluationFlaws {
        let mut evaluation_flaws = EvaluationFlaws::default();
        for (index, attempt) in self.produced.attempts.iter().enumerate() {
            if attempt.is_unread() {
                evaluation_flaws.contradictions.push(format!(
                    "attempt {}: the critic's answer is not an evaluation object",
                    index + 1
                ));
            }
        }
        for (attempt, judged, flaws) in self.judged() {
            if self.role == Role::Actor {
                // A critic's own flaws are reported by its check `schema`.
                evaluation_flaws
                    .contradictions
                    .extend(flaws.iter().cloned());
            }
            evaluation_flaws.arithmetic.extend(judged.arithmetic());
            evaluation_flaws
                .contradictions
                .extend(judged.contradiction());
            if judged.falsely_satisfied() {
                evaluation_flaws.falsely.push(format!(
                    "satisfied with {}, but the verifier says: {}",
                    judged.evaluation.overall,
                    summary(judged.verification)
                ));
            }
            evaluation_flaws.missed.extend(judged.missed());
            for criterion in judged.invented() {
                evaluation_flaws.invented.push(format!(
                    "{}: the verifier found no fault",
                    criterion.as_str()
                ));
            }
            for criterion in judged.unexplained() {
                evaluation_flaws.unexplained.push(format!(
                    "{} is reported as unmet, without feedback on how to fix it",
                    criterion.as_str()
                ));
            }
            for target in judged.unknown_targets(&self.case.original, &attempt.draft) {
                evaluation_flaws
                    .unknown
                    .push(format!("the document has no section \"{target}\""));
            }
        }
        evaluation_flaws
    }

    fn evaluation_check(
        &self,
        word: &'static str,
        expected: &str,
        wrong: Vec<String>,
        next: &str,
    ) -> Check {
        let more = wrong.len().saturating_sub(LISTED);
        let mut messages: Vec<String> = wrong.into_iter().take(LISTED).collect();
        if more > 0 {
            messages.push(format!("and {more} more"));
        }
        let failure = (!messages.is_empty()).then(|| self.failed(messages.join("; "), next));
        self.check(word, expected, failure)
    }

    fn evaluation_checks(&self) -> Vec<Check> {
        let EvaluationFlaws {
            arithmetic,
            contradictions,
            falsely,
            missed,
            invented,
            unexplained,
            unknown,
        } = self.evaluation_flaws();
        vec![
            self.evaluation_check(
                "arithmetic",
                "an overall score equal to the weighted scores minus the penalties",
                arithmetic,
                "state weights and penalties in the prompt, or compute the sum in code",
            ),
            self.evaluation_check(
                "consistent",
                "an evaluation that does not contradict itself",
                contradictions,
                "say in the prompt when the critic is satisfied",
            ),
            self.evaluation_check(
                "not_falsely_satisfied",
                "satisfied only with a document that passes the verifier",
                falsely,
                "do not let this critic decide alone: run the verifier on every document that it passes",
            ),
            self.evaluation_check(
                "failures_found",
                "every failure that the verifier found",
                missed,
                "give the critic an example of each missed failure",
            ),
            self.evaluation_check(
                "none_invented",
                "no criterion reported as unmet without a fault",
                invented,
                "make the critic quote the words that it objects to",
            ),
            self.evaluation_check(
                "feedback_given",
                "feedback on each unmet criterion",
                unexplained,
                "request feedback on every unmet criterion in the prompt",
            ),
            self.evaluation_check(
                "suggestions_placed",
                "suggestions for sections of the document",
                unknown,
                "make the critic refer to sections by their numbers in the document",
            ),
        ]
    }
}

/// What is wrong with the evaluations of a critic, one sentence each.
#[derive(Default)]
struct EvaluationFlaws {
    /// Scores that do not add up.
    arithmetic: Vec<String>,
    /// Evaluations that contradict themselves or cannot be read.
    contradictions: Vec<String>,
    /// Documents that were accepted with faults.
    falsely: Vec<String>,
    /// Faults that were not found.
    missed: Vec<String>,
    /// Faults that do not exist.
    invented: Vec<String>,
    /// Unmet criteria without feedback.
    unexplained: Vec<String>,
    /// Suggestions for sections that do not exist.
    unknown: Vec<String>,
}

/// The expectation of a criterion, for the report.
fn expected(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Entities => "no old name left",
        Criterion::Jurisdiction => "the new law and courts everywhere",
        Criterion::Liability => "each indemnity in the requested direction",
        Criterion::Clauses => "every operation on a clause done, nothing else removed",
        Criterion::Coherence => "references, definitions and numbers intact, no unrequested change",
    }
}

/// The next step for a criterion that is not met.
pub fn next_step(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Entities => {
            "make the agent search for every form of the name, also in headers, tables and notes"
        }
        Criterion::Jurisdiction => {
            "make the agent change the law, the courts and all related phrases"
        }
        Criterion::Liability => "make the agent re-read each indemnity sentence after the change",
        Criterion::Clauses => "make the agent check each requested operation in the result",
        Criterion::Coherence => {
            "make the agent update numbers, references and definitions after each operation"
        }
    }
}

/// One line with the overall score and the penalties.
fn summary(verification: &Verification) -> String {
    let deducted: Vec<String> = verification
        .penalties
        .iter()
        .map(|penalty| {
            format!(
                "{} x {} (-{:.2})",
                penalty.times, penalty.why, penalty.amount
            )
        })
        .collect();
    let deducted = if deducted.is_empty() {
        String::new()
    } else {
        format!(", penalties: {}", deducted.join(", "))
    };
    format!("overall {:.4}{deducted}", verification.overall)
}
