//! What an interviewing agent is asked: everything that a client says, in the client's manner.

use serde_json::{Map, Value, json};

use super::asking::Prompt;
use super::atoms::form;
use crate::model::{Ask, Toolbox};

/// A client, as a scenario describes one.
pub struct Client<'a> {
    /// What is said.
    pub says: Speech<'a>,
    /// The manner of speaking.
    pub persona: Option<&'a str>,
    /// How often the client can be asked.
    pub rounds: Option<u64>,
}

/// What a client says.
pub enum Speech<'a> {
    /// What the scenario tells of the client, as it is.
    Context(&'a Map<String, Value>),
    /// What the client has decided, sentence by sentence.
    Facts(&'a [String]),
}

impl Client<'_> {
    /// Asks for the atoms of what the client says. A client who says nothing is asked about in fields alone.
    pub fn ask(&self) -> Ask {
        let (key, fields, words) = match self.says {
            Speech::Context(context) if context.is_empty() => ("context", json!({}), None),
            Speech::Context(context) => ("context", json!(context), Some(format!("{:#}", json!(context)))),
            Speech::Facts(facts) => ("facts", json!(facts), Some(facts.join("\n"))),
        };
        let mut inputs = json!({"persona": self.persona, "rounds": self.rounds});
        inputs[key] = fields;
        Ask {
            prompt: words.map_or_else(String::new, |words| self.prompt(&words)),
            inputs,
            answer: Some(form()),
            tools: Toolbox::Empty,
        }
    }

    fn prompt(&self, words: &str) -> String {
        let mut prompt = Prompt::of(
            "A client describes a product that does not exist yet. Write down what is decided as a list of atoms: each is one \
             behaviour that a stranger could check, with its category, its observable outcomes, the client's words as evidence, \
             and how it can be validated (executable, manual or semantic).",
        )
        .say("Write down, too, the questions that you have to ask the client before it can be built.");
        if let Some(rounds) = self.rounds {
            prompt = prompt.say(&format!("The client can be asked in at most {rounds} rounds."));
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
