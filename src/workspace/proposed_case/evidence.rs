//! [`Evidence`]: what a run had before it called a tool or answered, which tells a fact from its own wording.

use import::{Call, Transcript};
use serde_json::Value;

use crate::format::lenient;
use crate::text::{Decimal, Fact, Keyword, StatedFact, facts, norm};

/// Where a value of a call or an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// What the user says, or the instructions.
    Input,
    /// The result of a call that only reads.
    LookedUp,
    /// The result of another call, which may have made it in this conversation: another run gets another one.
    Made,
    /// None of these: the agent's own words, or computed.
    Unknown,
}

/// What a run had.
pub struct Evidence {
    /// What the user says and the instructions, in normal form.
    input: String,
    /// The facts that the user states.
    pub said: Vec<StatedFact>,
    /// The facts in the instructions.
    instructed: Vec<StatedFact>,
    results: Vec<SeenResult>,
}

/// The result of a call.
struct SeenResult {
    effect: ToolEffect,
    /// Its texts and numbers, in normal form.
    leaves: Vec<String>,
    facts: Vec<Fact>,
    /// The index of its call, or of the first one that the same answer of the model asked for.
    rank: usize,
}

/// Whether a tool only reads, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    Reads,
    /// It may also write.
    Unknown,
}

/// The first words of tools that only read.
const READING: [&str; 26] = [
    "analyze",
    "browse",
    "calculate",
    "check",
    "compute",
    "convert",
    "count",
    "describe",
    "estimate",
    "fetch",
    "find",
    "get",
    "grep",
    "inspect",
    "list",
    "load",
    "lookup",
    "look",
    "query",
    "quote",
    "read",
    "retrieve",
    "search",
    "show",
    "view",
    "validate",
];

impl ToolEffect {
    pub fn of(tool: &str) -> Self {
        let bare = tool.rsplit("__").next().unwrap_or(tool);
        let first = name_words(bare).into_iter().next().unwrap_or_default();
        if READING.contains(&first.as_str()) {
            Self::Reads
        } else {
            Self::Unknown
        }
    }
}

/// The words of a name such as `get_order`, `getOrder` or `get-order`, in lower case.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        let begins = !char.is_alphanumeric() || (char.is_uppercase() && was_lower);
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| char.is_alphanumeric()) {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase() || char.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Evidence {
    /// What a run had when the user had said these messages and these calls were made.
    pub fn of(run: &Transcript, messages: &[&str], calls: &[&Call]) -> Self {
        let mut instructions = run.prompt.clone().unwrap_or_default();
        if let Some(query) = run.query.as_deref().filter(|query| !query.is_empty()) {
            instructions = instructions.replace(query, "");
        }
        let said = messages.join("\n");
        Self {
            input: norm(&format!("{said}\n{instructions}")),
            said: facts(&said),
            instructed: facts(&instructions),
            results: calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let is_together =
                        |other: &&Call| call.step.is_some() && other.step == call.step;
                    let first = calls.iter().position(is_together);
                    SeenResult::of(call, first.unwrap_or(index))
                })
                .collect(),
        }
    }

    /// Where a text or a number comes from, of what was there before the call with this index.
    pub fn origin(&self, value: &str, before: usize) -> ValueOrigin {
        let Some(keyword) = Keyword::new(value) else {
            return ValueOrigin::Unknown;
        };
        if keyword.is_word_of(&self.input) {
            return ValueOrigin::Input;
        }
        let mut origin = ValueOrigin::Unknown;
        for result in self.results.iter().take(before) {
            if result.leaves.iter().any(|leaf| keyword.is_word_of(leaf)) {
                match result.effect {
                    ToolEffect::Reads => return ValueOrigin::LookedUp,
                    ToolEffect::Unknown => origin = ValueOrigin::Made,
                }
            }
        }
        origin
    }

    /// Whether a text is one whole text of a result before the call with this index.
    pub fn is_result(&self, text: &str, before: usize) -> bool {
        let text = norm(text);
        let results = self.results.iter().take(before);
        results
            .flat_map(|result| &result.leaves)
            .any(|leaf| *leaf == text)
    }

    /// Whether the instructions or a result have a fact.
    pub fn has(&self, fact: &Fact) -> bool {
        let mut instructed = self.instructed.iter();
        self.rank_of_result(fact).is_some() || instructed.any(|stated| stated.fact.is_same(fact))
    }

    /// The place of the last result that has a fact: results that were asked for together have one place, and later ones a greater one.
    pub fn rank_of_result(&self, fact: &Fact) -> Option<usize> {
        let has = |result: &&SeenResult| result.facts.iter().any(|known| known.is_same(fact));
        self.results
            .iter()
            .filter(has)
            .map(|result| result.rank)
            .max()
    }

    /// Whether the user states a fact.
    pub fn is_said(&self, fact: &Fact) -> bool {
        self.said.iter().any(|stated| stated.fact.is_same(fact))
    }

    /// Whether a call may have made a text in this conversation.
    pub fn is_made(&self, text: &str) -> bool {
        self.origin(text, usize::MAX) == ValueOrigin::Made
    }
}

impl SeenResult {
    fn of(call: &Call, rank: usize) -> Self {
        let mut seen = Self {
            rank,
            effect: ToolEffect::of(&call.name),
            leaves: Vec::new(),
            facts: Vec::new(),
        };
        seen.add(&decoded(&call.result));
        seen
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                self.leaves.push(number.to_string());
                let decimal = Decimal::of_json(number);
                let percentage = decimal.as_ref().and_then(Decimal::percentage);
                self.facts
                    .extend(decimal.into_iter().chain(percentage).map(Fact::Number));
            }
            Value::String(text) => {
                self.leaves.push(norm(text));
                self.facts
                    .extend(facts(text).into_iter().map(|stated| stated.fact));
            }
            Value::Array(list) => list.iter().for_each(|member| self.add(member)),
            Value::Object(fields) => fields.values().for_each(|member| self.add(member)),
        }
    }
}

/// A result with the JSON in its text.
pub fn decoded(result: &Value) -> Value {
    let parsed = result.as_str().and_then(|text| lenient::any(text).ok());
    parsed
        .filter(|value| value.is_object() || value.is_array())
        .unwrap_or_else(|| result.clone())
}
