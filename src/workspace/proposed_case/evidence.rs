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
    /// The facts in the arguments of the calls.
    given: Vec<Fact>,
}

/// The result of a call.
struct SeenResult {
    effect: ToolEffect,
    /// Its texts and numbers, in normal form.
    leaves: Vec<String>,
    facts: Vec<Fact>,
    /// The index of the first call of its group.
    group: usize,
}

/// Whether a tool only reads, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    Reads,
    Writes,
    /// It may also write.
    Unknown,
}

/// The first words of tools that change something.
const WRITING: [&str; 30] = [
    "add", "approve", "assign", "block", "book", "buy", "cancel", "change", "charge", "close",
    "create", "delete", "edit", "escalate", "issue", "modify", "open", "order", "pay", "post",
    "refund", "remove", "reset", "schedule", "send", "set", "submit", "transfer", "update",
    "write",
];

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
        } else if WRITING.contains(&first.as_str()) {
            Self::Writes
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
        let mut evidence = Self {
            input: norm(&format!("{said}\n{instructions}")),
            said: facts(&said),
            instructed: facts(&instructions),
            results: Vec::with_capacity(calls.len()),
            given: Vec::new(),
        };
        for (index, call) in calls.iter().enumerate() {
            add_facts(&call.arguments, &mut evidence.given);
            let group = evidence.group_of_next(calls, index);
            evidence.results.push(SeenResult::of(call, group));
        }
        evidence
    }

    /// The group of a call whose earlier ones are known: that of the call before, if their order is chance. One answer of the model asked for
    /// both, or both only read and this one needs no result of the group.
    fn group_of_next(&self, calls: &[&Call], index: usize) -> usize {
        let Some((last, call)) = self.results.last().zip(calls.get(index)) else {
            return index;
        };
        let is_together = call.step.is_some()
            && index
                .checked_sub(1)
                .and_then(|previous| calls.get(previous))
                .is_some_and(|previous| previous.step == call.step);
        let mut given = Vec::new();
        add_leaves(&call.arguments, &mut given);
        let of_group = self.results.get(last.group..).unwrap_or_default();
        let only_reads = ToolEffect::of(&call.name) == ToolEffect::Reads
            && of_group
                .iter()
                .all(|result| result.effect == ToolEffect::Reads);
        let needs_group = given
            .iter()
            .any(|value| self.is_value_of_results(value, of_group));
        if is_together || (only_reads && !needs_group) {
            last.group
        } else {
            index
        }
    }

    /// Whether a value is in these results, and not in the input.
    fn is_value_of_results(&self, value: &str, results: &[SeenResult]) -> bool {
        let Some(keyword) = Keyword::new(value) else {
            return false;
        };
        let mut leaves = results.iter().flat_map(|result| &result.leaves);
        !keyword.is_word_of(&self.input) && leaves.any(|leaf| keyword.is_word_of(leaf))
    }

    /// The group of a call, by the index of its first one: the order of the calls in a group is chance.
    pub fn group(&self, index: usize) -> usize {
        self.results.get(index).map_or(index, |result| result.group)
    }

    /// Where a text or a number comes from, of what was there before the call with this index.
    pub fn origin(&self, value: &str, call: usize) -> ValueOrigin {
        let Some(keyword) = Keyword::new(value) else {
            return ValueOrigin::Unknown;
        };
        if keyword.is_word_of(&self.input) {
            return ValueOrigin::Input;
        }
        let mut origin = ValueOrigin::Unknown;
        for result in self.results.iter().take(call) {
            if result.leaves.iter().any(|leaf| keyword.is_word_of(leaf)) {
                match result.effect {
                    ToolEffect::Reads => return ValueOrigin::LookedUp,
                    ToolEffect::Writes | ToolEffect::Unknown => origin = ValueOrigin::Made,
                }
            }
        }
        origin
    }

    /// Whether a text is one whole text of a result before the call with this index.
    pub fn is_result(&self, text: &str, call: usize) -> bool {
        let text = norm(text);
        let results = self.results.iter().take(call);
        results
            .flat_map(|result| &result.leaves)
            .any(|leaf| *leaf == text)
    }

    /// Whether the instructions or a result have a fact.
    pub fn has(&self, fact: &Fact) -> bool {
        let mut instructed = self.instructed.iter();
        self.last_group_with(fact).is_some() || instructed.any(|stated| stated.fact.is_same(fact))
    }

    /// The last group of calls with a result that has a fact.
    pub fn last_group_with(&self, fact: &Fact) -> Option<usize> {
        let with_fact = self
            .results
            .iter()
            .filter(|result| result.facts.iter().any(|known| known.is_same(fact)));
        with_fact.map(|result| result.group).max()
    }

    /// A date with its year, where the user, a result, or the arguments of a call state it: another wording may have it.
    pub fn with_year(&self, stated: StatedFact) -> StatedFact {
        let results = self.results.iter().flat_map(|result| &result.facts);
        let said = self.said.iter().map(|stated| &stated.fact);
        results
            .chain(&self.given)
            .chain(said)
            .fold(stated, StatedFact::with_year_of)
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
    fn of(call: &Call, group: usize) -> Self {
        let mut seen = Self {
            group,
            effect: ToolEffect::of(&call.name),
            leaves: Vec::new(),
            facts: Vec::new(),
        };
        let result = decoded(&call.result);
        add_leaves(&result, &mut seen.leaves);
        add_facts(&result, &mut seen.facts);
        seen
    }
}

/// Adds the facts in the texts and numbers of a value.
fn add_facts(value: &Value, all_facts: &mut Vec<Fact>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            let decimal = Decimal::of_json(number);
            let percentage = decimal.as_ref().and_then(Decimal::percentage);
            all_facts.extend(decimal.into_iter().chain(percentage).map(Fact::Number));
        }
        Value::String(text) => all_facts.extend(facts(text).into_iter().map(|stated| stated.fact)),
        Value::Array(list) => {
            for member in list {
                add_facts(member, all_facts);
            }
        }
        Value::Object(fields) => {
            for member in fields.values() {
                add_facts(member, all_facts);
            }
        }
    }
}

/// Adds the texts and numbers of a value in normal form.
fn add_leaves(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => leaves.push(number.to_string()),
        Value::String(text) => leaves.push(norm(text)),
        Value::Array(list) => list.iter().for_each(|member| add_leaves(member, leaves)),
        Value::Object(fields) => fields
            .values()
            .for_each(|member| add_leaves(member, leaves)),
    }
}

/// A result with the JSON in its text.
pub fn decoded(result: &Value) -> Value {
    let parsed = result.as_str().and_then(|text| lenient::any(text).ok());
    parsed
        .filter(|value| value.is_object() || value.is_array())
        .unwrap_or_else(|| result.clone())
}
