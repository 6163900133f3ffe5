//! The turns of a conversation in a run record: what the user says, and what the agent answers.

use serde::Deserialize;

use crate::format::lenient;
use crate::format::lenient::{Lenient, Object, Text};
use crate::model::Run;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedTurn {
    /// The message of the user, if it is recorded.
    pub user: Option<String>,
    /// The answer; empty if there is none.
    pub text: String,
}

/// The turns of a run, and the parts of the list with the wrong format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedTurns {
    /// The turns, in order.
    pub turns: Vec<ObservedTurn>,
    /// What is wrong with the list.
    pub flaws: Vec<String>,
}

/// The fields of a record's outputs.
#[derive(Deserialize, Default)]
struct ConversationForm<'a> {
    #[serde(borrow, default)]
    turns: Lenient<Vec<Lenient<Object<ObservedTurnForm<'a>>>>>,
}

#[derive(Deserialize)]
struct ObservedTurnForm<'a> {
    #[serde(borrow, default)]
    user: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    text: Lenient<Text<'a>>,
}

pub fn turn_name(turn: u32) -> String {
    format!("turns.{turn}")
}

/// The turns of a run under `outputs.turns`; `None` if the key is missing.
pub fn turns(run: &Run) -> Option<ObservedTurns> {
    let ConversationForm { turns: list } = lenient::object(&run.outputs);
    let mut flaws = Vec::new();
    let list = match list {
        Lenient::Absent => return None,
        Lenient::Given(list) => list,
        Lenient::Other(form) => {
            flaws.push(format!("\"turns\" is {form}, not a list"));
            Vec::new()
        }
    };
    let turns = (0_u32..)
        .zip(&list)
        .map(|(index, form)| observed(index, form, &mut flaws))
        .collect();
    Some(ObservedTurns { turns, flaws })
}

/// Reads one turn; every part with the wrong format is a flaw.
fn observed(
    index: u32,
    form: &Lenient<Object<ObservedTurnForm<'_>>>,
    flaws: &mut Vec<String>,
) -> ObservedTurn {
    let name = turn_name(index);
    let ObservedTurnForm { user, text } = match form.fields() {
        Ok(fields) => fields,
        Err(form) => {
            flaws.push(format!("{name} is {form}, not an object"));
            return ObservedTurn {
                user: None,
                text: String::new(),
            };
        }
    };
    for (key, value) in [("user", user), ("text", text)] {
        if let Lenient::Other(form) = value {
            flaws.push(format!("{name}.{key} is {form}, not a string"));
        }
    }
    let user = match user {
        Lenient::Given(user) => Some(user.to_string()),
        Lenient::Absent | Lenient::Other(_) => None,
    };
    ObservedTurn {
        user,
        text: text.text().to_owned(),
    }
}

/// The answer of one turn of a conversation of this length. The whole run is the only turn of a conversation with one turn.
pub fn answer_of_turn(run: &Run, turn: u32, length: usize) -> Option<String> {
    let turn_text = match turns(run) {
        Some(ObservedTurns {
            mut turns,
            flaws: _,
        }) => {
            let index = usize::try_from(turn).ok()?;
            (index < turns.len()).then(|| turns.swap_remove(index).text)
        }
        None if length == 1 => whole_answer(run),
        None => None,
    };
    turn_text.filter(|text| !text.trim().is_empty())
}

/// The answer of the last turn, if the run has turns.
pub fn last_answer(run: &Run) -> Option<String> {
    turns(run)?.turns.pop().map(|turn| turn.text)
}

/// The text of the whole run.
fn whole_answer(run: &Run) -> Option<String> {
    let ObservedTurnForm { user: _, text } = serde_json::from_str(&run.outputs).ok()?;
    Some(text.text().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{ObservedTurn, answer_of_turn, last_answer, turns};
    use crate::model::Run;

    #[test]
    fn turns_are_read_in_order() {
        let run = Run::of(r#"{"turns": [{"user": "a", "text": "b"}, {"text": "d", "more": 1}]}"#);
        let read = turns(&run).unwrap();
        let turn = |user: Option<&str>, text: &str| ObservedTurn {
            user: user.map(str::to_owned),
            text: text.to_owned(),
        };
        assert_eq!(
            (read.turns, read.flaws),
            (vec![turn(Some("a"), "b"), turn(None, "d")], Vec::new())
        );
        assert_eq!(
            (
                last_answer(&run).as_deref(),
                answer_of_turn(&run, 0, 2).as_deref()
            ),
            (Some("d"), Some("b"))
        );
        assert_eq!(
            answer_of_turn(&run, 2, 3),
            None,
            "a conversation of two turns"
        );
    }

    #[test]
    fn a_run_without_turns_is_a_conversation_with_one_turn() {
        let run = Run::of(r#"{"text": "b"}"#);
        assert_eq!((turns(&run), last_answer(&run)), (None, None));
        assert_eq!(
            (
                answer_of_turn(&run, 0, 1).as_deref(),
                answer_of_turn(&run, 0, 2)
            ),
            (Some("b"), None)
        );
    }

    #[test]
    fn a_part_of_another_type_is_a_flaw() {
        let flaws = |outputs: &str| turns(&Run::of(outputs)).unwrap().flaws;
        assert_eq!(
            flaws(r#"{"turns": "a"}"#),
            ["\"turns\" is a text, not a list"]
        );
        assert_eq!(
            flaws(r#"{"turns": [1, null, {"user": [], "text": 2}]}"#),
            [
                "turns.0 is a number, not an object",
                "turns.1 is null, not an object",
                "turns.2.user is a list, not a string",
                "turns.2.text is a number, not a string"
            ]
        );
        assert_eq!(
            answer_of_turn(&Run::of(r#"{"turns": [{"text": " "}]}"#), 0, 1),
            None,
            "a blank answer is none"
        );
    }
}
