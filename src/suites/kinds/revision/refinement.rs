//! The bounded actor-critic loop: the next request, given the answers so far.

use serde_json::{Map, Value, json};

use super::asked::{FailedAttempt, RevisionTask};
use super::critic;
use super::produced::RevisionForm;
use super::scoring::Scoring;
use crate::diag::Diagnostic;
use crate::files::{Files, sha256_hex};
use crate::format::lenient;
use crate::format::lenient::Lenient;
use crate::model::{Json, Layer, LoopRole, NextRole, RepoPath, reaches};
use crate::suites::kind::Refinement;

pub struct Loop {
    task: RevisionTask,
    scoring: Scoring,
}

impl Loop {
    /// Opens the loop of the case with this golden file.
    pub fn open(
        golden: &RepoPath,
        scoring: &Scoring,
        files: &dyn Files,
    ) -> Result<Self, Diagnostic> {
        Ok(Self {
            task: RevisionTask::open(golden, files)?,
            scoring: scoring.clone(),
        })
    }
}

/// One attempt, complete or not.
struct LoopAttempt {
    /// The actor's output; without a document the critic is not called.
    revised: Revised,
    /// The critic's answer: an evaluation object, or its text if no evaluation is readable.
    critic_answer: Option<Value>,
    /// How the evaluation was read.
    layer: Option<Layer>,
}

/// An actor's output.
enum Revised {
    Document(String, Layer),
    /// An answer without a document.
    Words(Value),
}

impl LoopAttempt {
    fn of(answer: &Json) -> Self {
        let outputs: RevisionForm<'_> = lenient::object(answer.text());
        let revised = match outputs.revised() {
            Some((document, layer)) => Revised::Document(document, layer),
            None => Revised::Words(words(&outputs, answer)),
        };
        Self {
            revised,
            critic_answer: None,
            layer: None,
        }
    }

    fn judge(&mut self, answer: &Json) {
        let outputs: RevisionForm<'_> = lenient::object(answer.text());
        (self.critic_answer, self.layer) =
            match outputs.judged().filter(|(value, _)| value.is_object()) {
                Some((evaluation, layer)) => (Some(evaluation), Some(layer)),
                None => (Some(words(&outputs, answer)), Some(Layer::Unreadable)),
            };
    }

    fn document(&self) -> Option<&str> {
        match &self.revised {
            Revised::Document(document, _) => Some(document),
            Revised::Words(_) => None,
        }
    }

    /// The document, if the critic has not judged it yet.
    fn unjudged(&self) -> Option<&str> {
        self.document().filter(|_| self.critic_answer.is_none())
    }

    /// Whether the critic passes it: it is satisfied and its own score reaches the gate. A contradictory or unreadable evaluation does
    /// not pass, because uncertainty is failure. The verifier is not involved: the loop itself is what is graded.
    fn passes(&self, scoring: &Scoring) -> bool {
        let evaluation = self
            .critic_answer
            .as_ref()
            .filter(|answer| answer.is_object())
            .map(|answer| critic::read_evaluation(answer).0);
        evaluation.is_some_and(|evaluation| {
            evaluation.satisfied && reaches(evaluation.overall, scoring.quality_gate)
        })
    }

    fn kept(&self) -> Value {
        let mut kept = Map::new();
        let mut read = Map::new();
        match &self.revised {
            Revised::Document(document, layer) => {
                kept.insert("document".to_owned(), json!(document));
                read.insert("document".to_owned(), json!(layer.as_str()));
            }
            Revised::Words(words) => {
                kept.insert("document".to_owned(), Value::Null);
                kept.insert("text".to_owned(), words.clone());
            }
        }
        kept.insert(
            "evaluation".to_owned(),
            self.critic_answer.clone().unwrap_or_default(),
        );
        // `Unreadable` is evident from the value itself.
        let layer = self.layer.filter(|layer| *layer != Layer::Unreadable);
        read.extend(layer.map(|layer| ("evaluation".to_owned(), json!(layer.as_str()))));
        kept.insert("read".to_owned(), Value::Object(read));
        Value::Object(kept)
    }
}

/// The answer's text, where it does not have the expected form.
fn words(outputs: &RevisionForm<'_>, answer: &Json) -> Value {
    match &outputs.text {
        Lenient::Given(text) => json!(text),
        Lenient::Absent | Lenient::Other(_) => json!(answer.text()),
    }
}

/// Groups the answers into attempts: an actor's answer and the critic's answer on the same document.
fn attempts(answers: &[Json]) -> Vec<LoopAttempt> {
    let mut attempts: Vec<LoopAttempt> = Vec::new();
    for answer in answers {
        match attempts.last_mut().filter(|last| last.unjudged().is_some()) {
            Some(last) => last.judge(answer),
            None => attempts.push(LoopAttempt::of(answer)),
        }
    }
    attempts
}

impl Loop {
    fn after(&self, attempts: &[LoopAttempt]) -> NextRole {
        let Some(last) = attempts.last() else {
            return NextRole::Ask(LoopRole::Actor, self.task.to_revise());
        };
        if let Some(document) = last.unjudged() {
            return NextRole::Ask(
                LoopRole::Critic,
                self.task.to_judge(document, attempts.len(), &self.scoring),
            );
        }
        let most = usize::try_from(self.scoring.max_attempts).unwrap_or(usize::MAX);
        if last.passes(&self.scoring) || attempts.len() >= most {
            return NextRole::End;
        }
        let failed = FailedAttempt {
            number: attempts.len(),
            document: last.document(),
            evaluation: last.critic_answer.as_ref(),
        };
        NextRole::Ask(LoopRole::Actor, self.task.to_revise_again(&failed))
    }
}

impl Refinement for Loop {
    fn next(&self, answers: &[Json]) -> NextRole {
        self.after(&attempts(answers))
    }

    fn outputs(&self, answers: &[Json]) -> Json {
        let attempts: Vec<Value> = attempts(answers).iter().map(LoopAttempt::kept).collect();
        Json::from(json!({ "attempts": attempts }).to_string())
    }

    fn identity(&self) -> String {
        // Hashes the follow-up prompts, around an empty document, and the conditions that end the loop.
        let evaluation = json!({});
        let again = FailedAttempt {
            number: 1,
            document: Some(""),
            evaluation: Some(&evaluation),
        };
        let asks = [
            self.task.to_judge("", 2, &self.scoring),
            self.task.to_revise_again(&again),
        ];
        let prompts = asks.map(|ask| ask.prompt).concat();
        sha256_hex(format!("{prompts}\n{:?}", self.scoring).as_bytes())
    }
}
