//! Dummy agents and their answers.

use serde_json::{Map, Value, json};

use crate::files::SourceText;
use crate::format::golden_value;
use crate::model::{Ask, UserMessage, UserTurns, words};

words! {
    /// A dummy agent. A case that it passes proves nothing about a real agent.
    #[derive(PartialOrd, Ord)]
    pub enum Vacuous {
        /// Answers with an empty object.
        Empty = "the empty agent",
        /// Repeats the request in the requested form.
        Echo = "the echo agent",
        /// Writes all texts of the golden file into every field.
        Stuffing = "the keyword-stuffing agent",
    }
}

impl Vacuous {
    /// Returns its answer to the request, as JSON text. `golden` contains the texts that [`texts`] found.
    pub fn answer(self, ask: Option<&Ask>, golden: &str) -> String {
        let asked = match ask {
            Some(ask) if ask.prompt.is_empty() => ask.inputs.to_string(),
            Some(ask) => ask.said().join("\n"),
            None => String::new(),
        };
        let schema = ask
            .and_then(|ask| ask.answer.as_ref())
            .map(|form| &form.schema);
        match (self, schema) {
            (Self::Empty, _) => "{}".to_owned(),
            (Self::Echo, Some(schema)) => filled(schema, &asked, 0, ListLength::One).to_string(),
            (Self::Stuffing, Some(schema)) => {
                filled(schema, golden, 0, ListLength::EveryWord).to_string()
            }
            (Self::Echo, None) => in_turns(ask, &asked, str::to_owned),
            (Self::Stuffing, None) => in_turns(ask, golden, |_| golden.to_owned()),
        }
    }
}

/// An answer as a text; in a conversation, one to each user message.
fn in_turns(ask: Option<&Ask>, whole: &str, answer: impl Fn(&str) -> String) -> String {
    let messages = match ask.map(|ask| (&ask.turns, &ask.prompt)) {
        None | Some((UserTurns::Single, _)) => Vec::new(),
        Some((UserTurns::Scripted(messages), _)) => messages.clone(),
        Some((UserTurns::Simulated(_), prompt)) => vec![UserMessage::query(prompt)],
    };
    match messages.last() {
        Some(last) => {
            let turns: Vec<Value> = messages
                .iter()
                .map(|message| json!({ "user": message.text, "text": answer(&message.text) }))
                .collect();
            json!({ "text": answer(&last.text), "turns": turns }).to_string()
        }
        None => json!({ "text": whole }).to_string(),
    }
}

/// How many elements a list gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListLength {
    /// One element.
    One,
    /// One element for each word that a field of it may have.
    EveryWord,
}

/// The most characters of a golden file in one text.
const MOST: usize = 20_000;

/// Returns all texts of a golden file, joined.
pub fn texts(source: &SourceText) -> String {
    let mut texts = Vec::new();
    gather(
        &golden_value(source.clone()).unwrap_or_default(),
        &mut texts,
    );
    let mut joined = texts.join("; ");
    if let Some((end, _)) = joined.char_indices().nth(MOST) {
        joined.truncate(end);
    }
    joined
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => {
            for value in list {
                gather(value, texts);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                gather(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a value that matches a schema. `at` selects one of the words that a field may have.
fn filled(schema: &Value, text: &str, at: usize, amount: ListLength) -> Value {
    if let Some(words) = schema
        .get("enum")
        .and_then(Value::as_array)
        .filter(|words| !words.is_empty())
    {
        return words[at % words.len()].clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind {
        Some("object") => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let mut object = Map::new();
            for (key, field_schema) in fields.into_iter().flatten() {
                object.insert(key.clone(), filled(field_schema, text, at, amount));
            }
            Value::Object(object)
        }
        Some("array") => {
            let Some(item_schema) = schema.get("items") else {
                return Value::Array(Vec::new());
            };
            let count = if amount == ListLength::One {
                1
            } else {
                words(item_schema)
            };
            (0..count)
                .map(|at| filled(item_schema, text, at, amount))
                .collect()
        }
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some(_) | None => json!(text),
    }
}

/// Returns the largest number of words that a field may have.
fn words(schema: &Value) -> usize {
    let choices = schema
        .get("enum")
        .and_then(Value::as_array)
        .map_or(1, Vec::len);
    let fields = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    fields
        .map(|(_, field_schema)| words(field_schema))
        .max()
        .unwrap_or(1)
        .max(choices)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Vacuous;
    use crate::model::{AnswerForm, Ask, UserMessage, UserTurns};

    #[test]
    fn a_dummy_agent_answers_each_message_of_a_conversation() {
        let turns = UserTurns::Scripted(vec![UserMessage::query("a"), UserMessage::query("b")]);
        let ask = Ask {
            turns,
            ..Ask::plain("a".to_owned(), json!({}), None)
        };
        let answered = |agent: Vacuous| -> Value {
            serde_json::from_str(&agent.answer(Some(&ask), "x; y")).unwrap()
        };
        let turns = |first: &str, second: &str| json!({ "text": second, "turns": [{ "user": "a", "text": first }, { "user": "b", "text": second }] });
        assert_eq!(answered(Vacuous::Echo), turns("a", "b"));
        assert_eq!(answered(Vacuous::Stuffing), turns("x; y", "x; y"));
    }

    #[test]
    fn each_dummy_agent_answers_in_the_requested_form() {
        let schema = json!({"type": "object", "properties": {
            "findings": {"type": "array", "items": {"type": "object", "properties": {
                "category": {"type": "string", "enum": ["a", "b", "c"]}, "title": {"type": "string"}, "sure": {"type": "number"}}}},
            "done": {"type": "boolean"}}});
        let answer = Some(AnswerForm { name: "f", schema });
        let ask = Ask::plain("What is wrong?".to_owned(), json!({}), answer);
        let answered = |agent: Vacuous| -> Value {
            serde_json::from_str(&agent.answer(Some(&ask), "x; y")).unwrap()
        };
        assert_eq!(answered(Vacuous::Empty), json!({}));
        let one =
            |category: &str, text: &str| json!({"category": category, "title": text, "sure": 1});
        assert_eq!(
            answered(Vacuous::Echo),
            json!({"findings": [one("a", "What is wrong?")], "done": true})
        );
        let all = [one("a", "x; y"), one("b", "x; y"), one("c", "x; y")];
        assert_eq!(
            answered(Vacuous::Stuffing),
            json!({"findings": all, "done": true})
        );
    }
}
