//! The bounded loop of an actor and a critic: what is asked next, given what was answered so far.

use serde_json::{Map, Value, json};

use super::asked::{FailedAttempt, RevisionTask};
use super::critic;
use super::produced::RevisionForm;
use crate::diag::Diagnostic;
use crate::format::lenient;
use crate::format::lenient::Lenient;
use crate::model::{Ask, Json, Layer, LoopRole, NextRole, RepoPath, Scoring, reaches};
use crate::suites::{Files, Refinement, sha256_hex};

/// The loop of one case.
pub struct Loop {
    task: RevisionTask,
    scoring: Scoring,
}

impl Loop {
    /// The loop of the case of a golden file.
    ///
    /// # Errors
    /// A file of the case that cannot be read.
    pub fn open(golden: &RepoPath, scoring: &Scoring, files: &dyn Files) -> Result<Self, Diagnostic> {
        Ok(Self { task: RevisionTask::open(golden, files)?, scoring: scoring.clone() })
    }
}

/// One attempt, as far as it came.
struct LoopAttempt {
    /// What the actor made; without a document the critic is not asked.
    revised: Revised,
    /// What the critic said: an evaluation's object, or its own words where none can be read.
    said: Option<Value>,
    /// How the evaluation was read.
    layer: Option<Layer>,
}

/// What an actor made.
enum Revised {
    Document(String, Layer),
    /// Its own words, in which there is no document.
    Words(Value),
}

impl LoopAttempt {
    fn of(answer: &Json) -> Self {
        let outputs: RevisionForm<'_> = lenient::object(answer.text());
        let revised = match outputs.revised() {
            Some((document, layer)) => Revised::Document(document, layer),
            None => Revised::Words(words(&outputs, answer)),
        };
        Self { revised, said: None, layer: None }
    }

    fn judge(&mut self, answer: &Json) {
        let outputs: RevisionForm<'_> = lenient::object(answer.text());
        (self.said, self.layer) = match outputs.judged().filter(|(value, _)| value.is_object()) {
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

    /// Its document, where the critic was not asked yet.
    fn unjudged(&self) -> Option<&str> {
        self.document().filter(|_| self.said.is_none())
    }

    /// Whether the critic lets it pass: it says so, and its own score reaches the gate. What contradicts itself or cannot be read
    /// does not pass, since uncertainty is failure. The verifier has no say: the loop is what is graded.
    fn passes(&self, scoring: &Scoring) -> bool {
        let evaluation = self.said.as_ref().filter(|said| said.is_object()).map(|said| critic::read_evaluation(said).0);
        evaluation.is_some_and(|one| one.satisfied && reaches(one.overall, scoring.quality_gate))
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
        kept.insert("evaluation".to_owned(), self.said.clone().unwrap_or_default());
        // What cannot be read is seen of its own form.
        let layer = self.layer.filter(|layer| *layer != Layer::Unreadable);
        read.extend(layer.map(|layer| ("evaluation".to_owned(), json!(layer.as_str()))));
        kept.insert("read".to_owned(), Value::Object(read));
        Value::Object(kept)
    }
}

/// What was said where it does not have the form that was asked for.
fn words(outputs: &RevisionForm<'_>, answer: &Json) -> Value {
    match &outputs.text {
        Lenient::Given(text) => json!(text),
        Lenient::Absent | Lenient::Other(_) => json!(answer.text()),
    }
}

/// The answers as attempts: an actor's, and the critic's of the same document.
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
        let actor = |ask: Ask| NextRole::Ask(LoopRole::Actor, ask);
        let Some(last) = attempts.last() else { return actor(self.task.to_revise()) };
        if let Some(document) = last.unjudged() {
            return NextRole::Ask(LoopRole::Critic, self.task.to_judge(document, attempts.len(), &self.scoring));
        }
        let most = usize::try_from(self.scoring.max_attempts).unwrap_or(usize::MAX);
        if last.passes(&self.scoring) || attempts.len() >= most {
            return NextRole::End;
        }
        let before =
            FailedAttempt { number: attempts.len(), document: last.document(), evaluation: last.said.as_ref() };
        actor(self.task.to_revise_again(&before))
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
        // The words of both questions that follow the first, around an empty document, and what ends the loop.
        let evaluation = json!({});
        let again = FailedAttempt { number: 1, document: Some(""), evaluation: Some(&evaluation) };
        let asks = [self.task.to_judge("", 2, &self.scoring), self.task.to_revise_again(&again)];
        let prompts = asks.map(|ask| ask.prompt).concat();
        sha256_hex(format!("{prompts}\n{:?}", self.scoring).as_bytes())
    }
}
