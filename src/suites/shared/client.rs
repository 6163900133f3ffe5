//! The prompt of an interviewing agent: everything that the client says, with the client's persona.

use serde_json::{Map, Value, json};

use super::asking::Prompt;
use super::atoms::form;
use crate::model::Ask;

/// A client, as described by a scenario.
pub struct Client<'a> {
    pub speech: Speech<'a>,
    /// The client's manner of speaking.
    pub persona: Option<&'a str>,
    /// Maximum number of rounds of questions.
    pub rounds: Option<u64>,
}

pub enum Speech<'a> {
    /// The scenario's context, unchanged.
    Context(&'a Map<String, Value>),
    /// The client's decisions, one sentence each.
    Facts(&'a [String]),
}

impl Client<'_> {
    /// Asks for the atoms of the client's words. Without words the prompt is empty, and only the fields are sent.
    pub fn ask(&self) -> Ask {
        let (key, fields, words) = match self.speech {
            Speech::Context(context) if context.is_empty() => ("context", json!({}), None),
            Speech::Context(context) => (
                "context",
                json!(context),
                Some(format!("{:#}", json!(context))),
            ),
            Speech::Facts(facts) => ("facts", json!(facts), Some(facts.join("\n"))),
        };
        let mut inputs = json!({"persona": self.persona, "rounds": self.rounds});
        inputs[key] = fields;
        let prompt = words.map_or_else(String::new, |words| self.prompt(&words));
        Ask::plain(prompt, inputs, Some(form()))
    }

    fn prompt(&self, words: &str) -> String {
        let mut prompt = Prompt::of(
            "A client describes a product that does not exist yet. Write down what is decided as a list of atoms: each is one \
             behaviour that a stranger could check, with its category, its observable outcomes, the client's words as evidence, \
             and how it can be validated (executable, manual or semantic).",
        )
        .say("Write down, too, the questions that you have to ask the client before it can be built.");
        if let Some(rounds) = self.rounds {
            prompt = prompt.say(&format!(
                "The client can be asked in at most {rounds} rounds."
            ));
        }
        if let Some(persona) = self.persona {
            prompt = prompt.say(&format!("The client's manner of speaking: {persona}."));
        }
        prompt
            .say(
                "Answer with one JSON object: {\"atoms\": [{\"description\", \"category\", \"observableOutcomes\": [], \
                 \"evidence\": [], \"validators\": [{\"type\"}]}], \"questions\": [], \"rounds\"}. `rounds` is the number of rounds \
                 that your questions take.",
            )
            .show(&[("What the client says", words)])
            .text()
    }
}
