//! The prompt of an interviewing agent: everything that the client says, with the client's persona.

use serde_json::{Map, Value, json};

use super::asking::Prompt;
use super::atoms::form;
use super::input::TURNS;
use crate::model::{Ask, QUERY, UserMessage, UserTurns};

/// A client, as described by a scenario.
pub struct Client<'a> {
    /// The scenario's context, unchanged.
    pub context: &'a Map<String, Value>,
    /// The client's decisions, one sentence each.
    pub facts: &'a [String],
    pub opening: Opening<'a>,
    /// The client's manner of speaking.
    pub persona: Option<&'a str>,
    /// Maximum number of rounds of questions.
    pub rounds: Option<u64>,
}

/// What the client says to begin with.
pub enum Opening<'a> {
    Nothing,
    /// One message.
    Intent(&'a str),
    /// Every message of a conversation.
    Script(&'a [String]),
}

impl Client<'_> {
    /// Asks for the atoms of the client's words. Without words the prompt is empty, and only the fields are sent.
    pub fn ask(&self) -> Ask {
        let mut inputs = json!({"persona": self.persona, "rounds": self.rounds});
        if !self.context.is_empty() || self.facts.is_empty() {
            inputs["context"] = json!(self.context);
        }
        if !self.facts.is_empty() {
            inputs["facts"] = json!(self.facts);
        }
        match self.opening {
            Opening::Nothing => {}
            Opening::Intent(intent) => inputs[QUERY] = json!(intent),
            Opening::Script(messages) => inputs[TURNS] = json!(messages),
        }
        match self.opening {
            Opening::Nothing | Opening::Intent(_) => {
                Ask::plain(self.prompt(), inputs, Some(form()))
            }
            // Only the client's words: the agent adds its own prompt.
            Opening::Script(messages) => {
                let first = messages.first().cloned().unwrap_or_default();
                let messages = messages.iter().map(|text| UserMessage::query(text));
                Ask {
                    turns: UserTurns::Scripted(messages.collect()),
                    ..Ask::plain(first, inputs, Some(form()))
                }
            }
        }
    }

    /// What the agent is shown: a title and a text each.
    fn material(&self) -> Vec<(&'static str, String)> {
        let says = "What the client says";
        let mut material = Vec::new();
        if !self.context.is_empty() {
            material.push((says, format!("{:#}", json!(self.context))));
        }
        if !self.facts.is_empty() {
            material.push((says, self.facts.join("\n")));
        }
        if let Opening::Intent(intent) = self.opening {
            material.push(("The client's first message", intent.to_owned()));
        }
        material
    }

    fn prompt(&self) -> String {
        let material = self.material();
        if material.is_empty() {
            return String::new();
        }
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
        let material: Vec<(&str, &str)> = material
            .iter()
            .map(|(title, text)| (*title, text.as_str()))
            .collect();
        prompt
            .say(
                "Answer with one JSON object: {\"atoms\": [{\"description\", \"category\", \"observableOutcomes\": [], \
                 \"evidence\": [], \"validators\": [{\"type\"}]}], \"questions\": [], \"rounds\"}. `rounds` is the number of rounds \
                 that your questions take.",
            )
            .show(&material)
            .text()
    }
}
