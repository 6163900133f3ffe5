//! The checks of one sample: what of a document or of an evaluation is wrong, with the next step.

use super::case::RevisionCase;
use super::critic::VerifiedEvaluation;
use super::fault::{Criterion, FaultKind, RevisionFault};
use super::produced::{RevisionOutput, VerifiedAttempt};
use super::score::Verification;
use crate::model::{Check, CheckKey, Failure, Role, Scoring, indicator};
use crate::suites::failure_classifier::{CheckFailure as Blamed, FailureClassifier};

/// How many faults of a criterion are told one by one.
const TOLD: usize = 3;

/// One sample beside its case.
pub struct RevisionChecker<'a> {
    pub case: &'a RevisionCase,
    pub produced: &'a RevisionOutput,
    pub scoring: &'a Scoring,
    pub role: Role,
    pub classifier: FailureClassifier<'a>,
}

impl RevisionChecker<'_> {
    /// Every check of the sample; the same ones in the same order for all samples of a pair.
    pub fn checks(&self) -> Vec<Check> {
        let form = match self.role {
            Role::Actor => "make the agent answer with the whole revised document as RTF in \"document\"",
            Role::Critic => "make the critic answer with the evaluation's JSON alone, every field of the schema in it",
        };
        let readable = match self.role {
            Role::Actor => "the whole revised document as RTF",
            Role::Critic => "an evaluation with every field of the schema",
        };
        let mut checks = vec![self.check("schema", readable, self.classifier.schema(form))];
        if self.role == Role::Actor {
            checks.extend(self.of_the_document());
        }
        // A document alone has no critic, and nothing of one can hold.
        if self.role == Role::Critic || self.produced.rounds.is_some() {
            checks.extend(self.of_the_evaluations());
        }
        checks
    }

    fn check(&self, word: &'static str, expected: &str, failure: Option<Failure>) -> Check {
        Check::of(word, CheckKey::Only, 1, || expected.to_owned(), failure)
    }

    fn failed(&self, detail: String, next: &str) -> Failure {
        self.classifier.failure(Blamed::Content, self.case.asked.rule.as_deref(), detail, next.to_owned())
    }

    fn of_the_document(&self) -> Vec<Check> {
        let Some(last) = self.produced.attempts.last() else {
            let missing = || Some(self.failed("there is no document to look at".to_owned(), "see the check schema"));
            let words = Criterion::ALL.map(Criterion::as_str).into_iter().chain(["format", "quality_gate"]);
            return words.map(|word| self.check(word, "a revised document", missing())).collect();
        };
        let verification = &last.verification;
        let mut checks: Vec<Check> = Criterion::ALL
            .into_iter()
            .map(|criterion| {
                let faults: Vec<&RevisionFault> = verification.against(criterion).collect();
                self.check(criterion.as_str(), expected(criterion), self.failure(&faults, next_step(criterion)))
            })
            .collect();
        let damage: Vec<&RevisionFault> = verification.of(FaultKind::Corrupt).collect();
        let mend = "make the agent change words only, and leave every control word, table and group as it was";
        checks.push(self.check("format", "the format of the original document", self.failure(&damage, mend)));
        let gate = format!("an overall score of at least {} and no critical failure", self.scoring.quality_gate);
        checks.push(self.check("quality_gate", &gate, self.below_the_gate(verification)));
        checks
    }

    fn failure(&self, faults: &[&RevisionFault], next: &str) -> Option<Failure> {
        let mut told: Vec<&str> = faults.iter().take(TOLD).map(|fault| fault.detail.as_str()).collect();
        let more = faults.len().checked_sub(TOLD).filter(|more| *more > 0).map(|more| format!("and {more} more"));
        told.extend(more.as_deref());
        (!told.is_empty()).then(|| self.failed(told.join("; "), next))
    }

    /// The structured report of a document that may not pass: each attempt, its score and what was deducted.
    fn below_the_gate(&self, last: &Verification) -> Option<Failure> {
        if last.satisfied {
            return None;
        }
        let attempts = self.produced.attempts.iter().enumerate().map(|(index, attempt)| {
            let summary = summary(&attempt.verification);
            if self.produced.rounds.is_some() { format!("attempt {}: {summary}", index + 1) } else { summary }
        });
        let detail = attempts.collect::<Vec<_>>().join("; ");
        Some(self.failed(detail, "mend the criteria that fail above, those with a penalty first"))
    }

    fn judged<'s>(&'s self) -> impl Iterator<Item = (&'s VerifiedAttempt, VerifiedEvaluation<'s>, &'s [String])> {
        self.produced.attempts.iter().filter_map(|attempt| {
            let (evaluation, flaws) = attempt.evaluation.as_ref()?;
            Some((
                attempt,
                VerifiedEvaluation { evaluation, verification: &attempt.verification, scoring: self.scoring },
                flaws.as_slice(),
            ))
        })
    }

    /// The critic's numbers; none where no critic said anything.
    pub fn of_the_critic(&self) -> [Option<f64>; 4] {
        if self.role == Role::Critic && self.produced.attempts.iter().all(|attempt| attempt.evaluation.is_none()) {
            // Nothing that could be read is no valid evaluation; what it would have said nobody knows.
            return [Some(0.0), None, None, None];
        }
        let judged: Vec<_> = self.judged().collect();
        let unread = self.produced.attempts.iter().filter(|attempt| attempt.is_unread()).count();
        if judged.is_empty() {
            // As of a critic alone.
            return [(unread > 0).then_some(0.0), None, None, None];
        }
        let whole = |(_, judged, flaws): &&(&VerifiedAttempt, VerifiedEvaluation<'_>, &[String])| {
            flaws.is_empty() && judged.arithmetic().is_none() && judged.contradiction().is_none()
        };
        let all = judged.len() as f64;
        let valid = judged.iter().filter(whole).count() as f64 / (all + unread as f64);
        let falsely = judged.iter().map(|(_, judged, _)| indicator(judged.falsely_satisfied())).sum::<f64>() / all;
        let missed = judged.iter().map(|(_, judged, _)| judged.missed().len()).sum::<usize>();
        let invented = judged.iter().map(|(_, judged, _)| judged.invented().len()).sum::<usize>();
        [Some(valid), Some(falsely), Some(missed as f64), Some(invented as f64)]
    }

    fn of_the_evaluations(&self) -> Vec<Check> {
        let mut arithmetic = Vec::new();
        let mut contradictions = Vec::new();
        let (mut falsely, mut missed, mut invented) = (Vec::new(), Vec::new(), Vec::new());
        let (mut unexplained, mut nowhere) = (Vec::new(), Vec::new());
        let unread = self.produced.attempts.iter().enumerate().filter(|(_, attempt)| attempt.is_unread());
        contradictions.extend(
            unread.map(|(place, _)| format!("attempt {}: the critic's answer is no evaluation's object", place + 1)),
        );
        for (attempt, judged, flaws) in self.judged() {
            if self.role == Role::Actor {
                // A critic's own flaws are told by its check schema.
                contradictions.extend(flaws.iter().cloned());
            }
            arithmetic.extend(judged.arithmetic());
            contradictions.extend(judged.contradiction());
            if judged.falsely_satisfied() {
                falsely.push(format!(
                    "satisfied with {}, the verifier: {}",
                    judged.evaluation.overall,
                    summary(judged.verification)
                ));
            }
            missed.extend(judged.missed());
            invented.extend(
                judged.invented().into_iter().map(|criterion| format!("{}: no fault is in it", criterion.as_str())),
            );
            let without = judged.unexplained().into_iter();
            unexplained.extend(
                without.map(|criterion| format!("{} is blamed, and nothing says how to mend it", criterion.as_str())),
            );
            let targets = judged.nowhere(&self.case.original, &attempt.draft).into_iter();
            nowhere.extend(targets.map(|target| format!("\"{target}\" is no section of the document")));
        }
        let made = |word, expected: &str, wrong: Vec<String>, next: &str| {
            let more = wrong.len().saturating_sub(TOLD);
            let mut told: Vec<String> = wrong.into_iter().take(TOLD).collect();
            if more > 0 {
                told.push(format!("and {more} more"));
            }
            self.check(word, expected, (!told.is_empty()).then(|| self.failed(told.join("; "), next)))
        };
        vec![
            made(
                "arithmetic",
                "an overall score that is the weighted scores less the penalties",
                arithmetic,
                "make the prompt state weights and penalties, or let code work out the sum",
            ),
            made(
                "consistent",
                "an evaluation that does not contradict itself",
                contradictions,
                "make the prompt say when a critic is satisfied",
            ),
            made(
                "not_falsely_satisfied",
                "satisfied only with a satisfactory document",
                falsely,
                "never let this critic decide alone: let the verifier gate what it passes",
            ),
            made(
                "failures_found",
                "each failure that the verifier found",
                missed,
                "give the critic an example of each failure that it missed",
            ),
            made(
                "none_invented",
                "no criterion blamed without a fault",
                invented,
                "make the critic quote the words that it blames",
            ),
            made(
                "feedback_given",
                "feedback on each unmet criterion",
                unexplained,
                "make the prompt ask for feedback on every unmet criterion",
            ),
            made(
                "suggestions_placed",
                "suggestions for sections of the document",
                nowhere,
                "make the critic name sections by the numbers that the document has",
            ),
        ]
    }
}

/// What a criterion asks for.
fn expected(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Entities => "no old name left",
        Criterion::Jurisdiction => "the new law and courts everywhere",
        Criterion::Liability => "each indemnity in the direction asked for",
        Criterion::Clauses => "each operation on a clause done, nothing else removed",
        Criterion::Coherence => "references, definitions and numbers intact, nothing changed unasked",
    }
}

/// What to do about a criterion that is not met.
pub fn next_step(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Entities => "make the agent look for every form of the name, also in headers, tables and notes",
        Criterion::Jurisdiction => "make the agent change the law, the courts and every phrase that goes with them",
        Criterion::Liability => "make the agent read each indemnity sentence again after the change",
        Criterion::Clauses => "make the agent go through the list of operations and check each one in the result",
        Criterion::Coherence => "make the agent follow numbers, references and definitions after each operation",
    }
}

/// A verdict in one line.
fn summary(verification: &Verification) -> String {
    let deducted: Vec<String> = verification
        .penalties
        .iter()
        .map(|penalty| format!("{} x {} (-{:.2})", penalty.times, penalty.why, penalty.amount))
        .collect();
    let deducted = if deducted.is_empty() { String::new() } else { format!(", deducted for {}", deducted.join(", ")) };
    format!("overall {:.4}{deducted}", verification.overall)
}
