//! What a reviser or a critic produced: documents, evaluations, or both in turn.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::case::RevisionCase;
use super::critic;
use super::critic::Evaluation;
use super::draft::Draft;
use super::score::{Verification, verify};
use crate::format::lenient;
use crate::format::lenient::{Lenient, Text};
use crate::model::{Layer, Role, Run, Word};

pub struct RevisionOutput {
    /// Its documents, each with the critic's evaluation. For a critic alone: the document that it judged.
    pub attempts: Vec<VerifiedAttempt>,
    /// Number of attempts of an actor-critic loop; `None` if the run is not a loop.
    pub rounds: Option<usize>,
    /// How the evaluation was read.
    pub layer: Layer,
    /// Deviations from the expected form.
    pub flaws: Vec<String>,
}

/// One verified document and the critic's evaluation of it.
pub struct VerifiedAttempt {
    /// Its source; `None` for a document that is part of the case.
    pub source: Option<Box<str>>,
    pub draft: Arc<Draft>,
    /// The verifier's result.
    pub verification: Arc<Verification>,
    /// The critic's evaluation with the flaws of its form; `None` if it is missing or unreadable.
    pub evaluation: Option<(Evaluation, Vec<String>)>,
    /// The critic's answer, unchanged, for the audit.
    pub critic_answer: Option<Value>,
}

impl VerifiedAttempt {
    /// Whether the critic answered without a readable evaluation.
    pub fn is_unread(&self) -> bool {
        self.critic_answer.is_some() && self.evaluation.is_none()
    }
}

/// The fields of a run's `outputs` that an actor or a critic may set.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct RevisionForm<'a> {
    #[serde(borrow)]
    document: Lenient<Text<'a>>,
    /// The answer as text, if it has no other structure.
    pub text: Lenient<Text<'a>>,
    evaluation: Option<Value>,
    attempts: Option<Value>,
}

/// Reads the output of a run and verifies every document in it.
pub fn produced(run: &Run, role: Role, case: &RevisionCase) -> RevisionOutput {
    let outputs: RevisionForm<'_> = lenient::object(&run.outputs);
    match role {
        Role::Critic => critic_output(&outputs, case),
        Role::Actor => actor_output(&outputs, case),
    }
}

fn attempt(document: &str, case: &RevisionCase) -> VerifiedAttempt {
    let draft = Draft::read(document.as_bytes());
    let verification = verify(&case.original, &draft, &case.asked, &case.scoring);
    VerifiedAttempt {
        source: Some(document.into()),
        draft: Arc::new(draft),
        verification: Arc::new(verification),
        evaluation: None,
        critic_answer: None,
    }
}

impl RevisionForm<'_> {
    /// The document and how it was read.
    pub fn revised(&self) -> Option<(String, Layer)> {
        match &self.document {
            Lenient::Given(document) => Some((document.to_string(), Layer::Structured)),
            Lenient::Absent => in_the_text(&self.text),
            Lenient::Other(_) => None,
        }
    }

    /// The evaluation and how it was read.
    pub fn judged(&self) -> Option<(Value, Layer)> {
        match (&self.evaluation, &self.text) {
            (Some(value), _) => Some((value.clone(), Layer::Structured)),
            (None, Lenient::Given(text)) => recover::recover_any(text)
                .map(|recovered| (recovered.value, Layer::from(recovered.layer))),
            (None, Lenient::Absent | Lenient::Other(_)) => None,
        }
    }
}

fn actor_output(outputs: &RevisionForm<'_>, case: &RevisionCase) -> RevisionOutput {
    let mut flaws = Vec::new();
    let mut attempts = Vec::new();
    let mut how = Layer::Structured;
    match &outputs.attempts {
        None | Some(Value::Null) => match (outputs.revised(), &outputs.document) {
            (Some((document, document_layer)), _) => {
                how = document_layer;
                attempts.push(attempt(&document, case));
            }
            (None, Lenient::Other(form)) => {
                flaws.push(format!("\"document\" is {form}, not a string"))
            }
            (None, Lenient::Absent | Lenient::Given(_)) => {
                flaws.push("\"document\" is missing".to_owned())
            }
        },
        Some(Value::Array(list)) => {
            let most = usize::try_from(case.scoring.max_attempts).unwrap_or(usize::MAX);
            // Attempts beyond the limit do not count and are not verified.
            for (index, given) in list.iter().take(most).enumerate() {
                let document = given.get("document").and_then(Value::as_str);
                let Some(document) = document.filter(|text| !text.trim().is_empty()) else {
                    flaws.push(format!("attempts[{index}] has no document"));
                    continue;
                };
                how = how.max(worst(given));
                let answer = given.get("evaluation").filter(|value| !value.is_null());
                let evaluation = answer
                    .filter(|value| value.is_object())
                    .map(critic::read_evaluation);
                attempts.push(VerifiedAttempt {
                    evaluation,
                    critic_answer: answer.cloned(),
                    ..attempt(document, case)
                });
            }
            if list.len() > most {
                flaws.push(format!(
                    "{} attempts, but at most {most} are allowed; the last of these counts",
                    list.len()
                ));
            }
            if list.is_empty() {
                flaws.push("\"attempts\" is empty".to_owned());
            }
            if let (Lenient::Given(last), Some(last_attempt)) = (&outputs.document, list.last())
                && last_attempt.get("document").and_then(Value::as_str) != Some(last)
            {
                flaws.push("\"document\" differs from the last attempt".to_owned());
            }
        }
        Some(_) => flaws.push("\"attempts\" is not a list".to_owned()),
    }
    let rounds = outputs
        .attempts
        .as_ref()
        .and_then(Value::as_array)
        .map(Vec::len);
    let layer = if attempts.is_empty() {
        Layer::Unreadable
    } else {
        how
    };
    RevisionOutput {
        attempts,
        rounds,
        layer,
        flaws,
    }
}

/// The least structured layer in which the texts of an attempt were read, if the attempt states it.
fn worst(attempt: &Value) -> Layer {
    let read = attempt.get("read").and_then(Value::as_object);
    let words = read
        .into_iter()
        .flat_map(|read| read.values())
        .filter_map(Value::as_str);
    words
        .filter_map(Layer::of_word)
        .max()
        .unwrap_or(Layer::Structured)
}

/// The document of a text-only answer: the text itself, or the field `document` of an object in it.
fn in_the_text(text: &Lenient<Text<'_>>) -> Option<(String, Layer)> {
    let Lenient::Given(text) = text else {
        return None;
    };
    if text.trim_start().starts_with("{\\rtf") {
        return Some((text.trim_start().to_owned(), Layer::Strict));
    }
    let recovered = recover::recover_any(text)?;
    let document = recovered.value.get("document")?.as_str()?.to_owned();
    Some((document, Layer::from(recovered.layer)))
}

fn critic_output(outputs: &RevisionForm<'_>, case: &RevisionCase) -> RevisionOutput {
    let mut flaws = Vec::new();
    let (value, how) = match (outputs.judged(), &outputs.text) {
        (Some((value, how)), _) => (Some(value), how),
        (None, Lenient::Given(_)) => {
            flaws.push("the text contains no readable evaluation".to_owned());
            (None, Layer::Unreadable)
        }
        (None, Lenient::Absent | Lenient::Other(_)) => {
            flaws
                .push("there is neither an \"evaluation\" nor a text that contains one".to_owned());
            (None, Layer::Unreadable)
        }
    };
    let evaluation = value.as_ref().map(critic::read_evaluation);
    flaws.extend(evaluation.iter().flat_map(|(_, flaws)| flaws.clone()));
    let judged = case
        .judged
        .iter()
        .map(|(draft, verification)| VerifiedAttempt {
            source: None,
            draft: draft.clone(),
            verification: verification.clone(),
            evaluation: evaluation.clone(),
            critic_answer: None,
        });
    RevisionOutput {
        attempts: judged.collect(),
        rounds: None,
        layer: how,
        flaws,
    }
}
